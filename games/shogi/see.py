"""Static exchange evaluation (SEE): the material that a capture or promotion wins after all recaptures on its square.

A captured man changes sides: its value is that on the board and that in hand, together.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games import jit
from games.shogi.attacks import KING, PROMOTED
from games.shogi.moves import move_captured, move_kind, move_promotes, move_source, move_target
from games.shogi.position import attackers, kind_at, kinds_of, position_type, white_to_move
from games.shogi.squares import bit, lowest, squares_type, without_lowest
from games.shogi.unit import inner

# values on the board, and of the plain man in hand: pawn, lance, knight, silver, bishop, rook, gold, king, then promoted men
_BOARD = np.array([0, 100, 370, 400, 550, 800, 950, 600, 20_000, 600, 600, 600, 600, 1150, 1300, 0], np.int64)
_HAND = np.array([0, 110, 407, 440, 605, 1000, 1150, 660, 0, 110, 407, 440, 605, 1000, 1150, 0], np.int64)
see_value = jit.table("shogi_see_values", _BOARD + _HAND)
_board_value = jit.table("shogi_see_board", _BOARD)


@inner(types.int64(types.int64), forceinline=True)
def promotion_gain(move):
    """Return the value that a move adds to its man on the board."""
    kind = move_kind(move)
    return _board_value(kind + PROMOTED) - _board_value(kind) if move_promotes(move) else 0


@inner(types.int64(position_type, squares_type))
def _least_valuable(p, men):
    """Return the square of the least valuable man in a set that is not empty."""
    best = lowest(men)
    least = see_value(kind_at(p, best))
    rest = without_lowest(men)
    while rest:
        square = lowest(rest)
        value = see_value(kind_at(p, square))
        if value < least:
            best, least = square, value
        rest = without_lowest(rest)
    return best


@inner(types.boolean(position_type, types.int64, types.int64))
def see_reaches(p, move, threshold):
    """Whether the SEE of a move that is no drop is at least `threshold` (centipawns).

    Both sides recapture with their least valuable man, without promotion, and stop as soon as the balance suits them, which
    decides the comparison exactly. Pins are ignored.
    """
    promotes = move_promotes(move)
    at_stake = see_value(move_kind(move) + PROMOTED * promotes)
    balance = see_value(move_captured(move)) + promotion_gain(move) - threshold
    if balance < 0:
        return False
    if balance >= at_stake:
        return True
    kinds = kinds_of(p)
    square = move_target(move)
    occupied = (p.black | p.white) & ~bit(move_source(move)) | bit(square)
    white = np.int64(0) if white_to_move(p) else np.int64(1)  # the side to recapture
    ours_to_move = False
    while True:
        if (balance >= 0) == ours_to_move:
            return ours_to_move
        mine = attackers(kinds, square, occupied, white) & (p.white if white else p.black) & occupied
        if not mine:
            return not ours_to_move
        source = _least_valuable(p, mine)
        kind = kind_at(p, source)
        if kind == KING and attackers(kinds, square, occupied, 1 - white) & (p.black if white else p.white) & occupied:
            return not ours_to_move
        balance += at_stake if ours_to_move else -at_stake
        at_stake = see_value(kind)
        occupied &= ~bit(source)
        white = 1 - white
        ours_to_move = not ours_to_move
