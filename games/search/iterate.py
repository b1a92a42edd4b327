"""Iterative deepening: search one ply deeper at a time, each time in a window around the value found before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from games.search.alphabeta import make_alphabeta
from games.search.context import DECIDED, INFINITE, context_dtype
from games.search.quiescence import Quiescence, make_quiescence
from games.search.rules import Rules

VALUE, NODES, LENGTH, VARIATION = range(4)  # what a row of reports holds; the moves follow


class Search(NamedTuple):
    """The search of a game: functions on a context, for compiled code."""

    dtype: np.dtype
    context_type: Any
    contexts_type: Any
    reports_type: Any
    quiescence: Quiescence
    deepen: Callable  # c, first depth, last depth, reports -> depth completed; row d of the reports is about depth d


def make_search(rules: Rules) -> Search:
    """Build the search of a game."""
    quiescence = make_quiescence(rules)
    search = make_alphabeta(rules, quiescence)
    context_type = quiescence.context_type
    reports_type = types.Array(types.int64, 2, "C")
    inner, number = rules.unit.inner, types.int64

    @inner(number(context_type, number, number))
    def around(c, depth, value):
        """Search the root in a window around the value expected, wider where it lies outside."""
        if depth < 4 or abs(value) > DECIDED:
            return search(c, 0, depth, -INFINITE, INFINITE)
        width = c.margin // 3
        low, high = value - width, value + width
        while True:
            value = search(c, 0, depth, low, high)
            if c.stopped != 0 or low < value < high:
                return value
            width *= 4
            if value <= low:
                low = -INFINITE if width > 64 * c.margin else value - width
            else:
                high = INFINITE if width > 64 * c.margin else value + width

    @inner(number(context_type, number, number, reports_type))
    def deepen(c, first, last, reports):
        value = reports[first - 1, VALUE]
        for depth in range(first, last + 1):
            c.root_depth = depth
            value = around(c, depth, value)
            if c.stopped != 0:
                return depth - 1
            reports[depth, VALUE] = value
            reports[depth, NODES] = c.nodes
            reports[depth, LENGTH] = c.lengths[0]
            for i in range(c.lengths[0]):
                reports[depth, VARIATION + i] = np.int64(c.variations[0, i])
        return last

    return Search(context_dtype(rules), context_type, types.Array(context_type, 1, "C"), reports_type, quiescence, deepen)
