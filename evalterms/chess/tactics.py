"""Pieces that cannot move, and moves that attack two things at once."""

from evalterms.chess.squares import down
from evalterms.term import Term
from games.bits import EMPTY, lowest, popcount, without_lowest
from games.chess.attacks import bishop_attacks, knight_attacks, rook_attacks

tactics = Term("tactics")
PINNED_PAWN = tactics.parameter("pinned_pawn")
PINNED_KNIGHT = tactics.parameter("pinned_knight")
PINNED_BISHOP = tactics.parameter("pinned_bishop")
PINNED_ROOK = tactics.parameter("pinned_rook")
PINNED_QUEEN = tactics.parameter("pinned_queen")
PINNED_ATTACKED = tactics.parameter("pinned_attacked")
DISCOVERED = tactics.parameter("discovered_check")
FORK = tactics.parameter("knight_near_queen")
ZONE_TWICE = tactics.parameter("zone_twice")


@tactics.counts
def count_lines_to_king(us, them, emit):
    """Our pieces that are pinned to our king, by kind, and those of them that an enemy pawn attacks; enemy pieces (but pawns)
    that would discover a check to our king."""
    occupied = us.pieces | them.pieces
    king = lowest(us.king)
    diagonal, straight = bishop_attacks(king, occupied), rook_attacks(king, occupied)
    # sliders behind the first piece on a line; only the squares between them and the king are attacked from both ends
    between = EMPTY
    rest = bishop_attacks(king, occupied & ~diagonal) & ~diagonal & (them.bishops | them.queens)
    while rest:
        between |= diagonal & bishop_attacks(lowest(rest), occupied)
        rest = without_lowest(rest)
    rest = rook_attacks(king, occupied & ~straight) & ~straight & (them.rooks | them.queens)
    while rest:
        between |= straight & rook_attacks(lowest(rest), occupied)
        rest = without_lowest(rest)
    if between != EMPTY:
        pinned = between & us.pieces
        emit(PINNED_PAWN, popcount(pinned & us.pawns))
        emit(PINNED_KNIGHT, popcount(pinned & us.knights))
        emit(PINNED_BISHOP, popcount(pinned & us.bishops))
        emit(PINNED_ROOK, popcount(pinned & us.rooks))
        emit(PINNED_QUEEN, popcount(pinned & us.queens))
        emit(PINNED_ATTACKED, popcount(pinned & them.pawn_attacks))
        emit(DISCOVERED, popcount(between & them.pieces & ~them.pawns))


@tactics.counts
def count_double_attacks(us, them, emit):
    """Safe squares from which our knights would attack a single enemy queen; squares of the enemy king's zone (those next to it,
    and one row further towards us) that we attack twice."""
    if them.queens != EMPTY and without_lowest(them.queens) == EMPTY:
        emit(FORK, popcount(knight_attacks(lowest(them.queens)) & us.knight_attacks & ~us.pieces & ~them.attacks))
    zone = them.king_attacks | them.king | down(them.king_attacks)
    emit(ZONE_TWICE, popcount(us.double_attacks & zone))
