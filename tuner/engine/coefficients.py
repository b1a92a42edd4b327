"""Evaluations of positions and sums of their derivatives, analytic or by finite differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuner.datasets.rows import Rows
from tuner.device.cpu.linearised import linearise
from tuner.engine.engine import Engine
from tuner.parameters.layout import shares_of

STEPS = {"forward-difference": 1.0, "central-difference": 0.01}  # centipawns, of finite differences; Homan's is forward


@dataclass(frozen=True)
class Coefficients:
    """Rows of positions whose evaluation is linear; `shares` (stages, n) are the shares of the stages in each position."""

    rows: Rows
    shares: np.ndarray
    columns: int

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) in centipawns, first player's view, with weights (stages, columns)."""
        of, n = self.rows.of, self.shares.shape[1]
        return sum(share * np.bincount(of, self.rows.count * line[self.rows.index], n)
                   for share, line in zip(self.shares, weights, strict=True))

    def sums(self, factors: np.ndarray) -> np.ndarray:
        """Return the sum (stages, columns) of factor * coefficient over the positions; factors (n,)."""
        of = self.rows.of
        return np.stack([np.bincount(self.rows.index, self.rows.count * (share * factors)[of], self.columns)
                         for share in self.shares])

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """Return the sum (stages, columns) over the positions of factor * dv/dw / scale, with v = tanh(scale * evaluation)."""
        return self.sums(factors * (1 - np.tanh(scale * self.evaluations(weights))**2))


@dataclass(frozen=True)
class MovedRows:
    """Positions evaluated by the compiled evaluation, with derivatives by finite differences of `step` centipawns for the
    nonzeros of `rows` (see `tuner.device.differences`)."""

    engine: Engine
    positions: np.ndarray
    step: float
    central: bool
    rows: Rows

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) in centipawns, first player's view, with weights (stages, columns)."""
        return self.engine.values(self.positions, weights)

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """Return the sum (stages, columns) over the positions of factor * dv/dw / scale, by differences of tanh(scale * e)."""
        of, index = self.rows.of, self.engine.composition.form.column[self.rows.index].astype(np.int64)
        of, index = np.divmod(np.unique(of * self.engine.layout.size + index), self.engine.layout.size)  # sides counted apart
        ends = np.searchsorted(of, np.arange(len(self.rows.phase)), side="right")
        changes = self.engine.changes(self.positions, index.astype(np.uint16), ends, weights, self.step)
        here = self.evaluations(weights)[of]
        sums = []
        for stage in range(len(weights)):
            above, below = (np.tanh(scale * (here + changes[:, stage, side])) for side in range(2))
            slope = (above - below) / (2 * self.step) if self.central else (above - np.tanh(scale * here)) / self.step
            sums.append(np.bincount(index, factors[of] * slope / scale, self.engine.layout.size))
        return np.stack(sums)


@dataclass(frozen=True)
class LinearisedRows:
    """Positions whose evaluation is not linear, with derivatives near the weights (see `tuner.device.cpu.linearised`)."""

    engine: Engine
    rows: Rows
    shares: np.ndarray

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) in centipawns, first player's view, with weights (stages, columns)."""
        return self._near(weights)[1]

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """Return the sum (stages, columns) over the positions of factor * dv/dw / scale, with v = tanh(scale * evaluation)."""
        rows, evaluation = self._near(weights)
        found = Coefficients(rows, self.shares, self.engine.layout.size)
        return found.sums(factors * (1 - np.tanh(scale * evaluation)**2))

    def _near(self, weights: np.ndarray) -> tuple[Rows, np.ndarray]:
        if not len(self.rows.phase):
            return self.rows, np.zeros(0)
        return linearise(self.engine.composition, self.rows, np.array([[0, len(self.rows.phase)]]), self.engine.table(weights))


def coefficients_of(engine: Engine, positions: np.ndarray, stages: int) -> Coefficients | LinearisedRows:
    """Return positions (n, words) with analytic derivatives."""
    rows = engine.coefficients(positions)
    shares = shares_of(rows.phase, engine.phases, stages)
    if engine.composition.curved:
        return LinearisedRows(engine, rows, shares)
    return Coefficients(rows, shares, engine.layout.size)


def moved_rows_of(engine: Engine, positions: np.ndarray, step: float, central: bool) -> MovedRows:
    """Return positions (n, words) with derivatives by finite differences."""
    return MovedRows(engine, positions, step, central, engine.coefficients(positions))
