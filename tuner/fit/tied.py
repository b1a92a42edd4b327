"""Weights that are equal: those of parameters with one number for all stages, such as `const int
Tempo = 18;`, and those of symmetric tables. A device whose passes take the weight of a leader for
those that are equal to it, and add their derivatives to its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from tuner.datasets.dataset import Rows
from tuner.fit.device.base import CurvatureSums, Device, Model


@dataclass(frozen=True)
class TiedDevice:
    """Another device's passes; `leaders` (stages, columns + 1 or 2) are the indices, in the
    flattened weights, of those that the weights are equal to, which alone may be free."""

    device: Device
    leaders: np.ndarray

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def workers(self) -> int:
        return self.device.workers

    def whole(self, weights: np.ndarray) -> np.ndarray:
        """Return weights or errors (stages, width) with those of the leaders for all."""
        return weights.ravel()[self.leaders]

    def _folded(self, sums: np.ndarray) -> np.ndarray:
        """Return derivatives by the weights that are free, of any shape, from those by all."""
        return (self.sums.T @ sums.ravel()).reshape(sums.shape)

    @cached_property
    def sums(self) -> sparse.csr_array:
        """The matrix (d, d) that adds derivatives to those by the leaders."""
        leaders = self.leaders.ravel()
        places = np.arange(len(leaders)), leaders
        return sparse.csr_array((np.ones(len(leaders)), places), (len(leaders), len(leaders)))

    def _products(self, matrix: np.ndarray) -> np.ndarray:
        """Fold both axes of a matrix (d, d)."""
        return self.sums.T @ (self.sums.T @ matrix.T).T

    def loss_gradient(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray
    ) -> tuple[float, np.ndarray]:
        loss, gradient = self.device.loss_gradient(model, self.whole(weights), ranges)
        return loss, self._folded(gradient)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        return self._products(self.device.gauss_newton(model, self.whole(weights), ranges))

    def curvatures(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> TiedCurvatures:
        return TiedCurvatures(self.device.curvatures(model, self.whole(weights), ranges), self.sums)

    def signed_scores(self, model: Model, weights: np.ndarray, signs: np.ndarray) -> np.ndarray:
        return self.sums.T @ self.device.signed_scores(model, self.whole(weights), signs)

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        found = self.device.score_squares(model, self.whole(weights))
        own = np.flatnonzero(np.bincount(self.leaders.ravel()) > 1)
        found[own] = np.diag(self.score_products(model, weights, own)[0])
        return found

    def score_products(
        self, model: Model, weights: np.ndarray, chosen: np.ndarray
    ) -> tuple[np.ndarray, int]:
        leaders = self.leaders.ravel()
        wanted = np.flatnonzero(np.isin(leaders, chosen))
        products, groups = self.device.score_products(model, self.whole(weights), wanted)
        into = (leaders[wanted][:, None] == chosen).astype(np.float64)
        return into.T @ products @ into, groups

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        return self.device.evaluations(model, self.whole(weights), ranges)

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        return self.device.evaluate(rows, table)

    def equation(
        self, model: Model, weights: np.ndarray, games: np.ndarray
    ) -> tuple[np.ndarray, float]:
        sums, squares = self.device.equation(model, self.whole(weights), games)
        return self._folded(sums).ravel(), squares

    def equation_matrix(
        self, model: Model, weights: np.ndarray, games: np.ndarray, exact: bool
    ) -> np.ndarray:
        return self._products(self.device.equation_matrix(model, self.whole(weights), games, exact))


@dataclass(frozen=True)
class TiedCurvatures:
    """The curvatures by the leaders, from those by all weights."""

    whole: CurvatureSums
    sums: sparse.csr_array

    def products(self, vectors: np.ndarray) -> np.ndarray:
        return self.sums.T @ self.whole.products(np.ascontiguousarray(self.sums @ vectors))

    def diagonal(self) -> np.ndarray:
        # but for products of weights that are equal, which only a preconditioner misses
        return self.sums.T @ self.whole.diagonal()


def tied_device(device: Device, leaders: np.ndarray) -> Device:
    """Return a device for these leaders; the device itself if each weight is its own."""
    is_plain = (leaders.ravel() == np.arange(leaders.size)).all()
    return device if is_plain else TiedDevice(device, leaders)


def free_leaders(free: np.ndarray, leaders: np.ndarray) -> np.ndarray:
    """Return which weights are free: leaders of which all that are equal to them are."""
    held = np.bincount(leaders.ravel(), ~free.ravel(), free.size).reshape(free.shape) > 0
    is_leader = leaders == np.arange(leaders.size).reshape(leaders.shape)
    return is_leader & ~held
