"""Principal variation search (PVS), fail-soft, in two modes.

*Exact*: the value equals plain minimax with quiescence at the leaves, and the PV is complete: the static evaluation of its
leaf is the value of the root. Transposition table cutoffs happen only in null-window nodes from which no earlier position can
recur; elsewhere a value depends on the path to the position.

*Playing*: adds null move pruning, late move reductions, check extensions, internal iterative reductions, reverse futility
pruning, and late move, futility and SEE pruning near the leaves.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.hashset import mix
from games.search.context import CACHED, DECIDED, INFINITE, MATE, MAX_DEPTH, MAX_PLY
from games.search.harvest import make_harvest
from games.search.memory import prefetch, word_at
from games.search.ordering import PLACES, bring_forward, greatest, move_of, pad, place_of, score_of, scored
from games.search.quiescence import Quiescence
from games.search.rules import SHORTEST_CYCLE, Rules
from games.search.transposition import EXACT, LOWER, NONE, UPPER, tt_cutoff, tt_depth, tt_move, tt_probe, tt_store, tt_value

# scores for move ordering; captures add MVV-LVA, other quiet moves have their history score
HASH_MOVE, GOOD_CAPTURE, KILLER, BAD_CAPTURE = 1 << 28, 1 << 27, 1 << 26, -(1 << 27)
HISTORY_LIMIT = 1 << 14
ORDER_SHIFT = np.uint64(40)  # leaves 24 bits of a hash

# Selectivity of the playing mode. Depths are remaining depths; the values were found by self-play.
REVERSE_FUTILITY_DEPTH = 6  # up to this depth: return the static evaluation if it exceeds beta by a margin per ply
NULL_MOVE_DEPTH = 3  # from this depth: null move pruning
IIR_DEPTH = 4  # from this depth: internal iterative reduction, one ply less without a hash move
QUIET_PRUNING_DEPTH = 4  # up to this depth: late move pruning and futility pruning of quiet moves
SEE_PRUNING_DEPTH = 3  # up to this depth: prune captures with a negative SEE
LMR_DEPTH, LMR_MOVE = 3, 3  # late move reductions: from this depth and this move number


def make_alphabeta(rules: Rules, quiescence: Quiescence) -> Callable:
    """Build the search of a game: search(c, ply, depth, alpha, beta) -> value of stack[ply] for the side to move."""
    inner, position_type = rules.unit.inner, rules.position_type
    load, store, generate, make, key_of = rules.load, rules.store, rules.generate, rules.make, rules.key
    in_check, drawn, stalemate, clock_of, clock_limit = (rules.in_check, rules.drawn, rules.stalemate, rules.clock,
                                                         rules.clock_limit)
    mvv_lva, see_not_negative, history_index = rules.mvv_lva, rules.see_not_negative, rules.history_index
    null_move_allowed, make_null = rules.null_move_allowed, rules.make_null
    mark, repeated, may_recur = rules.mark, rules.repeated, rules.may_recur
    path_dependent, won = rules.path_dependent, rules.won
    assert rules.max_moves <= PLACES
    no_aims, aims_of, gives_check = rules.no_aims, rules.aims, rules.gives_check
    context_type, evaluate, update_pv = quiescence[:3]
    quiesce = quiescence.quiesce_knowing
    harvest = make_harvest(rules, quiescence)
    number = types.int64

    @inner(number(context_type, number, number))
    def plies_since(c, ply, clock):
        """Return the plies since the position at this ply occurred before, in the search or in the game; 0 if it did not."""
        now = c.root_index + ply
        key = c.keys[now]
        back = SHORTEST_CYCLE
        while back <= clock and back <= now:
            if c.keys[now - back] == key:
                return back
            back += 2
        return 0

    @inner(types.void(context_type, position_type, number, number, number))
    def score_moves(c, p, ply, n, hash_move):
        """Score the moves for ordering: hash move, captures by MVV-LVA, killers, quiet moves by history.

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
        if ply == 0 and c.root_depth == 1 and c.seed != EMPTY:  # random order: the first of equal moves becomes the best
            for i in range(n):
                move = np.int64(moves[i])
                words[i] = scored(move, i, np.int64(mix(c.seed ^ c.keys[c.root_index] ^ np.uint64(move)) >> ORDER_SHIFT))
        pad(words, n)

    @inner(number(context_type, position_type, number, number, number), forceinline=True)
    def pick_move(c, p, ply, i, n):
        """Selection sort, one step: swap the highest-scored of moves i to n - 1 to place i and return it with its score.

        A capture that is picked as a good one has its SEE computed now, and is put back if that is negative.
        """
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
        """Reward the quiet move that caused a beta cutoff: killers and history; penalize the quiet moves tried before it."""
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

    @inner(number(context_type, position_type, numba.typeof(no_aims), number, number, number, number))
    def count_unpruned(c, p, aims, ply, i, n, depth):
        """Count those of moves i to n - 1 that are not pruned after a pruned quiet move: checks, and captures at large depths."""
        left = 0
        for k in range(i, n):
            move = move_of(c.ordered[ply, k])
            if depth > SEE_PRUNING_DEPTH and mvv_lva(move) > 0 or gives_check(p, aims, move):
                left += 1
        return left

    @inner(types.boolean(context_type))
    def should_stop(c):
        if c.nodes >= c.node_limit or (c.nodes & 1023 == 0 and word_at(c.stop, 0) != EMPTY):
            c.stopped = c.root_depth > 1  # depth 1 is always completed, so that there is a move
        return c.stopped != 0

    @inner(number(context_type, number, number, number, number, types.boolean))
    def search(c, ply, depth, alpha, beta, check):
        """Fail-soft value of stack[ply] for the side to move, `depth` plies deep; 0 once the search must stop.

        `check`: whether the side to move is in check. In PV nodes (an open window) the moves to the leaf go to pv[ply].
        """
        row = c.stack[ply]
        p = load(row)
        c.pv_lengths[ply] = 0
        clock = clock_of(p)
        key = key_of(p)
        now = c.root_index + ply
        c.keys[now], c.marks[now] = key, mark(p)
        if ply > 0:
            if should_stop(c):
                return 0
            if drawn(p):
                c.nodes += 1
                return 0
            back = plies_since(c, ply, clock)
            if back > 0:
                c.nodes += 1
                c.repeats += 1
                return repeated(c.marks[:], now, back) * (MATE - ply)
            if won(p):
                c.nodes += 1
                return MATE - ply
        playing = c.playing != 0
        depth = max(depth, 0) + (playing and check and ply < 2 * c.root_depth)
        if (depth <= 0 or ply >= MAX_PLY) and (clock_limit == 0 or clock < clock_limit):
            return quiesce(c, ply, 0, alpha, beta, check)
        c.nodes += 1
        repeats = c.repeats
        pv_node = beta - alpha > 1
        entry = tt_probe(c.tt, c.tt_mask, key)
        if entry and not pv_node and (
                tt_depth(entry) >= depth if playing else tt_depth(entry) == depth) and tt_cutoff(entry, ply, alpha, beta) and (
                playing or not may_recur(p, c.marks[:], now, depth)):
            return tt_value(entry, ply)
        hash_move = tt_move(entry)

        static_eval = np.int64(-INFINITE)
        if playing and not check:
            static_eval = evaluate(c, key, row)
            if not pv_node and abs(beta) < DECIDED:
                if depth <= REVERSE_FUTILITY_DEPTH and static_eval - c.margin * depth >= beta:  # reverse futility pruning
                    return static_eval
                # null move pruning
                if depth >= NULL_MOVE_DEPTH and static_eval >= beta and c.path[ply - 1] != 0 and null_move_allowed(p):
                    store(c.stack[ply + 1], make_null(p))
                    c.path[ply] = 0
                    reduction = 3 + depth // 4 + min((static_eval - beta) // (2 * c.margin), 2)
                    value = -search(c, ply + 1, depth - 1 - reduction, -beta, -beta + 1, check)
                    if c.stopped:
                        return 0
                    if value >= beta:
                        return beta if value > DECIDED else value  # a mate after a null move proves nothing
            if hash_move == 0 and depth >= IIR_DEPTH:
                depth -= 1

        moves = c.moves[ply]
        n = generate(p, False, moves)
        if n == 0:
            return ply - MATE if check else np.int64(stalemate) * (MATE - ply)
        if clock_limit and clock >= clock_limit and ply > 0:
            return 0
        score_moves(c, p, ply, n, hash_move)
        best, best_move, alpha_before = np.int64(-INFINITE), np.int64(0), alpha
        quiet_count = 0
        aims, checking, left = no_aims, False, n  # left: moves that pruning has not excluded yet
        for i in range(n):
            word = pick_move(c, p, ply, i, n)
            move, score = move_of(word), score_of(word)
            quiet = mvv_lva(move) == 0
            quiet_count += quiet
            if i == 1:  # two moves in three nodes the first is the last
                aims = aims_of(p)
            if i > 0:
                checking = gives_check(p, aims, move)
            reducible = playing and i > 0 and not check and score < KILLER and not checking
            if reducible and best > -DECIDED and not pv_node:
                # late move pruning and futility pruning, then SEE pruning
                if depth <= QUIET_PRUNING_DEPTH and quiet and (
                        quiet_count > 4 + 2 * depth * depth or static_eval + c.margin * (depth + 1) <= alpha):
                    if left == n:  # from here on all quiet moves are pruned that give no check
                        left = count_unpruned(c, p, aims, ply, i + 1, n, depth)
                    if left == 0:
                        break
                    continue
                if depth <= SEE_PRUNING_DEPTH and score < 0 and not quiet:
                    continue
            if left < n:
                left -= 1
            after = make(p, move)
            prefetch(c.tt, (np.int64(key_of(after)) & c.tt_mask) << 1)
            prefetch(c.eval_cache, (np.int64(key_of(after)) & (CACHED - 1)) << 1)
            if i == 0:
                checking = in_check(after)
            store(c.stack[ply + 1], after)
            c.path[ply] = move
            if i == 0:  # principal variation search: only the first move gets the full window at once
                value = -search(c, ply + 1, depth - 1, -beta, -alpha, checking)
            else:
                reduction = np.int64(0)  # late move reduction
                if reducible and depth >= LMR_DEPTH and i >= LMR_MOVE:
                    reduction = c.reductions[min(depth, 63), min(i, 63)]
                    if pv_node and reduction > 0:
                        reduction -= 1
                    by_history = score // (HISTORY_LIMIT // 2) if quiet else np.int64(0)
                    reduction = max(0, min(reduction - by_history, depth - 2))
                value = -search(c, ply + 1, depth - 1 - reduction, -alpha - 1, -alpha, checking)
                if reduction > 0 and value > alpha and not c.stopped:
                    value = -search(c, ply + 1, depth - 1, -alpha - 1, -alpha, checking)
                if value > alpha and value < beta and not c.stopped:
                    value = -search(c, ply + 1, depth - 1, -beta, -alpha, checking)
            if c.stopped:
                return 0
            if value > best:
                best = value
                if value > alpha:
                    best_move = move
                    if pv_node:
                        update_pv(c, ply, move)
                    alpha = value
                    if value >= beta:
                        if quiet:
                            update_history(c, p, ply, i, depth, move)
                        break
        bound = np.int64(UPPER if best <= alpha_before else (LOWER if best >= beta else EXACT))
        if c.harvest_room:
            harvest(c, ply, depth, key, check, bound, best)
        if not playing and path_dependent(p, depth, c.repeats - repeats):
            bound = np.int64(NONE)
        tt_store(c.tt, c.tt_mask, key, best_move, min(depth, MAX_DEPTH), bound, best, ply)
        return best

    return search
