"""The order of moves: each move with its score in one word, and the best of them.

A word holds, from bit 0: the move (24 bits), 1023 minus its place in the list (10), its score (30).
So the greatest word is the move with the highest score, the first of them in the list."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.compile import jit
from games.compile.hashset import mix
from games.search.rules import SearchRules

PLACES = 1024
LANES = 8  # words that are compared at once
MIN_WORD = np.int64(-1 << 63)
U1, U2, U3, U4, U5, U6, U7, U8 = (np.uint64(n) for n in range(1, LANES + 1))
MOVE_MASK, PLACE_SHIFT, SCORE_SHIFT = (1 << 24) - 1, 24, 34
inner = jit.Unit("search", lambda: []).inner  # compiled into the units of the games
list_type = types.Array(types.int64, 1, "C")


@inner(types.int64(types.int64, types.int64, types.int64), forceinline=True)
def scored(move, place, score):
    """Return the word of a move."""
    return score << SCORE_SHIFT | (PLACES - 1 - place) << PLACE_SHIFT | move


@inner(types.int64(types.int64), forceinline=True)
def move_of(word):
    return word & MOVE_MASK


@inner(types.int64(types.int64), forceinline=True)
def score_of(word):
    return word >> SCORE_SHIFT


@inner(types.int64(types.int64), forceinline=True)
def place_of(word):
    return PLACES - 1 - (word >> PLACE_SHIFT & (PLACES - 1))


@inner(types.void(list_type, types.int64), forceinline=True)
def pad(words, end):
    """Write words less than all of the list behind it, so that `greatest` reads LANES at a
    time."""
    for k in range(np.uint64(end), np.uint64(end + LANES)):
        words[k] = MIN_WORD


@inner(types.int64(list_type, types.int64, types.int64), forceinline=True)
def greatest(words, begin, end):
    """Return the greatest of words[begin:end], which is padded."""
    a = b = c = d = e = f = g = h = MIN_WORD
    k = np.uint64(begin)
    while k < np.uint64(end):  # an unsigned index cannot count from the end of the array
        a, b, c, d = (
            max(a, words[k]),
            max(b, words[k + U1]),
            max(c, words[k + U2]),
            max(d, words[k + U3]),
        )
        e, f, g, h = (
            max(e, words[k + U4]),
            max(f, words[k + U5]),
            max(g, words[k + U6]),
            max(h, words[k + U7]),
        )
        k += U8
    return max(max(max(a, e), max(b, f)), max(max(c, g), max(d, h)))


@inner(types.void(list_type, types.int64, types.int64), forceinline=True)
def bring_forward(words, word, place):
    """Swap a word of the list with the one at a place."""
    old = words[place]
    at = place_of(word)
    words[at] = scored(move_of(old), at, score_of(old))
    words[place] = word


# scores for move ordering; captures add MVV-LVA, other quiet moves have their history score
HASH_MOVE, GOOD_CAPTURE, KILLER, BAD_CAPTURE = 1 << 28, 1 << 27, 1 << 26, -(1 << 27)
HISTORY_LIMIT = 1 << 14
ORDER_SHIFT = np.uint64(40)  # leaves 24 bits of a hash


def make_order(
    rules: SearchRules, context_type: Any
) -> tuple[Callable, Callable, Callable, Callable]:
    """Build `score_moves`, `pick_move`, `update_history` and `count_unpruned` of a game."""
    inner, position_type, number = rules.unit.inner, rules.position_type, types.int64
    mvv_lva, see_not_negative, history_index = (
        rules.mvv_lva,
        rules.see_not_negative,
        rules.history_index,
    )
    no_aims, gives_check = rules.no_aims, rules.gives_check
    assert rules.max_moves <= PLACES

    @inner(types.void(context_type, position_type, number, number, number))
    def score_moves(c, p, ply, n, hash_move):
        """Score the moves for ordering: hash move, captures by MVV-LVA, killers, quiet moves by
        history.

        All captures count as good until they are picked.
        """
        first, second = c.killers[ply, 0], c.killers[ply, 1]
        moves, words = c.moves[ply], c.ordered[ply]
        for i in range(np.uint64(n)):
            move = np.int64(moves[i])
            value = mvv_lva(move)
            score = c.history[history_index(p, move)]
            score = np.int64(KILLER) if move == second else score
            score = np.int64(KILLER + 1) if move == first else score
            score = GOOD_CAPTURE + value if value > 0 else score
            score = np.int64(HASH_MOVE) if move == hash_move else score
            words[i] = scored(move, np.int64(i), score)
        if (
            ply == 0 and c.root_depth == 1 and c.seed != EMPTY
        ):  # random order: the first of equal moves becomes the best
            for i in range(n):
                move = np.int64(moves[i])
                words[i] = scored(
                    move,
                    i,
                    np.int64(mix(c.seed ^ c.keys[c.root_index] ^ np.uint64(move)) >> ORDER_SHIFT),
                )
        pad(words, n)

    @inner(number(context_type, position_type, number, number, number), forceinline=True)
    def pick_move(c, p, ply, i, n):
        """Selection sort, one step: swap the highest-scored of moves i to n - 1 to place i and
        return it with its score.

        A capture that is picked as a good one has its SEE computed now, and is put back if that is
        negative."""
        words = c.ordered[ply]
        while True:
            word = greatest(words, i, n)
            score, move = score_of(word), move_of(word)
            if GOOD_CAPTURE < score < HASH_MOVE and not see_not_negative(p, move):
                place = place_of(word)
                words[place] = scored(move, place, score - GOOD_CAPTURE + BAD_CAPTURE)
                continue
            bring_forward(words, word, i)
            return word

    @inner(types.void(context_type, position_type, number, number, number, number))
    def update_history(c, p, ply, i, depth, move):
        """Reward the quiet move that caused a beta cutoff: killers and history; penalize the quiet
        moves tried before it."""
        if c.killers[ply, 0] != move:
            c.killers[ply, 1] = c.killers[ply, 0]
            c.killers[ply, 0] = move
        bonus = min(depth * depth * 16, HISTORY_LIMIT // 8)
        place = history_index(p, move)
        c.history[place] += bonus - c.history[place] * bonus // HISTORY_LIMIT
        for k in range(i):
            other = move_of(c.ordered[ply, k])
            if mvv_lva(other) == 0:
                place = history_index(p, other)
                c.history[place] -= bonus + c.history[place] * bonus // HISTORY_LIMIT

    @inner(
        number(context_type, position_type, numba.typeof(no_aims), number, number, number, number)
    )
    def count_unpruned(c, p, aims, ply, i, n, depth):
        """Count those of moves i to n - 1 that are not pruned after a pruned quiet move: checks,
        and captures at large depths."""
        left = 0
        for k in range(i, n):
            move = move_of(c.ordered[ply, k])
            if depth > c.see_pruning_depth and mvv_lva(move) > 0 or gives_check(p, aims, move):
                left += 1
        return left

    return score_moves, pick_move, update_history, count_unpruned
