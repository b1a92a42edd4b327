"""Records of the nodes of a search tree, for learning from all of them (TreeStrap).

One row of words per node: the position, its value in steps for the side to move, and a word of facts. That word holds, from
bit 0: the bound (2 bits, as in `games.search.transposition`), whether the position is quiet (1), whether the ply is odd, so
that the other side than at the root is to move (1), and the depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types

from games.search.memory import put_word
from games.search.quiescence import Quiescence
from games.search.rules import Rules

VALUE, FACTS, MORE = 0, 1, 2  # words after the position, and their number
BOUND_MASK, QUIET, ODD, DEPTH_SHIFT = 3, 4, 8, 4


def make_harvest(rules: Rules, quiescence: Quiescence) -> Callable[..., Any]:
    """Build harvest(c, ply, depth, key, check, bound, value), which records the node stack[ply] while there is room."""
    evaluate, quiesce, words = quiescence.evaluate, quiescence.quiesce, rules.words
    number = types.int64

    @rules.unit.inner(types.void(quiescence.context_type, number, number, types.uint64, types.boolean, number, number))
    def harvest(c, ply, depth, key, check, bound, value):
        if c.harvested >= c.harvest_room or c.root_depth != c.harvest_depth:
            return
        row, quiet = c.stack[ply], np.int64(0)
        if not check:
            static_eval = evaluate(c, key, row)
            length, nodes = c.pv_lengths[ply], c.nodes
            quiet = np.int64(QUIET if quiesce(c, ply, 0, static_eval, static_eval + 1) == static_eval else 0)
            c.pv_lengths[ply], c.nodes = length, nodes
        place = c.harvested * (words + MORE)
        for i in range(words):
            put_word(c.harvest, place + i, row[i])
        put_word(c.harvest, place + words + VALUE, np.uint64(value))
        put_word(c.harvest, place + words + FACTS, np.uint64(bound | quiet | (ODD if ply & 1 else 0) | depth << DEPTH_SHIFT))
        c.harvested += 1

    return harvest
