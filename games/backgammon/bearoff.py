"""The one-sided bear-off table: how many rolls a side with all checkers at home needs to bear them off.

A row for each of the 54,264 ways to have up to 15 checkers on points 1 to 6: the probabilities that the last checker leaves with
the first roll, the second, and so on, if each move has the lowest mean number of rolls afterwards. It is computed at first use,
in seconds, and kept in the compile cache.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba.core import types

from games import cache, jit
from games.addresses import address_of
from games.backgammon.afterstates import MOST, STRIDE, afterstates_of
from games.backgammon.board import CHECKERS, HOME, NOT_OFF, count_at, occupied, turn_of, words_type
from games.backgammon.unit import CORE, entry, inner
from games.bits import EMPTY

POINTS_AT_HOME, ROWS, ROLLS = 6, 54_264, 32
KIND = "bearoff"


ways_to_choose = jit.table("backgammon_ways_to_choose", np.array(  # k of n, at 7 n + k
    [math.comb(n, k) for n in range(CHECKERS + POINTS_AT_HOME) for k in range(POINTS_AT_HOME + 1)], np.int64))


@inner(types.int64(types.uint64, types.uint64))
def row_of(low, high):
    """Return the row of a side whose checkers are at home or off. Every move leads to an earlier row; row 0 has none left."""
    row, behind = 0, 0
    for i in range(1, POINTS_AT_HOME + 1):
        behind += count_at(low, high, POINTS_AT_HOME + 1 - i)
        row += ways_to_choose(7 * (behind + i - 1) + i)
    return row


@entry(types.int64(words_type, types.int64))
def _row(words, side):
    return row_of(words[2 * side], words[2 * side + 1])


@entry(types.void(types.Array(types.float32, 2, "C"), types.Array(types.float64, 1, "C"), types.Array(types.uint64, 2, "C"),
                  words_type, words_type))
def _fill(rows, means, sides, out, scratch):
    """Write the probabilities and means of all rows; `sides` are their words, in order."""
    rows[0, :] = np.float32(0)
    for row in range(1, len(sides)):
        for larger in range(1, 7):
            for smaller in range(1, larger + 1):
                out[0], out[1], out[2], out[3] = sides[row, 0], sides[row, 1], EMPTY, EMPTY
                n = afterstates_of(address_of(out), address_of(scratch), larger, smaller)
                best = -1
                for k in range(n):
                    after = row_of(out[STRIDE * k], out[STRIDE * k + 1])
                    if best < 0 or means[after] < means[best]:
                        best = after
                weight = 1.0 if larger == smaller else 2.0
                means[row] += (1.0 + means[best]) * weight / 36.0
                if best == 0:
                    rows[row, 0] += np.float32(weight / 36.0)
                for k in range(1, rows.shape[1]):
                    rows[row, k] += rows[best, k - 1] * np.float32(weight / 36.0)


def _sides() -> np.ndarray:
    """Return the counts of all rows (ROWS, 2) as words."""
    counts = counts_of_rows()
    found = np.concatenate([CHECKERS - counts.sum(1, keepdims=True), counts], 1).astype(np.uint64)
    places = np.arange(POINTS_AT_HOME + 1, dtype=np.uint64)
    planes = [np.bitwise_or.reduce((found >> np.uint64(k) & np.uint64(1)) << places, axis=1) for k in range(4)]
    return np.stack([planes[0] | planes[1] << np.uint64(32), planes[2] | planes[3] << np.uint64(32)], 1)


def counts_of_rows() -> np.ndarray:
    """Return the counts (ROWS, 6) int64 of all rows on points 1 to 6."""
    behind = np.array(list(_rising(POINTS_AT_HOME, CHECKERS)))  # checkers on point 6, on 5 and 6, and so on
    return np.diff(behind, axis=1, prepend=0)[:, ::-1]


def _rising(numbers: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield tuples of numbers that do not fall, up to `most`, ordered by the last, then by the one before."""
    if numbers:
        for last in range(most + 1):
            for rest in _rising(numbers - 1, last):
                yield (*rest, last)
    else:
        yield ()


def compute() -> np.ndarray:
    """Return the table (ROWS, ROLLS) float32, computed anew."""
    rows, means = np.zeros((ROWS, ROLLS), np.float32), np.zeros(ROWS)
    _fill(rows, means, _sides(), np.zeros(MOST * STRIDE, np.uint64), np.zeros(MOST * STRIDE, np.uint64))
    return rows


@functools.cache
def table() -> np.ndarray:
    """Return the table (ROWS, ROLLS) float32: in column k the probability that the last checker leaves with roll k + 1."""
    path = Path(cache.folder(KIND, CORE.name)) / "table.npy"
    try:
        found = np.load(path, allow_pickle=False)
        if found.shape == (ROWS, ROLLS) and found.dtype == np.float32 and abs(found[1:].sum(1) - 1).max() < 1e-4:
            return found
    except (OSError, ValueError, EOFError):
        pass  # not there yet, or cut off by a full disk
    found = compute()
    temporary = path.with_suffix(f".{os.getpid()}.npy")
    try:
        np.save(temporary, found)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)  # without a cache it is computed by every process
    return found


def at_home(words: np.ndarray, side: int) -> bool:
    """Return whether all checkers of a side are at home or off."""
    return not int(occupied_at(words, side)) & int(NOT_OFF) & ~int(HOME)


@entry(types.uint64(words_type, types.int64))
def occupied_at(words, side):
    """Return the places of a side with checkers."""
    return occupied(words[2 * side], words[2 * side + 1])


def rolls(words: np.ndarray, side: int) -> np.ndarray:
    """Return the distribution (ROLLS,) of the rolls that a side needs; ValueError unless its checkers are all at home."""
    if not at_home(words, side):
        raise ValueError("not all checkers are at home")
    return table()[_row(words, side)].astype(np.float64)


def win_chance(words: np.ndarray) -> float:
    """Return the probability that the side to roll wins a race in which both sides bear off."""
    turn = turn_of(words)
    own, other = (each / each.sum() for each in (rolls(words, turn), rolls(words, 1 - turn)))
    return float(own @ np.cumsum(other[::-1])[::-1])
