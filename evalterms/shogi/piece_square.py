"""Piece-square tables."""

from evalterms.shogi.places import place_of
from evalterms.term import Term
from games.shogi.squares import FILES, RANKS, lowest, without_lowest

piece_square = Term("piece_square")
PAWN = piece_square.parameter("pawn", RANKS, FILES)
LANCE = piece_square.parameter("lance", RANKS, FILES)
KNIGHT = piece_square.parameter("knight", RANKS, FILES)
SILVER = piece_square.parameter("silver", RANKS, FILES)
GOLD = piece_square.parameter("gold", RANKS, FILES)
BISHOP = piece_square.parameter("bishop", RANKS, FILES)
ROOK = piece_square.parameter("rook", RANKS, FILES)
KING = piece_square.parameter("king", RANKS, FILES)
PROMOTED_PAWN = piece_square.parameter("promoted_pawn", RANKS, FILES)
PROMOTED_LANCE = piece_square.parameter("promoted_lance", RANKS, FILES)
PROMOTED_KNIGHT = piece_square.parameter("promoted_knight", RANKS, FILES)
PROMOTED_SILVER = piece_square.parameter("promoted_silver", RANKS, FILES)
HORSE = piece_square.parameter("horse", RANKS, FILES)
DRAGON = piece_square.parameter("dragon", RANKS, FILES)


@piece_square.counts
def count_squares(us, them, emit):
    """The square of each man."""
    rest = us.pawns
    while rest:
        emit(PAWN + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.lances
    while rest:
        emit(LANCE + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.knights
    while rest:
        emit(KNIGHT + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.silvers
    while rest:
        emit(SILVER + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.golds
    while rest:
        emit(GOLD + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.bishops
    while rest:
        emit(BISHOP + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.rooks
    while rest:
        emit(ROOK + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.king
    while rest:
        emit(KING + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.promoted_pawns
    while rest:
        emit(PROMOTED_PAWN + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.promoted_lances
    while rest:
        emit(PROMOTED_LANCE + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.promoted_knights
    while rest:
        emit(PROMOTED_KNIGHT + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.promoted_silvers
    while rest:
        emit(PROMOTED_SILVER + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.horses
    while rest:
        emit(HORSE + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.dragons
    while rest:
        emit(DRAGON + place_of(lowest(rest)), 1)
        rest = without_lowest(rest)
