"""Passes by finite differences of the compiled evaluation: weights are moved one at a time, and positions evaluated again.

What is not linear in the weights is in such a gradient, as nothing else is in it that a search would not see. A forward
difference of step h is (f(w + h) - f(w)) / h (Homan 2000), with the bias h f'' / 2 (Taylor); a central one is
(f(w + h) - f(w - h)) / 2h (Coulom 2019), with h^2 f''' / 6. f is the loss of a position, or its value under TD(lambda).
Where the second derivative of a fit is needed, it is that of Gauss and Newton, with differences of the evaluation as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from tuner.datasets.ranges import blocks, prefetch, together
from tuner.device.base import Model, TemporalPasses
from tuner.device.cpu.device import Processors, watched
from tuner.objectives.temporal import TemporalData
from tuner.parallel import in_order

PIECE = 1 << 12  # positions at once: some hundred moved weights each
Function = Callable[[np.ndarray, np.ndarray], np.ndarray]  # evaluations (m,), and which of the positions each is of


class Evaluator(Protocol):
    """A compiled evaluation in double precision, see `tuner.engine.engine.Engine`."""

    def values(self, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(n,) centipawns, first player's view, of positions (n, words) with weights (stages, columns)."""

    def changes(self, positions: np.ndarray, index: np.ndarray, ends: np.ndarray, weights: np.ndarray, step: float) -> np.ndarray:
        """(k, stages, 2) changes of the evaluation where the weight of column index[k] moves by the step, up and down."""


class Moved(NamedTuple):
    """Some positions with weights moved. `place` (n,) in the dataset, `evaluation` (n,) in centipawns; the m moves: `of` which
    of the n positions, `weight` which of the flat weights, and the evaluation's changes `up` and `down`."""

    place: np.ndarray
    evaluation: np.ndarray
    of: np.ndarray
    weight: np.ndarray
    up: np.ndarray
    down: np.ndarray


