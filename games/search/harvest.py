"""What a search found out about the positions inside its tree, for learning from all of them.

A row of words for each: the position, its value, and a word that holds, from bit 0: the bound (2 bits, as in
`games.search.table`), whether the position is quiet (1), whether the other side than at the root is to move (1), the
depth. Values are in steps for the side to move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types

from games.search.memory import put_word
from games.search.quiescence import Quiescence
from games.search.rules import Rules

VALUE, FACTS, MORE = 0, 1, 2  # words behind the position; their number
BOUND_MASK, QUIET, ODD, DEPTH_SHIFT = 3, 4, 8, 4


def make_harvest(rules: Rules, quiescence: Quiescence) -> Callable[..., Any]:
    """harvest(c, ply, depth, key, check, bound, value): keep what is known about stack[ply], if there is room."""
    evaluate, quiesce, words = quiescence.evaluate, quiescence.quiesce, rules.words
    number = types.int64

    @rules.unit.inner(types.void(quiescence.context_type, number, number, types.uint64, types.boolean, number, number))
    def harvest(c, ply, depth, key, check, bound, value):
        if c.harvested >= c.harvest_room or c.root_depth != c.harvest_depth:
            return
        row, quiet = c.stack[ply], np.int64(0)
        if not check:
            static = evaluate(c, key, row)
            length, nodes = c.lengths[ply], c.nodes
            quiet = np.int64(QUIET if quiesce(c, ply, 0, static, static + 1) == static else 0)
            c.lengths[ply], c.nodes = length, nodes
        place = c.harvested * (words + MORE)
        for i in range(words):
            put_word(c.harvest, place + i, row[i])
        put_word(c.harvest, place + words + VALUE, np.uint64(value))
        put_word(c.harvest, place + words + FACTS, np.uint64(bound | quiet | (ODD if ply & 1 else 0) | depth << DEPTH_SHIFT))
        c.harvested += 1

    return harvest
