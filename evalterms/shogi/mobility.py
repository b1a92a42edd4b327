"""Mobility: the number of squares that a man reaches."""

from evalterms.term import Term, inlined
from games.shogi.rules import attacks
from games.shogi.rules.attacks import attacks_of
from games.shogi.rules.squares import lowest, popcount, without_lowest

mobility = Term("mobility")
LANCE = mobility.parameter("lance", 9)
KNIGHT = mobility.parameter("knight", 3)
SILVER = mobility.parameter("silver", 6)
GOLD = mobility.parameter("gold", 7)
BISHOP, ROOK = mobility.declare("bishop rook", 17)
HORSE, DRAGON = mobility.declare("horse dragon", 21)


@inlined
def emit_reach(emit, table, men, kind, occupied, free):
    """Count each man of a set, all of which move as one kind, by the number of free squares that it
    reaches."""
    while men:
        emit(table + popcount(attacks_of(0, kind, lowest(men), occupied) & free), 1)
        men = without_lowest(men)


@mobility.counts
def count_mobility(us, them, emit):
    """Squares reached by each man that are not occupied by our own; men that move as gold count as
    gold."""
    occupied, free = us.men | them.men, ~us.men
    golds = (
        us.golds
        | us.promoted_pawns
        | us.promoted_lances
        | us.promoted_knights
        | us.promoted_silvers
    )
    emit_reach(emit, LANCE, us.lances, attacks.LANCE, occupied, free)
    emit_reach(emit, KNIGHT, us.knights, attacks.KNIGHT, occupied, free)
    emit_reach(emit, SILVER, us.silvers, attacks.SILVER, occupied, free)
    emit_reach(emit, GOLD, golds, attacks.GOLD, occupied, free)
    emit_reach(emit, BISHOP, us.bishops, attacks.BISHOP, occupied, free)
    emit_reach(emit, ROOK, us.rooks, attacks.ROOK, occupied, free)
    emit_reach(emit, HORSE, us.horses, attacks.HORSE, occupied, free)
    emit_reach(emit, DRAGON, us.dragons, attacks.DRAGON, occupied, free)
