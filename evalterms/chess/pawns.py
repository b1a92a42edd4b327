"""Pawn structure."""

from evalterms.chess.squares import (
    distance,
    down,
    emit_ranks,
    files,
    fill_down,
    fill_up,
    sideways,
    up,
)
from evalterms.term import Term
from games.bits import EMPTY, bit, lowest, popcount, without_lowest

pawns = Term("pawns")
DOUBLED, ISOLATED, ISOLATED_EXPOSED, BACKWARD, BACKWARD_EXPOSED = pawns.declare(
    "doubled isolated isolated_exposed backward backward_exposed"
)
DEFENDED, PHALANX, BLOCKED, CANDIDATE, PASSED, PASSED_BLOCKED, PASSED_DEFENDED = pawns.declare(
    "defended phalanx blocked candidate passed passed_blocked passed_defended", 8
)
PASSED_SAFE_STEP, PASSED_OUR_KING, PASSED_THEIR_KING = pawns.declare(
    "passed_safe_step passed_our_king passed_their_king", 8
)


@pawns.counts(reads="pawns and kings")
def count_pawn_structure(us, them, emit):
    """Weak pawns by kind (backward: an enemy pawn attacks the square before it, which no pawn on
    its rank or behind it can defend; exposed: no enemy pawn ahead on the file); defended, phalanx,
    blocked, candidate and passed pawns by rank (0 is the first); the distances of both kings from
    the square before a passed pawn."""
    ahead = fill_down(down(them.pawns))  # squares with an enemy pawn ahead on the file
    # squares that an enemy pawn attacks, now or after advancing
    guarded = fill_down(them.pawn_attacks)
    beside = sideways(files(us.pawns))
    rear = us.pawns & fill_down(down(us.pawns))
    isolated = us.pawns & ~beside
    unsupported = down(up(us.pawns) & them.pawn_attacks & ~fill_up(us.pawn_attacks)) & ~isolated
    emit(DOUBLED, popcount(rear))
    emit(ISOLATED, popcount(isolated))
    emit(ISOLATED_EXPOSED, popcount(isolated & ~ahead))
    emit(BACKWARD, popcount(unsupported))
    emit(BACKWARD_EXPOSED, popcount(unsupported & ~ahead))

    emit_ranks(us.pawns & us.pawn_attacks, DEFENDED, emit)
    emit_ranks(us.pawns & sideways(us.pawns), PHALANX, emit)
    emit_ranks(us.pawns & down(them.pawns), BLOCKED, emit)

    free = us.pawns & ~ahead & ~rear
    rest = free & guarded
    while rest:
        # at least as many helpers on its rank or behind it as sentries before it
        helpers = us.pawns & sideways(fill_down(bit(lowest(rest))))
        sentries = them.pawns & sideways(fill_up(up(bit(lowest(rest)))))
        if popcount(helpers) >= popcount(sentries):
            emit(CANDIDATE + (lowest(rest) >> 3), 1)
        rest = without_lowest(rest)

    our_king, their_king = lowest(us.king), lowest(them.king)
    rest = free & ~guarded
    while rest:
        square = lowest(rest)
        rank = square >> 3
        emit(PASSED + rank, 1)
        if bit(square) & us.pawn_attacks:
            emit(PASSED_DEFENDED + rank, 1)
        emit(PASSED_OUR_KING + distance(our_king, square + 8), 1)
        emit(PASSED_THEIR_KING + distance(their_king, square + 8), 1)
        rest = without_lowest(rest)


@pawns.counts
def count_steps_of_passed_pawns(us, them, emit):
    """Passed pawns by rank whose next square is occupied by an enemy piece; those whose next square
    is not attacked otherwise."""
    rest = us.pawns & ~fill_down(down(them.pawns | us.pawns) | them.pawn_attacks)
    while rest:
        step = up(bit(lowest(rest)))
        if step & them.pieces:
            emit(PASSED_BLOCKED + (lowest(rest) >> 3), 1)
        elif step & them.attacks == EMPTY:
            emit(PASSED_SAFE_STEP + (lowest(rest) >> 3), 1)
        rest = without_lowest(rest)
