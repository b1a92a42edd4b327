"""King danger: many small dangers are worse than their sum."""

import numpy as np

from evalterms.chess.squares import FILE_A, down
from evalterms.term import Term
from games.bits import EMPTY, lowest, popcount
from games.chess.rules.attacks import bishop_attacks, knight_attacks, rook_attacks

THEIR_HALF = np.uint64(0xFFFFFFFF00000000)

king_danger = Term("king_danger")
BASE, ZONE_KNIGHT, ZONE_BISHOP, ZONE_ROOK, ZONE_QUEEN, ZONE_WEAK = king_danger.declare(
    "base zone_knight zone_bishop zone_rook zone_queen zone_weak"
)
CHECK_KNIGHT, CHECK_BISHOP, CHECK_ROOK, CHECK_QUEEN, CHECK_UNSAFE = king_danger.declare(
    "check_knight check_bishop check_rook check_queen check_unsafe"
)
NO_QUEEN, DEFENDED, FLANK = king_danger.declare("no_queen defended flank")
SHELTER = king_danger.parameter("shelter", 4)


@king_danger.counts
def count_king_danger(us, them, emit):
    """Threats against their king: squares of its zone that each kind of piece attacks, weak
    ones, those that their knights and bishops defend; safe and unsafe checks; no queen; squares
    that we attack on its files in their half; their pawns next to or before it."""
    zone = them.king_attacks | them.king | down(them.king_attacks)
    emit(BASE, 1)
    emit(ZONE_KNIGHT, popcount(us.knight_attacks & zone))
    emit(ZONE_BISHOP, popcount(us.bishop_attacks & zone))
    emit(ZONE_ROOK, popcount(us.rook_attacks & zone))
    emit(ZONE_QUEEN, popcount(us.queen_attacks & zone))
    emit(ZONE_WEAK, popcount(zone & us.attacks & ~them.double_attacks & ~them.pawn_attacks))
    emit(DEFENDED, popcount(zone & (them.knight_attacks | them.bishop_attacks)))

    target = lowest(them.king)
    occupied = us.pieces | them.pieces
    safe, unsafe = ~(us.pieces | them.attacks), ~us.pieces & them.attacks
    jumps = knight_attacks(target) & us.knight_attacks
    diagonal, straight = bishop_attacks(target, occupied), rook_attacks(target, occupied)
    by_bishops, by_rooks = diagonal & us.bishop_attacks, straight & us.rook_attacks
    emit(CHECK_KNIGHT, popcount(jumps & safe))
    emit(CHECK_BISHOP, popcount(by_bishops & safe))
    emit(CHECK_ROOK, popcount(by_rooks & safe))
    emit(CHECK_QUEEN, popcount((diagonal | straight) & us.queen_attacks & safe))
    emit(CHECK_UNSAFE, popcount((jumps | by_bishops | by_rooks) & unsafe))
    emit(NO_QUEEN, int(us.queens == EMPTY))

    file, files = target & 7, EMPTY
    for offset in range(-1, 2):
        if 0 <= file + offset < 8:
            files |= FILE_A << np.uint64(file + offset)
    emit(FLANK, popcount(files & THEIR_HALF & us.attacks & ~them.pawn_attacks))
    emit(SHELTER + min(popcount(files & them.pawns & (zone | down(zone))), 3), 1)


@king_danger.through
def quadratic(total):
    """Grow with the square of the danger, in units of one pawn; safety has no value of its own."""
    return total * total / 100.0 if total > 0.0 else 0.0
