"""Coefficients of some positions as a matrix: evaluations, and sums over positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuner.engine import CoefficientRows, Engine
from tuner.layout import shares_of


@dataclass(frozen=True)
class Rows:
    """n positions: nonzero k belongs to position `row[k]`, column `index[k]`, and counts `count[k]`; `shares` (stages, n)."""

    row: np.ndarray
    index: np.ndarray
    count: np.ndarray
    shares: np.ndarray
    columns: int

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """(n,) centipawns, first player's view, with weights (stages, columns)."""
        n = self.shares.shape[1]
        return sum(share * np.bincount(self.row, self.count * line[self.index], n)
                   for share, line in zip(self.shares, weights, strict=True))

    def sums(self, factors: np.ndarray) -> np.ndarray:
        """(stages, columns): the sum of factor * coefficient over the positions; factors (n,)."""
        return np.stack([np.bincount(self.index, self.count * (share * factors)[self.row], self.columns)
                         for share in self.shares])

    def squares(self, factors: np.ndarray) -> np.ndarray:
        """(stages, columns): the sum of factor * coefficient^2 over the positions; factors (n,)."""
        return np.stack([np.bincount(self.index, self.count**2 * (share**2 * factors)[self.row], self.columns)
                         for share in self.shares])


def rows_of(engine: Engine, positions: np.ndarray, stages: int) -> Rows:
    """The coefficients of positions (n, words)."""
    counted: CoefficientRows = engine.coefficients(positions)
    row = np.repeat(np.arange(len(positions)), np.diff(counted.ends, prepend=0))
    return Rows(row, counted.index.astype(np.int64), counted.count.astype(float),
                shares_of(counted.phase, engine.phases, stages), engine.layout.size)
