"""The rules of backgammon for callers in Python: afterstates of a roll, the result in points."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.addresses import address_of
from games.backgammon.afterstates import MOST, STRIDE, afterstates_of
from games.backgammon.board import (
    BAR_SET,
    NOT_OFF,
    PLY_SHIFT,
    STATE,
    TURN,
    WORDS,
    dice_of,
    occupied,
    turn_of,
    with_dice,
    words_type,
)
from games.backgammon.unit import entry, inner
from games.bits import EMPTY, bit

HIGHEST_POINTS = 3  # a backgammon
MOVE_DICE_SHIFT = 32  # above the steps of a move, its dice
THEIR_HOME = np.uint64(BAR_SET | sum((np.uint64(1 << place) for place in range(19, 25)), EMPTY))


@inner(types.int64(types.uint64, types.uint64, types.uint64, types.uint64))
def points_won(low, high, other_low, other_high):
    """Return the points of a side that has borne off all checkers: 1, 2 for a gammon, 3 for a backgammon; 0 if it has not."""
    if occupied(low, high) & NOT_OFF:
        return 0
    other = occupied(other_low, other_high)
    if other & bit(0):
        return 1
    return 3 if other & THEIR_HOME else 2


@inner(types.int64(words_type))
def points_of(words):
    """Return the points that the first player wins in a position, negative for a loss; 0 while the game continues."""
    return (points_won(words[0], words[1], words[2], words[3]) - points_won(words[2], words[3], words[0], words[1]))


@entry(types.int64(words_type))
def points(words):
    """Return the points that the first player wins in a position, negative for a loss; 0 while the game continues."""
    return points_of(words)


@entry(types.int64(words_type, words_type, words_type, types.int64, types.int64))
def _afterstates(words, out, scratch, larger, smaller):
    turn = 2 * np.int64(words[STATE] & TURN)
    for i in range(4):
        out[i] = words[(i + turn) % 4]
    return afterstates_of(address_of(out), address_of(scratch), larger, smaller)


def afterstates(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the afterstates (n, 5) of a position with dice, and how each is reached: (n,) uint64, a byte for each checker moved,
    its place and 32 times the die. A pass is one afterstate with no steps. A game that has ended has no afterstates."""
    larger, smaller = dice_of(words)
    if not larger:
        raise ValueError("the dice have not been rolled")
    if points(words):
        return np.empty((0, WORDS), np.uint64), np.empty(0, np.uint64)
    out, scratch = np.empty(MOST * STRIDE, np.uint64), np.empty(MOST * STRIDE, np.uint64)
    found = out[:STRIDE * _afterstates(words, out, scratch, larger, smaller)].reshape(-1, STRIDE)
    state = int(with_dice(words, (0, 0))[4])
    after = np.empty((len(found), WORDS), np.uint64)
    after[:, :4] = found[:, :4] if not turn_of(words) else found[:, [2, 3, 0, 1]]
    after[:, STATE] = (state ^ int(TURN)) + (1 << PLY_SHIFT)
    return after, found[:, 4].copy()


def steps_of(move: int) -> list[tuple[int, int]]:
    """Return the steps of a move as (place, die)."""
    return [(byte & 31, byte >> 5) for byte in int(move).to_bytes(4, "little") if byte]
