"""Quiescence search: captures and promotions, or evasions of a check, until the position is quiet.

The evaluation is called by address, so that one compiled search serves every set of terms and weights. Searched are
captures and promotions to a queen that win material by static exchange, and at the first plies all evasions of a check.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types

from games import jit
from games.bits import EMPTY
from games.chess.exchange import exchange_reaches
from games.chess.movegen import MAX_MOVES, generate
from games.chess.position import (
    NO_KIND,
    QUEEN,
    checkers,
    load,
    make,
    move_captured,
    move_kind,
    move_promotion,
    move_target,
    position_type,
    store,
    words_type,
)
from games.chess.unit import inner

LIMIT = 30  # plies below the root
RECAPTURE_PLIES = 6  # below this only recaptures are searched: keeps wild positions from growing without end
EVASION_PLIES = 2  # a check is answered by every evasion this far below the root, beyond it by captures alone
MATE = 1 << 40
INFINITE = 1 << 50
positions_type = types.Array(types.uint64, 2, "C")
move_rows_type = types.Array(types.uint32, 2, "C")


def _call(builder, values):
    word = ir.IntType(64)
    row = builder.extract_value(values[2], 4)  # the address of the array's data
    function = builder.inttoptr(values[0], ir.FunctionType(word, [row.type, word]).as_pointer())
    return builder.call(function, [row, values[1]])


@jit.intrinsic(types.int64, (types.int64, types.int64, words_type), _call)
def evaluate_at(function, weights, words):
    """Call the evaluation at an address: its value for the side to move, in steps of 1/256 centipawn."""
    return function(words, weights)


@inner(types.int64(types.int64))
def _promise(move):
    """Most valuable victim first, then least valuable attacker."""
    return move_captured(move) * 8 + move_promotion(move) * 8 - move_kind(move)


@inner(types.int64(types.Array(types.uint32, 1, "C"), types.int64, types.int64))
def pick(moves, i, n):
    """Bring the most promising of moves[i:n] to i and return it."""
    best, promise = i, np.int64(-100)
    for k in range(i, n):
        value = _promise(np.int64(moves[k]))
        if value > promise:
            best, promise = k, value
    chosen = moves[best]
    moves[best] = moves[i]
    moves[i] = chosen
    return np.int64(chosen)


@inner(types.boolean(position_type, types.int64))
def _is_worth_trying(p, move):
    promotion = move_promotion(move)
    return (promotion == NO_KIND or promotion == QUEEN) and exchange_reaches(p, move, 1)


@inner(types.int64(types.int64, types.int64, positions_type, positions_type, move_rows_type, types.int64, types.int64,
                   types.int64, types.int64))
def quiesce(function, weights, stack, leaves, moves, ply, entered, alpha, beta):
    """Fail-soft quiescence value of the position stack[ply], for the side to move; its leaf goes to leaves[ply].

    `entered` is the square that the last move went to.
    `stack` and `leaves` have LIMIT + 1 rows, `moves` as many rows of MAX_MOVES.
    """
    p = load(stack[ply])
    check = ply <= EVASION_PLIES and checkers(p) != EMPTY
    store(leaves[ply], p)
    best = np.int64(-INFINITE)
    if not check or ply == LIMIT:
        best = evaluate_at(function, weights, stack[ply])
        if best >= beta or ply == LIMIT:
            return best
        alpha = max(alpha, best)
    row = moves[ply]
    n = generate(p, not check, row)
    if check and n == 0:
        return np.int64(ply - MATE)
    for i in range(n):
        move = pick(row, i, n)
        if ply >= RECAPTURE_PLIES and move_target(move) != entered:
            continue
        if not check and not _is_worth_trying(p, move):
            continue
        store(stack[ply + 1], make(p, move))
        value = -quiesce(function, weights, stack, leaves, moves, ply + 1, move_target(move), -beta, -alpha)
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                store(leaves[ply], load(leaves[ply + 1]))
                if value >= beta:
                    break
    return best


@inner(types.boolean(types.int64, types.int64, positions_type, positions_type, move_rows_type))
def is_quiet(function, weights, stack, leaves, moves):
    """Whether the position stack[0] is not in check and its quiescence value is its static evaluation."""
    p = load(stack[0])
    if checkers(p):
        return False
    row = moves[0]
    for i in range(generate(p, True, row)):
        if _is_worth_trying(p, np.int64(row[i])):
            static = evaluate_at(function, weights, stack[0])
            return quiesce(function, weights, stack, leaves, moves, 0, -1, static, static + 1) == static
    return True  # nothing to search


@inner(types.boolean(types.int64, types.int64, positions_type, positions_type, move_rows_type))
def resolve(function, weights, stack, leaves, moves):
    """Put the quiescence leaf of stack[0] into leaves[0]; False if the game is over there."""
    value = quiesce(function, weights, stack, leaves, moves, 0, -1, -INFINITE, INFINITE)
    return abs(value) < MATE - 1000


def workspace() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays `stack`, `leaves` and `moves` that a quiescence search works in."""
    return (np.zeros((LIMIT + 1, 10), np.uint64), np.zeros((LIMIT + 1, 10), np.uint64),
            np.zeros((LIMIT + 1, MAX_MOVES), np.uint32))
