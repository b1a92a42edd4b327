"""Operations on sets of squares, compiled and plain, against Python integers."""

import random

import numpy as np
from numba.core import types

from games.bits import EMPTY, bit, flip, leading_zeros, lowest, popcount, when, without_lowest
from tests.games.support import unit_of

UNIT = unit_of(__file__)
sets_type, counts_type = types.Array(types.uint64, 1, "C"), types.Array(types.int64, 2, "C")


@UNIT.entry(types.void(sets_type, counts_type, types.Array(types.uint64, 2, "C")))
def everything(sets, counts, results):
    for i in range(len(sets)):
        one = sets[i]
        counts[i, 0] = popcount(one)
        counts[i, 1] = lowest(one)
        counts[i, 2] = leading_zeros(one)
        results[i, 0] = flip(one)
        results[i, 1] = without_lowest(one)
        results[i, 2] = when(i % 2 == 0, one)
        results[i, 3] = bit(i % 64)


def some_sets() -> list[int]:
    rng = random.Random(1)
    edges = [1 << square for square in range(64)] + [(1 << 64) - 1, (1 << 64) - 2, (1 << 63) + 1]
    return (
        edges
        + [rng.getrandbits(64) & rng.getrandbits(64) for _ in range(300)]
        + [rng.getrandbits(64) | 1 for _ in range(50)]
    )


def test_sets_of_squares_behave_as_python_integers():
    sets = [one for one in some_sets() if one]
    counts, results = np.zeros((len(sets), 3), np.int64), np.zeros((len(sets), 4), np.uint64)
    everything(np.array(sets, np.uint64), counts, results)
    for i, one in enumerate(sets):
        squares = [square for square in range(64) if one >> square & 1]
        assert counts[i].tolist() == [len(squares), squares[0], 63 - squares[-1]]
        assert results[i].tolist() == [
            sum(1 << (square ^ 56) for square in squares),
            sum(1 << square for square in squares[1:]),
            one if i % 2 == 0 else 0,
            1 << i % 64,
        ]


def test_the_empty_set_has_no_squares():
    counts, results = np.zeros((1, 3), np.int64), np.ones((1, 4), np.uint64)
    sets = np.zeros(1, np.uint64)
    only_counts(sets, counts, results)
    assert counts[0, 0] == 0
    assert results[0].tolist() == [0, 0, 0, 0]
    assert EMPTY == 0


@UNIT.entry(types.void(sets_type, counts_type, types.Array(types.uint64, 2, "C")))
def only_counts(sets, counts, results):
    counts[0, 0] = popcount(sets[0])
    results[0, 0] = flip(sets[0])
    results[0, 1] = when(True, sets[0])
    results[0, 2] = when(False, ~sets[0])
    results[0, 3] = sets[0]
