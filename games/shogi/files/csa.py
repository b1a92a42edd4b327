"""Games in CSA format, versions 1 to 3: read and written."""

import mmap
import re
from collections.abc import Iterator, Sequence

import numpy as np

from games.record import PLIES, TIME, TOLD, Choice, PlayedGame
from games.shogi.files.gamefile import (
    DECIDED,
    ILLEGAL_KIND,
    GameFault,
    ParsedGame,
    set_up,
    white_to_move,
)
from games.shogi.files.sfen import board_of, digits, hand_of, kind_on, moved_kind, shown, source_of
from games.shogi.rules.attacks import KING, PROMOTED
from games.shogi.rules.endings import DECLARATION, MATE, PERPETUAL_CHECK, REPETITION, ending
from games.shogi.rules.moves import NOWHERE, PROMOTION
from games.shogi.rules.position import MAX_MEN, START, STATE
from games.shogi.rules.squares import RANKS

MEN = ("", "FU", "KY", "KE", "GI", "KA", "HI", "KI", "OU", "TO", "NY", "NK", "NG", "UM", "RY")
# results for the side to move; None: undecided
ENDS = {
    "TORYO": -1,
    "TSUMI": -1,
    "TIME_UP": -1,
    "ILLEGAL_MOVE": -1,
    "KACHI": 1,
    "SENNICHITE": 0,
    "JISHOGI": 0,
    "HIKIWAKE": 0,
    "MAX_MOVES": 0,
    "CHUDAN": None,
    "FUZUMI": None,
    "MATTA": None,
    "ERROR": None,
}
START_BOARD = board_of(START)
ILLEGAL = "%ILLEGAL_MOVE"
_MOVE = re.compile(r"([+-])([0-9])([0-9])([1-9])([1-9])([A-Z]{2})", re.ASCII)
_TIME = re.compile(r"T[0-9]+(\.[0-9]*)?", re.ASCII)
_RATE = re.compile(r"'(black|white)_rate:.*:([0-9]+(?:\.[0-9]+)?)$", re.ASCII)


def begins(line: str) -> bool:
    """Whether a line can be the first statement of a game in CSA format."""
    return bool(
        re.match(
            r"V[1-3](\.[0-9])?$|N[+-]|\$[A-Z_+-]+:|PI|P[1-9+-]|'|%|[+-]([0-9]{4}[A-Z]{2})?(,|$)",
            line.rstrip(),
        )
    )


def read_games(lines: Sequence[str]) -> Iterator[ParsedGame]:
    """Yield the games of the lines of a file; those with faults have them noted."""
    begin = 0
    for number in range(len(lines) + 1):
        if number == len(lines) or lines[number].rstrip() == "/":
            if any(line.strip() and not line.startswith("'") for line in lines[begin:number]):
                yield _game(lines, begin, number)
            begin = number + 1


class _Start:
    """The start of a game, from the statements that describe it."""

    def __init__(self) -> None:
        self.board: dict[int, tuple[int, int]] = {}
        self.hands: dict[tuple[int, int], int] = {}

    def take(self, text: str, number: int) -> None:
        """Take a statement that begins with P."""
        if text.startswith("PI"):
            self.board = dict(START_BOARD)
            for place, name in self._men(text[2:], text, number):
                if self.board.pop(place, (0, 0))[1] != MEN.index(name):
                    raise GameFault(
                        "bad position", f"{shown(text)} takes away what is not there", number
                    )
        elif re.match("P[1-9]", text, re.ASCII):
            rank = int(text[1]) - 1
            cells = [text[2 + 3 * i : 5 + 3 * i].strip() for i in range(9)]
            for i, cell in enumerate(cells):
                if cell in ("*", ""):
                    continue
                if len(cell) != 3 or cell[0] not in "+-" or cell[1:] not in MEN[1:]:
                    raise GameFault(
                        "bad position",
                        f"{cell!r} in {shown(text)}, expected * or a man such as +FU",
                        number,
                    )
                self.board[RANKS * (8 - i) + rank] = int(cell[0] == "-"), MEN.index(cell[1:])
        else:
            self._own(int(text[1] == "-"), text, number)

    def _own(self, owner: int, text: str, number: int) -> None:
        if text[2:] == "00AL":
            left = list(MAX_MEN)
            for _, kind in self.board.values():
                left[kind & 7 if kind > PROMOTED else kind] -= 1
            for (_, kind), held in self.hands.items():
                left[kind] -= held
            for kind in range(1, KING):
                self.hands[owner, kind] = self.hands.get((owner, kind), 0) + max(left[kind], 0)
            return
        for place, name in self._men(text[2:], text, number):
            kind = MEN.index(name)
            if place != NOWHERE:
                self.board[place] = owner, kind
            elif kind < KING:
                self.hands[owner, kind] = self.hands.get((owner, kind), 0) + 1
            else:
                raise GameFault("bad position", f"{name} in hand in {shown(text)}", number)

    @staticmethod
    def _men(text: str, whole: str, number: int) -> list[tuple[int, str]]:
        men = re.findall(r"([1-9])([1-9])([A-Z]{2})|00([A-Z]{2})", text, re.ASCII)
        if 4 * len(men) != len(text) or any(
            (name or held) not in MEN[1:] for _, _, name, held in men
        ):
            raise GameFault(
                "bad position", f"{shown(whole)}, expected squares and men such as 82HI", number
            )
        return [
            (NOWHERE, held) if held else (RANKS * (int(file) - 1) + int(rank) - 1, name)
            for file, rank, name, held in men
        ]

    def words(self, white: int, number: int) -> np.ndarray:
        if not self.board and not self.hands:
            raise GameFault(
                "no position", "the moves begin before a position, expected PI or P1 to P9", number
            )
        if self.board == START_BOARD and not self.hands and not white:
            return START.copy()
        return set_up(self.board, self.hands, white, number)


