"""Rules and search of a game without captures, checks and repetitions, made of a few functions."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.compile.jit import Unit
from games.search.alphabeta import make_search
from games.search.alphabeta_searcher import AlphaBetaSearcher
from games.search.rules import SearchRules

GOES_ON = 2
MOVES = 128  # moves are numbers from 1 to 127
words_type = marks_type = types.Array(types.uint64, 1, "C")
moves_type = types.Array(types.uint32, 1, "C")


class PlainCore(NamedTuple):
    """The functions on words that `games.plain.plain_game` makes a game of.

    `write_moves` writes the legal moves of a position into an array of uint32 and returns their
    number; `write_play` writes the position after a move into the last array; `outcome` is the
    result of a position for the side to move, 1, 0 or -1, or GOES_ON. `searcher` is that of a
    `Contest`."""

    words: int
    second_to_move: Callable[[np.ndarray], bool]
    write_moves: Callable[[np.ndarray, np.ndarray], int]
    write_play: Callable[[np.ndarray, int, np.ndarray], None]
    outcome: Callable[[np.ndarray], int]
    searcher: Callable[..., AlphaBetaSearcher] | None = None


def plain_core(
    unit: Unit, position_type: Any, *, second_to_move: Any, **functions: Any
) -> PlainCore:
    """Return the core of a game of its `functions`, which are those of `plain_rules`, and of
    `second_to_move`, which takes words."""
    search, entry = make_search(plain_rules(unit, position_type, **functions)), unit.entry
    load, generate, make, result = (
        functions[name] for name in ("load", "generate", "make", "outcome")
    )
    size, go_deeper = position_type.count, search.deepen

    @entry(types.int64(words_type, moves_type))
    def write_moves(words, moves):
        return generate(load(words), moves)

    @entry(types.void(words_type, types.int64, words_type))
    def write_play(words, move, after):
        p = make(load(words), move)
        for i in range(size):
            after[i] = p[i]

    @entry(types.int64(words_type))
    def outcome(words):
        return result(load(words))

    @entry(types.int64(search.contexts_type, types.int64, types.int64, search.reports_type))
    def deepen(contexts, first, last, reports):
        return go_deeper(contexts[0], first, last, reports)

    @entry(types.boolean(words_type))
    def second_moves(words):
        return second_to_move(words)

    searcher = partial(AlphaBetaSearcher, search.dtype, deepen)
    return PlainCore(size, second_moves, write_moves, write_play, outcome, searcher)


def plain_rules(
    unit: Unit,
    position_type: Any,
    *,
    load: Any,
    generate: Any,
    make: Any,
    outcome: Any,
) -> SearchRules:
    """Return the rules of a game for `games.search.alphabeta.make_search`.

    `generate` takes p and a row of uint32, writes the legal moves and returns their number;
    `outcome` takes p and returns the result for the side to move, 1, 0 or -1, or GOES_ON. The
    other arguments are fields of `SearchRules`; the last word of a position is its key."""
    inner, words = unit.inner, position_type.count

    @inner(types.void(words_type, position_type))
    def store(line, p):
        for i in range(words):
            line[i] = p[i]

    @inner(types.uint64(position_type))
    def key(p):
        return p[words - 1]

    @inner(types.int64(position_type, types.boolean, moves_type))
    def all_moves(p, noisy, moves):
        return 0 if noisy else generate(p, moves)

    @inner(types.boolean(position_type))
    def has_lost(p):
        return outcome(p) == -1

    @inner(types.boolean(position_type))
    def has_won(p):
        return outcome(p) == 1

    @inner(types.boolean(position_type))
    def is_drawn(p):
        return outcome(p) == 0

    @inner(types.boolean(position_type, types.boolean, types.int64))
    def loses(p, aims, move):
        return outcome(make(p, move)) == -1

    @inner(position_type(position_type, types.int64, types.boolean), forceinline=True)
    def make_knowing(p, move, lost):
        return make(p, move)

    @inner(types.boolean(position_type))
    def no_aims(p):
        return False

    @inner(types.uint64(position_type))
    def no_mark(p):
        return EMPTY

    @inner(types.int64(position_type))
    def no_clock(p):
        return 0

    @inner(types.int64(marks_type, types.int64, types.int64))
    def no_repetition(marks, now, back):
        return 0

    @inner(types.boolean(position_type, marks_type, types.int64, types.int64))
    def never_recurs(p, marks, now, depth):
        return False

    @inner(types.boolean(position_type, types.int64, types.int64))
    def no_path(p, depth, repeats):
        return False

    @inner(types.boolean(position_type))
    def no_null_move(p):
        return False

    @inner(position_type(position_type))
    def same(p):
        return p

    @inner(types.int64(types.int64))
    def quiet(move):
        return 0

    @inner(types.boolean(position_type, types.int64))
    def no_exchange(p, move):
        return False

    @inner(types.int64(types.int64))
    def itself(move):
        return move

    @inner(types.int64(position_type, types.int64))
    def history_index(p, move):
        return move

    return SearchRules(
        unit=unit,
        position_type=position_type,
        words=words,
        max_moves=MOVES,
        history_size=MOVES,
        clock_limit=0,
        load=load,
        store=store,
        generate=all_moves,
        make=make,
        make_knowing=make_knowing,
        key=key,
        in_check=has_lost,
        no_aims=False,
        aims=no_aims,
        gives_check=loses,
        clock=no_clock,
        mark=no_mark,
        repeated=no_repetition,
        may_recur=never_recurs,
        path_dependent=no_path,
        won=has_won,
        drawn=is_drawn,
        stalemate=-1,
        null_move_allowed=no_null_move,
        make_null=same,
        mvv_lva=quiet,
        see_above_zero=no_exchange,
        see_not_negative=no_exchange,
        greatest_gain=quiet,
        target=itself,
        history_index=history_index,
    )
