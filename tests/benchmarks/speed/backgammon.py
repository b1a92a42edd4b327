"""Speed of reading games, move generation, search and self-play, compared to gnubg-nn on the same
input."""

import importlib
import importlib.util
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from games.backgammon.files.reading import read
from games.backgammon.rules.board import counts_of, start, turn_of
from games.backgammon.rules.dice import ROLLS, rolled
from games.backgammon.rules.play import (
    WHOLE_GAMES,
    afterstates,
    count_afterstates,
    points,
    pubeval_move,
)
from games.record import Dice, ReadOptions, ReadReport
from games.search.searcher import Limits, Searcher

__all__ = ["WHOLE_GAMES"]

LIGHT = "backgammon/classic"  # measured anyway: tables only are not much lighter
REFERENCE = "gnubg-nn"
# games a CPU second; million networks a CPU second
TARGETS = {
    "td linear": 5_000,
    "td network": 1_800,
    "networks": 1.0,
}
POSITIONS = "all"  # quiet ones are those of a search that backgammon has not
HIDDEN = 40  # units of the network that is measured
GAMES, LEARNING_GAMES = 2_000, 4_000  # of self-play without learning, and with it
SEED, SPREAD = 1, 7  # of the positions below: every 7th of games
COUNTED, REFERENCE_COUNTED = 5_000, 50  # positions
COUNTING = "move generation", "afterstates"
SEARCHED, SEARCH_UNIT = 50, "decisions/s"  # positions; each search decides on one move
DEPTHS = 1, 2


def _played() -> Iterator[np.ndarray]:
    """Yield positions with dice of games of pubeval against itself."""
    game = 0
    while True:
        game += 1
        words = rolled(start(), Dice(SEED, game))
        while not points(words):
            yield words
            after, _ = afterstates(words)
            words = after[pubeval_move(words, after)]
            if not points(words):
                words = rolled(words, Dice(SEED, game))


def positions(number: int) -> np.ndarray:
    """Return positions with dice (number, 5) from games of pubeval against itself."""
    return np.array(list(islice(_played(), 0, SPREAD * number, SPREAD)))


def _gnubg() -> Any:
    """Return gnubg-nn, None if it is not installed."""
    return importlib.import_module("gnubg_nn") if importlib.util.find_spec("gnubg_nn") else None


def reading(games: Path) -> tuple[int, float, float | None]:
    """Return the games in a file of games, and our CPU seconds for all of them; there is no
    reference."""
    report, started = ReadReport(), time.process_time()
    for _ in read(
        str(games), ReadOptions(positions=POSITIONS, duplicates="keep"), report, lambda text: None
    ):
        pass
    return report.games, time.process_time() - started, None


def counting() -> Iterator[tuple[str, int, float, float | None]]:
    """Yield name, afterstates, our CPU seconds, and the afterstates per second of gnubg-nn's
    generator, None without it. Both are given boards and call one generator a roll; gnubg-nn is
    called from Python, which costs it a little."""
    some = positions(COUNTED)
    count_afterstates(some[:1])
    started = time.process_time()
    total = count_afterstates(some)
    ours = time.process_time() - started
    gnubg, reference = _gnubg(), None
    if gnubg is not None:
        boards = [_gnubg_board(words) for words in some[:: COUNTED // REFERENCE_COUNTED]]
        started = time.process_time()
        found = sum(len(gnubg.moves(board, *dice)) for board in boards for dice in ROLLS)
        reference = found / (time.process_time() - started)
    yield "all 21 rolls of positions of games", total, ours, reference


def _gnubg_board(words: np.ndarray) -> list[list[int]]:
    """Return a board as gnubg-nn takes it: the side that is not to move, then the side to move, 24
    points and the bar."""
    counts, turn = counts_of(words), turn_of(words)
    return [[int(number) for number in counts[side, 1:]] for side in (1 - turn, turn)]


def searching(searcher: Searcher, depth: int) -> float:
    """Return the decisions per CPU second of a search of this depth: positions whose move it
    chooses."""
    some = positions(SEARCHED)
    started = time.thread_time()
    for words in some:
        searcher.search([words], Limits(depth=depth))
    return len(some) / (time.thread_time() - started)