def _game(lines: Sequence[str], begin: int, end: int) -> ParsedGame:
    """Parse the game of lines[begin:end]."""
    game = ParsedGame([], begin=begin + 1)
    start = _Start()
    try:
        for number in range(begin, end):
            line = lines[number].rstrip()
            if line.startswith("'"):
                _comment(game, line)
            elif line.startswith(("N", "$")):
                _tag(game, line, number + 1)
            else:
                statements, _, comment = line.partition("'")
                for text in filter(None, map(str.strip, statements.split(","))):
                    if game.refused and not _TIME.fullmatch(text) and text != ILLEGAL:
                        raise game.refused
                    game.refused = None if text == ILLEGAL else game.refused
                    try:
                        _statement(game, start, text, number + 1)
                    except GameFault as fault:
                        if fault.kind != ILLEGAL_KIND:
                            raise
                        game.refused = fault
                game.take_comment(comment.removeprefix("*") if comment[:2] == "**" else comment)
        if not game.line:
            raise GameFault(
                "no position",
                "a game without the side to move, expected + or - after the position",
                end,
            )
        game.decide()
    except GameFault as fault:
        game.fault = fault
    return game


def _comment(game: ParsedGame, line: str) -> None:
    if match := _RATE.match(line):
        game.elo[match[1]] = float(match[2])
    elif line.startswith("'*"):
        game.take_comment(line[2:])


def _tag(game: ParsedGame, line: str, number: int) -> None:
    if line.startswith(("N+", "N-")):
        game.names["white" if line[1] == "-" else "black"] = line[2:]
    elif ":" in line and line.startswith("$"):
        key, _, value = line[1:].partition(":")
        game.names[key.lower()] = value
    else:
        raise GameFault("unknown statement", shown(line), number)


def _statement(game: ParsedGame, start: _Start, text: str, number: int) -> None:
    if text.startswith("%"):
        _end(game, text[1:], number)
    elif game.found_end and not _TIME.fullmatch(text):
        raise GameFault("text after the end", shown(text), number)
    elif re.match("PI|P[1-9+-]", text, re.ASCII) and not game.line:
        start.take(text, number)
    elif text in ("+", "-") and not game.line:
        game.line.append(start.words(int(text == "-"), number))
    elif match := _MOVE.fullmatch(text):
        if not game.line:
            raise GameFault(
                "no position", f"the move {shown(text)} before the side to move", number
            )
        _move(game, match, text, number)
    elif not (
        re.fullmatch(r"V[1-3](\.[0-9])?", text, re.ASCII) or _TIME.fullmatch(text) and game.line
    ):
        raise GameFault("unknown statement", shown(text), number)


def _move(game: ParsedGame, found: re.Match, text: str, number: int) -> None:
    sign, from_file, from_rank, file, rank, name = found.groups()
    if (sign == "-") != white_to_move(game.line[-1]):
        raise GameFault(
            "wrong side",
            f"{shown(text)} at ply {len(game.moves) + 1}, the opponent is to move",
            number,
        )
    if name not in MEN[1:]:
        raise GameFault("unknown man", f"{name!r} in {shown(text)}", number)
    target, kind = RANKS * (int(file) - 1) + int(rank) - 1, MEN.index(name)
    if from_file == from_rank == "0":
        game.push(NOWHERE, target, kind, False, text, number)
        return
    source = (
        RANKS * (int(from_file) - 1) + int(from_rank) - 1
        if "0" not in (from_file, from_rank)
        else -1
    )
    moved = kind_on(game.line[-1], source) if source >= 0 else 0
    promotes = kind != moved
    game.push(source, target, kind - PROMOTED if promotes else kind, promotes, text, number)


