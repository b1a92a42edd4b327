"""Replay parsed games and collect the wanted positions."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.chess.game_row import (
    FIRST_MOVE,
    PLIES,
    RESULT,
    moves_type,
    positions_type,
    row_type,
    rows_type,
    score_at,
    scores_type,
)
from games.chess.moves import make
from games.chess.position import load, store
from games.chess.search import SEARCH
from games.chess.unit import entry, inner
from games.hashset import FACTOR, insert, mix, table_type

ALL, QUIET, RESOLVE = 0, 1, 2
OPENING_PLIES = 8
S31, S11 = np.uint64(31), np.uint64(11)
keys_type = types.Array(types.uint64, 1, "C")
is_quiet, resolve = SEARCH.quiescence.is_quiet, SEARCH.quiescence.resolve


@inner(types.int64(types.int64, SEARCH.context_type, positions_type, types.int64))
def take(kind, c, out, n):
    """Store the position of a search context, or its leaf, in out[n] if it is of the wanted kind; returns the new n."""
    if kind == QUIET and not is_quiet(c):
        return n
    if kind == RESOLVE and not resolve(c):
        return n
    store(out[n], load(c.stack[0]))
    return n + 1


@entry(types.void(rows_type, positions_type, moves_type, types.int64, keys_type))
def identify(games, starts, moves, n, identities):
    """Write a hash of the start and the moves of each of n games to `identities`."""
    for g in range(n):
        h = starts[g, 9]
        first = games[g, FIRST_MOVE]
        for i in range(first, first + games[g, PLIES]):
            h = (h ^ np.uint64(moves[i])) * FACTOR
            h ^= h >> S31
        identities[g] = mix(h)


@entry(types.int64(keys_type, table_type, types.Array(types.boolean, 1, "C")))
def keep_new(keys, table, keep):
    """Clear keep[i] where keys[i] is in the hash table already, and add the new keys; returns the number of new keys."""
    new = 0
    for i in range(len(keys)):
        if keep[i]:
            keep[i] = insert(table, keys[i])
            new += keep[i]
    return new


@inner(types.int64(positions_type, scores_type, types.int64, types.int64, types.int64, types.uint64))
def _sample(out, scores, begin, end, wanted, seed):
    """Keep a random sample of `wanted` of out[begin:end] and their scores, in order; returns the new end."""
    kept = begin
    for i in range(begin, end):
        seed = mix(seed)
        draw = np.float64(seed >> S11) * (1.0 / (1 << 53))
        if draw * (end - i) < wanted - (kept - begin):
            store(out[kept], load(out[i]))
            scores[kept] = scores[i]
            kept += 1
    return kept


@entry(types.int64(rows_type, positions_type, moves_type, scores_type, types.Array(types.int64, 1, "C"), types.int64,
                   types.int64, SEARCH.contexts_type, types.int64, types.int64, types.int64, keys_type, types.uint64,
                   positions_type, types.Array(types.float32, 1, "C"), scores_type, row_type, keys_type))
def collect(games, starts, moves, recorded, chosen, begin, kind, contexts, skip_start, skip_end, per_game, identities, seed, out,
            outcomes, scores, ends, openings):
    """Write the wanted positions of the games chosen[begin:] to `out` while a whole game fits.

    `recorded` are the scores of the parser, `scores` those of the positions in `out`; a resolved position keeps the score of the
    position that it replaces. The positions of the k-th game taken end at ends[k]; openings[k] is the key of its position after
    eight plies.
    Returns the index in `chosen` to continue with.
    """
    n, c = 0, contexts[0]
    for k in range(begin, len(chosen)):
        g = chosen[k]
        game = games[g]
        plies, first = game[PLIES], game[FIRST_MOVE]
        if n + plies + 1 > len(out):
            return k
        p = load(starts[g])
        opening = p.key
        game_begin = n
        for ply in range(plies + 1):
            if ply <= OPENING_PLIES:
                opening = p.key
            if skip_start <= ply <= plies - skip_end:
                store(c.stack[0], p)
                scores[n] = score_at(game, recorded, ply)
                n = take(kind, c, out, n)
            if ply < plies:
                p = make(p, np.int64(moves[first + ply]))
        if per_game and n - game_begin > per_game:
            n = _sample(out, scores, game_begin, n, per_game, mix(identities[g] ^ seed))
        for i in range(game_begin, n):
            outcomes[i] = games[g, RESULT]
        ends[k - begin] = n
        openings[k - begin] = opening
    return len(chosen)
