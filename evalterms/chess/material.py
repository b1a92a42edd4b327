"""Piece values, imbalances of pieces, and the scale of late positions."""

import numpy as np

from evalterms.chess.squares import LIGHT
from evalterms.term import Term
from games.bits import EMPTY, popcount

material = Term("material")
PAWN, KNIGHT, BISHOP, ROOK, QUEEN = material.declare("pawn knight bishop rook queen")


@material.counts
def count_material(us, them, emit):
    """The number of pieces of each kind."""
    emit(PAWN, popcount(us.pawns))
    emit(KNIGHT, popcount(us.knights))
    emit(BISHOP, popcount(us.bishops))
    emit(ROOK, popcount(us.rooks))
    emit(QUEEN, popcount(us.queens))


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
    """Pairs of own pieces: pawns with pawns, knights, bishops, rooks, queens; knights with knights
    and so on. Own pieces times enemy ones: knights, bishops, rooks, queens against pawns; bishops,
    rooks, queens against knights; rooks, queens against bishops; queens against rooks."""
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


QUEENSIDE = np.uint64(0x0F0F0F0F0F0F0F0F)

late_scale = Term("late_scale", scales=True)
OUR_PAWNS, THEIR_PAWNS, MINORS = late_scale.declare("our_pawns their_pawns minors", 9)
ROOKS = late_scale.parameter("rooks", 5)
QUEENS, MORE_MINORS, MORE_ROOKS, MORE_QUEENS = late_scale.declare(
    "queens more_minors more_rooks more_queens", 3
)
OPPOSITE_BISHOPS, OPPOSITE_BISHOPS_ALONE, ROOK_ENDING, ONE_FLANK = late_scale.declare(
    "opposite_bishops opposite_bishops_alone rook_ending one_flank"
)


@late_scale.counts
def count_late_scale(us, them, emit):
    """Of the side ahead, which is `us`: its pawns and theirs, by number; minor pieces, rooks and
    queens of both sides, by number; if it has fewer, one more, or at least two more of these;
    bishops on squares of different colors, with and without further pieces; one rook each and no
    further piece; no pawns on one half of the board."""
    emit(OUR_PAWNS + min(popcount(us.pawns), 8), 1)
    emit(THEIR_PAWNS + min(popcount(them.pawns), 8), 1)
    minors, other_minors = popcount(us.knights | us.bishops), popcount(them.knights | them.bishops)
    rooks, other_rooks = popcount(us.rooks), popcount(them.rooks)
    queens, other_queens = popcount(us.queens), popcount(them.queens)
    emit(MINORS + min(minors + other_minors, 8), 1)
    emit(ROOKS + min(rooks + other_rooks, 4), 1)
    emit(QUEENS + min(queens + other_queens, 2), 1)
    if minors != other_minors:
        emit(MORE_MINORS + min(max(minors - other_minors, 0), 2), 1)
    if rooks != other_rooks:
        emit(MORE_ROOKS + min(max(rooks - other_rooks, 0), 2), 1)
    if queens != other_queens:
        emit(MORE_QUEENS + min(max(queens - other_queens, 0), 2), 1)

    heavy = rooks + other_rooks + queens + other_queens
    if (
        popcount(us.bishops) == 1
        and popcount(them.bishops) == 1
        and popcount((us.bishops | them.bishops) & LIGHT) == 1
    ):
        if heavy == 0 and minors + other_minors == 2:
            emit(OPPOSITE_BISHOPS_ALONE, 1)
        else:
            emit(OPPOSITE_BISHOPS, 1)
    if rooks == 1 and other_rooks == 1 and heavy == 2 and minors + other_minors == 0:
        emit(ROOK_ENDING, 1)
    pawns = us.pawns | them.pawns
    if pawns & QUEENSIDE == EMPTY or pawns & ~QUEENSIDE == EMPTY:
        emit(ONE_FLANK, 1)
