"""Material: men on the board, promoted and in hand; the side to move."""

import numpy as np

from evalterms.shogi.view import UNPROMOTED
from evalterms.term import Term
from games.shogi.rules.position import held
from games.shogi.rules.squares import popcount

material = Term("material")
PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK = map(material.parameter, UNPROMOTED)


@material.counts
def count_material(us, them, emit):
    """Unpromoted men on the board."""
    emit(PAWN, popcount(us.pawns))
    emit(LANCE, popcount(us.lances))
    emit(KNIGHT, popcount(us.knights))
    emit(SILVER, popcount(us.silvers))
    emit(GOLD, popcount(us.golds))
    emit(BISHOP, popcount(us.bishops))
    emit(ROOK, popcount(us.rooks))


promoted = Term("promoted")
# their kinds before promotion
PROMOTED_PAWN, PROMOTED_LANCE, PROMOTED_KNIGHT, PROMOTED_SILVER, HORSE, DRAGON = map(
    promoted.parameter, ("pawn", "lance", "knight", "silver", "bishop", "rook")
)


@promoted.counts
def count_promoted(us, them, emit):
    """Promoted men, by their kind before promotion."""
    emit(PROMOTED_PAWN, popcount(us.promoted_pawns))
    emit(PROMOTED_LANCE, popcount(us.promoted_lances))
    emit(PROMOTED_KNIGHT, popcount(us.promoted_knights))
    emit(PROMOTED_SILVER, popcount(us.promoted_silvers))
    emit(HORSE, popcount(us.horses))
    emit(DRAGON, popcount(us.dragons))


hand = Term("hand")
HELD_PAWN, HELD_LANCE, HELD_KNIGHT, HELD_SILVER, HELD_GOLD, HELD_BISHOP, HELD_ROOK = map(
    hand.parameter, UNPROMOTED
)


@hand.counts
def count_hand(us, them, emit):
    """Men in hand, whose owner may drop them."""
    emit(HELD_PAWN, held(us.hand, 0, 1))
    emit(HELD_LANCE, held(us.hand, 0, 2))
    emit(HELD_KNIGHT, held(us.hand, 0, 3))
    emit(HELD_SILVER, held(us.hand, 0, 4))
    emit(HELD_GOLD, held(us.hand, 0, 7))
    emit(HELD_BISHOP, held(us.hand, 0, 5))
    emit(HELD_ROOK, held(us.hand, 0, 6))


turn = Term("turn")
TEMPO = turn.parameter("tempo")


@turn.counts
def count_turn(us, them, emit):
    """Whether we are to move."""
    emit(TEMPO, np.int64(us.to_move))
