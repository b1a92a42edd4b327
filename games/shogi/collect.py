"""Select quiet positions, or resolve positions by quiescence, with a compiled evaluation."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.record import ReadOptions
from games.search.context import Context
from games.shogi.position import load, store
from games.shogi.search import SEARCH
from games.shogi.unit import entry

ALL, QUIET, RESOLVE = 0, 1, 2
KINDS = {"all": ALL, "quiet": QUIET, "resolve": RESOLVE}
positions_type = types.Array(types.uint64, 2, "C")
_is_quiet, _resolve = SEARCH.quiescence.is_quiet, SEARCH.quiescence.resolve


@entry(types.void(positions_type, SEARCH.contexts_type, types.int64, types.Array(types.boolean, 1, "C")))
def take_all(positions, contexts, kind, keep):
    """Set keep[i] for the quiet positions; or replace each by the leaf of its quiescence, and keep those whose value is no win or
    loss."""
    c = contexts[0]
    for i in range(len(positions)):
        store(c.stack[0], load(positions[i]))
        keep[i] = _is_quiet(c) if kind == QUIET else _resolve(c)
        if kind == RESOLVE:
            store(positions[i], load(c.stack[0]))


class Selector:
    """The selection of positions that options ask for. ValueError if they need an evaluation and have none."""

    def __init__(self, options: ReadOptions, usual: str) -> None:
        name = usual if options.positions == "auto" else options.positions
        self._kind = KINDS[name]
        if self._kind != ALL and options.evaluation is None:
            raise ValueError(f"positions={name!r} needs an evaluation")
        self._memory = Context(SEARCH.dtype, *(options.evaluation or ()))

    def take(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (n, 15), resolved if that is asked for, and which of them to keep."""
        keep = np.ones(len(positions), np.bool_)
        if self._kind != ALL and len(positions):
            positions = np.ascontiguousarray(positions).copy()
            take_all(positions, self._memory.records, self._kind, keep)
        return positions, keep
