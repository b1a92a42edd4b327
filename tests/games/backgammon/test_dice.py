"""Dice by counters, against NumPy's Philox."""

import numpy as np

from games.backgammon.rules.dice import fill, first_roll, roll


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
