"""One side of a shogi position from its own point of view: moving up the board, its own camp at the bottom."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY as NOTHING
from games.bits import ONE
from games.shogi.node import attacked_by
from games.shogi.position import Kinds, position_type, white_to_move
from games.shogi.squares import EMPTY, Squares, flip, squares_type
from games.shogi.unit import inner

HAND_SHIFT, HAND_MASK = np.uint64(32), np.uint64(0xFFFFFFFF)


class Side(NamedTuple):
    """Sets of squares: the men of one side, by kind and all of them; its hand, packed as in a position; one if it is to move,
    otherwise zero."""

    pawns: Squares
    lances: Squares
    knights: Squares
    silvers: Squares
    golds: Squares
    bishops: Squares
    rooks: Squares
    king: Squares
    promoted_pawns: Squares
    promoted_lances: Squares
    promoted_knights: Squares
    promoted_silvers: Squares
    horses: Squares
    dragons: Squares
    men: Squares
    hand: np.uint64
    to_move: np.uint64


side_type = numba.typeof(Side(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY,
                              EMPTY, NOTHING, NOTHING))


@inner(side_type(position_type, types.boolean), forceinline=True)
def side_to_view(p, white):
    """Return Black, or White with the board turned."""
    men = p.white if white else p.black
    a, b, c, d = p.bit0 & men, p.bit1 & men, p.bit2 & men, p.bit3 & men
    if white:
        men, a, b, c, d = flip(men), flip(a), flip(b), flip(c), flip(d)
    hand = p.hands >> HAND_SHIFT if white else p.hands & HAND_MASK
    plain, not_c = men & ~d, ~c
    return Side(
        a & ~b & not_c & plain, b & ~a & not_c & plain, a & b & not_c & plain, c & ~(a | b) & plain,  # to silvers
        a & b & c, a & ~b & c & plain, b & ~a & c & plain, d & ~(a | b | c),  # golds, bishops, rooks, king
        a & ~b & not_c & d, b & ~a & not_c & d, a & b & not_c & d, c & ~(a | b) & d, a & ~b & c & d, b & ~a & c & d,  # promoted
        men, hand, ONE if white_to_move(p) == white else NOTHING)


@inner(side_type(side_type), forceinline=True)
def across(side):
    """Return the same side as its opponent sees it."""
    return Side(flip(side.pawns), flip(side.lances), flip(side.knights), flip(side.silvers), flip(side.golds),
                flip(side.bishops), flip(side.rooks), flip(side.king), flip(side.promoted_pawns),
                flip(side.promoted_lances), flip(side.promoted_knights), flip(side.promoted_silvers), flip(side.horses),
                flip(side.dragons), flip(side.men), side.hand, side.to_move)


@inner(squares_type(side_type, squares_type, types.int64))
def attacks(side, occupied, down):
    """Return the squares that a side attacks; `down`: 1 if it is seen by its opponent, so that it moves down the board."""
    golds = side.golds | side.promoted_pawns | side.promoted_lances | side.promoted_knights | side.promoted_silvers
    kinds = Kinds(side.pawns, side.lances, side.knights, side.silvers, golds, side.bishops | side.horses,
                  side.rooks | side.dragons, side.horses, side.dragons, side.king)
    return attacked_by(kinds, side.men, down, occupied)
