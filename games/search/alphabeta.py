"""Principal variation search, fail-soft.

Two modes. *Exact*: the value is that of plain minimax with quiescence at its leaves, and the principal variation is
whole: its leaf's static value is the root's. The table then cuts only where it cannot matter, off the principal
variation and where no earlier position can come back: elsewhere a value depends on the way that led there. *Playing*
adds what makes a search deep: null move, reductions of late moves, extension of checks, and pruning near the leaves by
the static value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.hashset import mix
from games.search.context import DECIDED, INFINITE, MATE, MAX_DEPTH, MAX_PLY
from games.search.harvest import make_harvest
from games.search.memory import word_at
from games.search.quiescence import Quiescence
from games.search.rules import Rules
from games.search.table import EXACT, LOWER, NONE, UPPER, decides, known_depth, known_move, known_value, look_up, remember

FIRST, GOOD, KILLER, BAD = 1 << 30, 1 << 28, 1 << 27, -(1 << 28)  # scores that order moves: known best, noisy, ...
WORTH_LIMIT = 1 << 14
ORDER_SHIFT = np.uint64(40)  # leaves 24 bits of a hash
CYCLE = 4  # plies of the shortest way back to a position

# what playing leaves out; depths are those still to search, found by playing against itself
STATIC_DEPTH = 6  # up to here a static value that is a margin per ply above beta is believed
PASS_DEPTH = 3  # from here on the other side may move twice, and if that does not help it the position is good enough
UNKNOWN_DEPTH = 4  # from here on a position without a known move is searched one ply less
QUIET_DEPTH = 4  # up to here quiet moves are left out that come late or that a margin per ply does not help
NOISY_DEPTH = 3  # up to here moves that lose material are left out
REDUCED_DEPTH, REDUCED_MOVE = 3, 3  # from this depth and this move on searched less deep at first


def make_alphabeta(rules: Rules, quiescence: Quiescence) -> Callable:
    """The search of a game: search(c, ply, depth, alpha, beta) -> value of stack[ply], for the side to move."""
    inner, position_type = rules.unit.inner, rules.position_type
    load, store, generate, make, key_of = rules.load, rules.store, rules.generate, rules.make, rules.key
    in_check, clock_of, drawn, promise, safe, slot = (rules.in_check, rules.clock, rules.drawn, rules.promise, rules.safe,
                                                      rules.slot)
    may_pass, passed, clock_limit, stalemate = rules.may_pass, rules.passed, rules.clock_limit, rules.stalemate
    context_type, evaluate, follow, quiesce = quiescence[:4]
    harvest = make_harvest(rules, quiescence)
    number = types.int64

    @inner(types.boolean(context_type, number, number))
    def repeated(c, ply, clock):
        """Whether the position at this ply stood before, in the search or in the game."""
        now = c.before + ply
        key = c.keys[now]
        back = CYCLE
        while back <= clock and back <= now:
            if c.keys[now - back] == key:
                return True
            back += 2
        return False

    @inner(types.void(context_type, position_type, number, number, number))
    def score_moves(c, p, ply, n, known):
        """Give each move a score by which they are tried."""
        first, second = c.killers[ply, 0], c.killers[ply, 1]
        for i in range(n):
            move = np.int64(c.moves[ply, i])
            value = promise(move)
            if move == known:
                score = np.int64(FIRST)
            elif value > 0:
                score = (GOOD if safe(p, move) else BAD) + value
            elif move == first:
                score = np.int64(KILLER + 1)
            elif move == second:
                score = np.int64(KILLER)
            else:
                score = c.worth[slot(p, move)]
            if ply == 0 and c.root_depth == 1 and c.seed != EMPTY:  # in any order: the first of equals will be chosen
                score = np.int64(mix(c.seed ^ c.keys[c.before] ^ np.uint64(move)) >> ORDER_SHIFT)
            c.scores[ply, i] = score

    @inner(number(context_type, number, number, number))
    def pick(c, ply, i, n):
        """Bring the move with the highest score among the i-th to the n-th to place i and return it."""
        best = i
        most = c.scores[ply, i]
        for k in range(i + 1, n):
            if c.scores[ply, k] > most:
                best, most = k, c.scores[ply, k]
        move = c.moves[ply, best]
        c.moves[ply, best] = c.moves[ply, i]
        c.scores[ply, best] = c.scores[ply, i]
        c.moves[ply, i] = move
        c.scores[ply, i] = most
        return np.int64(move)

    @inner(types.void(context_type, position_type, number, number, number, number))
    def reward(c, p, ply, i, depth, move):
        """A quiet move cut: try it earlier elsewhere, and those that were tried before it later."""
        if c.killers[ply, 0] != move:
            c.killers[ply, 1] = c.killers[ply, 0]
            c.killers[ply, 0] = move
        bonus = min(depth * depth * 16, WORTH_LIMIT // 8)
        place = slot(p, move)
        c.worth[place] += bonus - c.worth[place] * bonus // WORTH_LIMIT
        for k in range(i):
            other = np.int64(c.moves[ply, k])
            if promise(other) == 0:
                place = slot(p, other)
                c.worth[place] -= bonus + c.worth[place] * bonus // WORTH_LIMIT

    @inner(types.boolean(context_type))
    def must_stop(c):
        if c.nodes >= c.node_limit or (c.nodes & 1023 == 0 and word_at(c.stop, 0) != EMPTY):
            c.stopped = c.root_depth > 1  # the first depth is finished in any case: there must be a move
        return c.stopped != 0

    @inner(number(context_type, number, number, number, number))
    def search(c, ply, depth, alpha, beta):
        """Fail-soft value of stack[ply] for the side to move, `depth` plies deep; 0 once the search must stop.

        Where the window is open, the moves to its leaf go to variations[ply].
        """
        row = c.stack[ply]
        p = load(row)
        c.lengths[ply] = 0
        clock = clock_of(p)
        key = key_of(p)
        c.keys[c.before + ply] = key
        if ply > 0:
            if must_stop(c):
                return 0
            if drawn(p) or repeated(c, ply, clock):
                c.nodes += 1
                return 0
        check = in_check(p)
        playing = c.playing != 0
        depth = max(depth, 0) + (playing and check and ply < 2 * c.root_depth)
        if (depth <= 0 or ply >= MAX_PLY) and (clock_limit == 0 or clock < clock_limit):
            return quiesce(c, ply, 0, alpha, beta)
        c.nodes += 1
        way_matters = not playing and clock + depth >= CYCLE
        open_window = beta - alpha > 1
        entry = look_up(c.table, c.table_mask, key)
        if entry and not open_window and not way_matters and (
                known_depth(entry) >= depth if playing else known_depth(entry) == depth) and decides(entry, ply, alpha, beta):
            return known_value(entry, ply)
        known = known_move(entry)

        static = np.int64(-INFINITE)
        if playing and not check:
            static = evaluate(c, key, row)
            if not open_window and abs(beta) < DECIDED:
                if depth <= STATIC_DEPTH and static - c.margin * depth >= beta:
                    return static
                if depth >= PASS_DEPTH and static >= beta and c.line[ply - 1] != 0 and may_pass(p):
                    store(c.stack[ply + 1], passed(p))
                    c.line[ply] = 0
                    less = 3 + depth // 4 + min((static - beta) // (2 * c.margin), 2)
                    value = -search(c, ply + 1, depth - 1 - less, -beta, -beta + 1)
                    if c.stopped:
                        return 0
                    if value >= beta:
                        return beta if value > DECIDED else value
            if known == 0 and depth >= UNKNOWN_DEPTH:
                depth -= 1

        moves = c.moves[ply]
        n = generate(p, False, moves)
        if n == 0:
            return ply - MATE if check else np.int64(stalemate) * (MATE - ply)
        if clock_limit and clock >= clock_limit and ply > 0:
            return 0
        score_moves(c, p, ply, n, known)
        best, best_move, lowest = np.int64(-INFINITE), np.int64(0), alpha
        quiets = 0
        for i in range(n):
            move = pick(c, ply, i, n)
            quiet = promise(move) == 0
            quiets += quiet
            after = make(p, move)
            tame = playing and i > 0 and not check and c.scores[ply, i] < KILLER and not in_check(after)
            if tame and best > -DECIDED and not open_window:
                if depth <= QUIET_DEPTH and quiet and (
                        quiets > 4 + 2 * depth * depth or static + c.margin * (depth + 1) <= alpha):
                    continue
                if depth <= NOISY_DEPTH and c.scores[ply, i] < 0 and not quiet:
                    continue
            store(c.stack[ply + 1], after)
            c.line[ply] = move
            if i == 0:
                value = -search(c, ply + 1, depth - 1, -beta, -alpha)
            else:
                less = np.int64(0)
                if tame and depth >= REDUCED_DEPTH and i >= REDUCED_MOVE:
                    less = c.reductions[min(depth, 63), min(i, 63)]
                    if open_window and less > 0:
                        less -= 1
                    less = max(0, min(less - c.scores[ply, i] // (WORTH_LIMIT // 2) if quiet else less, depth - 2))
                value = -search(c, ply + 1, depth - 1 - less, -alpha - 1, -alpha)
                if less > 0 and value > alpha and not c.stopped:
                    value = -search(c, ply + 1, depth - 1, -alpha - 1, -alpha)
                if value > alpha and value < beta and not c.stopped:
                    value = -search(c, ply + 1, depth - 1, -beta, -alpha)
            if c.stopped:
                return 0
            if value > best:
                best = value
                if value > alpha:
                    best_move = move
                    if open_window:
                        follow(c, ply, move)
                    alpha = value
                    if value >= beta:
                        if quiet:
                            reward(c, p, ply, i, depth, move)
                        break
        bound = UPPER if best <= lowest else (LOWER if best >= beta else EXACT)
        if c.harvest_room:
            harvest(c, ply, depth, key, check, bound, best)
        remember(c.table, c.table_mask, key, best_move, min(depth, MAX_DEPTH), NONE if way_matters else bound, best, ply)
        return best

    return search
