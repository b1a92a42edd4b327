"""The view of a chess position for terms: both sides, the phase, the side to move."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from evalterms.chess.side import PHASES, across, phase, side_to_view, side_type
from games.bits import lowest
from games.chess.position import WORDS, black_to_move, load, words_type
from games.chess.unit import CORE, inner

__all__ = ["CORE", "KEPT", "PHASES", "WORDS", "across", "first_side", "kept_key", "kept_side", "kept_type", "phase_of",
           "second_side", "second_to_move", "side_type"]

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
    """Return two words that together name the pawns and the squares of the kings: one for each side, with its king's square in
    the bits of the first rank, where no pawn is. They are not both zero."""
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
