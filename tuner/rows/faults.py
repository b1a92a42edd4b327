"""A fault of rows, and the trial of a correction: which rows agree with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tuner.parameters.layout import Layout
from tuner.rows.residuals import Sample, groups_of

EXPLAINED = 0.95  # share of the differing rows that must agree after a correction
BROKEN = 0.01  # share of the agreeing rows that may differ after it


@dataclass(frozen=True)
class Fault:
    """What is wrong: `kind` (perspective, stages, term, missing, weight, taper, scale, constant, rounded,
    unknown), the `name` of a term,
    parameter or number, a sentence with what to do, and the share of the differing rows that agree once it is corrected."""

    kind: str
    name: str
    text: str
    explained: float


class Trial:
    """Rows and weights whose evaluations differ, and what corrections make of them."""

    def __init__(self, sample: Sample, weights: np.ndarray, differed: np.ndarray | None = None) -> None:
        self.sample, self.weights = sample, weights
        self.predicted = sample.predicted(weights)
        self.difference = sample.evaluation - self.predicted
        self._tolerance = sample.tolerance
        # rows that differed as they are, whatever this view changes
        self.differs = np.abs(self.difference) > self._tolerance if differed is None else differed

    def of(self, sample: Sample) -> Trial:
        """Return the trial of another view of the same rows."""
        return self if sample is self.sample else Trial(sample, self.weights, self.differs)

    def take(self, rows: np.ndarray) -> Trial:
        """Return the trial of some of the rows."""
        return Trial(self.sample.take(rows), self.weights, self.differs[rows])

    @cached_property
    def stage_sums(self) -> np.ndarray:
        """The sums (stages, n) of counts · weights of each stage, before they are tapered."""
        return (self.sample.counts @ self.weights.T).T

    @cached_property
    def rounding(self) -> np.ndarray:
        """(n,) the sign of the evaluation: engines that divide whole numbers round towards 0."""
        return np.sign(self.sample.evaluation)

    def explained(self, predicted: np.ndarray, rounding: float = 0.0) -> float | None:
        """Return the share of the differing rows that agree with corrected predictions; None unless they explain the differences.

        `rounding` is what a correction adds to the rounding: the engine rounds before it.
        """
        agrees = np.abs(self.sample.evaluation - predicted) <= self._tolerance + rounding
        share = float(agrees[self.differs].mean()) if self.differs.any() else 0.0
        fine = ~self.differs
        broken = float((~agrees[fine]).mean()) if fine.any() else 0.0
        return share if share >= EXPLAINED and broken <= BROKEN else None

    def explained_by_sign(self) -> float | None:
        """Return the share of the differing rows that agree after a change of sign; None unless this explains the differences."""
        opposite = np.abs(self.sample.evaluation + self.predicted) <= self._tolerance
        share = float(opposite[self.differs].mean()) if self.differs.any() else 0.0
        return share if share >= EXPLAINED and self.differs.mean() > 0.1 else None

    def without_rounding(self, values: np.ndarray) -> np.ndarray:
        """Return (n, ...) values less what the rounding of whole numbers explains of them."""
        total = self.rounding @ self.rounding
        return values if total == 0 else values - np.multiply.outer(self.rounding, self.rounding @ values / total)

    def closest(self, layout: Layout) -> tuple[str, float]:
        """Return the parameter whose part of the evaluation explains most of the differences' variance, and that share."""
        best, most = "", 0.0
        total = float(self.difference @ self.difference)
        for group in groups_of(layout):
            part = (self.sample.factors * (self.sample.counts[:, group.columns] @ self.weights[:, group.columns].T).T).sum(axis=0)
            size = float(part @ part)
            share = float(part @ self.difference) ** 2 / size / total if size > 0 and total > 0 else 0.0
            if share > most:
                best, most = group.name, share
        return best, most
