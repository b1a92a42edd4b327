"""Principal variation search (PVS), fail-soft, in two modes.

*Exact*: the value equals plain minimax with quiescence at the leaves, and the PV is complete: the
static evaluation of its leaf is the value of the root. Transposition table cutoffs happen only in
null-window nodes from which no earlier position can recur; elsewhere a value depends on the path to
the position.

*Playing*: adds null move pruning, late move reductions, check extensions, internal iterative
reductions, reverse futility pruning, and late move, futility and SEE pruning near the leaves, by
the constants of `games.search.context`. Depths are remaining depths."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE
from games.search.context import (
    CACHED,
    DECIDED,
    EXACT,
    INFINITE,
    LOWER,
    MATE,
    MAX_DEPTH,
    MAX_PLY,
    MORE,
    NODE_DEPTH,
    NODE_FACTS,
    NODE_ODD,
    NODE_QUIET,
    NODE_VALUE,
    NONE,
    SEEN,
    UPPER,
    context_dtype,
    prefetch,
    put_word,
    tt_cutoff,
    tt_depth,
    tt_move,
    tt_probe,
    tt_store,
    tt_value,
    word_at,
)
from games.search.ordering import HISTORY_LIMIT, KILLER, make_order, move_of, score_of
from games.search.quiescence import Quiescence, make_quiescence
from games.search.rules import SHORTEST_CYCLE, SearchRules


def make_harvest(rules: SearchRules, quiescence: Quiescence) -> Callable[..., Any]:
    """Build harvest(c, ply, depth, key, check, bound, value), which records the node stack[ply]
    while there is room.

    The word of facts holds, from bit 0: the bound (2 bits, as in the transposition table), whether
    the position is quiet (1), whether the ply is odd, so that the opponent of the root is to move
    (1), and the depth."""
    evaluate, quiesce, words = quiescence.evaluate, quiescence.quiesce, rules.words
    number = types.int64

    @rules.unit.inner(
        types.void(
            quiescence.context_type, number, number, types.uint64, types.boolean, number, number
        )
    )
    def harvest(c, ply, depth, key, check, bound, value):
        if c.harvested >= c.harvest_room or c.root_depth != c.harvest_depth:
            return
        row, quiet = c.stack[ply], np.int64(0)
        if not check:
            static_eval = evaluate(c, key, row)
            length, nodes = c.pv_lengths[ply], c.nodes
            quiet = np.int64(
                NODE_QUIET if quiesce(c, ply, 0, static_eval, static_eval + 1) == static_eval else 0
            )
            c.pv_lengths[ply], c.nodes = length, nodes
        place = c.harvested * (words + MORE)
        for i in range(words):
            put_word(c.harvest, place + i, row[i])
        put_word(c.harvest, place + words + NODE_VALUE, np.uint64(value))
        put_word(
            c.harvest,
            place + words + NODE_FACTS,
            np.uint64(bound | quiet | (NODE_ODD if ply & 1 else 0) | depth << NODE_DEPTH),
        )
        c.harvested += 1

    return harvest


def make_alphabeta(rules: SearchRules, quiescence: Quiescence) -> Callable:
    """Build the search of a game: search(c, ply, depth, alpha, beta) -> value of stack[ply] for the
    side to move."""
    inner, position_type = rules.unit.inner, rules.position_type
    load, store, generate, make, key_of = (
        rules.load,
        rules.store,
        rules.generate,
        rules.make,
        rules.key,
    )
    make_knowing = rules.make_knowing
    in_check, drawn, stalemate, clock_of, clock_limit = (
        rules.in_check,
        rules.drawn,
        rules.stalemate,
        rules.clock,
        rules.clock_limit,
    )
    mvv_lva = rules.mvv_lva
    null_move_allowed, make_null = rules.null_move_allowed, rules.make_null
    mark, repeated, may_recur = rules.mark, rules.repeated, rules.may_recur
    path_dependent, won = rules.path_dependent, rules.won
    no_aims, aims_of, gives_check = rules.no_aims, rules.aims, rules.gives_check
    context_type, evaluate, update_pv = quiescence[:3]
    score_moves, pick_move, update_history, count_unpruned = make_order(rules, context_type)
    quiesce = quiescence.quiesce_knowing
    harvest = make_harvest(rules, quiescence)
    number = types.int64

    @inner(number(context_type, number, number))
    def plies_since(c, ply, clock):
        """Return the plies since the position at this ply occurred before, in the search or in the
        game; 0 if it did not."""
        now = c.root_index + ply
        key = c.keys[now]
        back = SHORTEST_CYCLE
        while back <= clock and back <= ply:
            if c.keys[now - back] == key:
                return back
            back += 2
        if back <= clock:
            bit = np.int64(key) & (SEEN - 1)
            if c.seen[bit >> 6] >> np.uint64(bit & 63) & ONE == EMPTY:
                return 0
        while back <= clock and back <= now:
            if c.keys[now - back] == key:
                return back
            back += 2
        return 0

    @inner(types.void(context_type, number))
    def end_pv(c, ply):
        """Note in the PV that the rules decide the game at this ply."""
        c.pv[ply, 0], c.pv_lengths[ply] = GAME_OVER, 1

    @inner(types.boolean(context_type))
    def should_stop(c):
        if c.nodes >= c.node_limit or (c.nodes & 1023 == 0 and word_at(c.stop, 0) != EMPTY):
            c.stopped = c.root_depth > 1  # depth 1 is always completed, so that there is a move
        return c.stopped != 0

    @inner(
        number(context_type, position_type, number, number, number, types.boolean), forceinline=True
    )
    def search_leaf(c, p, ply, alpha, beta, check):
        """The value that `search` returns for the position p, stored in stack[ply], at depth 0:
        without loading it again."""
        c.pv_lengths[ply] = 0
        if should_stop(c):
            return 0
        now, key = c.root_index + ply, key_of(p)
        c.keys[now] = key
        if drawn(p):
            end_pv(c, ply)
            c.nodes += 1
            return 0
        back = plies_since(c, ply, clock_of(p))
        if back > 0:
            end_pv(c, ply)
            c.nodes += 1
            c.repeats += 1
            c.marks[now] = mark(p)
            return repeated(c.marks[:], now, back) * (MATE - ply)
        if won(p):
            c.nodes += 1
            return MATE - ply
        if not check:  # most leaves end here
            value = evaluate(c, key, c.stack[ply])
            if value >= beta:
                c.nodes += 1
                return value
        return quiesce(c, ply, 0, alpha, beta, check)

    @inner(number(context_type, number, number, number, number, types.boolean))
    def search(c, ply, depth, alpha, beta, check):
        """Fail-soft value of stack[ply] for the side to move, `depth` plies deep; 0 once the search
        must stop.

        `check`: whether the side to move is in check. In PV nodes (an open window) the moves to the
        leaf go to pv[ply]."""
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
                end_pv(c, ply)
                c.nodes += 1
                return 0
            back = plies_since(c, ply, clock)
            if back > 0:
                end_pv(c, ply)
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
        if (
            entry
            and not pv_node
            and (tt_depth(entry) >= depth if playing else tt_depth(entry) == depth)
            and tt_cutoff(entry, ply, alpha, beta)
            and (playing or not may_recur(p, c.marks[:], now, depth))
        ):
            return tt_value(entry, ply)
        hash_move = tt_move(entry)

        static_eval = np.int64(-INFINITE)
        if playing and not check:
            static_eval = evaluate(c, key, row)
            if not pv_node and abs(beta) < DECIDED:
                if (
                    depth <= c.reverse_futility_depth
                    and static_eval - c.reverse_futility_margin * depth >= beta
                ):  # reverse futility pruning
                    return static_eval
                # null move pruning
                if (
                    depth >= c.null_move_depth
                    and static_eval >= beta
                    and c.path[ply - 1] != 0
                    and null_move_allowed(p)
                ):
                    store(c.stack[ply + 1], make_null(p))
                    c.path[ply] = 0
                    reduction = (
                        c.null_move_reduction
                        + depth // c.null_move_divisor
                        + min((static_eval - beta) // c.null_move_margin, 2)
                    )
                    value = -search(c, ply + 1, depth - 1 - reduction, -beta, -beta + 1, check)
                    if c.stopped:
                        return 0
                    if value >= beta:
                        return (
                            beta if value > DECIDED else value
                        )  # a mate after a null move proves nothing
            if hash_move == 0 and depth >= c.iir_depth:
                depth -= 1

        moves = c.moves[ply]
        n = generate(p, False, moves)
        if n == 0:
            end_pv(c, ply)
            return ply - MATE if check else np.int64(stalemate) * (MATE - ply)
        if clock_limit and clock >= clock_limit and ply > 0:
            end_pv(c, ply)
            return 0
        score_moves(c, p, ply, n, hash_move)
        best, best_move, alpha_before = np.int64(-INFINITE), np.int64(0), alpha
        quiet_count = 0
        aims, checking, left = no_aims, False, n  # left: moves that pruning has not excluded yet
        leaves = depth <= 1 and (clock_limit == 0 or clock + 1 < clock_limit)
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
                if (
                    depth <= c.quiet_pruning_depth
                    and quiet
                    and (
                        quiet_count > c.late_moves[depth]
                        or static_eval + c.futility_margin * (depth + 1) <= alpha
                    )
                ):
                    if left == n:  # from here on all quiet moves are pruned that give no check
                        left = count_unpruned(c, p, aims, ply, i + 1, n, depth)
                    if left == 0:
                        break
                    continue
                if depth <= c.see_pruning_depth and score < 0 and not quiet:
                    continue
            if left < n:
                left -= 1
            after = make(p, move) if i == 0 else make_knowing(p, move, checking)
            prefetch(c.eval_cache, (np.int64(key_of(after)) & (CACHED - 1)) << 1)
            if not leaves:
                prefetch(c.tt, (np.int64(key_of(after)) & c.tt_mask) << 1)
            if i == 0:
                checking = in_check(after)
            store(c.stack[ply + 1], after)
            c.path[ply] = move
            if leaves and not (playing and checking):
                value = -search_leaf(
                    c, after, ply + 1, -beta if i == 0 else -alpha - 1, -alpha, checking
                )
                if i > 0 and alpha < value < beta and not c.stopped:
                    value = -search(c, ply + 1, depth - 1, -beta, -alpha, checking)
            elif (
                i == 0
            ):  # principal variation search: only the first move gets the full window at once
                value = -search(c, ply + 1, depth - 1, -beta, -alpha, checking)
            else:
                reduction = np.int64(0)  # late move reduction
                if reducible and depth >= c.lmr_depth and i >= c.lmr_move:
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


GAME_OVER = 0  # in place of a move, at the end of a PV where the rules decide the game
VALUE, NODES, LENGTH, PV = range(4)  # columns of a row of reports; from PV on, the moves of the PV


class CompiledSearch(NamedTuple):
    """The compiled search of a game: functions on a search context."""

    dtype: np.dtype
    context_type: Any
    contexts_type: Any
    reports_type: Any
    quiescence: Quiescence
    # c, first depth, last depth, reports -> depth completed; row d of the reports is about depth d
    deepen: Callable


def make_search(rules: SearchRules) -> CompiledSearch:
    """Build the search of a game."""
    quiescence = make_quiescence(rules)
    search = make_alphabeta(rules, quiescence)
    load, in_check = rules.load, rules.in_check
    context_type = quiescence.context_type
    reports_type = types.Array(types.int64, 2, "C")
    inner, number = rules.unit.inner, types.int64

    @inner(number(context_type, number, number))
    def aspiration_search(c, depth, value):
        """Search the root in a window around the expected value; widen the window while the value
        falls outside."""
        check = in_check(load(c.stack[0]))
        if depth < 4 or abs(value) > DECIDED:
            return search(c, 0, depth, -INFINITE, INFINITE, check)
        half_width = c.half_width
        low, high = value - half_width, value + half_width
        while True:
            value = search(c, 0, depth, low, high, check)
            if c.stopped != 0 or low < value < high:
                return value
            half_width *= 4
            if value <= low:
                low = -INFINITE if half_width > 64 * c.margin else value - half_width
            else:
                high = INFINITE if half_width > 64 * c.margin else value + half_width

    @inner(number(context_type, number, number, reports_type))
    def deepen(c, first, last, reports):
        value = reports[first - 1, VALUE]
        for depth in range(first, last + 1):
            c.root_depth = depth
            value = aspiration_search(c, depth, value)
            if c.stopped != 0:
                return depth - 1
            reports[depth, VALUE] = value
            reports[depth, NODES] = c.nodes
            reports[depth, LENGTH] = c.pv_lengths[0]
            for i in range(c.pv_lengths[0]):
                reports[depth, PV + i] = np.int64(c.pv[0, i])
        return last

    return CompiledSearch(
        context_dtype(rules),
        context_type,
        types.Array(context_type, 1, "C"),
        reports_type,
        quiescence,
        deepen,
    )
