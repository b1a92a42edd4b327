"""A parsed game as one row of numbers, and the array types of the PGN parser."""

from __future__ import annotations

from numba.core import types

from games.chess import faults
from games.chess.unit import inner

# columns of the row
FIELDS = (FAULT, FAULT_AT, FAULT_END, FAULT_PLY, RESULT, TAG_RESULT, PLIES, FIRST_MOVE, WHITE_ELO, BLACK_ELO, BEGIN,
          HAS_TAGS, HAS_FEN) = range(13)

row_type = types.Array(types.int64, 1, "C")
rows_type = types.Array(types.int64, 2, "C")
positions_type = types.Array(types.uint64, 2, "C")
moves_type = types.Array(types.uint32, 1, "C")


@inner(types.void(row_type, types.int64, types.int64, types.int64, types.int64))
def note(game, fault, i, end, ply):
    """Keep the first fault of a game."""
    if game[FAULT] == faults.OK:
        game[FAULT] = fault
        game[FAULT_AT] = i
        game[FAULT_END] = end
        game[FAULT_PLY] = ply
