"""Piece-square tables."""

from evalterms.term import Term
from games.bits import lowest, without_lowest

piece_square = Term("piece_square")
PAWN = piece_square.parameter("pawn", 8, 8)
KNIGHT = piece_square.parameter("knight", 8, 8)
BISHOP = piece_square.parameter("bishop", 8, 8)
ROOK = piece_square.parameter("rook", 8, 8)
QUEEN = piece_square.parameter("queen", 8, 8)
KING = piece_square.parameter("king", 8, 8)


@piece_square.counts(reads="pawns and kings")
def count_squares_of_pawns_and_king(us, them, emit):
    """The squares of pawns and king."""
    rest = us.pawns
    while rest:
        emit(PAWN + lowest(rest), 1)
        rest = without_lowest(rest)
    emit(KING + lowest(us.king), 1)


@piece_square.counts
def count_squares_of_pieces(us, them, emit):
    """The squares of the other pieces."""
    rest = us.knights
    while rest:
        emit(KNIGHT + lowest(rest), 1)
        rest = without_lowest(rest)
    rest = us.bishops
    while rest:
        emit(BISHOP + lowest(rest), 1)
        rest = without_lowest(rest)
    rest = us.rooks
    while rest:
        emit(ROOK + lowest(rest), 1)
        rest = without_lowest(rest)
    rest = us.queens
    while rest:
        emit(QUEEN + lowest(rest), 1)
        rest = without_lowest(rest)
