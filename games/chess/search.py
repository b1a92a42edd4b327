"""What the search has to know about chess, and the search built of it."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.chess.exchange import exchange_reaches, exchange_value
from games.chess.movegen import MAX_MOVES, generate, insufficient_material
from games.chess.moves import make, move_captured, move_kind, move_promotion, move_target
from games.chess.position import (
    CLOCK_MASK,
    CLOCK_SHIFT,
    EP_KEYS,
    EP_MASK,
    EP_SHIFT,
    NO_KIND,
    PAWN,
    QUEEN,
    SIDE,
    SIDE_BLOCK,
    SIDE_KEY,
    WORDS,
    Position,
    black_to_move,
    checkers,
    halfmove_clock,
    key_of,
    load,
    position_type,
    store,
)
from games.chess.unit import CORE, entry, inner
from games.search.iterate import make_search
from games.search.rules import Rules
from games.search.searcher import Searcher


@inner(types.uint64(position_type))
def _key(p):
    return p.key


@inner(types.boolean(position_type))
def _in_check(p):
    return checkers(p) != EMPTY


@inner(types.boolean(position_type))
def _may_pass(p):
    """With pawns alone, having to move is too often a burden."""
    ours = p.black if black_to_move(p) else p.white
    return ours & ~(p.pawns | p.kings) != EMPTY


@inner(position_type(position_type))
def _passed(p):
    """The other side to move; earlier positions cannot come back from here."""
    state = (p.state ^ SIDE) & ~(EP_MASK << EP_SHIFT | CLOCK_MASK << CLOCK_SHIFT)
    key = p.key ^ key_of(SIDE_KEY) ^ key_of(EP_KEYS + np.int64(p.state >> EP_SHIFT & EP_MASK))
    return Position(p.white, p.black, p.pawns, p.knights, p.bishops, p.rooks, p.queens, p.kings, state, key)


@inner(types.int64(types.int64))
def promise(move):
    """Most valuable victim first, then least valuable attacker."""
    captured, promotion = move_captured(move), move_promotion(move)
    return captured * 8 + promotion * 8 + 8 - move_kind(move) if captured | promotion else 0


@inner(types.boolean(position_type, types.int64, types.int64))
def _wins(p, move, least):
    """Whether exchanges on its target win so much; promotion to less than a queen never does."""
    promotion = move_promotion(move)
    return (promotion == NO_KIND or promotion == QUEEN) and exchange_reaches(p, move, least)


@inner(types.boolean(position_type, types.int64))
def _worth_trying(p, move):
    return _wins(p, move, 1)


@inner(types.boolean(position_type, types.int64))
def _safe(p, move):
    return _wins(p, move, 0)


@inner(types.int64(types.int64))
def _gain(move):
    promotion = move_promotion(move)
    won = exchange_value(move_captured(move))
    return won + exchange_value(promotion) - exchange_value(PAWN) if promotion else won


@inner(types.int64(position_type, types.int64))
def _slot(p, move):
    return (SIDE_BLOCK if black_to_move(p) else 0) + move_kind(move) * 64 + move_target(move)


RULES = Rules(
    unit=CORE, position_type=position_type, words=WORDS, max_moves=MAX_MOVES, slots=2 * SIDE_BLOCK, clock_limit=100,
    load=load, store=store, generate=generate, make=make, key=_key, in_check=_in_check, clock=halfmove_clock,
    drawn=insufficient_material, stalemate=0, may_pass=_may_pass, passed=_passed, promise=promise,
    worth_trying=_worth_trying, safe=_safe, gain=_gain, target=move_target, slot=_slot)
SEARCH = make_search(RULES)
_deepen = SEARCH.deepen


@entry(types.int64(SEARCH.contexts_type, types.int64, types.int64, SEARCH.reports_type))
def deepen(contexts, first, last, reports):
    """Search the first context's position from one depth to another; see games.search.iterate."""
    return _deepen(contexts[0], first, last, reports)


def searcher(function: int, weights: int, playing: bool, margin: float, megabytes: int = 16) -> Searcher:
    """A search with an evaluation and weights at these addresses; see games.search.searcher."""
    return Searcher(SEARCH.dtype, deepen, function, weights, playing, margin, megabytes)
