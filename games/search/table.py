"""The transposition table: what is known about positions, in two words each.

The first word is the position's key; the second holds, from bit 0: the move (24 bits), the depth (6), the bound (2), the
value (32). A value of mate counts from the position, not from the root.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games import jit
from games.search.context import DECIDED
from games.search.memory import put_word, word_at

NONE, LOWER, UPPER, EXACT = range(4)  # of a bound: only the move is known, at least, at most, both
MOVE_MASK, DEPTH_MASK, BOUND_MASK = (1 << 24) - 1, 63, 3
DEPTH_SHIFT, BOUND_SHIFT, VALUE_SHIFT = 24, 30, 32
inner = jit.Unit("search", lambda: []).inner  # compiled into the units of the games


@inner(types.int64(types.int64, types.int64, types.uint64))
def look_up(table, mask, key):
    """What is known about a position; 0 for nothing."""
    place = (np.int64(key) & mask) << 1
    return np.int64(word_at(table, place + 1)) if word_at(table, place) == key else 0


@inner(types.void(types.int64, types.int64, types.uint64, types.int64, types.int64, types.int64, types.int64, types.int64))
def remember(table, mask, key, move, depth, bound, value, ply):
    """Keep what was found out; a deep result on another position gives way too: it is old."""
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
def known_move(entry):
    return entry & MOVE_MASK


@inner(types.int64(types.int64))
def known_depth(entry):
    return entry >> DEPTH_SHIFT & DEPTH_MASK


@inner(types.int64(types.int64))
def known_bound(entry):
    return entry >> BOUND_SHIFT & BOUND_MASK


@inner(types.int64(types.int64, types.int64))
def known_value(entry, ply):
    """The value, for a position `ply` plies below the root."""
    value = entry >> VALUE_SHIFT
    if value > DECIDED:
        return value - ply
    return value + ply if value < -DECIDED else value


@inner(types.boolean(types.int64, types.int64, types.int64, types.int64))
def decides(entry, ply, alpha, beta):
    """Whether what is known answers the question if a value lies between alpha and beta."""
    value, bound = known_value(entry, ply), known_bound(entry)
    return bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)
