"""Derivatives by finite differences: positions are evaluated with one weight moved at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from tuner.datasets.dataset import blocks, games_ahead, places_of, prefetch
from tuner.fit.device.base import Model
from tuner.fit.device.cpu import kernels
from tuner.fit.device.cpu.device import Cpu
from tuner.fit.device.cpu.sums import watch
from tuner.parallel import in_order

PIECE = 1 << 12  # positions at a time, with some hundred moved weights each
# evaluations (m,), and which of the positions each is of
Function = Callable[[np.ndarray, np.ndarray], np.ndarray]


class DoubleEvaluation(Protocol):
    """A compiled evaluation in double precision, see `tuner.evaluation.engine.Engine`."""

    def values(self, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return evaluations (n,) of positions (n, words) in centipawns, first player's view, by
        weights (stages, columns)."""

    def changes(
        self,
        positions: np.ndarray,
        index: np.ndarray,
        ends: np.ndarray,
        weights: np.ndarray,
        step: float,
    ) -> np.ndarray:
        """Return the changes (k, stages, 2) of the evaluation if the weight of column index[k]
        moves up or down by the step."""


class Moved(NamedTuple):
    """Positions with weights moved: `place` (n,) in the dataset and `evaluation` (n,) in
    centipawns. For each of the m moves, `of` is the index of the position, `weight` the flat
    weight, `up` and `down` the changes of the evaluation."""

    place: np.ndarray
    evaluation: np.ndarray
    of: np.ndarray
    weight: np.ndarray
    up: np.ndarray
    down: np.ndarray


