"""Threats: enemy pieces that our pieces attack."""

from evalterms.chess.squares import RANK_3, up
from evalterms.term import Term
from games.bits import popcount
from games.chess.attacks import pawn_attacks_up

threats = Term("threats")
PAWN_KNIGHT = threats.parameter("pawn_attacks_knight")
PAWN_BISHOP = threats.parameter("pawn_attacks_bishop")
PAWN_ROOK = threats.parameter("pawn_attacks_rook")
PAWN_QUEEN = threats.parameter("pawn_attacks_queen")
PAWN_PUSH = threats.parameter("pawn_push")
MINOR_PAWN = threats.parameter("minor_attacks_loose_pawn")
MINOR_MINOR = threats.parameter("minor_attacks_minor")
MINOR_ROOK = threats.parameter("minor_attacks_rook")
MINOR_QUEEN = threats.parameter("minor_attacks_queen")
ROOK_PAWN = threats.parameter("rook_attacks_loose_pawn")
ROOK_MINOR = threats.parameter("rook_attacks_loose_minor")
ROOK_QUEEN = threats.parameter("rook_attacks_queen")
KING_LOOSE = threats.parameter("king_attacks_loose")
HANGING = threats.parameter("hanging")
RESTRICTED = threats.parameter("restricted")


@threats.counts
def count_threats(us, them, emit):
    """Enemy pieces attacked by a lesser piece, or attacked and not defended (loose; for a rook also a minor piece that no pawn
    defends); safe pawn pushes that attack a piece; empty squares attacked by us and by exactly one enemy piece, not a pawn."""
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
    emit(PAWN_PUSH, popcount(pawn_attacks_up(steps) & (minors | them.rooks | them.queens) & ~us.pawn_attacks))

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
    emit(RESTRICTED, popcount(us.attacks & them.attacks & ~them.pawn_attacks & ~them.double_attacks & empty))
