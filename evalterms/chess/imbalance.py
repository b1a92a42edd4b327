"""Material imbalances: products of piece counts (Kaufman 1999, "The evaluation of material imbalances")."""

from evalterms.term import Term
from games.bits import popcount

imbalance = Term("imbalance")
PAWNS_WITH = imbalance.parameter("pawns_with", 5)
KNIGHTS_WITH = imbalance.parameter("knights_with", 4)
BISHOPS_WITH = imbalance.parameter("bishops_with", 3)
ROOKS_WITH = imbalance.parameter("rooks_with", 2)
QUEENS_WITH = imbalance.parameter("queens_with")
AGAINST_PAWNS = imbalance.parameter("against_pawns", 4)
AGAINST_KNIGHTS = imbalance.parameter("against_knights", 3)
AGAINST_BISHOPS = imbalance.parameter("against_bishops", 2)
AGAINST_ROOKS = imbalance.parameter("against_rooks")


@imbalance.counts
def count_imbalance(us, them, emit):
    """Pairs of own pieces: pawns with pawns, knights, bishops, rooks, queens; knights with knights and so on. Own pieces times
    enemy ones: knights, bishops, rooks, queens against pawns; bishops, rooks, queens against knights; rooks, queens against
    bishops; queens against rooks."""
    pawns, knights, bishops = popcount(us.pawns), popcount(us.knights), popcount(us.bishops)
    rooks, queens = popcount(us.rooks), popcount(us.queens)
    emit(PAWNS_WITH, pawns * (pawns - 1) >> 1)
    emit(PAWNS_WITH + 1, pawns * knights)
    emit(PAWNS_WITH + 2, pawns * bishops)
    emit(PAWNS_WITH + 3, pawns * rooks)
    emit(PAWNS_WITH + 4, pawns * queens)
    emit(KNIGHTS_WITH, knights * (knights - 1) >> 1)
    emit(KNIGHTS_WITH + 1, knights * bishops)
    emit(KNIGHTS_WITH + 2, knights * rooks)
    emit(KNIGHTS_WITH + 3, knights * queens)
    emit(BISHOPS_WITH, bishops * (bishops - 1) >> 1)
    emit(BISHOPS_WITH + 1, bishops * rooks)
    emit(BISHOPS_WITH + 2, bishops * queens)
    emit(ROOKS_WITH, rooks * (rooks - 1) >> 1)
    emit(ROOKS_WITH + 1, rooks * queens)
    emit(QUEENS_WITH, queens * (queens - 1) >> 1)
    theirs = popcount(them.pawns)
    emit(AGAINST_PAWNS, knights * theirs)
    emit(AGAINST_PAWNS + 1, bishops * theirs)
    emit(AGAINST_PAWNS + 2, rooks * theirs)
    emit(AGAINST_PAWNS + 3, queens * theirs)
    theirs = popcount(them.knights)
    emit(AGAINST_KNIGHTS, bishops * theirs)
    emit(AGAINST_KNIGHTS + 1, rooks * theirs)
    emit(AGAINST_KNIGHTS + 2, queens * theirs)
    theirs = popcount(them.bishops)
    emit(AGAINST_BISHOPS, rooks * theirs)
    emit(AGAINST_BISHOPS + 1, queens * theirs)
    emit(AGAINST_ROOKS, queens * popcount(them.rooks))
