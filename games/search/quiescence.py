"""Quiescence: noisy moves, or answers to a check, until the position is quiet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types

from games import jit
from games.search.context import CACHED, DECIDED, INFINITE, LARGEST, MATE, QUIESCENCE_LIMIT, UNIT, context_dtype
from games.search.memory import put_word, word_at
from games.search.rules import Rules

CHAIN_PLIES = 6  # below this only answers on the square just entered are searched: wild positions would grow without end
ANSWER_PLIES = 2  # a check is answered by every move this far below the root of quiescence, beyond it by noisy moves alone


class Quiescence(NamedTuple):
    """Compiled functions on a search context `c`, whose record type is `context_type`."""

    context_type: Any
    evaluate: Any  # c, key, row of the position -> value for the side to move
    follow: Any  # c, ply, move: the principal variation from this ply on
    quiesce: Any  # c, ply, plies of quiescence before, alpha, beta -> value
    is_quiet: Any  # c -> bool: stack[0] is not in check and its value is its static evaluation
    resolve: Any  # c -> bool: stack[0] becomes its own leaf; False if the game is over there


def _call(builder, values):
    word = ir.IntType(64)
    row = builder.extract_value(values[2], 4)  # the address of the array's data
    function = builder.inttoptr(values[0], ir.FunctionType(word, [row.type, word]).as_pointer())
    return builder.call(function, [row, values[1]])


@jit.intrinsic(types.int64, (types.int64, types.int64, types.Array(types.uint64, 1, "C")), _call)
def evaluate_at(function, weights, words):
    """Call the evaluation at an address: its value for the side to move, in steps of 1/256 centipawn."""
    return function(words, weights)


def make_quiescence(rules: Rules) -> Quiescence:
    """Quiescence search for a game."""
    inner = rules.unit.inner
    load, store, generate, make, key_of = rules.load, rules.store, rules.generate, rules.make, rules.key
    in_check, promise, worth_trying = rules.in_check, rules.promise, rules.worth_trying
    target, gain = rules.target, rules.gain
    context_type = types.int64 if jit.PLAIN else numba.from_dtype(context_dtype(rules))
    words_type = types.Array(types.uint64, 1, "C")
    number = types.int64

    @inner(number(context_type, types.uint64, words_type))
    def evaluate(c, key, row):
        place = (np.int64(key) & (CACHED - 1)) << 1
        if word_at(c.cache, place) == key:
            return np.int64(word_at(c.cache, place + 1))
        value = max(-LARGEST, min(LARGEST, evaluate_at(c.function, c.weights, row)))
        put_word(c.cache, place, key)
        put_word(c.cache, place + 1, np.uint64(value))
        return value

    @inner(number(types.Array(types.uint32, 1, "C"), number, number))
    def pick(moves, i, n):
        """Bring the most promising of moves[i:n] to i and return it."""
        best, most = i, promise(np.int64(moves[i]))
        for k in range(i + 1, n):
            value = promise(np.int64(moves[k]))
            if value > most:
                best, most = k, value
        chosen = moves[best]
        moves[best] = moves[i]
        moves[i] = chosen
        return np.int64(chosen)

    @inner(types.void(context_type, number, number))
    def follow(c, ply, move):
        """The principal variation from this ply on is this move and what follows below."""
        n = c.lengths[ply + 1]
        c.variations[ply, 0] = move
        for i in range(n):
            c.variations[ply, i + 1] = c.variations[ply + 1, i]
        c.lengths[ply] = n + 1

    @inner(number(context_type, number, number, number, number))
    def quiesce(c, ply, depth, alpha, beta):
        """Fail-soft value of the position stack[ply] for the side to move, `depth` plies into quiescence.

        Where the window is open, the moves to its leaf go to variations[ply].
        """
        c.nodes += 1
        row = c.stack[ply]
        p = load(row)
        c.lengths[ply] = 0
        check = depth <= ANSWER_PLIES and in_check(p)
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
        static = best
        entered = target(c.line[ply - 1]) if ply > 0 else -1
        for i in range(n):
            move = pick(moves, i, n)
            if depth >= CHAIN_PLIES and target(move) != entered:
                continue
            if not check:
                most = static + gain(move) * UNIT + 2 * c.margin
                if c.playing and most <= alpha:
                    best = max(best, most)
                    continue
                if not worth_trying(p, move):
                    continue
            store(c.stack[ply + 1], make(p, move))
            c.line[ply] = move
            value = -quiesce(c, ply + 1, depth + 1, -beta, -alpha)
            if value > best:
                best = value
                if value > alpha:
                    if beta - alpha > 1:
                        follow(c, ply, move)
                    alpha = value
                    if value >= beta:
                        break
        return best

    @inner(types.boolean(context_type))
    def is_quiet(c):
        p = load(c.stack[0])
        if in_check(p):
            return False
        moves = c.moves[0]
        for i in range(generate(p, True, moves)):
            if worth_trying(p, np.int64(moves[i])):
                static = evaluate(c, key_of(p), c.stack[0])
                return quiesce(c, 0, 0, static, static + 1) == static
        return True  # nothing to search

    @inner(types.boolean(context_type))
    def resolve(c):
        value = quiesce(c, 0, 0, -INFINITE, INFINITE)
        p = load(c.stack[0])
        for i in range(c.lengths[0]):
            p = make(p, np.int64(c.variations[0, i]))
        store(c.stack[0], p)
        return abs(value) < DECIDED

    return Quiescence(context_type, evaluate, follow, quiesce, is_quiet, resolve)
