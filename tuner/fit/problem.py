"""A fit as a mathematical problem: what it learns from, the penalty of its prior, and the weights
to start from, with their bounds.

Weights have shape (stages, columns + 1): one per parameter and stage, then the intercept, an
advantage of the first player that is not part of the evaluation. If the loss models draws, the
width of a draw is one more column. Losses and derivatives are means per position."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tuner.fit.datafit import Datafit
from tuner.fit.penalty import Independent


@dataclass(frozen=True, eq=False)
class Problem:
    """The weights to find: those at which the residual of the `datafit` and the gradient of the
    `penalty` sum to zero, within the bounds `low` and `high`. `start` (stages, columns + 1) are the
    starting weights; those that the datafit says are `free` move."""

    datafit: Datafit
    penalty: Independent
    start: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def free(self) -> np.ndarray:
        """Which weights (stages, columns + 1) move."""
        return self.datafit.free

    @property
    def inside(self) -> np.ndarray:
        """The starting weights, within their bounds."""
        return np.clip(self.start, self.low, self.high)

    def on(self, games: np.ndarray) -> Problem:
        """Return the same problem on different games of the dataset."""
        return replace(self, datafit=self.datafit.on(games))

    def residual(
        self, weights: np.ndarray, ranges: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """Return what a learner lowers, the mean loss plus penalty if there is a loss, and the
        residual of the equation, zero for weights that are not free."""
        value, residual = self.datafit.residual(weights, ranges)
        if self.datafit.has_value:
            value += self.penalty.value(weights)
        return value, np.where(self.free, residual + self.penalty.gradient(weights), 0.0)

    def blocked(self, weights: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return which weights are at a bound that this residual would move them beyond."""
        below = (weights <= self.low) & (residual > 0)
        return below | (weights >= self.high) & (residual < 0)
