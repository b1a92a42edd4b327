"""A parsed game as one row of numbers, and the array types of the PGN parser."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.chess import faults
from games.chess.unit import inner

# columns of the row
FIELDS = (FAULT, FAULT_AT, FAULT_END, FAULT_PLY, RESULT, TAG_RESULT, PLIES, FIRST_MOVE, WHITE_ELO, BLACK_ELO, BEGIN,
          HAS_TAGS, HAS_FEN, FIRST_SCORE, SCORES) = range(15)

row_type = types.Array(types.int64, 1, "C")
rows_type = types.Array(types.int64, 2, "C")
positions_type = types.Array(types.uint64, 2, "C")
moves_type = types.Array(types.uint32, 1, "C")
scores_type = types.Array(types.float32, 1, "C")


@inner(types.void(row_type, types.int64, types.int64, types.int64, types.int64))
def note(game, fault, i, end, ply):
    """Keep the first fault of a game."""
    if game[FAULT] == faults.OK:
        game[FAULT] = fault
        game[FAULT_AT] = i
        game[FAULT_END] = end
        game[FAULT_PLY] = ply


@inner(types.void(row_type, scores_type, types.int64, types.float64))
def note_score(game, scores, ply, score):
    """Record the score, centipawns for White, of the position after `ply` plies of a game.

    Positions up to the last one with a score have entries from scores[game[FIRST_SCORE]] on, NaN where there is none; a game
    without scores costs nothing.
    """
    first = game[FIRST_SCORE]
    for k in range(game[SCORES], ply):
        scores[first + k] = np.float32(np.nan)
    scores[first + ply] = np.float32(score)
    game[SCORES] = max(game[SCORES], ply + 1)


@inner(types.float32(row_type, scores_type, types.int64))
def score_at(game, scores, ply):
    """Return the score recorded for the position after `ply` plies of a game; NaN if there is none."""
    return scores[game[FIRST_SCORE] + ply] if ply < game[SCORES] else np.float32(np.nan)
