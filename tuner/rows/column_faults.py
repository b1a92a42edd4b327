"""Single weights that differ between engine and parameter file, by orthogonal matching pursuit over the columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tuner.parameters.layout import Layout
from tuner.rows.faults import Fault, Trial

MOST_WEIGHTS = 8  # columns that are corrected together
NEAR_WHOLE = 0.25  # a correction this near to a whole number is one, since engines have whole weights


def wrong_weights(searched: Trial, view: Trial, layout: Layout, stages: Sequence[str]) -> tuple[Fault, ...]:
    """Return the few weights whose correction explains the differences, or nothing."""
    sample, kinds = searched.sample, len(searched.weights)
    counts = sample.counts
    squares = counts.multiply(counts).tocsc()
    factors = sample.factors
    gram = np.stack([[squares.T @ (factors[a] * factors[b]) for b in range(kinds)]
                     for a in range(kinds)])  # (kinds, kinds, columns)
    gram = np.moveaxis(gram, 2, 0) + 1e-6 * np.eye(kinds)
    left = searched.without_rounding(searched.difference)
    chosen: list[int] = []
    transposed = counts.T.tocsr()
    for _ in range(MOST_WEIGHTS):
        products = np.stack([transposed @ (factor * left) for factor in factors], axis=1)  # (columns, kinds)
        gain = (products * np.linalg.solve(gram, products[:, :, None])[:, :, 0]).sum(axis=1)
        gain[chosen] = 0
        at = int(gain.argmax())
        if gain[at] <= 0:
            return ()
        chosen.append(at)
        dense = counts[:, chosen].toarray()
        design = np.concatenate([factor[:, None] * dense for factor in factors] + [searched.rounding[:, None]], axis=1)
        normal = design.T @ design
        normal[np.diag_indices_from(normal)] += 1e-6
        numbers = np.linalg.solve(normal, design.T @ searched.difference)
        left = searched.difference - design @ numbers
        change = np.zeros_like(searched.weights)
        change[:, chosen] = numbers[:-1].reshape(kinds, len(chosen))
        whole = np.round(change)
        change = np.where(np.abs(change - whole) <= NEAR_WHOLE, whole, change)
        explained = view.explained(view.sample.predicted(view.weights + change))
        if explained is not None:
            return _named(change, view.weights, layout, stages, explained)
    return ()


def _named(change: np.ndarray, weights: np.ndarray, layout: Layout, stages: Sequence[str], explained: float) -> tuple[Fault, ...]:
    names, found = layout.labels(), []
    for column in np.flatnonzero((change != 0).any(axis=0)).tolist():
        both = [(stage, weights[s, column], weights[s, column] + change[s, column]) for s, stage in enumerate(stages)
                if change[s, column]]
        texts = [f"{names[column]}{f'.{stage}' if len(stages) > 1 else ''} is {ours:g} in the parameter file, {theirs:.4g} in "
                "the engine" for stage, ours, theirs in both]
        found.append(Fault("weight", names[column], f"{'; '.join(texts)}. Correct the weight in the file, or the counts of "
                           f"{names[column]}.", explained))
    return tuple(found)
