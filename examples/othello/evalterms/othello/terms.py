"""What the evaluation of Othello counts: discs, kinds of squares, mobility."""

import numpy as np

from evalterms.term import Term
from games.bits import popcount

CORNERS, EDGES = np.uint64(0x8100000000000081), np.uint64(0x3C0081818181003C)
BESIDE, DIAGONAL = (
    np.uint64(0x4281000000008142),
    np.uint64(0x0042000000004200),
)  # neighbors of corners

discs = Term("discs")
DISC = discs.parameter("disc")
TEMPO = discs.parameter("tempo")


@discs.counts
def count_discs(us, them, emit):
    """Our discs; and the side to move."""
    emit(DISC, popcount(us.discs))
    emit(TEMPO, np.int64(us.to_move))


squares = Term("squares")
CORNER = squares.parameter("corner")
EDGE = squares.parameter("edge")
NEXT_TO_CORNER = squares.parameter("beside_corner")
X_SQUARE = squares.parameter("x_square")


@squares.counts
def count_squares(us, them, emit):
    """Our discs in corners, on edges away from corners, beside corners on the edge, and diagonally
    beside corners."""
    emit(CORNER, popcount(us.discs & CORNERS))
    emit(EDGE, popcount(us.discs & EDGES))
    emit(NEXT_TO_CORNER, popcount(us.discs & BESIDE))
    emit(X_SQUARE, popcount(us.discs & DIAGONAL))


mobility = Term("mobility")
MOVES = mobility.parameter("moves")


@mobility.counts
def count_mobility(us, them, emit):
    """Squares where we could put a disc."""
    emit(MOVES, popcount(us.targets))
