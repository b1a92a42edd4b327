"""The interface between a fit and the device that runs its passes: the CPU, a GPU, or finite differences on the CPU."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tuner.datasets.rows import Rows
from tuner.device.model import Model
from tuner.objectives.temporal import TemporalData


class Device(Protocol):
    """Sums over positions. Weights have shape (stages, columns + 1), or columns + 2 with the width of a draw."""

    @property
    def name(self) -> str:
        """Return what to call it in reports."""

    @property
    def workers(self) -> int:
        """Return the number of CPU threads, which help any device."""

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the sum of weight * loss over ranges (m, 2) of positions, and its gradient in the shape of the weights."""

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return the sum (d, d) of weight * curvature * x x', stage after stage."""

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """Return the sum (d,) of u^2 over groups of games; u (d,) is the gradient of a group's loss by the flat weights."""

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the sum (k, k) of u u' for the k flat weights `chosen` (ascending), and the number of groups of games."""

    def position_products(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return the sum (d, d) of u u' over the positions of the ranges; u (d,) is the gradient of the position's own loss."""

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of the positions of the ranges: centipawns, first player's view, with the intercept."""

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of positions in centipawns, first player's view. `table` (phases + 1, columns + 1) has the
        weights of each phase, the intercept last."""

    def temporal(self, model: Model, extra: TemporalData) -> TemporalPasses:
        """Return the passes for TD(lambda)."""


class TemporalPasses(Protocol):
    """Sums over whole games (g, 2), given as ascending ranges of positions. For each position, v is the value, v' its slope
    dv/de (zero if the value is known), c the error (see `tuner.objectives.temporal`), x the coefficients by stage, j = v' x."""

    def equation(self, weights: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the sum (d,) of c j, and the sum of c^2."""

    def matrix(self, weights: np.ndarray, games: np.ndarray, exact: bool) -> np.ndarray:
        """Return minus the derivative (d, d) of the sum of c j; without the curvature of tanh unless `exact`."""

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum (d, d) of (c v')^2 x x' over the model's games."""

    def score_products(self, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """Like `Device.score_products`, with the sums of c j over groups of the model's games as u."""
