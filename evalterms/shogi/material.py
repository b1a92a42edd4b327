"""Material: men on the board, promoted and in hand; the side to move."""

import numpy as np

from evalterms.term import Term
from games.shogi.position import held
from games.shogi.squares import count

material = Term("material")
PAWN = material.parameter("pawn")
LANCE = material.parameter("lance")
KNIGHT = material.parameter("knight")
SILVER = material.parameter("silver")
GOLD = material.parameter("gold")
BISHOP = material.parameter("bishop")
ROOK = material.parameter("rook")


@material.counts
def count_material(us, them, emit):
    """Unpromoted men on the board."""
    emit(PAWN, count(us.pawns))
    emit(LANCE, count(us.lances))
    emit(KNIGHT, count(us.knights))
    emit(SILVER, count(us.silvers))
    emit(GOLD, count(us.golds))
    emit(BISHOP, count(us.bishops))
    emit(ROOK, count(us.rooks))


promoted = Term("promoted")
PROMOTED_PAWN = promoted.parameter("pawn")
PROMOTED_LANCE = promoted.parameter("lance")
PROMOTED_KNIGHT = promoted.parameter("knight")
PROMOTED_SILVER = promoted.parameter("silver")
HORSE = promoted.parameter("bishop")
DRAGON = promoted.parameter("rook")


@promoted.counts
def count_promoted(us, them, emit):
    """Promoted men, by what they were."""
    emit(PROMOTED_PAWN, count(us.promoted_pawns))
    emit(PROMOTED_LANCE, count(us.promoted_lances))
    emit(PROMOTED_KNIGHT, count(us.promoted_knights))
    emit(PROMOTED_SILVER, count(us.promoted_silvers))
    emit(HORSE, count(us.horses))
    emit(DRAGON, count(us.dragons))


hand = Term("hand")
HELD_PAWN = hand.parameter("pawn")
HELD_LANCE = hand.parameter("lance")
HELD_KNIGHT = hand.parameter("knight")
HELD_SILVER = hand.parameter("silver")
HELD_GOLD = hand.parameter("gold")
HELD_BISHOP = hand.parameter("bishop")
HELD_ROOK = hand.parameter("rook")


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
