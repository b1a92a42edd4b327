"""The memory of one search: one record, so that compiled functions hand on a single pointer."""

from __future__ import annotations

import numpy as np

from games import jit
from games.search.rules import Rules

MAX_DEPTH = 60
QUIESCENCE_LIMIT = 30  # plies of quiescence
MAX_PLY = 128  # below the root, extensions included
ROWS = MAX_PLY + QUIESCENCE_LIMIT + 2
LINE = 1024  # positions of the game up to the root that may come back
CACHED = 1 << 15  # evaluations kept

UNIT = 256  # steps per centipawn of every value here and of the evaluation functions
MATE = 1 << 30  # value of winning now; of winning in n plies: MATE - n
DECIDED = MATE - 1024  # beyond this a value is a win
LARGEST = 1 << 29  # no evaluation is taken for more
INFINITE = (1 << 31) - 1


ADDRESS = object if jit.PLAIN else np.int64  # plain Python has the function itself


def context_dtype(rules: Rules) -> np.dtype:
    """One search's memory as a record. Values are in steps of 1/256 centipawn, for the side to move."""
    return np.dtype([
        ("function", ADDRESS), ("weights", ADDRESS),  # addresses of the evaluation and its weights
        ("table", np.int64), ("table_mask", np.int64),  # address of the transposition table, entries less one
        ("cache", np.int64),  # address of the cache of evaluations
        ("stop", np.int64),  # address of a word that is set to stop the search
        ("nodes", np.int64), ("node_limit", np.int64), ("stopped", np.int64), ("root_depth", np.int64),
        ("playing", np.int64),  # prunes and reduces; else every value is exact
        ("margin", np.int64),  # what a small advantage is worth: by so much pruning misses at most, a ply
        ("seed", np.uint64),  # chooses among equal moves at the root; 0: the first
        ("harvest", np.int64), ("harvest_room", np.int64), ("harvested", np.int64),  # see games.search.harvest
        ("harvest_depth", np.int64),  # of the iteration that keeps
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


class Context:
    """The memory of a search or of quiescence alone; compiled functions take `records` (1,)."""

    def __init__(self, dtype: np.dtype, function: int = 0, weights: int = 0) -> None:
        self.records = np.zeros(1, dtype)
        if jit.PLAIN:
            self.records = self.records.view(np.recarray)
        self._cache, self._stop = np.zeros(2 * CACHED, np.uint64), np.zeros(1, np.uint64)
        self.records["cache"], self.records["stop"] = self._cache.ctypes.data, self._stop.ctypes.data
        self.bind(function, weights)

    def bind(self, function: int, weights: int) -> None:
        """Evaluate by the function and the weights at these addresses."""
        self.records[0]["function"], self.records[0]["weights"] = function, weights
        self._cache[:] = 0

    def stop(self, yes: bool) -> None:
        """Make the search that runs in another thread return soon, or let the next one run."""
        self._stop[0] = yes
