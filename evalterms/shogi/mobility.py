"""Mobility: the number of squares that a man reaches."""

from evalterms.term import Term
from games.shogi.attacks import DRAGON as DRAGON_KIND
from games.shogi.attacks import GOLD as GOLD_KIND
from games.shogi.attacks import HORSE as HORSE_KIND
from games.shogi.attacks import KNIGHT, SILVER, bishop_attacks, lance_attacks, rook_attacks, steps_from
from games.shogi.squares import lowest, popcount, without_lowest

mobility = Term("mobility")
LANCE = mobility.parameter("lance", 9)
HOPS = mobility.parameter("knight", 3)
STEPS = mobility.parameter("silver", 6)
GOLD = mobility.parameter("gold", 7)
BISHOP = mobility.parameter("bishop", 17)
ROOK = mobility.parameter("rook", 17)
HORSE = mobility.parameter("horse", 21)
DRAGON = mobility.parameter("dragon", 21)


@mobility.counts
def count_mobility(us, them, emit):
    """Squares reached by each man that are not occupied by our own; men that move as gold count as gold."""
    occupied, free = us.men | them.men, ~us.men
    rest = us.lances
    while rest:
        square = lowest(rest)
        emit(LANCE + popcount(lance_attacks(0, square, occupied) & free), 1)
        rest = without_lowest(rest)
    rest = us.knights
    while rest:
        square = lowest(rest)
        emit(HOPS + popcount(steps_from(0, KNIGHT, square) & free), 1)
        rest = without_lowest(rest)
    rest = us.silvers
    while rest:
        square = lowest(rest)
        emit(STEPS + popcount(steps_from(0, SILVER, square) & free), 1)
        rest = without_lowest(rest)
    rest = us.golds | us.promoted_pawns | us.promoted_lances | us.promoted_knights | us.promoted_silvers
    while rest:
        square = lowest(rest)
        emit(GOLD + popcount(steps_from(0, GOLD_KIND, square) & free), 1)
        rest = without_lowest(rest)
    rest = us.bishops
    while rest:
        square = lowest(rest)
        emit(BISHOP + popcount(bishop_attacks(square, occupied) & free), 1)
        rest = without_lowest(rest)
    rest = us.rooks
    while rest:
        square = lowest(rest)
        emit(ROOK + popcount(rook_attacks(square, occupied) & free), 1)
        rest = without_lowest(rest)
    rest = us.horses
    while rest:
        square = lowest(rest)
        emit(HORSE + popcount((bishop_attacks(square, occupied) | steps_from(0, HORSE_KIND, square)) & free), 1)
        rest = without_lowest(rest)
    rest = us.dragons
    while rest:
        square = lowest(rest)
        emit(DRAGON + popcount((rook_attacks(square, occupied) | steps_from(0, DRAGON_KIND, square)) & free), 1)
        rest = without_lowest(rest)
