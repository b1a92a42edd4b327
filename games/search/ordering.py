"""The order of moves: each move with its score in one word, and the best of them.

A word holds, from bit 0: the move (24 bits), 1023 minus its place in the list (10), its score (30). So the greatest word is the
move with the highest score, the first of them in the list.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games import jit

PLACES = 1024
LANES = 8  # words that are compared at once
LEAST = np.int64(-1 << 63)
U1, U2, U3, U4, U5, U6, U7, U8 = (np.uint64(n) for n in range(1, LANES + 1))
MOVE_MASK, PLACE_SHIFT, SCORE_SHIFT = (1 << 24) - 1, 24, 34
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


@inner(types.void(list_type, types.int64), forceinline=True)
def pad(words, end):
    """Write words less than all others behind the list, so that `greatest` reads LANES at a time."""
    for k in range(np.uint64(end), np.uint64(end + LANES)):
        words[k] = LEAST


@inner(types.int64(list_type, types.int64, types.int64), forceinline=True)
def greatest(words, begin, end):
    """Return the greatest of words[begin:end], which is padded."""
    a, b, c, d, e, f, g, h = LEAST, LEAST, LEAST, LEAST, LEAST, LEAST, LEAST, LEAST
    k = np.uint64(begin)
    while k < np.uint64(end):  # an unsigned index cannot count from the end of the array
        a, b, c, d = (max(a, words[k]), max(b, words[k + U1]), max(c, words[k + U2]), max(d, words[k + U3]))
        e, f, g, h = (max(e, words[k + U4]), max(f, words[k + U5]), max(g, words[k + U6]), max(h, words[k + U7]))
        k += U8
    return max(max(max(a, e), max(b, f)), max(max(c, g), max(d, h)))


@inner(types.void(list_type, types.int64, types.int64), forceinline=True)
def bring_forward(words, word, place):
    """Swap a word of the list with the one at a place."""
    old = words[place]
    at = place_of(word)
    words[at] = scored(move_of(old), at, score_of(old))
    words[place] = word
