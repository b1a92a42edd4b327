"""The view of a shogi position for terms: both sides, and squares as places of tables, whose rows
in parameter files are the ranks of a board: rank a first, file 9 left."""

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY as NOTHING
from games.bits import ONE
from games.compile import jit
from games.shogi.rules import CORE, inner
from games.shogi.rules.movegen import attacked_by
from games.shogi.rules.position import WORDS, Kinds, load, position_type, white_to_move, words_type
from games.shogi.rules.squares import EMPTY, FILES, RANKS, SQUARES, Squares, flip, squares_type

# names of parameters
UNPROMOTED = ("pawn", "lance", "knight", "silver", "gold", "bishop", "rook")
PROMOTED_MEN = (
    "promoted_pawn",
    "promoted_lance",
    "promoted_knight",
    "promoted_silver",
    "horse",
    "dragon",
)

# rows of parameters count from the bottom
place_of = jit.table(
    "shogi_places",
    np.array(
        [SQUARES - 1 - RANKS * (square % RANKS) - square // RANKS for square in range(SQUARES)],
        np.int64,
    ),
)
_relative = jit.table(
    "shogi_relative",
    np.array(
        [
            [
                (king % RANKS - square % RANKS + RANKS - 1) * FILES
                + abs(king // RANKS - square // RANKS)
                for square in range(SQUARES)
            ]
            for king in range(SQUARES)
        ],
        np.int64,
    ).ravel(),
)


@inner(types.int64(types.int64, types.int64), forceinline=True)
def relative_place(king, square):
    """Return the place of a square relative to a king's: rows by ranks ahead of it, columns by the
    distance in files."""
    return _relative(SQUARES * king + square)


HAND_SHIFT, HAND_MASK = np.uint64(32), np.uint64(0xFFFFFFFF)


class Side(NamedTuple):
    """Sets of squares: the men of one side, by kind and all of them; its hand, packed as in a
    position; one if it is to move, otherwise zero."""

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


side_type = numba.typeof(
    Side(
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
        NOTHING,
        NOTHING,
    )
)


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
        a & ~b & not_c & plain,
        b & ~a & not_c & plain,
        a & b & not_c & plain,
        c & ~(a | b) & plain,  # to silvers
        a & b & c,
        a & ~b & c & plain,
        b & ~a & c & plain,
        d & ~(a | b | c),  # golds, bishops, rooks, king
        a & ~b & not_c & d,
        b & ~a & not_c & d,
        a & b & not_c & d,
        c & ~(a | b) & d,
        a & ~b & c & d,
        b & ~a & c & d,  # promoted
        men,
        hand,
        ONE if white_to_move(p) == white else NOTHING,
    )


@inner(side_type(side_type), forceinline=True)
def across(side):
    """Return the same side as its opponent sees it."""
    return Side(
        flip(side.pawns),
        flip(side.lances),
        flip(side.knights),
        flip(side.silvers),
        flip(side.golds),
        flip(side.bishops),
        flip(side.rooks),
        flip(side.king),
        flip(side.promoted_pawns),
        flip(side.promoted_lances),
        flip(side.promoted_knights),
        flip(side.promoted_silvers),
        flip(side.horses),
        flip(side.dragons),
        flip(side.men),
        side.hand,
        side.to_move,
    )


@inner(squares_type(side_type, squares_type, types.int64))
def attacks(side, occupied, down):
    """Return the squares that a side attacks; `down`: 1 if it is seen by its opponent, so that it
    moves down the board."""
    golds = (
        side.golds
        | side.promoted_pawns
        | side.promoted_lances
        | side.promoted_knights
        | side.promoted_silvers
    )
    kinds = Kinds(
        side.pawns,
        side.lances,
        side.knights,
        side.silvers,
        golds,
        side.bishops | side.horses,
        side.rooks | side.dragons,
        side.horses,
        side.dragons,
        side.king,
    )
    return attacked_by(kinds, side.men, down, occupied)


__all__ = [
    "CORE",
    "PHASES",
    "WORDS",
    "across",
    "first_side",
    "phase_of",
    "second_side",
    "second_to_move",
    "side_type",
]

PHASES = 1


@inner(side_type(words_type), forceinline=True)
def first_side(words):
    """Return Black from its own point of view."""
    return side_to_view(load(words), False)


@inner(side_type(words_type), forceinline=True)
def second_side(words):
    """Return White from its own point of view."""
    return side_to_view(load(words), True)


@inner(types.int64(words_type))
def phase_of(words):
    return PHASES


@inner(types.boolean(words_type))
def second_to_move(words):
    """Whether White is to move."""
    return white_to_move(load(words))
