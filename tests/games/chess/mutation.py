"""Damaged PGN: annotated random games, random changes to their bytes, and how far we and
python-chess agree on them.

    python -m tests.games.chess.mutation 20000

prints, by cause, in how many of so many damaged files the two readers differ.
"""

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn

from games.chess.files import faults
from tests.games.support import ReadGame, games_of_bytes, oracle_games, random_lines

COMMENTS = [
    "good",
    "[%clk 0:01:02] +0.31/14",
    "a (b) c",
    "1-0 or [x]",
    "see Nf3; or not",
    "dépassé",
    "two\nlines",
]
TELLING = b'{}()[]"%;$!?*.-+=#/0123456789abcdefghKQRBNPOx \n\r\t\\' + "é".encode()


def annotated(rng: random.Random, start: chess.Board, line: list[chess.Move]) -> str:
    """A game with tags in any order, comments, glyphs and nested variations, otherwise as
    python-chess writes it."""
    game = chess.pgn.Game(
        headers={
            "Event": "Bénoni",
            "White": "A",
            "Black": "B",
            "WhiteElo": "2400",
            "BlackElo": "2350",
        }
    )
    standard = start.board_fen() == chess.STARTING_BOARD_FEN
    if not standard:
        game.setup(start)
    node = game
    for i, move in enumerate(line):
        board = node.board()
        if standard and board.is_castling(move):
            move = chess.Move(
                move.from_square,
                chess.square(6 if move.to_square > move.from_square else 2, move.to_square // 8),
            )
        node = node.add_main_variation(move)
        if rng.random() < 0.1:
            node.comment = rng.choice(COMMENTS)
        if rng.random() < 0.1:
            node.nags.add(rng.randrange(1, 140))
        if i and rng.random() < 0.1:
            other = node.parent.add_variation(rng.choice(list(board.legal_moves)))
            for _ in range(rng.randrange(3)):
                replies = list(other.board().legal_moves)
                if replies:
                    other = other.add_variation(rng.choice(replies))
                    other.comment = rng.choice(["", "inside"])
    game.headers["Result"] = rng.choice(["1-0", "0-1", "1/2-1/2", "*"])
    tags, _, moves = str(game).partition("\n\n")
    lines = tags.split("\n")
    rng.shuffle(lines)
    return "\n".join(lines) + f"\n\n{moves}\n\n"


def originals(seed: int, n: int) -> list[bytes]:
    """n annotated games, a quarter of them Chess960."""
    rng = random.Random(seed)
    lines = [
        *random_lines(seed, n - n // 4, 24),
        *random_lines(seed + 1, n // 4, 24, chess960=True),
    ]
    return [annotated(rng, start, line).encode() for start, line in lines]


def mutate(rng: random.Random, content: bytes) -> bytes:
    """One to three changes: bytes replaced, inserted or deleted, or the end cut off."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(10)
        some = bytes(
            rng.choice(TELLING) if rng.random() < 0.7 else rng.randrange(256)
            for _ in range(rng.randint(1, 3))
        )
        if kind < 4:
            data[at : at + len(some)] = some
        elif kind < 6:
            data[at:at] = some
        elif kind < 9:
            del data[at : at + rng.randint(1, 8)]
        else:
            del data[at:]
    return bytes(data)


# why a game that we accept is not what python-chess reads, and why it may be so
BEHIND_FEN = "accepted: python-chess refuses what stands behind the FEN"  # the position is whole
VARIANT = "accepted: python-chess refuses a variant of which we read no more than Chess960"
LOST_FEN = (  # we have it, with all the moves
    "accepted: python-chess loses the FEN at a broken line among the tags"
)
BEHIND_RESULT = (  # which ends a game, by the standard
    "accepted: python-chess reads on behind the result"
)
BLANK_LINE = (  # white space, by the standard
    "accepted: python-chess ends the game at a blank line among the moves"
)
EXPLAINED = {BEHIND_FEN, VARIANT, LOST_FEN, BEHIND_RESULT, BLANK_LINE}


@dataclass
class Trial:
    """One damaged file, what we found in it, and what python-chess did."""

    content: bytes
    ours: list[ReadGame]
    theirs: list[tuple[str, list[int], list[Exception]]]

    @property
    def accepted(self) -> list[ReadGame]:
        return [game for game in self.ours if game.reason is None]

    @property
    def differing(self) -> list[ReadGame]:
        """Games that we accept and python-chess does not read with the same start and moves."""
        known = [(start, moves) for start, moves, _ in self.theirs]
        return [game for game in self.accepted if (game.start, game.moves) not in known]

    def cause(self, game: ReadGame) -> str:
        """Why python-chess does not read a game that we accept, as far as its messages show."""
        said = " ".join(str(error) for _, _, errors in self.theirs for error in errors)
        if any(
            words in said
            for words in (
                "move number in fen",
                "half-move clock in fen",
                "fen string has more parts",
            )
        ):
            return BEHIND_FEN
        if "unsupported variant" in said:
            return VARIANT
        same_start = [
            (moves, errors) for start, moves, errors in self.theirs if start == game.start
        ]
        if not same_start and game.start != chess.STARTING_FEN:
            return LOST_FEN
        if any(moves[: len(game.moves)] == game.moves for moves, _ in same_start):
            return BEHIND_RESULT
        if any(game.moves[: len(moves)] == moves and not errors for moves, errors in same_start):
            return BLANK_LINE
        return f"accepted: other ({said[:40]})"

    def differences(self) -> Counter[str]:
        """Causes of difference in this file."""
        found = Counter(self.cause(game) for game in self.differing)
        if not any(errors for _, _, errors in self.theirs):
            found.update(
                {
                    f"refused: {faults.kind_of_fault(game.fault)}"
                    for game in self.ours
                    if game.reason is not None
                }
            )
        return found


def trials(seed: int, n: int, folder: Path) -> Iterator[Trial]:
    """n damaged files."""
    rng, games = random.Random(seed), originals(seed, 60)
    for _ in range(n):
        content = mutate(rng, rng.choice(games))
        yield Trial(content, games_of_bytes(content, folder), oracle_games(content))


def main(n: int) -> None:
    """Compare the readers on n damaged files and print what differs."""
    total, accepted, refused, clean = Counter(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for trial in trials(1, n, Path(folder)):
            accepted += len(trial.accepted)
            refused += len(trial.ours) - len(trial.accepted)
            clean += not any(errors for _, _, errors in trial.theirs)
            total.update(trial.differences())
    print(
        f"{n} damaged files: {accepted} games accepted, {refused} refused; python-chess reads"
        f" {clean} files without error"
    )
    for cause, count in total.most_common():
        print(f"{count:7d}  {cause}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
