"""Kings: attacks on the squares around them, and men by their place relative to them."""

from evalterms.shogi.places import relative_place
from evalterms.shogi.side import attacks
from evalterms.term import Term
from games.shogi.attacks import KING, steps_from
from games.shogi.squares import FILES, RANKS, lowest, without_lowest

king_ring = Term("king_ring")
RING = king_ring.parameter("attacked", 3, 3)


@king_ring.counts
def count_king_ring(us, them, emit):
    """Squares around our king that they attack, by their place: the first row is ahead of the king."""
    if us.king:
        king = lowest(us.king)
        rest = steps_from(0, KING, king) & attacks(them, us.men | them.men, 1)
        while rest:
            square = lowest(rest)
            across_files = king // RANKS - square // RANKS  # 1: to the right
            emit(RING + (king % RANKS - square % RANKS + 1) * 3 + across_files + 1, 1)
            rest = without_lowest(rest)


king_relative = Term("king_relative")
OUR_PAWN = king_relative.parameter("our_pawn", 2 * RANKS - 1, FILES)
OUR_LANCE = king_relative.parameter("our_lance", 2 * RANKS - 1, FILES)
OUR_KNIGHT = king_relative.parameter("our_knight", 2 * RANKS - 1, FILES)
OUR_SILVER = king_relative.parameter("our_silver", 2 * RANKS - 1, FILES)
OUR_GOLD = king_relative.parameter("our_gold", 2 * RANKS - 1, FILES)
OUR_BISHOP = king_relative.parameter("our_bishop", 2 * RANKS - 1, FILES)
OUR_ROOK = king_relative.parameter("our_rook", 2 * RANKS - 1, FILES)
OUR_PROMOTED_PAWN = king_relative.parameter("our_promoted_pawn", 2 * RANKS - 1, FILES)
OUR_PROMOTED_LANCE = king_relative.parameter("our_promoted_lance", 2 * RANKS - 1, FILES)
OUR_PROMOTED_KNIGHT = king_relative.parameter("our_promoted_knight", 2 * RANKS - 1, FILES)
OUR_PROMOTED_SILVER = king_relative.parameter("our_promoted_silver", 2 * RANKS - 1, FILES)
OUR_HORSE = king_relative.parameter("our_horse", 2 * RANKS - 1, FILES)
OUR_DRAGON = king_relative.parameter("our_dragon", 2 * RANKS - 1, FILES)
THEIR_PAWN = king_relative.parameter("their_pawn", 2 * RANKS - 1, FILES)
THEIR_LANCE = king_relative.parameter("their_lance", 2 * RANKS - 1, FILES)
THEIR_KNIGHT = king_relative.parameter("their_knight", 2 * RANKS - 1, FILES)
THEIR_SILVER = king_relative.parameter("their_silver", 2 * RANKS - 1, FILES)
THEIR_GOLD = king_relative.parameter("their_gold", 2 * RANKS - 1, FILES)
THEIR_BISHOP = king_relative.parameter("their_bishop", 2 * RANKS - 1, FILES)
THEIR_ROOK = king_relative.parameter("their_rook", 2 * RANKS - 1, FILES)
THEIR_PROMOTED_PAWN = king_relative.parameter("their_promoted_pawn", 2 * RANKS - 1, FILES)
THEIR_PROMOTED_LANCE = king_relative.parameter("their_promoted_lance", 2 * RANKS - 1, FILES)
THEIR_PROMOTED_KNIGHT = king_relative.parameter("their_promoted_knight", 2 * RANKS - 1, FILES)
THEIR_PROMOTED_SILVER = king_relative.parameter("their_promoted_silver", 2 * RANKS - 1, FILES)
THEIR_HORSE = king_relative.parameter("their_horse", 2 * RANKS - 1, FILES)
THEIR_DRAGON = king_relative.parameter("their_dragon", 2 * RANKS - 1, FILES)


@king_relative.counts
def count_king_relative(us, them, emit):
    """All men but the kings by their place relative to our king: ranks ahead of it, and the distance in files."""
    if not us.king:
        return
    king = lowest(us.king)
    rest = us.pawns
    while rest:
        emit(OUR_PAWN + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.lances
    while rest:
        emit(OUR_LANCE + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.knights
    while rest:
        emit(OUR_KNIGHT + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.silvers
    while rest:
        emit(OUR_SILVER + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.golds
    while rest:
        emit(OUR_GOLD + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.bishops
    while rest:
        emit(OUR_BISHOP + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.rooks
    while rest:
        emit(OUR_ROOK + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.promoted_pawns
    while rest:
        emit(OUR_PROMOTED_PAWN + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.promoted_lances
    while rest:
        emit(OUR_PROMOTED_LANCE + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.promoted_knights
    while rest:
        emit(OUR_PROMOTED_KNIGHT + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.promoted_silvers
    while rest:
        emit(OUR_PROMOTED_SILVER + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.horses
    while rest:
        emit(OUR_HORSE + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = us.dragons
    while rest:
        emit(OUR_DRAGON + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.pawns
    while rest:
        emit(THEIR_PAWN + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.lances
    while rest:
        emit(THEIR_LANCE + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.knights
    while rest:
        emit(THEIR_KNIGHT + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.silvers
    while rest:
        emit(THEIR_SILVER + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.golds
    while rest:
        emit(THEIR_GOLD + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.bishops
    while rest:
        emit(THEIR_BISHOP + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.rooks
    while rest:
        emit(THEIR_ROOK + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.promoted_pawns
    while rest:
        emit(THEIR_PROMOTED_PAWN + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.promoted_lances
    while rest:
        emit(THEIR_PROMOTED_LANCE + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.promoted_knights
    while rest:
        emit(THEIR_PROMOTED_KNIGHT + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.promoted_silvers
    while rest:
        emit(THEIR_PROMOTED_SILVER + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.horses
    while rest:
        emit(THEIR_HORSE + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
    rest = them.dragons
    while rest:
        emit(THEIR_DRAGON + relative_place(king, lowest(rest)), 1)
        rest = without_lowest(rest)
