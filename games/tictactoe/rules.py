"""The rules of tic-tac-toe, compiled."""

import numpy as np
from numba.core import types

from games.bits import EMPTY, bit, lowest, popcount, without_lowest
from games.compile import jit

SOURCES = [*jit.modules("games", "bits"), *jit.modules("games.tictactoe", "rules")]
CORE = jit.Unit("tictactoe", lambda: SOURCES)
inner = CORE.inner
entry = CORE.entry


WORDS, SQUARES = 2, 9
BOARD = np.uint64(0o777)
LINES = tuple(np.uint64(line) for line in (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124))
GOES_ON = 2
words_type = types.Array(types.uint64, 1, "C")


@inner(types.boolean(words_type))
def second_to_move(words):
    return popcount(words[0]) > popcount(words[1])


@inner(types.int64(words_type))
def result_of(words):
    """Return the result for x: 1, 0 or -1; GOES_ON before the end."""
    for line in LINES:
        if words[0] & line == line:
            return 1
        if words[1] & line == line:
            return -1
    return 0 if words[0] | words[1] == BOARD else GOES_ON


@entry(types.int64(words_type))
def outcome(words):
    """Call `result_of` from Python, which `inner` functions do not allow."""
    return result_of(words)


@entry(types.Array(types.int64, 1, "C")(words_type))
def legal_moves(words):
    """Return the free squares in ascending order; empty once the game is over."""
    free = BOARD & ~(words[0] | words[1]) if result_of(words) == GOES_ON else EMPTY
    moves = np.empty(popcount(free), np.int64)
    for i in range(len(moves)):
        moves[i] = lowest(free)
        free = without_lowest(free)
    return moves


@entry(words_type(words_type, types.int64))
def play(words, square):
    """Return the position after a legal move."""
    after = words.copy()
    after[1 if second_to_move(words) else 0] |= bit(square)
    return after
