"""Positions and rolls for tests of backgammon, and gnubg's shape of a board."""

from collections.abc import Callable, Iterator

import numpy as np

from games.backgammon.files.ids import position_id
from games.backgammon.files.reading import HEADER
from games.backgammon.rules import play as rules
from games.backgammon.rules.board import counts_of, dice_of, packed, start, turn_of, with_dice

Choose = Callable[[np.ndarray], int]  # afterstates (n, 5) to the index of one


def gnubg_board(words: np.ndarray) -> list[list[int]]:
    """The board as gnubg_nn takes it: the side that is not to move, then the side to move, 24
    points and the bar."""
    counts, turn = counts_of(words), turn_of(words)
    return [[int(n) for n in counts[side, 1:26]] for side in (1 - turn, turn)]


def rolls_of_games(
    seed: int,
    number: int,
    choose: Choose | None = None,
    first: Callable[[], np.ndarray] = start,
) -> Iterator[np.ndarray]:
    """Positions with dice of games in which `choose` plays, by default anything."""
    random = np.random.default_rng(seed)
    while True:
        words = first()
        while not rules.points(words):
            words = with_dice(words, (int(random.integers(1, 7)), int(random.integers(1, 7))))
            yield words
            number -= 1
            if not number:
                return
            after, _ = rules.afterstates(words)
            words = after[random.integers(len(after)) if choose is None else choose(after)]


def random_board(random: np.random.Generator, highest: int = 25) -> np.ndarray:
    """A board on which both sides have checkers anywhere up to `highest`, no point belonging to
    both, and some are off."""
    while True:
        counts = np.zeros((2, 26), np.int64)
        for side in range(2):
            np.add.at(counts[side], random.integers(0, highest + 1, 15), 1)
            counts[side, 1:25][counts[1 - side, 24:0:-1] > 0] *= side == 0
        for side in range(2):
            counts[side, 0] = 15 - counts[side, 1:].sum()
        if (counts[:, 1:].sum(1) > 0).all():
            return packed(counts, bool(random.integers(2)))


def xgid(words: np.ndarray) -> str:
    """The XGID of a position of a money game."""
    letters = ["-"] * 26
    for place, (first, second) in enumerate(zip(*counts_of(words).tolist(), strict=True)):
        if place and second:
            letters[place] = chr(ord("A") - 1 + second)
        if place and first:
            letters[25 - place] = chr(ord("a") - 1 + first)
    larger, smaller = dice_of(words)
    return f"XGID={''.join(letters)}:0:0:{1 if turn_of(words) else -1}:{larger}{smaller}:0:0:0:0:10"


def labels_text(positions: np.ndarray, chances: np.ndarray) -> str:
    """Return positions (n, words) and probabilities (n, 5) for the side that rolls as the text of a
    file."""
    rows = (
        f"{position_id(words)},{','.join(f'{chance:.6g}' for chance in row)}\n"
        for words, row in zip(positions, chances, strict=True)
    )
    return ",".join(HEADER) + "\n" + "".join(rows)
