"""Iterative deepening with aspiration windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from games.search.alphabeta import make_alphabeta
from games.search.context import DECIDED, INFINITE, context_dtype
from games.search.quiescence import Quiescence, make_quiescence
from games.search.rules import Rules

VALUE, NODES, LENGTH, PV = range(4)  # columns of a row of reports; from PV on, the moves of the PV


class Search(NamedTuple):
    """The compiled search of a game: functions on a search context."""

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
    load, in_check = rules.load, rules.in_check
    context_type = quiescence.context_type
    reports_type = types.Array(types.int64, 2, "C")
    inner, number = rules.unit.inner, types.int64

    @inner(number(context_type, number, number))
    def aspiration_search(c, depth, value):
        """Search the root in a window around the expected value; widen the window while the value falls outside."""
        check = in_check(load(c.stack[0]))
        if depth < 4 or abs(value) > DECIDED:
            return search(c, 0, depth, -INFINITE, INFINITE, check)
        half_width = c.margin // 3
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

    return Search(context_dtype(rules), context_type, types.Array(context_type, 1, "C"), reports_type, quiescence, deepen)
