"""Parameters with one number for all stages, such as `const int Tempo = 18;`: a device whose passes
take the weight of the first stage for the rest, and add their derivatives to its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuner.datasets.dataset import Rows
from tuner.fit.device.base import Device, Model


@dataclass(frozen=True)
class TiedDevice:
    """Another device's passes; `tied` (columns + 1 or 2,) marks the weights that stages share, of
    which only the first stage may be free."""

    device: Device
    tied: np.ndarray

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def workers(self) -> int:
        return self.device.workers

    def whole(self, weights: np.ndarray) -> np.ndarray:
        """Return weights or errors (stages, width) with the first stage copied to all stages."""
        return np.where(self.tied, weights[0], weights)

    def folded(self, sums: np.ndarray) -> np.ndarray:
        """Return derivatives (..., stages, columns or width) by the weights that are free."""
        found, tied = sums.copy(), self.tied[: sums.shape[-1]]
        found[..., 0, tied] = found[..., tied].sum(axis=-2)
        found[..., 1:, tied] = 0.0
        return found

    def _products(self, matrix: np.ndarray) -> np.ndarray:
        """Fold both axes of a matrix (d, d)."""
        for _ in range(2):
            rows = matrix.reshape(len(matrix), -1, len(self.tied))
            matrix = self.folded(rows).reshape(matrix.shape).T
        return matrix

    def loss_gradient(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray
    ) -> tuple[float, np.ndarray]:
        loss, gradient = self.device.loss_gradient(model, self.whole(weights), ranges)
        return loss, self.folded(gradient)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        return self._products(self.device.gauss_newton(model, self.whole(weights), ranges))

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        found = self.device.score_squares(model, self.whole(weights))
        own = np.flatnonzero(
            np.tile(self.tied, model.stages)
            & np.repeat(np.arange(model.stages) == 0, len(self.tied))
        )
        found[own] = np.diag(self.score_products(model, weights, own)[0])
        return found

    def score_products(
        self, model: Model, weights: np.ndarray, chosen: np.ndarray
    ) -> tuple[np.ndarray, int]:
        width = len(self.tied)
        own = chosen[(chosen < width) & self.tied[chosen % width]]
        others = [own + stage * width for stage in range(1, model.stages)]
        wanted = np.unique(np.concatenate([chosen, *others]))
        products, groups = self.device.score_products(model, self.whole(weights), wanted)
        into = (wanted[:, None] == chosen).astype(np.float64)
        for other in others:
            into += (wanted[:, None] == other) @ (own[:, None] == chosen)
        return into.T @ products @ into, groups

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        return self.device.evaluations(model, self.whole(weights), ranges)

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        return self.device.evaluate(rows, table)

    def equation(
        self, model: Model, weights: np.ndarray, games: np.ndarray
    ) -> tuple[np.ndarray, float]:
        sums, squares = self.device.equation(model, self.whole(weights), games)
        return self.folded(sums.reshape(weights.shape)).ravel(), squares

    def equation_matrix(
        self, model: Model, weights: np.ndarray, games: np.ndarray, exact: bool
    ) -> np.ndarray:
        return self._products(self.device.equation_matrix(model, self.whole(weights), games, exact))
