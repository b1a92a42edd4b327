"""Features of the side to move."""

from evalterms.chess.squares import up
from evalterms.term import Term
from games.bits import EMPTY, popcount
from games.chess.rules.attacks import pawn_attacks_up

turn = Term("turn")
QUEEN = turn.parameter("queen")
KING_ZONE = turn.parameter("king_zone", 8)
PAWN_PUSH, ATTACKED = turn.declare("pawn_push attacked_squares")


@turn.counts
def count_turn(us, them, emit):
    """Of the side to move alone: whether it has a queen; squares next to the enemy king that it
    attacks and that the enemy attacks less than twice; safe single pawn pushes that attack a piece;
    squares that it attacks, except those of own pieces and those that an enemy pawn attacks."""
    if us.to_move:
        if us.queens != EMPTY:
            emit(QUEEN, 1)
        emit(KING_ZONE + min(popcount(us.attacks & them.king_attacks & ~them.double_attacks), 7), 1)
        steps = (
            up(us.pawns)
            & ~(us.pieces | them.pieces | them.pawn_attacks)
            & (us.attacks | ~them.attacks)
        )
        targets = them.knights | them.bishops | them.rooks | them.queens
        emit(PAWN_PUSH, popcount(pawn_attacks_up(steps) & targets & ~us.pawn_attacks))
        emit(ATTACKED, popcount(us.attacks & ~us.pieces & ~them.pawn_attacks))
