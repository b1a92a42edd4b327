"""King safety: the shelter of our king, and our attack on theirs."""

import numpy as np

from evalterms.chess.squares import FILE_A, down
from evalterms.term import Term
from games.bits import EMPTY, lowest, popcount
from games.chess.rules.attacks import bishop_attacks, knight_attacks, rook_attacks

king = Term("king")
SHELTER, SHELTER_BESIDE, STORM, STORM_BESIDE = king.declare(
    "shelter shelter_beside storm storm_beside", 8
)
ZONE_KNIGHT, ZONE_BISHOP, ZONE_ROOK, ZONE_QUEEN = king.declare(
    "zone_knight zone_bishop zone_rook zone_queen"
)
ZONE_ATTACKERS = king.parameter("zone_attackers", 5)
ZONE_WEAK, CHECK_KNIGHT, CHECK_BISHOP, CHECK_ROOK, CHECK_QUEEN = king.declare(
    "zone_weak check_knight check_bishop check_rook check_queen"
)


@king.counts(reads="pawns and kings")
def count_shelter(us, them, emit):
    """Shelter and storm: the lowest rank, as we see it, of own and enemy pawns (0: none) on our
    king's file and the adjacent files."""
    file = lowest(us.king) & 7
    for offset in range(-1, 2):
        if 0 <= file + offset < 8:
            column = FILE_A << np.uint64(file + offset)
            ours, theirs = column & us.pawns, column & them.pawns
            shelter = lowest(ours) >> 3 if ours else 0
            storm = lowest(theirs) >> 3 if theirs else 0
            if offset == 0:
                emit(SHELTER + shelter, 1)
                emit(STORM + storm, 1)
            else:
                emit(SHELTER_BESIDE + shelter, 1)
                emit(STORM_BESIDE + storm, 1)


@king.counts
def count_attack(us, them, emit):
    """Attack on the enemy king's zone (the squares next to it, and one row further towards us):
    squares attacked by each kind of piece, number of kinds that attack, weak squares (attacked by
    us, and defended at most once and not by a pawn), safe checks by each kind."""
    zone = them.king_attacks | them.king | down(them.king_attacks)
    by_knights, by_bishops = us.knight_attacks & zone, us.bishop_attacks & zone
    by_rooks, by_queens = us.rook_attacks & zone, us.queen_attacks & zone
    emit(ZONE_KNIGHT, popcount(by_knights))
    emit(ZONE_BISHOP, popcount(by_bishops))
    emit(ZONE_ROOK, popcount(by_rooks))
    emit(ZONE_QUEEN, popcount(by_queens))
    kinds = (
        int(by_knights != EMPTY)
        + int(by_bishops != EMPTY)
        + int(by_rooks != EMPTY)
        + int(by_queens != EMPTY)
    )
    emit(ZONE_ATTACKERS + kinds, 1)
    emit(ZONE_WEAK, popcount(zone & us.attacks & ~them.double_attacks & ~them.pawn_attacks))

    target = lowest(them.king)
    occupied = us.pieces | them.pieces
    safe = ~(us.pieces | them.attacks)
    diagonal, straight = (
        bishop_attacks(target, occupied) & safe,
        rook_attacks(target, occupied) & safe,
    )
    emit(CHECK_KNIGHT, popcount(knight_attacks(target) & safe & us.knight_attacks))
    emit(CHECK_BISHOP, popcount(diagonal & us.bishop_attacks))
    emit(CHECK_ROOK, popcount(straight & us.rook_attacks))
    emit(CHECK_QUEEN, popcount((diagonal | straight) & us.queen_attacks))
