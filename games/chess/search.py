"""The rules of chess for the search, and the compiled search of chess."""

from functools import partial

import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.chess.rules import CORE, entry, inner
from games.chess.rules.movegen import (
    MAX_MOVES,
    NO_AIMS,
    aims_of,
    generate,
    gives_check,
    insufficient_material,
    is_checked,
)
from games.chess.rules.position import (
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
    ChessPosition,
    black_to_move,
    halfmove_clock,
    key_of,
    load,
    make,
    move_captured,
    move_kind,
    move_promotion,
    move_target,
    position_type,
    store,
)
from games.chess.rules.see import see_reaches, see_value
from games.search.alphabeta import make_search
from games.search.alphabeta_searcher import AlphaBetaSearcher
from games.search.rules import SHORTEST_CYCLE, SearchRules

marks_type = types.Array(types.uint64, 1, "C")


@inner(types.uint64(position_type))
def _key(p):
    return p.key


@inner(types.boolean(position_type))
def _null_move_allowed(p):
    """Not with pawns alone: zugzwang is too frequent there."""
    ours = p.black if black_to_move(p) else p.white
    return ours & ~(p.pawns | p.kings) != EMPTY


@inner(position_type(position_type, types.int64, types.boolean), forceinline=True)
def _make_knowing(p, move, check):
    return make(p, move)


@inner(position_type(position_type))
def _make_null(p):
    """Pass the move to the opponent. The halfmove clock is reset: no earlier position counts as a
    repetition."""
    state = (p.state ^ SIDE) & ~(EP_MASK << EP_SHIFT | CLOCK_MASK << CLOCK_SHIFT)
    key = p.key ^ key_of(SIDE_KEY) ^ key_of(EP_KEYS + np.int64(p.state >> EP_SHIFT & EP_MASK))
    return ChessPosition(
        p.white, p.black, p.pawns, p.knights, p.bishops, p.rooks, p.queens, p.kings, state, key
    )


@inner(types.int64(types.int64))
def mvv_lva(move):
    """Order of captures and promotions: most valuable victim, then least valuable attacker; 0 for
    quiet moves."""
    captured, promotion = move_captured(move), move_promotion(move)
    return captured * 8 + promotion * 8 + 8 - move_kind(move) if captured | promotion else 0


@inner(types.boolean(position_type, types.int64, types.int64))
def _see_reaches(p, move, threshold):
    """Whether the SEE of a move reaches the threshold; underpromotions never do."""
    promotion = move_promotion(move)
    return (promotion == NO_KIND or promotion == QUEEN) and see_reaches(p, move, threshold)


@inner(types.boolean(position_type, types.int64))
def _see_above_zero(p, move):
    return _see_reaches(p, move, 1)


@inner(types.boolean(position_type, types.int64))
def _see_not_negative(p, move):
    return _see_reaches(p, move, 0)


@inner(types.int64(types.int64))
def _greatest_gain(move):
    promotion = move_promotion(move)
    won = see_value(move_captured(move))
    return won + see_value(promotion) - see_value(PAWN) if promotion else won


@inner(types.int64(position_type, types.int64))
def _history_index(p, move):
    return (SIDE_BLOCK if black_to_move(p) else 0) + move_kind(move) * 64 + move_target(move)


@inner(types.uint64(position_type))
def _no_mark(p):
    return EMPTY


@inner(types.int64(marks_type, types.int64, types.int64))
def _repetition_draws(marks, now, back):
    return 0


@inner(types.boolean(position_type, marks_type, types.int64, types.int64))
def _may_recur(p, marks, now, depth):
    return halfmove_clock(p) + depth >= SHORTEST_CYCLE


@inner(types.boolean(position_type, types.int64, types.int64))
def _path_dependent(p, depth, repeats):
    return halfmove_clock(p) + depth >= SHORTEST_CYCLE


@inner(types.boolean(position_type))
def _not_won(p):
    return False


RULES = SearchRules(
    unit=CORE,
    position_type=position_type,
    words=WORDS,
    max_moves=MAX_MOVES,
    history_size=2 * SIDE_BLOCK,
    clock_limit=100,
    load=load,
    store=store,
    generate=generate,
    make=make,
    make_knowing=_make_knowing,
    key=_key,
    in_check=is_checked,
    no_aims=NO_AIMS,
    aims=aims_of,
    gives_check=gives_check,
    clock=halfmove_clock,
    mark=_no_mark,
    repeated=_repetition_draws,
    may_recur=_may_recur,
    path_dependent=_path_dependent,
    won=_not_won,
    drawn=insufficient_material,
    stalemate=0,
    null_move_allowed=_null_move_allowed,
    make_null=_make_null,
    mvv_lva=mvv_lva,
    see_above_zero=_see_above_zero,
    see_not_negative=_see_not_negative,
    greatest_gain=_greatest_gain,
    target=move_target,
    history_index=_history_index,
)
SEARCH = make_search(RULES)
_deepen = SEARCH.deepen


@entry(types.int64(SEARCH.contexts_type, types.int64, types.int64, SEARCH.reports_type))
def deepen(contexts, first, last, reports):
    """Search the position of the first context from one depth to another, see
    games.search.alphabeta."""
    return _deepen(contexts[0], first, last, reports)


# of the addresses of an evaluation and its weights, see games.search.alphabeta_searcher
searcher = partial(AlphaBetaSearcher, SEARCH.dtype, deepen)
