"""A fit as a mathematical problem: a dataset, an objective, which weights are free, and their
prior.

Weights have shape (stages, columns + 1): one per parameter and stage, then the intercept, an
advantage of the first player that is not part of the evaluation. If the loss models draws, the
width of a draw is one more column. Losses and derivatives are means per position."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from tuner.datasets.dataset import Dataset, ahead, positions_at, size_of
from tuner.datasets.summary import use_of
from tuner.fit.blocks import BlockPrecision
from tuner.fit.device.base import Device, Model
from tuner.fit.device.cpu.device import CPU, Cpu
from tuner.fit.tied import TiedDevice
from tuner.objectives.base import Objective
from tuner.objectives.temporal import TemporalData

REMEMBERED = 4  # losses of the latest weights


def diagonal(values: np.ndarray) -> sparse.csr_array:
    """Return the precision (d, d) of independent weights, from theirs in any shape."""
    return sparse.diags_array(np.asarray(values, np.float64).ravel()).tocsr()


@dataclass
class Meter:
    """The speed of passes over the data."""

    positions: int = 0
    seconds: float = 0.0

    @property
    def speed(self) -> float:
        """Positions per second of loss and gradient."""
        return self.positions / self.seconds


@dataclass(frozen=True)
class Problem:
    """The objective to minimize: mean loss over the positions of `games`, plus the prior.

    `start` (stages, columns + 1) are the starting weights, `free` (same shape, bool) marks those
    that are fitted, `low` and `high` are bounds. The prior is (w - mean)' precision (w - mean) / 2
    per position, of the flattened weights; `precision` (d, d) is zero for those that are fixed."""

    data: Dataset
    games: np.ndarray
    objective: Objective
    scale: float
    start: np.ndarray
    free: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    precision: sparse.csr_array | BlockPrecision
    design_effect: float = 1.0  # positions that count as one; a factor of the prior's precision
    meter: Meter = field(default_factory=Meter)
    device: Device = CPU  # where the passes run
    # called with the positions done in a pass, and all of them
    progress: Callable[[int, int], None] = lambda done, total: None
    # of a problem that TD(lambda) solves: its games are complete and in order
    temporal: TemporalData | None = None

    @cached_property
    def model(self) -> Model:
        """The input of its passes."""
        return Model(
            self.data,
            self.games,
            self.objective,
            self.scale,
            self.free,
            self.progress,
            self.temporal,
        )

    @property
    def stages(self) -> int:
        return len(self.start)

    @property
    def ranges(self) -> np.ndarray:
        """Ranges (m, 2) of its positions; adjacent games are joined."""
        return self.model.ranges

    @cached_property
    def positions(self) -> int:
        return size_of(self.ranges)

    @cached_property
    def total_weight(self) -> float:
        return self._weight_of(self.ranges)

    @property
    def shares(self) -> np.ndarray:
        """Share (stages, codes) of each stage in a position for each value of `phase`."""
        return self.model.shares

    def on(self, games: np.ndarray) -> Problem:
        """Return the same problem on different games of the dataset."""
        return replace(self, games=games)

    def weight_of(self, ranges: np.ndarray | None) -> float:
        """Return the sum of the weights of positions over some ranges, None: over all."""
        return self.total_weight if ranges is None else self._weight_of(ranges)

    def _weight_of(self, ranges: np.ndarray) -> float:
        found = 0.0
        for piece in ahead(self.data, ranges, ("weight",)):
            first = piece[0, 0]
            sums = np.cumsum(self.data.weight[first : piece[-1, 1]], dtype=np.float64)
            found += np.diff(np.append(0.0, sums)[piece - first], axis=1).sum()
            self.model.release()
        return float(found)

    def prior(self, weights: np.ndarray) -> float:
        """Return the prior's part of the objective."""
        return 0.5 * float(np.vdot(weights - self.mean, self.prior_gradient(weights)))

    def prior_gradient(self, weights: np.ndarray) -> np.ndarray:
        return (self.precision @ (weights - self.mean).ravel()).reshape(weights.shape)

    def precision_of(self, chosen: np.ndarray) -> np.ndarray:
        """Return the precision (n, n) of some of the flattened weights (n,), the rest fixed."""
        whole = self.precision
        whole = whole.formed if isinstance(whole, BlockPrecision) else whole
        return whole[chosen][:, chosen].toarray()

    def loss_gradient(
        self, weights: np.ndarray, ranges: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """Return the mean loss over all positions, or over some ranges, and its gradient, without
        the prior."""
        chosen = self.ranges if ranges is None else ranges
        started = time.perf_counter()
        loss, gradient = self.device.loss_gradient(self.model, weights, chosen)
        self.meter.positions += size_of(chosen)
        self.meter.seconds += time.perf_counter() - started
        total = self.weight_of(ranges)
        return loss / total, gradient / total

    def loss(self, weights: np.ndarray) -> float:
        """Return the mean loss over the positions; the latest weights are cached, because
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

    def gauss_newton(self, weights: np.ndarray, ranges: np.ndarray | None = None) -> np.ndarray:
        """Return the Gauss-Newton matrix (d, d) of the mean loss, d = stages * (columns + 1), stage
        after stage.

        For cross-entropy and the models of draws it is the Hessian.
        """
        chosen = self.ranges if ranges is None else ranges
        return self.device.gauss_newton(self.model, weights, chosen) / self.weight_of(ranges)

    def equation(
        self, weights: np.ndarray, games: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Return the mean (d,) over positions of c dv/dw, minus the prior's gradient: zero at the
        solution of TD(lambda); and the mean square of the errors c. `games` (g, 2) are ranges of
        positions, by default all."""
        chosen = self.model.whole_games if games is None else games
        sums, squares = self.device.equation(self.model, weights, chosen)
        total = size_of(chosen)
        return sums / total - self.prior_gradient(weights).ravel(), squares / total

    def equation_matrix(
        self, weights: np.ndarray, games: np.ndarray, exact: bool = False
    ) -> np.ndarray:
        """Return minus the derivative (d, d) of the first part of `equation`, without the prior;
        without the curvature of tanh unless `exact`."""
        return self.device.equation_matrix(self.model, weights, games, exact) / size_of(games)

    @cached_property
    def use(self) -> tuple[np.ndarray, np.ndarray]:
        """The result of `use_of` for the positions of the problem."""
        return use_of(self.data, self.ranges, self.device.workers)

    def derivatives(self, weights: np.ndarray, positions: np.ndarray) -> sparse.csr_array:
        """Return the derivatives (n, d) of the evaluations of some positions (indices) by the
        weights near some weights, as the game plays them: without slopes by phase and intercept.
        In a linear evaluation they are its coefficients."""
        tied = self.device if isinstance(self.device, TiedDevice) else None
        device = tied.device if tied else self.device
        device = device if isinstance(device, Cpu) else CPU
        weights = tied.whole(weights) if tied else weights
        found = device.derivatives(self.model, weights, positions)
        return found @ tied.sums if tied else found

    def evaluations(self, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of the positions of some ranges in centipawns, first player's
        view."""
        return self.device.evaluations(self.model, weights, ranges)


SAMPLE = 4000  # positions that stand for all
SEED = 1


def sample_places(problem: Problem) -> np.ndarray:
    """Return the indices (n,) of sampled positions, ascending; long games count more, as in the
    data."""
    total = problem.positions
    chosen = np.random.default_rng(SEED).choice(total, min(SAMPLE, total), replace=False)
    return positions_at(problem.ranges, np.sort(chosen))
