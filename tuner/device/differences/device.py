"""Passes by finite differences of the compiled evaluation: weights are moved one at a time, and positions evaluated again.

Such a gradient covers evaluations that are not linear in the weights: it differentiates what a search would compute. A
forward difference of step h is (f(w + h) - f(w)) / h (Homan 2000), with bias h f'' / 2 (Taylor); a central one is
(f(w + h) - f(w - h)) / 2h (Coulom 2019), with bias h^2 f''' / 6. f is the loss of a position, or its value under TD(lambda).
Second derivatives are those of Gauss and Newton, with differences of the evaluation as rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tuner.device.base import TemporalPasses
from tuner.device.cpu.device import Cpu
from tuner.device.differences.moves import Evaluator, Moved, Moves
from tuner.device.differences.temporal import TemporalDifferences
from tuner.device.model import Model
from tuner.objectives.temporal import TemporalData


@dataclass(frozen=True, kw_only=True)
class Differences(Cpu):
    """Like `Cpu`, with derivatives by differences."""

    moves: Moves
    unit: str = "centipawns"

    @property
    def name(self) -> str:
        kind = "central" if self.moves.central else "forward"
        return f"{super().name}, gradients by {kind} differences of {self.moves.step:g} {self.unit}"

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """See `Device`."""
        def work(piece: np.ndarray) -> tuple[float, np.ndarray]:
            moved = self.moves.moved(model, weights, piece)
            outcome, weight = (array[moved.place].astype(float) for array in (model.data.outcome, model.data.weight))

            def loss(evaluation: np.ndarray, of: np.ndarray) -> np.ndarray:
                return weight[of] * model.objective.loss(model.scale, evaluation, 0.0, outcome[of])

            return (float(loss(moved.evaluation, np.arange(len(outcome))).sum()),
                    np.bincount(moved.weight, self.moves.derivatives(moved, loss), weights.size))

        total, gradient = 0.0, np.zeros(weights.size)
        for part, some in self.moves.over(model, ranges, work):
            total += part
            gradient += some
        return total, gradient.reshape(weights.shape)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        def work(piece: np.ndarray) -> np.ndarray:
            moved = self.moves.moved(model, weights, piece)
            outcome, weight = (array[moved.place].astype(float) for array in (model.data.outcome, model.data.weight))
            rows = self.moves.rows(moved, weights.size)
            return (rows.T @ rows.multiply((weight * model.objective.curvature(
                model.scale, moved.evaluation, 0.0, outcome))[:, None]).tocsr()).toarray()

        return sum(self.moves.over(model, ranges, work), np.zeros((weights.size, weights.size)))

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return (self._scores(model, weights, self._residuals(model)) ** 2).sum(axis=0)

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """See `Device`."""
        scores = self._scores(model, weights, self._residuals(model))[:, chosen]
        return scores.T @ scores, len(scores)

    def position_products(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        def work(piece: np.ndarray) -> np.ndarray:
            moved = self.moves.moved(model, weights, piece)
            rows = self.moves.rows(moved, weights.size)
            return (rows.T @ rows.multiply((self._residuals(model)(moved) ** 2)[:, None]).tocsr()).toarray()

        return sum(self.moves.over(model, ranges, work), np.zeros((weights.size, weights.size)))

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        parts = self.moves.over(model, ranges, lambda piece: self.moves.evaluated(model, weights, piece)[1])
        return np.concatenate([np.zeros(0), *parts])

    def temporal(self, model: Model, extra: TemporalData) -> TemporalPasses:
        """See `Device`."""
        return TemporalDifferences(model, extra, self.moves)

    def _scores(self, model: Model, weights: np.ndarray, residuals: Callable[[Moved], np.ndarray]) -> np.ndarray:
        def work(piece: np.ndarray) -> np.ndarray:
            moved = self.moves.moved(model, weights, piece)
            return self.moves.scores(weights, piece, residuals(moved), moved)

        return self.moves.grouped(model, weights, self.moves.over_games(model, model.whole_games, work))

    @staticmethod
    def _residuals(model: Model) -> Callable[[Moved], np.ndarray]:
        def residuals(moved: Moved) -> np.ndarray:
            outcome, weight = (array[moved.place].astype(float) for array in (model.data.outcome, model.data.weight))
            return weight * model.objective.residual(model.scale, moved.evaluation, 0.0, outcome)

        return residuals


def by_differences(evaluator: Evaluator, positions: np.ndarray, step: float, central: bool, workers: int = 1,
                   unit: str = "centipawns") -> Differences:
    """Return a device that moves weights by `step`, in `unit`. `positions` (n, words) are those of the dataset."""
    moves = Moves(evaluator=evaluator, positions=positions, step=step, central=central, workers=workers)
    return Differences(workers=workers, moves=moves, unit=unit)
