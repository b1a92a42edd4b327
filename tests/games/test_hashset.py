"""The set of keys against Python's."""

import random

import numpy as np
import pytest
from numba.core import types

from games.compile.hashset import HashSet, insert, table_type
from tests.games.support import unit_of

UNIT = unit_of(__file__)


@UNIT.entry(
    types.void(types.Array(types.uint64, 1, "C"), table_type, types.Array(types.boolean, 1, "C"))
)
def insert_each(keys, table, new):
    for i in range(len(keys)):
        new[i] = insert(table, keys[i])


def batches(kind: str) -> list[np.ndarray]:
    rng = random.Random(kind)
    draw = {
        "random": lambda: rng.getrandbits(64) | 2,
        "few": lambda: rng.randrange(2, 500),
        "low bits alike": lambda: rng.randrange(1, 5000) << 44,
        "high bits alike": lambda: (1 << 63) + rng.randrange(5000),
    }
    return [
        np.array([draw[kind]() for _ in range(rng.choice([0, 1, 10, 3000]))], np.uint64)
        for _ in range(12)
    ]


@pytest.mark.parametrize("kind", ["random", "few", "low bits alike", "high bits alike"])
def test_a_key_is_new_once_however_often_the_set_grows(kind):
    ours, theirs = HashSet(), set()
    for keys in batches(kind):
        new = np.zeros(len(keys), np.bool_)
        insert_each(keys, ours.reserve(len(keys)), new)
        for key, was_new in zip(keys.tolist(), new.tolist(), strict=True):
            assert was_new == (key not in theirs)
            theirs.add(key)
        ours.used(int(new.sum()))
        assert set(ours.table[ours.table != 0].tolist()) == theirs


def test_the_set_stays_half_empty():
    ours = HashSet()
    for more in (0, 1, 4096, 5000, 100_000):
        table = ours.reserve(more)
        ours.used(more)
        assert len(table) >= 2 * (more + 1)
        assert len(table).bit_count() == 1


def test_no_key_is_lost_for_being_zero():
    new = np.zeros(3, np.bool_)
    insert_each(np.array([0, 7, 0], np.uint64), HashSet().reserve(3), new)
    assert new.tolist() == [True, True, False]
