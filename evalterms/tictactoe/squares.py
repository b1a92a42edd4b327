"""Marks by kind of square, and tempo."""

import numpy as np

from evalterms.term import Term
from games.bits import popcount

CENTRES, CORNERS, EDGES = np.uint64(0o020), np.uint64(0o505), np.uint64(0o252)

squares = Term("squares")
CENTRE, CORNER, EDGE, TEMPO = squares.declare("centre corner edge tempo")


@squares.counts
def count_squares(us, them, emit):
    """Our marks in the centre, in the corners and on the edges; and the side to move."""
    emit(CENTRE, popcount(us.marks & CENTRES))
    emit(CORNER, popcount(us.marks & CORNERS))
    emit(EDGE, popcount(us.marks & EDGES))
    emit(TEMPO, np.int64(us.to_move))