@dataclass(frozen=True)
class Differences(Processors):
    """Like `Processors`, with derivatives by differences of `step` centipawns, `central` or forward. `positions` (n, words) are
    those of the dataset that is passed over."""

    evaluator: Evaluator = None
    positions: np.ndarray = None
    step: float = 1.0
    central: bool = True

    @property
    def name(self) -> str:
        kind = "central" if self.central else "forward"
        return f"{super().name}, gradients by {kind} differences of {self.step:g} centipawns"

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """See `Device`."""
        def work(piece: np.ndarray) -> tuple[float, np.ndarray]:
            moved = self.moved(model, weights, piece)
            outcome, weight = (array[moved.place].astype(float) for array in (model.data.outcome, model.data.weight))

            def loss(evaluation: np.ndarray, of: np.ndarray) -> np.ndarray:
                return weight[of] * model.objective.loss(model.scale, evaluation, 0.0, outcome[of])

            return (float(loss(moved.evaluation, np.arange(len(outcome))).sum()),
                    np.bincount(moved.weight, self.derivatives(moved, loss), weights.size))

        total, gradient = 0.0, np.zeros(weights.size)
        for part, some in self._over(model, ranges, work):
            total += part
            gradient += some
        return total, gradient.reshape(weights.shape)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        def work(piece: np.ndarray) -> np.ndarray:
            moved = self.moved(model, weights, piece)
            outcome, weight = (array[moved.place].astype(float) for array in (model.data.outcome, model.data.weight))
            rows = self.rows(moved, weights.size)
            return (rows.T @ rows.multiply((weight * model.objective.curvature(
                model.scale, moved.evaluation, 0.0, outcome))[:, None]).tocsr()).toarray()

        return sum(self._over(model, ranges, work), np.zeros((weights.size, weights.size)))

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
            moved = self.moved(model, weights, piece)
            rows = self.rows(moved, weights.size)
            return (rows.T @ rows.multiply((self._residuals(model)(moved) ** 2)[:, None]).tocsr()).toarray()

        return sum(self._over(model, ranges, work), np.zeros((weights.size, weights.size)))

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return np.concatenate([np.zeros(0), *self._over(model, ranges, lambda piece: self._evaluated(model, weights, piece)[1])])

    def temporal(self, model: Model, extra: TemporalData) -> TemporalPasses:
        """See `Device`."""
        from tuner.device.differences.temporal import TemporalDifferences

        return TemporalDifferences(model, extra, self)

    def moved(self, model: Model, weights: np.ndarray, piece: np.ndarray) -> Moved:
        """The positions of some ranges with each free weight moved that applies to them; the intercept too."""
        data, (stages, width) = model.data, weights.shape
        columns = width - 1
        place, evaluation = self._evaluated(model, weights, piece)
        begin, sizes = data.row[place], (data.row[place + 1] - data.row[place]).astype(np.int64)
        of = np.repeat(np.arange(len(place)), sizes)
        index = data.index[np.repeat(begin - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())]
        free = model.free.any(axis=0)[index]
        of, index = of[free], np.ascontiguousarray(index[free])
        ends = np.searchsorted(of, np.arange(len(place)), side="right")
        changes = self.evaluator.changes(self.positions[place], index, ends, weights[:, :columns], self.step)
        shares = model.shares[:, data.phase[place]]
        intercept = np.stack([shares.T, -shares.T], axis=2) * self.step
        stage = np.arange(stages) * width
        weight = np.concatenate([(index[:, None] + stage).ravel(), np.tile(stage + columns, len(place))])
        both = np.concatenate([changes.reshape(-1, 2), intercept.reshape(-1, 2)])
        return Moved(place, evaluation, np.concatenate([np.repeat(of, stages), np.repeat(np.arange(len(place)), stages)]),
                     weight, both[:, 0], both[:, 1])

    def derivatives(self, moved: Moved, function: Function) -> np.ndarray:
        """(m,) of a function of the evaluation, by each weight moved."""
        here = moved.evaluation[moved.of]
        above = function(here + moved.up, moved.of)
        if self.central:
            return (above - function(here + moved.down, moved.of)) / (2 * self.step)
        return (above - function(moved.evaluation, np.arange(len(moved.place)))[moved.of]) / self.step

    def rows(self, moved: Moved, size: int):
        """The derivatives of the evaluation by the flat weights, as a sparse matrix (n, size)."""
        from scipy.sparse import csr_array

        return csr_array((self.derivatives(moved, lambda evaluation, of: evaluation), (moved.of, moved.weight)),
                         shape=(len(moved.place), size))

    def over_games(self, model: Model, games: np.ndarray, work: Callable[[np.ndarray], object]) -> Iterator:
        """work(some whole games (g, 2)) for all of them, in their order."""
        def pieces() -> Iterator[np.ndarray]:
            for some in together(games, PIECE):
                piece = np.ascontiguousarray(games[some])
                prefetch(model.data, piece)
                yield piece

        return watched(in_order(work, pieces(), self.workers), model, games, PIECE)

    def scores(self, weights: np.ndarray, piece: np.ndarray, factors: np.ndarray, moved: Moved) -> np.ndarray:
        """(games of the piece, d) the sums of factor * derivative of the evaluation over the positions of each game."""
        from scipy.sparse import csr_array

        sizes = piece[:, 1] - piece[:, 0]
        game = csr_array((factors, (np.repeat(np.arange(len(piece)), sizes), np.arange(len(factors)))),
                         shape=(len(piece), len(factors)))
        return (game @ self.rows(moved, weights.size)).toarray()

    def grouped(self, model: Model, weights: np.ndarray, parts: Iterator[np.ndarray]) -> np.ndarray:
        """(groups, d) sums of games of one group, from those of all games in their order."""
        names, group = model.groups
        found, done = np.zeros((len(names), weights.size)), 0
        for part in parts:
            np.add.at(found, group[done:done + len(part)], part)
            done += len(part)
        return found

    def _scores(self, model: Model, weights: np.ndarray, residuals: Callable[[Moved], np.ndarray]) -> np.ndarray:
        def work(piece: np.ndarray) -> np.ndarray:
            moved = self.moved(model, weights, piece)
            return self.scores(weights, piece, residuals(moved), moved)

        return self.grouped(model, weights, self.over_games(model, model.whole_games, work))

    @staticmethod
    def _residuals(model: Model) -> Callable[[Moved], np.ndarray]:
        def residuals(moved: Moved) -> np.ndarray:
            outcome, weight = (array[moved.place].astype(float) for array in (model.data.outcome, model.data.weight))
            return weight * model.objective.residual(model.scale, moved.evaluation, 0.0, outcome)

        return residuals

    def _evaluated(self, model: Model, weights: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places and evaluations, with the intercept, of the positions of some ranges."""
        sizes = piece[:, 1] - piece[:, 0]
        place = np.repeat(piece[:, 1] - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        intercept = weights[:, -1] @ model.shares[:, model.data.phase[place]]
        return place, self.evaluator.values(self.positions[place], weights[:, :-1]) + intercept

    def _over(self, model: Model, ranges: np.ndarray, work: Callable[[np.ndarray], object]) -> Iterator:
        def pieces() -> Iterator[np.ndarray]:
            for piece in blocks(ranges, PIECE):
                prefetch(model.data, piece)
                yield piece

        return watched(in_order(work, pieces(), self.workers), model, ranges, PIECE)
