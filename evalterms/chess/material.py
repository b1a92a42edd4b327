"""Piece values."""

from evalterms.term import Term
from games.bits import popcount

material = Term("material")
PAWN = material.parameter("pawn")
KNIGHT = material.parameter("knight")
BISHOP = material.parameter("bishop")
ROOK = material.parameter("rook")
QUEEN = material.parameter("queen")


@material.counts
def count_material(us, them, emit):
    """The number of pieces of each kind."""
    emit(PAWN, popcount(us.pawns))
    emit(KNIGHT, popcount(us.knights))
    emit(BISHOP, popcount(us.bishops))
    emit(ROOK, popcount(us.rooks))
    emit(QUEEN, popcount(us.queens))
