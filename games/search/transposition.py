"""The transposition table: two words per entry, always replaced.

The first word is the Zobrist key of the position; the second holds, from bit 0: the move (24 bits), the depth (6), the bound
(2), the value (32). Mate distances count from the position, not from the root.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games import jit
from games.search.context import DECIDED
from games.search.memory import put_word, word_at

NONE, LOWER, UPPER, EXACT = range(4)  # bounds: no value (only the move), value at least, at most, exact
MOVE_MASK, DEPTH_MASK, BOUND_MASK = (1 << 24) - 1, 63, 3
DEPTH_SHIFT, BOUND_SHIFT, VALUE_SHIFT = 24, 30, 32
inner = jit.Unit("search", lambda: []).inner  # compiled into the units of the games


@inner(types.int64(types.int64, types.int64, types.uint64))
def tt_probe(table, mask, key):
    """Return the entry of a position, or 0."""
    place = (np.int64(key) & mask) << 1
    return np.int64(word_at(table, place + 1)) if word_at(table, place) == key else 0


@inner(types.void(types.int64, types.int64, types.uint64, types.int64, types.int64, types.int64, types.int64, types.int64))
def tt_store(table, mask, key, move, depth, bound, value, ply):
    """Store an entry, whatever was there before: an entry of another position, however deep, is probably old."""
    place = (np.int64(key) & mask) << 1
    if value > DECIDED:
        value += ply
    elif value < -DECIDED:
        value -= ply
    if move == 0 and word_at(table, place) == key:
        move = np.int64(word_at(table, place + 1)) & MOVE_MASK
    put_word(table, place, key)
    put_word(table, place + 1, np.uint64(move | depth << DEPTH_SHIFT | bound << BOUND_SHIFT | value << VALUE_SHIFT))


@inner(types.int64(types.int64))
def tt_move(entry):
    return entry & MOVE_MASK


@inner(types.int64(types.int64))
def tt_depth(entry):
    return entry >> DEPTH_SHIFT & DEPTH_MASK


@inner(types.int64(types.int64))
def tt_bound(entry):
    return entry >> BOUND_SHIFT & BOUND_MASK


@inner(types.int64(types.int64, types.int64))
def tt_value(entry, ply):
    """Return the value, with mate distances counted from the root, `ply` plies above."""
    value = entry >> VALUE_SHIFT
    if value > DECIDED:
        return value - ply
    return value + ply if value < -DECIDED else value


@inner(types.boolean(types.int64, types.int64, types.int64, types.int64))
def tt_cutoff(entry, ply, alpha, beta):
    """Whether the entry's bound allows a cutoff in the window from alpha to beta."""
    value, bound = tt_value(entry, ply), tt_bound(entry)
    return bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)
