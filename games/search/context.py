"""The memory of one search: one record, so that compiled functions hand on a single pointer."""

from __future__ import annotations

import numpy as np

from games.search.rules import Rules

MAX_DEPTH = 60
QUIESCENCE_LIMIT = 30  # plies of quiescence
MAX_PLY = 128  # below the root, extensions included
ROWS = MAX_PLY + QUIESCENCE_LIMIT + 2
LINE = 1024  # positions of the game up to the root that may come back
CACHE_BITS = 17

MATE = 1 << 30  # value of winning now; of winning in n plies: MATE - n
DECIDED = MATE - 1024  # beyond this a value is a win
LARGEST = 1 << 29  # no evaluation is taken for more
INFINITE = (1 << 31) - 1


def context_dtype(rules: Rules) -> np.dtype:
    """One search's memory as a record. Values are in steps of 1/256 centipawn, for the side to move."""
    return np.dtype([
        ("function", np.int64), ("weights", np.int64),  # addresses of the evaluation and its weights
        ("table", np.int64), ("table_mask", np.int64),  # address of the transposition table, entries less one
        ("cache", np.int64),  # address of the cache of evaluations
        ("stop", np.int64),  # address of a word that is set to stop the search
        ("nodes", np.int64), ("node_limit", np.int64), ("stopped", np.int64), ("selective_depth", np.int64),
        ("playing", np.int64),  # prunes and reduces; else every value is exact
        ("margin", np.int64),  # what a small advantage is worth: by so much pruning misses at most, a ply
        ("before", np.int64),  # positions of the game before the root in `keys`
        ("keys", np.uint64, LINE + ROWS),
        ("line", np.int64, ROWS),  # moves from the root to the position searched
        ("killers", np.int64, (ROWS, 2)),
        ("worth", np.int64, rules.slots),
        ("reductions", np.int64, (64, 64)),
        ("lengths", np.int64, ROWS),
        ("variations", np.uint32, (ROWS, ROWS)),  # principal variation from each ply on
        ("stack", np.uint64, (ROWS, rules.words)),
        ("moves", np.uint32, (ROWS, rules.max_moves)),
        ("scores", np.int32, (ROWS, rules.max_moves)),
    ], align=True)
