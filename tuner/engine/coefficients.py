"""Evaluations of some positions and sums of their derivatives: by coefficients, or by finite differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuner.engine.engine import CoefficientRows, Engine
from tuner.parameters.layout import shares_of

STEPS = {"forward-difference": 1.0, "central-difference": 0.01}  # centipawns, of finite differences; Homan's is a forward one


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

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """(stages, columns): the sum over the positions of factor * dv/dw / scale, with v = tanh(scale * evaluation)."""
        return self.sums(factors * (1 - np.tanh(scale * self.evaluations(weights))**2))


@dataclass(frozen=True)
class MovedRows:
    """The same of the compiled evaluation itself, with derivatives by finite differences (see `tuner.device.differences`): at
    `weights` (stages, columns), of columns `index` of position `row`, `changes` (k, stages, 2) of the evaluation by a step."""

    engine: Engine
    positions: np.ndarray
    step: float
    central: bool
    row: np.ndarray
    index: np.ndarray
    ends: np.ndarray

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """(n,) centipawns, first player's view, with weights (stages, columns)."""
        return self.engine.values(self.positions, weights)

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """(stages, columns): the sum over the positions of factor * dv/dw / scale, by differences of v = tanh(scale * e)."""
        changes = self.engine.changes(self.positions, self.index, self.ends, weights, self.step)
        here = self.evaluations(weights)[self.row]
        sums = []
        for stage in range(len(weights)):
            above, below = (np.tanh(scale * (here + changes[:, stage, side])) for side in range(2))
            slope = (above - below) / (2 * self.step) if self.central else (above - np.tanh(scale * here)) / self.step
            sums.append(np.bincount(self.index, factors[self.row] * slope / scale, self.engine.layout.size))
        return np.stack(sums)


def rows_of(engine: Engine, positions: np.ndarray, stages: int) -> Rows:
    """The coefficients of positions (n, words)."""
    counted: CoefficientRows = engine.coefficients(positions)
    row = np.repeat(np.arange(len(positions)), np.diff(counted.ends, prepend=0))
    return Rows(row, counted.index.astype(np.int64), counted.count.astype(float),
                shares_of(counted.phase, engine.phases, stages), engine.layout.size)


def moved_rows_of(engine: Engine, positions: np.ndarray, step: float, central: bool) -> MovedRows:
    """Positions (n, words) whose evaluation is computed again with moved weights."""
    counted = engine.coefficients(positions)
    row = np.repeat(np.arange(len(positions)), np.diff(counted.ends, prepend=0))
    return MovedRows(engine, positions, step, central, row, counted.index.copy(), counted.ends)
