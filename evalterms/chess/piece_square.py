"""Piece-square tables."""

from evalterms.chess.squares import emit_squares
from evalterms.term import Term
from games.bits import lowest

piece_square = Term("piece_square")
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = piece_square.declare(
    "pawn knight bishop rook queen king", 8, 8
)


@piece_square.counts(reads="pawns and kings")
def count_squares_of_pawns_and_king(us, them, emit):
    """The squares of pawns and king."""
    emit_squares(us.pawns, PAWN, emit)
    emit(KING + lowest(us.king), 1)


@piece_square.counts
def count_squares_of_pieces(us, them, emit):
    """The squares of the other pieces."""
    emit_squares(us.knights, KNIGHT, emit)
    emit_squares(us.bishops, BISHOP, emit)
    emit_squares(us.rooks, ROOK, emit)
    emit_squares(us.queens, QUEEN, emit)
