"""Dice by counters, against NumPy's Philox."""

import importlib.util

import numpy as np

from games.backgammon.rules.board import with_dice
from games.backgammon.rules.dice import ROLLS, fill, first_roll, roll
from games.backgammon.rules.play import afterstates, count_afterstates, points
from tests.benchmarks.speed import backgammon as bench
from tests.games.backgammon.support import random_board


def test_random_words_are_those_of_numpy():
    random = np.random.default_rng(1)
    for _ in range(20):
        counter, key = (
            random.integers(0, 2**64, 4, np.uint64),
            random.integers(0, 2**64, 2, np.uint64),
        )
        # NumPy counts up before it draws
        expected = np.random.Philox(counter=counter, key=key).random_raw(4)
        counter[0] += np.uint64(1)
        fill(counter, *key)
        assert (counter == expected).all()


def test_rolls_are_uniform_and_differ_by_seed_game_and_ply():
    rolls = [roll(1, game, ply) for game in range(200) for ply in range(60)]
    found = {pair: rolls.count(pair) for pair in set(rolls)}
    assert len(found) == 21
    square = sum(
        (found[pair] - expected) ** 2 / expected
        for pair in found
        for expected in [len(rolls) * (1 if pair[0] == pair[1] else 2) / 36]
    )
    assert square < 45.3  # the 99.9 % quantile of chi-squared with 20 degrees of freedom
    lines = {tuple(roll(*start, ply) for ply in range(30)) for start in ((1, 1), (1, 2), (2, 1))}
    assert len(lines) == 3


def test_the_first_roll_has_two_numbers_and_either_side_starts():
    found = [first_roll(3, game) for game in range(2000)]
    assert all(dice[0] > dice[1] for dice, _ in found)
    assert abs(sum(second for _, second in found) - 1000) < 100


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
