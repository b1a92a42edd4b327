"""One side of a chess position from its own point of view: moving up the board, first rank at the
bottom."""

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE, flip, lowest, popcount, without_lowest
from games.chess.rules import CORE, inner
from games.chess.rules.attacks import (
    NINE,
    NOT_A,
    NOT_H,
    SEVEN,
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks_up,
    rook_attacks,
)
from games.chess.rules.position import WORDS, black_to_move, load, position_type, words_type

PHASES = 24  # knights and bishops 1, rooks 2, queens 4: 24 with all pieces on the board


class Side(NamedTuple):
    """Sets of squares (uint64): the pieces of one side, and their attacks."""

    pawns: np.uint64
    knights: np.uint64
    bishops: np.uint64
    rooks: np.uint64
    queens: np.uint64
    king: np.uint64
    pieces: np.uint64  # all of them
    pawn_attacks: np.uint64
    knight_attacks: np.uint64
    bishop_attacks: np.uint64
    rook_attacks: np.uint64
    queen_attacks: np.uint64
    king_attacks: np.uint64
    attacks: np.uint64  # by any piece
    double_attacks: np.uint64  # by two or more
    to_move: np.uint64  # one or zero


side_type = numba.typeof(Side(*np.zeros(len(Side._fields), np.uint64)))


@inner(
    side_type(
        types.uint64,
        types.uint64,
        types.uint64,
        types.uint64,
        types.uint64,
        types.uint64,
        types.uint64,
        types.uint64,
    )
)
def side_of(pawns, knights, bishops, rooks, queens, king, occupied, to_move):
    """Build a side from its pieces, seen from its own point of view."""
    by_pawns = pawn_attacks_up(pawns)
    by_king = king_attacks(lowest(king))
    attacks = by_pawns | by_king
    double = by_pawns & by_king | (pawns & NOT_A) << SEVEN & (pawns & NOT_H) << NINE
    by_knights, by_bishops, by_rooks, by_queens = EMPTY, EMPTY, EMPTY, EMPTY
    rest = knights
    while rest:
        reached = knight_attacks(lowest(rest))
        double |= attacks & reached
        attacks |= reached
        by_knights |= reached
        rest = without_lowest(rest)
    rest = bishops
    while rest:
        reached = bishop_attacks(lowest(rest), occupied)
        double |= attacks & reached
        attacks |= reached
        by_bishops |= reached
        rest = without_lowest(rest)
    rest = rooks
    while rest:
        reached = rook_attacks(lowest(rest), occupied)
        double |= attacks & reached
        attacks |= reached
        by_rooks |= reached
        rest = without_lowest(rest)
    rest = queens
    while rest:
        reached = bishop_attacks(lowest(rest), occupied) | rook_attacks(lowest(rest), occupied)
        double |= attacks & reached
        attacks |= reached
        by_queens |= reached
        rest = without_lowest(rest)
    return Side(
        pawns,
        knights,
        bishops,
        rooks,
        queens,
        king,
        pawns | knights | bishops | rooks | queens | king,
        by_pawns,
        by_knights,
        by_bishops,
        by_rooks,
        by_queens,
        by_king,
        attacks,
        double,
        to_move,
    )


@inner(side_type(side_type), forceinline=True)
def across(side):
    """Return the same side as its opponent sees it."""
    return Side(
        flip(side.pawns),
        flip(side.knights),
        flip(side.bishops),
        flip(side.rooks),
        flip(side.queens),
        flip(side.king),
        flip(side.pieces),
        flip(side.pawn_attacks),
        flip(side.knight_attacks),
        flip(side.bishop_attacks),
        flip(side.rook_attacks),
        flip(side.queen_attacks),
        flip(side.king_attacks),
        flip(side.attacks),
        flip(side.double_attacks),
        side.to_move,
    )


@inner(side_type(position_type, types.boolean), forceinline=True)
def side_to_view(p, black):
    """Return White, or Black with the board flipped."""
    ours = p.black if black else p.white
    occupied = p.white | p.black
    pawns, knights, bishops = p.pawns & ours, p.knights & ours, p.bishops & ours
    rooks, queens, king = p.rooks & ours, p.queens & ours, p.kings & ours
    if black:
        occupied, pawns, knights, bishops = (
            flip(occupied),
            flip(pawns),
            flip(knights),
            flip(bishops),
        )
        rooks, queens, king = flip(rooks), flip(queens), flip(king)
    return side_of(
        pawns,
        knights,
        bishops,
        rooks,
        queens,
        king,
        occupied,
        ONE if black_to_move(p) == black else EMPTY,
    )


@inner(types.int64(position_type))
def phase(p):
    """Return the phase, from 0 (pawns and kings) to PHASES (all pieces)."""
    return min(
        popcount(p.knights | p.bishops) + 2 * popcount(p.rooks) + 4 * popcount(p.queens), PHASES
    )


__all__ = [
    "CORE",
    "KEPT",
    "PHASES",
    "WORDS",
    "across",
    "first_side",
    "kept_key",
    "kept_side",
    "kept_type",
    "phase_of",
    "second_side",
    "second_to_move",
    "side_type",
]

KEPT = "pawns and kings"  # what functions read whose sums the search keeps


class PawnsAndKing(NamedTuple):
    """The fields of a side that depend on pawns and kings alone (uint64)."""

    pawns: np.uint64
    king: np.uint64
    pawn_attacks: np.uint64
    king_attacks: np.uint64


kept_type = numba.typeof(PawnsAndKing(*np.zeros(4, np.uint64)))


@inner(side_type(words_type), forceinline=True)
def first_side(words):
    """Return White from its own point of view."""
    return side_to_view(load(words), False)


@inner(side_type(words_type), forceinline=True)
def second_side(words):
    """Return Black from its own point of view."""
    return side_to_view(load(words), True)


@inner(kept_type(side_type), forceinline=True)
def kept_side(side):
    """Return the fields of a side that functions may read whose sums are kept."""
    return PawnsAndKing(side.pawns, side.king, side.pawn_attacks, side.king_attacks)


@inner(types.UniTuple(types.uint64, 2)(words_type), forceinline=True)
def kept_key(words):
    """Return two words that together name the pawns and the squares of the kings: one for each
    side, with its king's square in the bits of the first rank, where no pawn is. They are not both
    zero."""
    p = load(words)
    white, black = lowest(p.kings & p.white), lowest(p.kings & p.black)
    return p.pawns & p.white | np.uint64(white), p.pawns & p.black | np.uint64(black)


@inner(types.int64(words_type))
def phase_of(words):
    """Return the phase, from 0 (last stage) to PHASES (first stage)."""
    return phase(load(words))


@inner(types.boolean(words_type))
def second_to_move(words):
    """Whether Black is to move."""
    return black_to_move(load(words))
