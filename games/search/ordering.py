"""The order of moves: each move with its score in one word, and the best of them.

A word holds, from bit 0: the move (24 bits), 255 minus its place in the list (8), its score (32). So the greatest word is the
move with the highest score, the first of them in the list.
"""

from __future__ import annotations

from numba.core import types

import numpy as np

from games import jit

PLACES = 256
MOVE_MASK, PLACE_SHIFT, SCORE_SHIFT = (1 << 24) - 1, 24, 32
inner = jit.Unit("search", lambda: []).inner  # compiled into the units of the games
list_type = types.Array(types.int64, 1, "C")


@inner(types.int64(types.int64, types.int64, types.int64), forceinline=True)
def scored(move, place, score):
    """Return the word of a move."""
    return score << SCORE_SHIFT | (PLACES - 1 - place) << PLACE_SHIFT | move


@inner(types.int64(types.int64), forceinline=True)
def move_of(word):
    return word & MOVE_MASK


@inner(types.int64(types.int64), forceinline=True)
def score_of(word):
    return word >> SCORE_SHIFT


@inner(types.int64(types.int64), forceinline=True)
def place_of(word):
    return PLACES - 1 - (word >> PLACE_SHIFT & (PLACES - 1))


@inner(types.int64(list_type, types.int64, types.int64))
def greatest(words, begin, end):
    """Return the greatest of words[begin:end]."""
    best = words[begin]
    for k in range(np.uint64(begin + 1), np.uint64(end)):  # an unsigned index, which cannot count from the end of the array
        best = max(best, words[k])
    return best


@inner(types.void(list_type, types.int64, types.int64))
def bring_forward(words, word, place):
    """Swap a word of the list with the one at a place."""
    old = words[place]
    at = place_of(word)
    words[at] = scored(move_of(old), at, score_of(old))
    words[place] = word
