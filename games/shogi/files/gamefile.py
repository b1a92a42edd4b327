"""Games of files: what a parser returns, and the replay of moves that it finds."""

import re
from dataclasses import dataclass, field

import numpy as np

from games import reading
from games.shogi.files.sfen import shown, words_of
from games.shogi.rules.endings import ending
from games.shogi.rules.movegen import MAX_MOVES, legal_moves, play
from games.shogi.rules.moves import PROMOTION, SOURCE_SHIFT
from games.shogi.rules.position import STATE

MAX_PLIES = 4096  # plies of a game
DECIDED = 30_000  # a recorded score from here on is a forced win
ILLEGAL_KIND = "illegal move"
_VALUE = r"([+-]?[0-9]{1,7}(?![0-9])|[+-]詰|先手勝ち|後手勝ち)"
# a player's score, of the search before the move: Floodgate, ShogiHome, ShogiGUI
_PLAYER_SCORE = re.compile(rf"\*(?:[ \t]+|評価値=|詰み=|対局 .*?評価値 ){_VALUE}", re.ASCII)
_ANALYSIS_SCORE = re.compile(rf"(?:#評価値=|#詰み=|\*解析 .*?評価値 ){_VALUE}", re.ASCII)


class GameFault(reading.FileFault):
    """A fault of a game: its kind, for counting, the details, and the line (from 1) in the file."""

    def __init__(self, kind: str, detail: str, line: int = 0) -> None:
        super().__init__(f"{kind}: {detail}", kind, line)


def white_to_move(words: np.ndarray) -> bool:
    """Return whether White is to move."""
    return bool(int(words[STATE]) & 1)


def set_up(
    board: dict[int, tuple[int, int]], hands: dict[tuple[int, int], int], white: int, line: int
) -> np.ndarray:
    """Return the position that a file sets up, see `words_of`; Fault at this line if it cannot
    be."""
    try:
        return words_of(board, {man: number for man, number in hands.items() if number}, white, 1)
    except ValueError as problem:
        raise GameFault("bad position", str(problem), line) from None


@dataclass
class ParsedGame:
    """A game of a file: positions, the moves between them, Black's result (None: undecided), scores
    of searches in centipawns for Black (NaN: none) by position, tags; or the fault that it has."""

    line: list[np.ndarray]
    moves: list[int] = field(default_factory=list)
    result: int | None = None
    scores: dict[int, float] = field(default_factory=dict)  # by ply
    names: dict[str, str] = field(default_factory=dict)  # black, white, event ...
    elo: dict[str, float] = field(default_factory=dict)  # black, white
    begin: int = 1  # its first line
    fault: GameFault | None = None
    found_end: bool = False
    # an illegal move, which is no fault of the file if it ends the game
    refused: GameFault | None = None

    def push(
        self, source: int, target: int, kind: int, promotes: bool | None, text: str, number: int
    ) -> None:
        """Play the legal move with this source (NOWHERE for a drop), target, kind of man (0: any)
        and promotion; `text` and the line `number` are for the message of a Fault if there is
        none."""
        moves = np.empty(MAX_MOVES, np.uint32)
        legal = moves[: legal_moves(self.line[-1], False, moves)]
        mask = (
            127
            | 127 << SOURCE_SHIFT
            | (15 << 14 if kind else 0)
            | (0 if promotes is None else PROMOTION)
        )
        wanted = target | source << SOURCE_SHIFT | kind << 14 | (PROMOTION if promotes else 0)
        fitting = legal[(legal & np.uint32(mask)) == wanted]
        if len(fitting) != 1:
            raise GameFault(ILLEGAL_KIND, f"{shown(text)} at ply {len(self.moves) + 1}", number)
        if len(self.moves) >= MAX_PLIES:
            raise GameFault("too long", f"more than {MAX_PLIES} plies", number)
        after = np.empty_like(self.line[-1])
        play(self.line[-1], int(fitting[0]), after)
        self.line.append(after)
        self.moves.append(int(fitting[0]))

    def take_comment(self, text: str) -> None:
        """Take the score in a comment behind a move, without its mark: for Black, of the position
        before the move (a player's) or behind it (an analysis); the first of a position counts."""
        ply = len(self.moves)
        if match := _PLAYER_SCORE.match(text):
            # of no position behind the end: Floodgate has %KACHI,'* -5000 for a win of Black
            ply = -1 if self.found_end else ply - 1
        elif not (match := _ANALYSIS_SCORE.match(text)):
            return
        won = {"+詰": DECIDED, "先手勝ち": DECIDED, "-詰": -DECIDED, "後手勝ち": -DECIDED}.get(
            match[1]
        )
        if ply >= 0:
            self.scores.setdefault(ply, float(match[1] if won is None else won))

    def lose_by_refused(self) -> None:
        """End the game with the loss of the side that played the illegal move."""
        self.refused, self.result, self.found_end = None, self.mover_result(-1), True

    def mover_result(self, value: int | None) -> int | None:
        """Return Black's result, from the result of the side to move."""
        return -value if value is not None and white_to_move(self.line[-1]) else value

    def decide(self) -> None:
        """Take the result by the rules if the file gives none; Fault for an illegal move that does
        not end the game."""
        if self.refused:
            raise self.refused
        if not self.found_end and (end := ending(self.line)) is not None:
            self.result = end[0]