def _end(game: ParsedGame, name: str, number: int) -> None:
    if not game.line:
        raise GameFault("no position", f"the end %{name[:20]} before the side to move", number)
    if name in ("+ILLEGAL_ACTION", "-ILLEGAL_ACTION"):
        result: int | None = -1 if name[0] == "+" else 1
    elif name in ENDS:
        result = game.mover_result(ENDS[name])
    else:
        raise GameFault(
            "unknown end", f"{shown('%' + name)}, expected one of %{', %'.join(ENDS)}", number
        )
    if game.found_end and result != game.result:  # Floodgate says some ends twice
        raise GameFault("text after the end", shown("%" + name), number)
    game.result, game.found_end = result, True


def move_text(move: int, white: bool) -> str:
    """Return a move in CSA: +7776FU."""
    source, kind = source_of(move), moved_kind(move) + PROMOTED * bool(move & PROMOTION)
    begin = "00" if source == NOWHERE else digits(source)
    return f"{'-' if white else '+'}{begin}{digits(move & 127)}{MEN[kind]}"


def position_lines(words: np.ndarray) -> list[str]:
    """Return a position as statements, the side to move last."""
    board, white = board_of(words), int(words[STATE]) & 1
    if np.array_equal(words[:13], START[:13]):
        return ["PI", "+-"[white]]
    rows = []
    for rank in range(RANKS):
        cells = [board.get(RANKS * file + rank) for file in reversed(range(9))]
        rows.append(
            f"P{rank + 1}"
            + "".join(" * " if man is None else "+-"[man[0]] + MEN[man[1]] for man in cells)
        )
    for owner in (0, 1):
        held = "".join(
            f"00{MEN[kind]}" * number for kind, number in enumerate(hand_of(words, owner)) if number
        )
        rows += [f"P{'+-'[owner]}{held}"] if held else []
    return [*rows, "+-"[white]]


def end_of(game: PlayedGame) -> str:
    """Return the statement with which the game ends: %TORYO."""
    if game.outcome is None:
        return "%CHUDAN"
    end = ending(game.line)
    how = end[1] if end and end[0] == game.outcome else None
    if game.outcome == 0:
        return (
            "%SENNICHITE"
            if how == REPETITION
            else "%MAX_MOVES"
            if game.end == PLIES
            else "%HIKIWAKE"
        )
    mover_lost = (game.outcome > 0) == white_to_move(game.line[-1])
    if mover_lost and how != PERPETUAL_CHECK:
        return "%TSUMI" if how == MATE else "%TIME_UP" if game.end == TIME else "%TORYO"
    if game.end == TOLD and how is None:
        return "%CHUDAN"  # the moves that decided it are not known
    if how == DECLARATION:
        return "%KACHI"
    return "%-ILLEGAL_ACTION" if game.outcome > 0 else "%+ILLEGAL_ACTION"


def reason(game: PlayedGame) -> str:
    """Return why a game ended by the rules, in words."""
    end = ending(game.line)
    if end is None:
        return game.end
    winner = "Black" if end[0] > 0 else "White"
    return {
        MATE: f"{winner} mates",
        DECLARATION: f"{winner} declares a win by 27 points",
        REPETITION: "fourfold repetition",
        PERPETUAL_CHECK: f"{'White' if end[0] > 0 else 'Black'} gives perpetual check",
    }[end[1]]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _score(choice: Choice, white: bool) -> int:
    """Return a player's score in centipawns, for Black; DECIDED for a forced win."""
    score = choice.score or 0.0
    if choice.win_in is not None:
        score = DECIDED if choice.win_in > 0 else -DECIDED
    return round(-score if white else score)


def made_here(content: bytes | mmap.mmap) -> bool:
    """Whether every game of this CSA was played by a command here."""
    games = re.findall(rb"^V\d", content, re.MULTILINE)
    marks = re.findall(rb"^\$EVENT:tuner (?:match|tournament|selfplay)\r?$", content, re.MULTILINE)
    return content[:1] == b"V" and len(games) == len(marks)


def game_text(game: PlayedGame) -> str:
    """Return a game in CSA format 2.2, with the players' scores, for Black, in comments."""
    rows = [
        "V2.2",
        f"N+{_plain(game.players[0])}",
        f"N-{_plain(game.players[1])}",
        f"$EVENT:{_plain(game.event)}",
        f"'round {_plain(game.round)}, {_plain(game.control)}",
        *position_lines(game.line[0]),
    ]
    for ply, move in enumerate(game.moves):
        white = white_to_move(game.line[ply])
        rows.append(move_text(move, white))
        choice = game.choices[ply - game.book] if game.choices and ply >= game.book else None
        if choice and (choice.score is not None or choice.win_in is not None):
            rows.append(f"'** {_score(choice, white)}")
    return "\n".join([*rows, end_of(game), "/", ""])