class TemporalMoves(NamedTuple):
    """Whole games with weights moved: for each position its value, its error c, and its slope
    dv/de, zero if it is known."""

    moved: Moved
    values: np.ndarray
    c: np.ndarray
    slopes: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Differences(Cpu):
    """Like `Cpu`, with derivatives by differences of `step`, in `unit`, `central` or forward, of a
    compiled evaluation. `positions` (n, words) belong to the dataset."""

    evaluator: DoubleEvaluation
    positions: np.ndarray
    step: float
    central: bool
    unit: str = "centipawns"

    has_products: ClassVar[bool] = False

    @property
    def name(self) -> str:
        kind = "central" if self.central else "forward"
        return f"{super().name}, gradients by {kind} differences of {self.step:g} {self.unit}"

    def loss_gradient(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """See `Device`."""

        def work(piece: np.ndarray) -> tuple[float, np.ndarray]:
            moved = self._moved(model, weights, piece)
            outcome, weight = _outcomes(model, moved)

            def loss(evaluation: np.ndarray, of: np.ndarray) -> np.ndarray:
                return weight[of] * model.objective.loss(model.scale, evaluation, 0.0, outcome[of])

            return (
                float(loss(moved.evaluation, np.arange(len(outcome))).sum()),
                np.bincount(moved.weight, self._derivatives(moved, loss), weights.size),
            )

        total, gradient = 0.0, np.zeros(weights.size)
        for part, some in self._over(model, ranges, work):
            total += part
            gradient += some
        return total, gradient.reshape(weights.shape)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""

        def work(piece: np.ndarray) -> np.ndarray:
            moved = self._moved(model, weights, piece)
            outcome, weight = _outcomes(model, moved)
            rows = self._rows(moved, weights.size)
            return _second_moments(
                rows,
                weight * model.curvatures_of(moved.evaluation, outcome),
            )

        return sum(self._over(model, ranges, work), np.zeros((weights.size, weights.size)))

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return (self._scores(model, weights) ** 2).sum(axis=0)

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """See `Device`."""
        scores = self._scores(model, weights)[:, chosen]
        return scores.T @ scores

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        parts = self._over(
            model, ranges, lambda piece: self._evaluated(model, weights, places_of(piece))
        )
        return np.concatenate([np.zeros(0), *parts])

    def derivatives(self, model: Model, weights: np.ndarray, positions: np.ndarray) -> Any:
        """See `Cpu`; zero for weights that are fixed."""
        moved = self._moved(model, weights, np.stack([positions, positions + 1], axis=1))
        played = np.ones(weights.shape)
        played[:, model.data.columns :] = 0
        return self._rows(moved, weights.size).multiply(played.ravel()).tocsr()

    def equation(
        self, model: Model, weights: np.ndarray, games: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """See `Device`."""

        def work(piece: np.ndarray) -> tuple[np.ndarray, float]:
            state = self._temporal(model, weights, piece)
            slopes = self._derivatives(
                state.moved, lambda evaluation, of: np.tanh(model.scale * evaluation)
            )
            own = np.isnan(model.temporal_data.known[state.moved.place])
            factor = np.where(own, state.c, 0.0)[state.moved.of] * slopes
            return np.bincount(state.moved.weight, factor, weights.size), float(state.c @ state.c)

        total, squares = np.zeros(weights.size), 0.0
        for part, some in self._over(model, games, work, whole=True):
            total += part
            squares += some
        return total, squares

    def equation_matrix(
        self, model: Model, weights: np.ndarray, games: np.ndarray, exact: bool
    ) -> np.ndarray:
        """See `Device`; includes the second derivative of tanh, not of the evaluation."""

        def work(piece: np.ndarray) -> np.ndarray:
            state = self._temporal(model, weights, piece)
            x = self._rows(state.moved, weights.size)
            j = x.multiply(state.slopes[:, None]).tocsr()
            y, dense, decay = (
                np.zeros(j.shape),
                j.toarray(),
                model.temporal_data.decay[state.moved.place],
            )
            for begin, end in _bounds(piece):
                later = np.zeros(weights.size)
                for t in range(end - 1, begin - 1, -1):
                    later = dense[t] + decay[t] * later
                    if t + 1 < end:
                        later -= dense[t + 1]
                    y[t] = later
            part = j.T @ y
            if exact:
                part += _second_moments(x, 2 * model.scale * state.values * state.slopes * state.c)
            return part

        return sum(
            self._over(model, games, work, whole=True), np.zeros((weights.size, weights.size))
        )

    def _moved(self, model: Model, weights: np.ndarray, piece: np.ndarray) -> Moved:
        """Return the positions of some ranges with each free weight that applies to them moved, and
        the intercept."""
        data, (stages, width) = model.data, weights.shape
        columns, place = width - 1, places_of(piece)
        of = np.repeat(
            np.arange(len(place)), (data.row[place + 1] - data.row[place]).astype(np.int64)
        )
        index = data.index[
            places_of(np.stack([data.row[place], data.row[place + 1]], axis=1).astype(np.int64))
        ]
        if data.apart:  # sides that are counted apart
            of, columns_of = np.divmod(np.unique(of * columns + data.column[index]), columns)
            index = columns_of.astype(np.uint16)
        free = np.any(model.free, axis=0)[index]
        of, index = of[free], np.ascontiguousarray(index[free])
        ends = np.searchsorted(of, np.arange(len(place)), side="right")
        changes = self.evaluator.changes(
            self.positions[place], index, ends, weights[:, :columns], self.step
        )
        shares = model.shares[:, data.phase[place]]
        intercept = np.stack([shares.T, -shares.T], axis=2) * self.step
        stage = np.arange(stages) * width
        weight = np.concatenate(
            [(index[:, None] + stage).ravel(), np.tile(stage + columns, len(place))]
        )
        both = np.concatenate([changes.reshape(-1, 2), intercept.reshape(-1, 2)])
        return Moved(
            place,
            self._evaluated(model, weights, place),
            np.concatenate([np.repeat(of, stages), np.repeat(np.arange(len(place)), stages)]),
            weight,
            both[:, 0],
            both[:, 1],
        )

    def _evaluated(self, model: Model, weights: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,), with the intercept, of positions of the dataset."""
        intercept = weights[:, -1] @ model.shares[:, model.data.phase[place]]
        return self.evaluator.values(self.positions[place], weights[:, :-1]) + intercept

    def _derivatives(self, moved: Moved, function: Function) -> np.ndarray:
        """Return the derivatives (m,) of a function of the evaluation by each moved weight."""
        here = moved.evaluation[moved.of]
        above = function(here + moved.up, moved.of)
        if self.central:
            return (above - function(here + moved.down, moved.of)) / (2 * self.step)
        return (
            above - function(moved.evaluation, np.arange(len(moved.place)))[moved.of]
        ) / self.step

    def _rows(self, moved: Moved, size: int) -> Any:
        """Return the derivatives of the evaluation by the flat weights, as a sparse matrix (n,
        size)."""
        from scipy.sparse import csr_array

        return csr_array(
            (self._derivatives(moved, lambda evaluation, of: evaluation), (moved.of, moved.weight)),
            shape=(len(moved.place), size),
        )

    def _temporal(self, model: Model, weights: np.ndarray, games: np.ndarray) -> TemporalMoves:
        moved, extra = self._moved(model, weights, games), model.temporal_data
        known, found = extra.known[moved.place], np.tanh(model.scale * moved.evaluation)
        values, c = np.where(np.isnan(known), found, known), np.zeros(len(known))
        kernels.scan(
            _bounds(games), values, model.data.outcome[moved.place], extra.decay[moved.place], c
        )
        return TemporalMoves(
            moved, values, c, np.where(np.isnan(known), model.scale * (1 - found**2), 0.0)
        )

    def _residuals(
        self, model: Model, weights: np.ndarray, piece: np.ndarray
    ) -> tuple[Moved, np.ndarray]:
        """Return the positions of a piece with weights moved, and their residuals (n,), by TD those
        of whole games."""
        if model.temporal is not None:
            state = self._temporal(model, weights, piece)
            return state.moved, state.c * state.slopes
        moved = self._moved(model, weights, piece)
        outcome, weight = _outcomes(model, moved)
        return moved, weight * model.objective.residual(model.scale, moved.evaluation, 0.0, outcome)

    def _scores(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """Return the sums (groups, d) of residual * derivative of the evaluation over the games of
        each group."""
        from scipy.sparse import csr_array

        def work(piece: np.ndarray) -> np.ndarray:
            moved, residual = self._residuals(model, weights, piece)
            sizes = piece[:, 1] - piece[:, 0]
            game = csr_array(
                (residual, (np.repeat(np.arange(len(piece)), sizes), np.arange(len(residual)))),
                shape=(len(piece), len(residual)),
            )
            return (game @ self._rows(moved, weights.size)).toarray()

        names, group = model.groups
        scores, done = np.zeros((len(names), weights.size)), 0
        for part in self._over(model, model.whole_games, work, whole=True):
            np.add.at(scores, group[done : done + len(part)], part)
            done += len(part)
        return scores

    def _over(
        self,
        model: Model,
        ranges: np.ndarray,
        work: Callable[[np.ndarray], Any],
        whole: bool = False,
    ) -> Iterator[Any]:
        """Yield work(a piece of ranges) for all pieces, in order; `whole`: pieces of whole
        games."""

        def pieces() -> Iterator[np.ndarray]:
            for piece in blocks(ranges, PIECE):
                prefetch(model.data, piece)
                yield piece

        given = games_ahead(model.data, ranges, PIECE) if whole else pieces()
        return watch(in_order(work, given, self.workers), model, ranges, PIECE)


def _outcomes(model: Model, moved: Moved) -> tuple[np.ndarray, np.ndarray]:
    """Return the outcomes and weights (n,) of positions."""
    return model.data.outcome[moved.place].astype(float), model.data.weight[moved.place].astype(
        float
    )


def _second_moments(rows: Any, factors: np.ndarray) -> np.ndarray:
    """Return the sum (d, d) of factor * x x' over sparse rows x (n, d)."""
    return (rows.T @ rows.multiply(factors[:, None]).tocsr()).toarray()


def _bounds(games: np.ndarray) -> np.ndarray:
    """Return where the positions of whole games (g, 2) begin and end if they are concatenated."""
    sizes = games[:, 1] - games[:, 0]
    ends = np.cumsum(sizes)
    return np.stack([ends - sizes, ends], axis=1)
