"""How much an advantage is worth with what is left on the board, in percent."""

import numpy as np

from evalterms.chess.squares import LIGHT
from evalterms.term import Term
from games.bits import EMPTY, popcount

QUEENSIDE = np.uint64(0x0F0F0F0F0F0F0F0F)

late_scale = Term("late_scale", scales=True)
OUR_PAWNS = late_scale.parameter("our_pawns", 9)
THEIR_PAWNS = late_scale.parameter("their_pawns", 9)
MINORS = late_scale.parameter("minors", 9)
ROOKS = late_scale.parameter("rooks", 5)
QUEENS = late_scale.parameter("queens", 3)
MORE_MINORS = late_scale.parameter("more_minors", 3)
MORE_ROOKS = late_scale.parameter("more_rooks", 3)
MORE_QUEENS = late_scale.parameter("more_queens", 3)
OPPOSITE_BISHOPS = late_scale.parameter("opposite_bishops")
OPPOSITE_BISHOPS_ALONE = late_scale.parameter("opposite_bishops_alone")
ROOK_ENDING = late_scale.parameter("rook_ending")
ONE_FLANK = late_scale.parameter("one_flank")


@late_scale.counts
def count_late_scale(us, them, emit):
    """Of the side ahead, which is `us`: its pawns and theirs, by number; minor pieces, rooks and queens of both sides, by number;
    if it has fewer, one more, or at least two more of these; bishops on squares of different colours, with and without other
    pieces; one rook each and no other piece; no pawns on one half of the board."""
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
    if popcount(us.bishops) == 1 and popcount(them.bishops) == 1 and popcount((us.bishops | them.bishops) & LIGHT) == 1:
        if heavy == 0 and minors + other_minors == 2:
            emit(OPPOSITE_BISHOPS_ALONE, 1)
        else:
            emit(OPPOSITE_BISHOPS, 1)
    if rooks == 1 and other_rooks == 1 and heavy == 2 and minors + other_minors == 0:
        emit(ROOK_ENDING, 1)
    pawns = us.pawns | them.pawns
    if pawns & QUEENSIDE == EMPTY or pawns & ~QUEENSIDE == EMPTY:
        emit(ONE_FLANK, 1)
