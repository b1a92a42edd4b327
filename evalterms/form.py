"""The form of an evaluation: how it depends on the counts of a position.

A linear term has one count for each parameter, first player minus second. A term that is not linear has two, one for each side:
its *inputs*. Those of the first player have the columns of the parameters, those of the second follow after all columns.

    sums      tapered sums of weight * count over the inputs: sum 0 is that of all linear terms; each other term has two for each
              part, of the first and of the second player
    combine   the evaluation and its derivatives by the sums: compiled, see `evalterms.glue`; called by its address in
              `tuner.device.cpu.linearised_kernels`

The derivative by a weight is the derivative by its sum, times the count, times the share of the stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalterms.term import Term


@dataclass(frozen=True)
class Form:
    """Where inputs, sums and weights are. `column` and `sum` (inputs,) are the column and the sum of each input, of `count`
    sums. By term: `second`, the first input of the second player; `sums`, its first sum; `weights`, where the packed weights of
    each of its parts begin, see `packed`. `copies` are the ranges of packed weights that are copied behind the others."""

    column: np.ndarray
    sum: np.ndarray
    count: int
    second: tuple[int, ...]
    sums: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]
    copies: tuple[tuple[int, np.ndarray], ...]

    def packed(self, weights: np.ndarray) -> np.ndarray:
        """Return packed weights (columns,) with copies behind them for terms of two parts, each with one part alone."""
        return np.concatenate([weights, *(np.where(kept, weights[first:first + len(kept)], 0) for first, kept in self.copies)])


def form_of(terms: Sequence[Term]) -> Form:
    """Return the form of an evaluation of these terms."""
    columns = sum(term.size for term in terms)
    column, sums_of = list(range(columns)), [0] * columns
    second, sums, weights, copies = [], [], [], []
    base, end, free = 0, columns, 1
    for term in terms:
        second.append(len(column) if not term.linear else base)
        sums.append(free if not term.linear else 0)
        places = [base]
        if not term.linear:
            part = np.concatenate([np.full(parameter.size, parameter.part) for parameter in term.parameters])
            sums_of[base:base + term.size] = (free + 2 * part).tolist()
            column += range(base, base + term.size)
            sums_of += (free + 2 * part + 1).tolist()
            free += 2 * term.parts
            if term.parts > 1:
                places = [end + k * term.size for k in range(term.parts)]
                copies += [(base, part == k) for k in range(term.parts)]
                end += term.parts * term.size
        weights.append(tuple(places))
        base += term.size
    return Form(np.array(column, np.uint16), np.array(sums_of, np.uint8), free, tuple(second), tuple(sums), tuple(weights),
                tuple(copies))
