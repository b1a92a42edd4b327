"""Declaration of a win by 27 points (rules of the CSA): the king has entered the enemy camp with enough men."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.shogi.attacks import BISHOP, PAWN, ROOK
from games.shogi.node import ZONE_OF_BLACK, ZONE_OF_WHITE
from games.shogi.position import HELD, held, in_check, kinds_of, load, position_type, white_to_move, words_type
from games.shogi.squares import popcount
from games.shogi.unit import entry, inner

LARGE = 5  # points of a bishop or rook; other men have one, kings none
BLACK_POINTS, WHITE_POINTS = 28, 27
MEN = 10  # in the camp, besides the king


@inner(types.boolean(position_type))
def may_declare(p):
    """Whether the side to move wins by declaration."""
    white = np.int64(1) if white_to_move(p) else np.int64(0)
    inside = p.white & ZONE_OF_WHITE if white else p.black & ZONE_OF_BLACK
    kinds = kinds_of(p)
    if not (kinds.kings & inside) or in_check(p):
        return False
    men = popcount(inside) - 1
    if men < MEN:
        return False
    points = men + (LARGE - 1) * popcount((kinds.bishops | kinds.rooks) & inside)
    for kind in range(PAWN, HELD):
        points += held(p.hands, white, kind) * (LARGE if kind == BISHOP or kind == ROOK else 1)
    return points >= (WHITE_POINTS if white else BLACK_POINTS)


@entry(types.boolean(words_type))
def declares(words):
    """Whether the side to move wins by declaration, of a position (15,)."""
    return may_declare(load(words))
