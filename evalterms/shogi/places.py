"""Squares as places of tables, whose rows in parameter files are those of a board: rank a first, file 9 left."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games import jit
from games.shogi.squares import FILES, RANKS, SQUARES
from games.shogi.unit import inner

RELATIVE_RANKS = 2 * RANKS - 1  # rank differences from -8 to 8
PLACES = FILES * RELATIVE_RANKS

# rows of parameters count from the bottom
place_of = jit.table("shogi_places", np.array([SQUARES - 1 - RANKS * (square % RANKS) - square // RANKS
                                               for square in range(SQUARES)], np.int64))
_relative = jit.table("shogi_relative", np.array(
    [[(king % RANKS - square % RANKS + RANKS - 1) * FILES + abs(king // RANKS - square // RANKS) for square in range(SQUARES)]
     for king in range(SQUARES)], np.int64).ravel())


@inner(types.int64(types.int64, types.int64), forceinline=True)
def relative_place(king, square):
    """Return the place of a square relative to a king's: rows by ranks ahead of it, columns by the distance in files."""
    return _relative(SQUARES * king + square)
