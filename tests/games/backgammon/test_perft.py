"""Counts of afterstates against lists of them, ours and gnubg's."""

import importlib.util

import numpy as np

from games.backgammon.rules.board import with_dice
from games.backgammon.rules.dice import ROLLS
from games.backgammon.rules.play import afterstates, count_afterstates, points
from tests.benchmarks.speed import backgammon as bench
from tests.games.backgammon.support import random_board


def test_the_count_is_that_of_the_lists():
    random = np.random.default_rng(3)
    boards = np.array([random_board(random) for _ in range(20)] + list(bench.positions(20)))
    assert count_afterstates(boards) == sum(
        len(afterstates(with_dice(words, dice))[0]) for words in boards for dice in ROLLS
    )


def test_bench_and_its_reference_count_the_same(monkeypatch):
    """gnubg counts no afterstate for a pass, we count one: one in fifty at most in games of
    pubeval."""
    monkeypatch.setattr(bench, "COUNTED", 40)
    monkeypatch.setattr(bench, "REFERENCE_COUNTED", 40)
    ((_, ours, _, reference),) = bench.counting()
    if importlib.util.find_spec("gnubg_nn") is None:
        assert reference is None
        return
    gnubg = bench._gnubg()
    passes = theirs = 0
    for words in bench.positions(40):
        for dice in ROLLS:
            n = len(gnubg.moves(bench._gnubg_board(words), *dice))
            theirs, passes = theirs + n, passes + (n == 0)
    assert theirs + passes == ours and passes < ours / 50 and reference > 0


def test_measured_positions_are_rolled_and_not_over():
    some = bench.positions(50)
    assert len(np.unique(some, axis=0)) == 50
    assert all(words[4] >> np.uint64(1) & np.uint64(63) for words in some) and not any(
        points(words) for words in some
    )
