"""Which moves give check, found without making them."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.shogi.attacks import (
    BISHOP,
    DRAGON,
    HORSE,
    LANCE,
    PROMOTED,
    ROOK,
    between,
    bishop_attacks,
    lance_attacks,
    rook_attacks,
    steps_from,
    through,
)
from games.shogi.moves import is_drop, move_kind, move_promotes, move_source, move_target
from games.shogi.position import kinds_of, position_type, white_to_move
from games.shogi.squares import EMPTY, Squares, bit, lowest, without_lowest
from games.shogi.unit import inner


class Aims(NamedTuple):
    """Squares from which a bishop, a rook, a lance of the side to move attacks the enemy king; own men alone between an own
    sliding man and that king; its square (-1: there is none) and who moves."""

    diagonal: Squares
    straight: Squares
    forward: Squares
    blockers: Squares
    king: np.int64
    white: np.int64


NO_AIMS = Aims(EMPTY, EMPTY, EMPTY, EMPTY, np.int64(0), np.int64(0))
aims_type = numba.typeof(NO_AIMS)


@inner(aims_type(position_type))
def aims_of(p):
    """Find what `gives_check` needs to know of a position."""
    white = np.int64(1) if white_to_move(p) else np.int64(0)
    ours, theirs = (p.white, p.black) if white else (p.black, p.white)
    kinds = kinds_of(p)
    target = kinds.kings & theirs
    if not target:
        return Aims(EMPTY, EMPTY, EMPTY, EMPTY, np.int64(-1), white)
    king, occupied = lowest(target), ours | theirs
    diagonal, straight = bishop_attacks(king, occupied), rook_attacks(king, occupied)
    forward = lance_attacks(1 - white, king, occupied)
    beside = (diagonal | straight) & ours
    behind = occupied ^ beside
    snipers = (bishop_attacks(king, behind) & ~diagonal & kinds.bishops | rook_attacks(king, behind) & ~straight & kinds.rooks
               | lance_attacks(1 - white, king, behind) & ~forward & kinds.lances) & ours
    blockers = EMPTY
    while snipers:
        blockers |= between(king, lowest(snipers)) & beside
        snipers = without_lowest(snipers)
    return Aims(diagonal, straight, forward, blockers, king, white)


@inner(types.boolean(position_type, aims_type, types.int64))
def gives_check(p, aims, move):
    """Whether a legal move gives check; `aims` are those of the position."""
    if aims.king < 0:
        return False
    kind = move_kind(move) + PROMOTED * move_promotes(move)
    target = bit(move_target(move))
    squares = steps_from(1 - aims.white, kind, aims.king)
    if kind == BISHOP or kind == HORSE:
        squares |= aims.diagonal
    elif kind == ROOK or kind == DRAGON:
        squares |= aims.straight
    elif kind == LANCE:
        squares = aims.forward
    if squares & target:
        return True
    if is_drop(move):
        return False
    source = move_source(move)
    return bool(aims.blockers & bit(source)) and not (through(aims.king, source) & target)
