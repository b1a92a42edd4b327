"""What a fit learns from: the positions of games, and a score for each game.

A fit is a zero of an estimating equation: the weights at which the scores of all games sum to the
gradient of the penalty. Of a regression on outcomes the scores are gradients of a loss. Other kinds
replace the passes that differ: `tuner.fit.choices`, `tuner.fit.temporal`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy import sparse

from tuner.datasets.dataset import ahead, positions_at, size_of
from tuner.datasets.summary import use_of
from tuner.fit.curvature import Curvature, Formed, Matrix, Products
from tuner.fit.device.base import Device, Model, Passes
from tuner.fit.device.cpu.device import CPU
from tuner.fit.ties import UNTIED, Ties

REMEMBERED = 4  # losses of the latest weights
# the cube of the weights, over the nonzeros of all stages, from which passes are cheaper
CROSSING = 1000.0
FEW = 1500  # weights, whose matrix is formed in any case
# of a factorization, and of solving for random vectors by passes: multiplications, in units of
# those of a pass
FACTOR, PASSES = 1.0, 4000.0
LARGEST_MATRIX = 10_000  # weights
SAMPLE, SEED = 4000, 1  # positions that stand for all


@dataclass
class Meter:
    """The speed of passes over the data."""

    positions: int = 0
    seconds: float = 0.0

    @property
    def speed(self) -> float:
        """Positions per second of loss and gradient."""
        return self.positions / self.seconds


@dataclass(frozen=True, kw_only=True, eq=False)
class Datafit(Model):
    """The regression of the outcomes of positions on their evaluations.

    Weights are those of the leaders of `ties` (stages, columns + 1), or columns + 2 with the width
    of a draw. Losses and derivatives are means over positions, the scores of games are sums."""

    device: Device = CPU
    ties: Ties = UNTIED
    meter: Meter = field(default_factory=Meter)

    has_value: ClassVar[bool] = True  # whether there is a loss of which the scores are gradients

    @property
    def passes(self) -> Passes:
        """What runs the passes of its loss and scores."""
        return self.device

    def on(self, games: np.ndarray) -> Datafit:
        """Return the same on different games of the dataset."""
        return replace(self, games=games)

    @property
    def regression(self) -> Datafit:
        """The regression on the outcomes of the same positions, by which priors are chosen."""
        return self

    @cached_property
    def positions(self) -> int:
        """The number of positions."""
        return size_of(self.ranges)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights of positions, over which losses are means."""
        return self._weight_of(self.ranges)

    def weight_of(self, ranges: np.ndarray | None) -> float:
        """Return the sum of the weights of positions over some ranges, None: over all."""
        return self.total_weight if ranges is None else self._weight_of(ranges)

    def _weight_of(self, ranges: np.ndarray) -> float:
        weight = 0.0
        for piece in ahead(self.data, ranges, ("weight",)):
            first = piece[0, 0]
            sums = np.cumsum(self.data.weight[first : piece[-1, 1]], dtype=np.float64)
            weight += np.diff(np.append(0.0, sums)[piece - first], axis=1).sum()
            self.release()
        return float(weight)

    def loss_gradient(
        self, weights: np.ndarray, ranges: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """Return the mean loss over all positions, or over some ranges (m, 2), and its gradient in
        the shape of the weights."""
        chosen = self.ranges if ranges is None else ranges
        started = time.perf_counter()
        loss, gradient = self.passes.loss_gradient(self, self.ties.expand(weights), chosen)
        self.meter.positions += size_of(chosen)
        self.meter.seconds += time.perf_counter() - started
        total = self.weight_of(ranges)
        return loss / total, self.ties.pull(gradient) / total

    def loss(self, weights: np.ndarray) -> float:
        """Return the mean loss over the positions; those of the latest weights are cached, because
        a pass can take long."""
        key = weights.tobytes()
        if key not in self._losses:
            if len(self._losses) >= REMEMBERED:
                self._losses.pop(next(iter(self._losses)))
            self._losses[key] = self.loss_gradient(weights)[0]
        return self._losses[key]

    @cached_property
    def _losses(self) -> dict[bytes, float]:
        return {}

    def residual(
        self, weights: np.ndarray, ranges: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """Return what a learner lowers, and minus the mean score in the shape of the weights, over
        all positions or some ranges: here the mean loss and its gradient."""
        return self.loss_gradient(weights, ranges)

    def some(self, units: np.ndarray) -> np.ndarray:
        """Return the ranges of some units (ascending), of which a residual is the mean: here
        positions."""
        drawn = positions_at(self.ranges, units)
        return np.stack([drawn, drawn + 1], axis=1)

    def gauss_newton(self, weights: np.ndarray, ranges: np.ndarray | None = None) -> np.ndarray:
        """Return the Gauss-Newton matrix (d, d) of the mean loss, d = stages * (columns + 1), stage
        after stage. For cross-entropy and the models of draws it is the Hessian."""
        chosen = self.ranges if ranges is None else ranges
        sums = self.passes.gauss_newton(self, self.ties.expand(weights), chosen)
        return self.ties.pull_matrix(sums) / self.weight_of(ranges)

    def curvature(self, weights: np.ndarray, ranges: np.ndarray | None = None) -> Curvature:
        """Return the Gauss-Newton matrix near some weights, over all positions or some ranges."""
        if not self.has_many_weights:
            return Matrix(self.gauss_newton(weights, ranges))
        if self.forms_matrix:
            return Formed(self.gauss_newton(weights, ranges))
        chosen = self.ranges if ranges is None else ranges
        sums = self.passes.curvatures(self, self.ties.expand(weights), chosen)
        return Products(sums, self.ties, weights.shape, self.weight_of(ranges))

    @property
    def has_many_weights(self) -> bool:
        """Whether their matrix is too expensive for exact errors; for some games as for all."""
        free = int(np.count_nonzero(self.free))
        nonzeros = len(self.data.index) * self.stages
        return free > FEW and free**3 > CROSSING * nonzeros and self.passes.has_products

    @property
    def forms_matrix(self) -> bool:
        """Whether the matrix of many weights is cheaper than passes over the positions."""
        data, free = self.data, int(np.count_nonzero(self.free))
        nonzeros = len(data.index) * self.stages
        matrix = nonzeros**2 / max(1, data.positions) + FACTOR * free**3
        return free <= LARGEST_MATRIX and matrix < PASSES * nonzeros

    def slope(self, weights: np.ndarray, ranges: np.ndarray | None = None) -> Curvature:
        """Return the derivative of the residual, over all positions or some ranges: the bread of
        the sandwich of errors."""
        return replace(self, exact=not self.objective.convex).curvature(weights, ranges)

    @property
    def slope_is_curvature(self) -> bool:
        """Whether the two are the same."""
        return self.has_value and self.objective.convex

    def signed_scores(self, weights: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """Return the sums (d, k) of the scores of groups of games, each times its signs (groups,
        k)."""
        return self.ties.pull(self.passes.signed_scores(self, self.ties.expand(weights), signs))

    def score_squares(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum (d,) of the squares of the scores of groups of games."""
        squares = self.passes.score_squares(self, self.ties.expand(weights))
        if len(self.ties.shared):
            squares[self.ties.shared] = np.diag(self.score_products(weights, self.ties.shared))
        return squares

    def score_products(self, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the sum (k, k) of u u' over the scores u of groups of games, of the flat weights
        `chosen` (ascending)."""
        expanded = self.ties.expand(weights)
        return self.ties.pull_products(
            lambda some: self.passes.score_products(self, expanded, some), chosen
        )

    @property
    def independent_games(self) -> int:
        """The number of groups of games, those of one identity together."""
        return len(self.groups[0])

    @cached_property
    def use(self) -> tuple[np.ndarray, np.ndarray]:
        """The result of `use_of` for the positions."""
        return use_of(self.data, self.ranges, self.device.workers)

    def derivatives(self, weights: np.ndarray, positions: np.ndarray) -> sparse.csr_array:
        """Return the derivatives (n, d) of the evaluations of some positions (indices) by the
        weights near some weights, as the game plays them: without slopes by phase and intercept.
        In a linear evaluation they are its coefficients."""
        slopes = self.device.derivatives(self, self.ties.expand(weights), positions)
        return self.ties.pull_rows(slopes)

    def evaluations(self, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of the positions of some ranges in centipawns, first player's
        view."""
        return self.device.evaluations(self, self.ties.expand(weights), ranges)

    def sampled_games(self, most: int) -> np.ndarray:
        """Return all games, or a uniform sample of them with about `most` positions; ascending."""
        if self.positions <= most:
            return self.games
        wanted = max(round(len(self.games) * most / self.positions), 1)
        random = np.random.default_rng(len(self.games))
        return self.games[np.sort(random.choice(len(self.games), wanted, replace=False))]

    def sampled_places(self, most: int = SAMPLE) -> np.ndarray:
        """Return the indices (n,) of sampled positions, ascending, or of all if they are few; long
        games count more, as in the data."""
        total = self.positions
        chosen = np.random.default_rng(SEED).choice(total, min(most, total), replace=False)
        return positions_at(self.ranges, np.sort(chosen))
