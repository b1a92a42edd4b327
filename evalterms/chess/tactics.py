"""Pieces that cannot move, moves that attack two things at once, and threats."""

from evalterms.chess.squares import RANK_3, down, up
from evalterms.term import Term
from games.bits import EMPTY, lowest, popcount, without_lowest
from games.chess.rules.attacks import bishop_attacks, knight_attacks, pawn_attacks_up, rook_attacks

tactics = Term("tactics")
PINNED_PAWN, PINNED_KNIGHT, PINNED_BISHOP, PINNED_ROOK, PINNED_QUEEN = tactics.declare(
    "pinned_pawn pinned_knight pinned_bishop pinned_rook pinned_queen"
)
PINNED_ATTACKED, DISCOVERED, FORK, ZONE_TWICE = tactics.declare(
    "pinned_attacked discovered_check knight_near_queen zone_twice"
)


@tactics.counts
def count_lines_to_king(us, them, emit):
    """Our pieces that are pinned to our king, by kind, and those of them that an enemy pawn
    attacks; enemy pieces (but pawns) that would discover a check to our king."""
    occupied = us.pieces | them.pieces
    king = lowest(us.king)
    diagonal, straight = bishop_attacks(king, occupied), rook_attacks(king, occupied)
    # sliders behind the first piece on a line; only the squares between them and the king are
    # attacked from both ends
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
    """Safe squares from which our knights would attack a single enemy queen; squares of the enemy
    king's zone (those next to it, and one row further towards us) that we attack twice."""
    if them.queens != EMPTY and without_lowest(them.queens) == EMPTY:
        emit(
            FORK,
            popcount(
                knight_attacks(lowest(them.queens)) & us.knight_attacks & ~us.pieces & ~them.attacks
            ),
        )
    zone = them.king_attacks | them.king | down(them.king_attacks)
    emit(ZONE_TWICE, popcount(us.double_attacks & zone))


threats = Term("threats")
PAWN_KNIGHT, PAWN_BISHOP, PAWN_ROOK, PAWN_QUEEN, PAWN_PUSH = threats.declare(
    "pawn_attacks_knight pawn_attacks_bishop pawn_attacks_rook pawn_attacks_queen pawn_push"
)
MINOR_PAWN, MINOR_MINOR, MINOR_ROOK, MINOR_QUEEN = threats.declare(
    "minor_attacks_loose_pawn minor_attacks_minor minor_attacks_rook minor_attacks_queen"
)
ROOK_PAWN, ROOK_MINOR, ROOK_QUEEN, KING_LOOSE = threats.declare(
    "rook_attacks_loose_pawn rook_attacks_loose_minor rook_attacks_queen king_attacks_loose"
)
HANGING, RESTRICTED = threats.declare("hanging restricted")


@threats.counts
def count_threats(us, them, emit):
    """Enemy pieces attacked by a lesser piece, or attacked and not defended (loose; for a rook also
    a minor piece that no pawn defends); safe pawn pushes that attack a piece; empty squares
    attacked by us and by exactly one enemy piece, not a pawn."""
    minors = them.knights | them.bishops
    loose = ~them.attacks
    emit(PAWN_KNIGHT, popcount(us.pawn_attacks & them.knights))
    emit(PAWN_BISHOP, popcount(us.pawn_attacks & them.bishops))
    emit(PAWN_ROOK, popcount(us.pawn_attacks & them.rooks))
    emit(PAWN_QUEEN, popcount(us.pawn_attacks & them.queens))
    empty = ~(us.pieces | them.pieces)
    steps = up(us.pawns) & empty
    steps |= up(steps & RANK_3) & empty
    steps &= ~them.pawn_attacks & (us.attacks | loose)
    emit(
        PAWN_PUSH,
        popcount(pawn_attacks_up(steps) & (minors | them.rooks | them.queens) & ~us.pawn_attacks),
    )

    by_minors = us.knight_attacks | us.bishop_attacks
    emit(MINOR_PAWN, popcount(by_minors & them.pawns & loose))
    emit(MINOR_MINOR, popcount(by_minors & minors))
    emit(MINOR_ROOK, popcount(by_minors & them.rooks))
    emit(MINOR_QUEEN, popcount(by_minors & them.queens))
    emit(ROOK_PAWN, popcount(us.rook_attacks & them.pawns & loose))
    emit(ROOK_MINOR, popcount(us.rook_attacks & minors & ~them.pawn_attacks))
    emit(ROOK_QUEEN, popcount(us.rook_attacks & them.queens))
    emit(KING_LOOSE, popcount(us.king_attacks & them.pieces & loose))
    emit(HANGING, popcount(us.attacks & (minors | them.rooks | them.queens) & loose))
    emit(
        RESTRICTED,
        popcount(us.attacks & them.attacks & ~them.pawn_attacks & ~them.double_attacks & empty),
    )
