"""Piece-square tables."""

from evalterms.shogi.view import PROMOTED_MEN, UNPROMOTED, place_of
from evalterms.term import Term, inlined
from games.shogi.rules.squares import FILES, RANKS, lowest, without_lowest

piece_square = Term("piece_square")
PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK, KING, *PROMOTED = (
    piece_square.parameter(name, RANKS, FILES) for name in (*UNPROMOTED, "king", *PROMOTED_MEN)
)
PROMOTED_PAWN, PROMOTED_LANCE, PROMOTED_KNIGHT, PROMOTED_SILVER, HORSE, DRAGON = PROMOTED


@inlined
def emit_squares(emit, table, men):
    """Count the square of each man of a set in its table."""
    while men:
        emit(table + place_of(lowest(men)), 1)
        men = without_lowest(men)


@piece_square.counts
def count_squares(us, them, emit):
    """The square of each man."""
    emit_squares(emit, PAWN, us.pawns)
    emit_squares(emit, LANCE, us.lances)
    emit_squares(emit, KNIGHT, us.knights)
    emit_squares(emit, SILVER, us.silvers)
    emit_squares(emit, GOLD, us.golds)
    emit_squares(emit, BISHOP, us.bishops)
    emit_squares(emit, ROOK, us.rooks)
    emit_squares(emit, KING, us.king)
    emit_squares(emit, PROMOTED_PAWN, us.promoted_pawns)
    emit_squares(emit, PROMOTED_LANCE, us.promoted_lances)
    emit_squares(emit, PROMOTED_KNIGHT, us.promoted_knights)
    emit_squares(emit, PROMOTED_SILVER, us.promoted_silvers)
    emit_squares(emit, HORSE, us.horses)
    emit_squares(emit, DRAGON, us.dragons)
