"""Mobility: the number of useful squares that a piece reaches."""

from evalterms.term import Term
from games.bits import lowest, popcount, without_lowest
from games.chess.attacks import bishop_attacks, knight_attacks, rook_attacks

mobility = Term("mobility")
KNIGHT = mobility.parameter("knight", 9)
BISHOP = mobility.parameter("bishop", 14)
ROOK = mobility.parameter("rook", 15)
QUEEN = mobility.parameter("queen", 28)


@mobility.counts
def count_mobility(us, them, emit):
    """Squares reached by each piece, except those of own pawns and king and those attacked by enemy pawns."""
    useful = ~(us.pawns | us.king | them.pawn_attacks)
    occupied = us.pieces | them.pieces
    rest = us.knights
    while rest:
        emit(KNIGHT + popcount(knight_attacks(lowest(rest)) & useful), 1)
        rest = without_lowest(rest)
    rest = us.bishops
    while rest:
        emit(BISHOP + popcount(bishop_attacks(lowest(rest), occupied) & useful), 1)
        rest = without_lowest(rest)
    rest = us.rooks
    while rest:
        emit(ROOK + popcount(rook_attacks(lowest(rest), occupied) & useful), 1)
        rest = without_lowest(rest)
    rest = us.queens
    while rest:
        reached = bishop_attacks(lowest(rest), occupied) | rook_attacks(lowest(rest), occupied)
        emit(QUEEN + popcount(reached & useful), 1)
        rest = without_lowest(rest)
