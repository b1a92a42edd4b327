"""Evaluate positions with one weight moved at a time, and derivatives from these moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from tuner.datasets.ranges import blocks, prefetch, together
from tuner.device.cpu.watched import watched
from tuner.device.model import Model
from tuner.parallel import in_order

PIECE = 1 << 12  # positions at a time, with some hundred moved weights each
Function = Callable[[np.ndarray, np.ndarray], np.ndarray]  # evaluations (m,), and which of the positions each is of


class Evaluator(Protocol):
    """A compiled evaluation in double precision, see `tuner.engine.engine.Engine`."""

    def values(self, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return evaluations (n,) of positions (n, words) in centipawns, first player's view, by weights (stages, columns)."""

    def changes(self, positions: np.ndarray, index: np.ndarray, ends: np.ndarray, weights: np.ndarray, step: float) -> np.ndarray:
        """Return the changes (k, stages, 2) of the evaluation if the weight of column index[k] moves up or down by the step."""


class Moved(NamedTuple):
    """Positions with weights moved: `place` (n,) in the dataset and `evaluation` (n,) in centipawns. For each of the m moves,
    `of` is the index of the position, `weight` the flat weight, `up` and `down` the changes of the evaluation."""

    place: np.ndarray
    evaluation: np.ndarray
    of: np.ndarray
    weight: np.ndarray
    up: np.ndarray
    down: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Moves:
    """Differences of `step` centipawns, `central` or forward, of a compiled evaluation. `positions` (n, words) are those of the
    dataset."""

    evaluator: Evaluator
    positions: np.ndarray
    step: float
    central: bool
    workers: int

    def moved(self, model: Model, weights: np.ndarray, piece: np.ndarray) -> Moved:
        """Return the positions of some ranges with each free weight that applies to them moved, and the intercept."""
        data, (stages, width) = model.data, weights.shape
        columns = width - 1
        place, evaluation = self.evaluated(model, weights, piece)
        begin, sizes = data.row[place], (data.row[place + 1] - data.row[place]).astype(np.int64)
        of = np.repeat(np.arange(len(place)), sizes)
        index = data.index[np.repeat(begin - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())]
        if data.apart:  # sides that are counted apart
            of, columns_of = np.divmod(np.unique(of * columns + data.column[index]), columns)
            index = columns_of.astype(np.uint16)
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
        """Return the derivatives (m,) of a function of the evaluation by each moved weight."""
        here = moved.evaluation[moved.of]
        above = function(here + moved.up, moved.of)
        if self.central:
            return (above - function(here + moved.down, moved.of)) / (2 * self.step)
        return (above - function(moved.evaluation, np.arange(len(moved.place)))[moved.of]) / self.step

    def rows(self, moved: Moved, size: int):
        """Return the derivatives of the evaluation by the flat weights, as a sparse matrix (n, size)."""
        from scipy.sparse import csr_array

        return csr_array((self.derivatives(moved, lambda evaluation, of: evaluation), (moved.of, moved.weight)),
                         shape=(len(moved.place), size))

    def over_games(self, model: Model, games: np.ndarray, work: Callable[[np.ndarray], object]) -> Iterator:
        """Yield work(some whole games (g, 2)) for all games, in order."""
        def pieces() -> Iterator[np.ndarray]:
            for some in together(games, PIECE):
                piece = np.ascontiguousarray(games[some])
                prefetch(model.data, piece)
                yield piece

        return watched(in_order(work, pieces(), self.workers), model, games, PIECE)

    def scores(self, weights: np.ndarray, piece: np.ndarray, factors: np.ndarray, moved: Moved) -> np.ndarray:
        """Return the sums (games of the piece, d) of factor * derivative of the evaluation over the positions of each game."""
        from scipy.sparse import csr_array

        sizes = piece[:, 1] - piece[:, 0]
        game = csr_array((factors, (np.repeat(np.arange(len(piece)), sizes), np.arange(len(factors)))),
                         shape=(len(piece), len(factors)))
        return (game @ self.rows(moved, weights.size)).toarray()

    def grouped(self, model: Model, weights: np.ndarray, parts: Iterator[np.ndarray]) -> np.ndarray:
        """Return the sums (groups, d) over the games of each group, from the sums of all games in order."""
        names, group = model.groups
        found, done = np.zeros((len(names), weights.size)), 0
        for part in parts:
            np.add.at(found, group[done:done + len(part)], part)
            done += len(part)
        return found

    def evaluated(self, model: Model, weights: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices, and evaluations with the intercept, of the positions of some ranges."""
        sizes = piece[:, 1] - piece[:, 0]
        place = np.repeat(piece[:, 1] - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        intercept = weights[:, -1] @ model.shares[:, model.data.phase[place]]
        return place, self.evaluator.values(self.positions[place], weights[:, :-1]) + intercept

    def over(self, model: Model, ranges: np.ndarray, work: Callable[[np.ndarray], object]) -> Iterator:
        def pieces() -> Iterator[np.ndarray]:
            for piece in blocks(ranges, PIECE):
                prefetch(model.data, piece)
                yield piece

        return watched(in_order(work, pieces(), self.workers), model, ranges, PIECE)
