"""Quiescence search: captures and promotions that win material, and check evasions, until the
position is quiet."""

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types

from games.compile import jit
from games.search.context import (
    CACHED,
    DECIDED,
    INFINITE,
    MATE,
    MAX_EVALUATION,
    QUIESCENCE_LIMIT,
    UNIT,
    context_dtype,
    prefetch,
    put_word,
    word_at,
)
from games.search.rules import SearchRules

# from this ply of quiescence only recaptures are searched, which bounds the tree of wild positions
RECAPTURE_PLIES = 6
# up to this ply of quiescence all evasions of a check are searched, beyond it noisy moves alone
EVASION_PLIES = 2


class Quiescence(NamedTuple):
    """Compiled functions on a search context `c`, whose record type is `context_type`."""

    context_type: Any
    evaluate: Any  # c, key, row of the position -> value for the side to move
    update_pv: Any  # c, ply, move: the PV from this ply is this move and the PV of the next ply
    quiesce: Any  # c, ply, plies into quiescence, alpha, beta -> value
    quiesce_knowing: Any  # the same, after an argument more: whether the side to move is in check
    is_quiet: Any  # c -> bool: stack[0] is not in check and its value is its static evaluation
    # c -> bool: replace stack[0] by the leaf of its PV; False if the value is a win or a loss
    resolve: Any


def _call(builder, values):
    word = ir.IntType(64)
    row = builder.extract_value(values[3], 4)  # the address of the array's data
    function = builder.inttoptr(
        values[0], ir.FunctionType(word, [row.type, word, word]).as_pointer()
    )
    return builder.call(function, [row, *values[1:3]])


@jit.intrinsic(
    types.int64, (types.int64, types.int64, types.int64, types.Array(types.uint64, 1, "C")), _call
)
def evaluate_at(function, weights, sums, words):
    """Call the evaluation at an address: its value for the side to move, in steps of 1/256
    centipawn."""
    return function(words, weights, sums)


def make_quiescence(rules: SearchRules) -> Quiescence:
    """Build the quiescence search of a game."""
    inner = rules.unit.inner
    load, store, generate, make, key_of = (
        rules.load,
        rules.store,
        rules.generate,
        rules.make,
        rules.key,
    )
    in_check, mvv_lva, see_above_zero = rules.in_check, rules.mvv_lva, rules.see_above_zero
    target, greatest_gain = rules.target, rules.greatest_gain
    context_type = types.int64 if jit.PLAIN else numba.from_dtype(context_dtype(rules))
    words_type = types.Array(types.uint64, 1, "C")
    number = types.int64

    @inner(number(context_type, types.uint64, words_type))
    def evaluate(c, key, row):
        place = (np.int64(key) & (CACHED - 1)) << 1
        if word_at(c.eval_cache, place) == key:
            return np.int64(word_at(c.eval_cache, place + 1))
        value = max(
            -MAX_EVALUATION, min(MAX_EVALUATION, evaluate_at(c.function, c.weights, c.sums, row))
        )
        put_word(c.eval_cache, place, key)
        put_word(c.eval_cache, place + 1, np.uint64(value))
        return value

    @inner(number(types.Array(types.uint32, 1, "C"), number, number))
    def pick_move(moves, i, n):
        """Selection sort, one step: swap the move of moves[i:n] with the highest MVV-LVA to place i
        and return it."""
        best, most = i, mvv_lva(np.int64(moves[i]))
        for k in range(i + 1, n):
            value = mvv_lva(np.int64(moves[k]))
            if value > most:
                best, most = k, value
        chosen = moves[best]
        moves[best] = moves[i]
        moves[i] = chosen
        return np.int64(chosen)

    @inner(types.void(context_type, number, number))
    def update_pv(c, ply, move):
        """Set the PV of this ply: the move, then the PV of the next ply."""
        n = c.pv_lengths[ply + 1]
        c.pv[ply, 0] = move
        for i in range(n):
            c.pv[ply, i + 1] = c.pv[ply + 1, i]
        c.pv_lengths[ply] = n + 1

    @inner(number(context_type, number, number, number, number, types.boolean))
    def quiesce_knowing(c, ply, depth, alpha, beta, check):
        """Fail-soft value of the position stack[ply] for the side to move, `depth` plies into
        quiescence.

        `check`: whether it is in check, and all evasions must be searched. In an open window the
        moves to the leaf go to pv[ply]."""
        c.nodes += 1
        row = c.stack[ply]
        p = load(row)
        c.pv_lengths[ply] = 0
        best = np.int64(-INFINITE)
        if not check or depth == QUIESCENCE_LIMIT:
            best = evaluate(c, key_of(p), row)
            if best >= beta or depth == QUIESCENCE_LIMIT:
                return best
            alpha = max(alpha, best)
        moves = c.moves[ply]
        n = generate(p, not check, moves)
        if check and n == 0:
            return ply - MATE
        static_eval = best
        last_target = target(c.path[ply - 1]) if ply > 0 else -1
        for i in range(n):
            move = pick_move(moves, i, n)
            if depth >= RECAPTURE_PLIES and target(move) != last_target:
                continue
            if not check:
                reachable = static_eval + greatest_gain(move) * UNIT + c.delta_margin
                if c.playing and reachable <= alpha:  # delta pruning
                    best = max(best, reachable)
                    continue
                if not see_above_zero(p, move):
                    continue
            after = make(p, move)
            prefetch(c.eval_cache, (np.int64(key_of(after)) & (CACHED - 1)) << 1)
            store(c.stack[ply + 1], after)
            c.path[ply] = move
            value = -quiesce_knowing(
                c, ply + 1, depth + 1, -beta, -alpha, depth < EVASION_PLIES and in_check(after)
            )
            if value > best:
                best = value
                if value > alpha:
                    if beta - alpha > 1:
                        update_pv(c, ply, move)
                    alpha = value
                    if value >= beta:
                        break
        return best

    @inner(number(context_type, number, number, number, number))
    def quiesce(c, ply, depth, alpha, beta):
        """The same, where it is not known yet whether the side to move is in check."""
        return quiesce_knowing(
            c, ply, depth, alpha, beta, depth <= EVASION_PLIES and in_check(load(c.stack[ply]))
        )

    @inner(types.boolean(context_type))
    def is_quiet(c):
        p = load(c.stack[0])
        if in_check(p):
            return False
        moves = c.moves[0]
        for i in range(generate(p, True, moves)):
            if see_above_zero(p, np.int64(moves[i])):
                static_eval = evaluate(c, key_of(p), c.stack[0])
                return quiesce(c, 0, 0, static_eval, static_eval + 1) == static_eval
        return True  # nothing to search

    @inner(types.boolean(context_type))
    def resolve(c):
        value = quiesce(c, 0, 0, -INFINITE, INFINITE)
        p = load(c.stack[0])
        for i in range(c.pv_lengths[0]):
            p = make(p, np.int64(c.pv[0, i]))
        store(c.stack[0], p)
        return abs(value) < DECIDED

    return Quiescence(
        context_type, evaluate, update_pv, quiesce, quiesce_knowing, is_quiet, resolve
    )
