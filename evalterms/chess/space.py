"""Space and tempo."""

import numpy as np

from evalterms.chess.squares import CENTRE_FILES, RANKS_2_TO_4, down, fill_down
from evalterms.term import Term
from games.bits import popcount

space = Term("space")
SAFE_SQUARES = space.parameter("safe_squares")
BEHIND_PAWNS = space.parameter("behind_pawns")
TEMPO = space.parameter("tempo")


@space.counts
def count_space(us, them, emit):
    """Safe squares on our side of the centre files, those among them behind our pawns, and the side to move."""
    safe = CENTRE_FILES & RANKS_2_TO_4 & ~us.pawns & ~them.pawn_attacks
    emit(SAFE_SQUARES, popcount(safe))
    emit(BEHIND_PAWNS, popcount(safe & fill_down(down(us.pawns)) & ~them.attacks))
    emit(TEMPO, np.int64(us.to_move))
