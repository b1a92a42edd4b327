"""Which moves give check, found without making them."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY, bit, lowest, without_lowest
from games.chess.attacks import between, bishop_attacks, knight_attacks, pawn_attacks_from, rook_attacks, through
from games.chess.moves import make, move_flag, move_kind, move_promotion, move_source, move_target
from games.chess.position import BISHOP, KNIGHT, PAWN, QUEEN, ROOK, black_to_move, checkers, position_type
from games.chess.unit import inner


class Aims(NamedTuple):
    """Squares from which a piece of the side to move attacks the enemy king, by kind; own pieces alone between an own slider and
    that king; the king's square. All but the last are sets."""

    pawns: np.uint64
    knights: np.uint64
    diagonal: np.uint64
    straight: np.uint64
    blockers: np.uint64
    king: np.int64


NO_AIMS = Aims(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, np.int64(0))
aims_type = numba.typeof(NO_AIMS)


@inner(types.boolean(position_type))
def in_check(p):
    """Whether the side to move is in check."""
    return checkers(p) != EMPTY


@inner(aims_type(position_type))
def aims_of(p):
    """Find what `gives_check` needs to know of a position."""
    black = black_to_move(p)
    ours, theirs = (p.black, p.white) if black else (p.white, p.black)
    occupied = ours | theirs
    king = lowest(p.kings & theirs)
    diagonal, straight = bishop_attacks(king, occupied), rook_attacks(king, occupied)
    beside = (diagonal | straight) & ours
    behind = occupied ^ beside
    snipers = (bishop_attacks(king, behind) & ~diagonal & (p.bishops | p.queens)
               | rook_attacks(king, behind) & ~straight & (p.rooks | p.queens)) & ours
    blockers = EMPTY
    while snipers:
        blockers |= between(king, lowest(snipers)) & beside
        snipers = without_lowest(snipers)
    return Aims(pawn_attacks_from(king, not black), knight_attacks(king), diagonal, straight, blockers, king)


@inner(types.boolean(position_type, aims_type, types.int64), forceinline=True)
def gives_check(p, aims, move):
    """Whether a legal move gives check; `aims` are those of the position."""
    if move_flag(move) | move_promotion(move):
        return in_check(make(p, move))
    kind, source, target = move_kind(move), move_source(move), bit(move_target(move))
    squares = EMPTY
    if kind == PAWN:
        squares = aims.pawns
    elif kind == KNIGHT:
        squares = aims.knights
    elif kind == BISHOP:
        squares = aims.diagonal
    elif kind == ROOK:
        squares = aims.straight
    elif kind == QUEEN:
        squares = aims.diagonal | aims.straight
    if squares & target:
        return True
    return aims.blockers & bit(source) != EMPTY and through(aims.king, source) & target == EMPTY
