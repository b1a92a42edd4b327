"""The interface between a fit and the device that runs its passes: the CPU, a GPU, or finite differences on the CPU."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tuner.datasets.rows import Rows
from tuner.device.model import Model
from tuner.objectives.temporal import TemporalData


class Device(Protocol):
    """Sums over positions, of which weights have shape (stages, columns + 1, or 2 with the width of a draw)."""

    name: str
    workers: int  # threads, for what the processors do in any case

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """The sum of weight * loss over ranges (m, 2) of positions, and its gradient in the shape of the weights."""

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """(d, d) the sum of weight * curvature * x x'; stages one after the other."""

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """(d,) the sum of u^2 over groups of games; u (d,) is the gradient of the group's summed loss by the flat weights."""

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """(k, k) the sum of u u' for the k flat weights `chosen`, which ascend; and how many groups of games there are."""

    def position_products(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """(d, d) the sum of u u' over positions of some ranges; u (d,) is the gradient of the position's own loss."""

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """(n,) centipawns, first player's view and with the intercept, of the positions of some ranges, one after the other."""

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """(n,) centipawns, first player's view, of positions, by weights for each phase
        (phases + 1, columns + 1), the last of which is the intercept."""

    def temporal(self, model: Model, extra: TemporalData) -> TemporalPasses:
        """Passes for TD(lambda)."""


class TemporalPasses(Protocol):
    """Sums over whole games (g, 2), ascending ranges of positions. Of position t, v is the value, v' its slope dv/de, zero
    where the value is known; c the error (see `tuner.objectives.temporal`), x the coefficients by stage and j = v' x."""

    def equation(self, weights: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, float]:
        """(d,) the sum of c j, and that of c^2."""

    def matrix(self, weights: np.ndarray, games: np.ndarray, exact: bool) -> np.ndarray:
        """(d, d) minus the derivative of the sum of c j; without the curvature of tanh unless `exact`."""

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """(d, d) the sum of (c v')^2 x x' over the model's games."""

    def score_products(self, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """As `Device.score_products`, of the sums of c j over groups of the model's games."""
