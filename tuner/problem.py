"""A fit as a mathematical problem: a dataset, an objective, which numbers may move, and what is believed of them.

Weights have shape (stages, columns + 1): one number per parameter and stage, and last the intercept, an advantage of the
first player that is not part of the evaluation. Where draws are a third outcome their width is one more column behind
it. Losses and derivatives are means per position.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tuner import passes
from tuner.dataset import Dataset
from tuner.draws import DRAW_MODELS
from tuner.layout import shares_of
from tuner.objectives import OBJECTIVES
from tuner.parallel import in_order

BLOCK = 1 << 16  # positions dealt with at once, and between two looks at the memory
SMALL = 48 << 20  # bytes of nonzeros that may stay in memory


def ranges_of(data: Dataset, games: np.ndarray) -> np.ndarray:
    """(m, 2) ranges of positions of these games (ascending), neighbours joined."""
    if len(games) == 0:
        return np.zeros((0, 2), np.int64)
    breaks = np.flatnonzero(np.diff(games) != 1) + 1
    first, last = games[np.concatenate([[0], breaks])], games[np.concatenate([breaks - 1, [len(games) - 1]])]
    return np.ascontiguousarray(np.stack([data.first[first], data.first[last + 1]], axis=1))


def blocks(ranges: np.ndarray, size: int = BLOCK) -> Iterator[np.ndarray]:
    """The same positions as pieces of ranges that each span and hold at most `size` positions."""
    piece: list[tuple[int, int]] = []
    for low, high in ranges.tolist():
        while low < high:
            start = piece[0][0] if piece else low
            stop = min(high, start + size)
            if stop > low:
                piece.append((low, stop))
                low = stop
            if low < high or stop == start + size:
                yield np.array(piece, np.int64)
                piece = []
    if piece:
        yield np.array(piece, np.int64)


@dataclass
class Meter:
    """How fast passes over the data go."""

    positions: int = 0
    seconds: float = 0.0

    @property
    def speed(self) -> float:
        """Positions per second of loss and gradient."""
        return self.positions / self.seconds


def use_of(data: Dataset, ranges: np.ndarray, phases: int) -> tuple[np.ndarray, np.ndarray]:
    """Per phase and column (phases + 1, columns): positions that it applies to, and the sum of absolute counts."""
    positions, total = (np.zeros((phases + 1, data.columns), np.int64) for _ in range(2))
    for piece in blocks(ranges):
        passes.column_use(data.index, data.count, data.row, data.phase, piece, positions, total)
        data.release()
    return positions, total


@dataclass(frozen=True)
class Problem:
    """What is to be minimised: mean loss over the positions of `games`, plus the prior.

    `start` (stages, columns + 1) are the starting weights, `free` (same shape, bool) those that may move, `low` and
    `high` their bounds. The prior is sum(precision * (w - mean)^2) / 2, per position.
    """

    data: Dataset
    games: np.ndarray
    phases: int
    objective: str
    scale: float
    start: np.ndarray
    free: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    precision: np.ndarray
    design_effect: float = 1.0  # positions that count as one in the prior's precision
    meter: Meter = field(default_factory=Meter)
    workers: int = 1  # threads; the result is the same for any number

    @property
    def stages(self) -> int:
        return len(self.start)

    @cached_property
    def ranges(self) -> np.ndarray:
        return ranges_of(self.data, self.games)

    @cached_property
    def positions(self) -> int:
        return int((self.ranges[:, 1] - self.ranges[:, 0]).sum())

    @cached_property
    def total_weight(self) -> float:
        return self._weight_of(self.ranges)

    @cached_property
    def shares(self) -> np.ndarray:
        """(stages, phases + 1): how much of each stage a position of a phase has."""
        return shares_of(np.arange(self.phases + 1), self.phases, self.stages)

    def on(self, games: np.ndarray) -> Problem:
        """The same problem on other games of the dataset."""
        return replace(self, games=games)

    @property
    def draws(self) -> bool:
        """Whether a draw is an outcome of its own, with a width."""
        return self.objective in DRAW_MODELS

    @property
    def _address(self) -> int:
        return (DRAW_MODELS if self.draws else OBJECTIVES)[self.objective].address()

    @property
    def _matrix(self) -> tuple[np.ndarray, ...]:
        data = self.data
        return data.index, data.count, data.row, data.phase, data.outcome, data.weight

    def _table(self, weights: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self.shares.T @ weights)

    def _weight_of(self, ranges: np.ndarray) -> float:
        return float(sum(self.data.weight[low:high].sum(dtype=np.float64) for low, high in ranges))

    def _release(self) -> None:
        if 3 * len(self.data.index) > SMALL:
            self.data.release()

    def prior(self, weights: np.ndarray) -> float:
        """The prior's part of the objective."""
        return float(0.5 * (self.precision * (weights - self.mean) ** 2).sum())

    def prior_gradient(self, weights: np.ndarray) -> np.ndarray:
        return self.precision * (weights - self.mean)

    def loss_gradient(self, weights: np.ndarray, ranges: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Mean loss over the positions (or over some ranges of them) and its gradient, without the prior."""
        chosen = self.ranges if ranges is None else ranges
        table, shape = self._table(weights), (self.phases + 1, weights.shape[1])
        loss, per_phase, address = 0.0, np.zeros(shape), self._address
        started = time.perf_counter()

        def work(piece: np.ndarray) -> tuple[float, np.ndarray]:
            part = np.zeros(shape)
            return passes.loss_gradient(*self._matrix, table, self.data.columns, piece, address, self.scale, part), part

        for some, part in in_order(work, blocks(chosen), self.workers):
            loss += some
            per_phase += part
            self._release()
        self.meter.positions += int((chosen[:, 1] - chosen[:, 0]).sum())
        self.meter.seconds += time.perf_counter() - started
        total = self.total_weight if ranges is None else self._weight_of(chosen)
        return loss / total, self.shares @ per_phase / total

    def loss(self, weights: np.ndarray) -> float:
        """Mean loss over the positions."""
        return self.loss_gradient(weights)[0]

    def finite_differences(self, weights: np.ndarray, central: bool, step: float = 1.0) -> np.ndarray:
        """The gradient by finite differences of `step` centipawns."""
        table, gradient = self._table(weights), np.zeros(weights.shape)
        if self.draws:
            raise ValueError("finite differences need an objective with two outcomes")
        for piece in blocks(self.ranges):
            passes.finite_differences(*self._matrix, table, piece, self._address, self.scale, step, central,
                                      self.phases, gradient)
            self._release()
        return gradient / self.total_weight

    def _terms(self, weights: np.ndarray, piece: np.ndarray) -> tuple[int, np.ndarray]:
        """The first position, and what the objective says of the positions that a piece of ranges spans: see
        `passes.position_terms`."""
        base, size = int(piece[0, 0]), int(piece[-1, 1] - piece[0, 0])
        terms = np.zeros((5 if self.draws else 2, size))
        passes.position_terms(*self._matrix, self._table(weights), self.data.columns, piece, self._address, self.scale, base,
                              terms)
        return base, terms

    def gauss_newton(self, weights: np.ndarray, ranges: np.ndarray | None = None) -> np.ndarray:
        """The Gauss-Newton matrix (d, d) of the mean loss, d = stages * (columns + 1), stages one after the other.

        For cross-entropy and three outcomes it is the Hessian.
        """
        chosen = self.ranges if ranges is None else ranges
        total = self.total_weight if ranges is None else self._weight_of(chosen)
        return self.second_moments(lambda piece: self._terms(weights, piece), chosen) / total

    def second_moments(self, terms_of: Callable[[np.ndarray], tuple[int, np.ndarray]], ranges: np.ndarray) -> np.ndarray:
        """(d, d) the sum of curvature * x x' over ranges of positions. `terms_of` a piece of them are its first position, and
        for those that it spans what `passes.position_terms` gives; the curvatures are row 1."""
        stages, width = self.start.shape
        pairs = [(a, b) for a in range(stages) for b in range(a, stages)]
        sums = np.zeros((len(pairs), width, width))
        data = self.data

        def work(piece: np.ndarray) -> np.ndarray:
            found, scratch = np.zeros(sums.shape), np.empty((width, width))
            base, terms = terms_of(piece)
            phase = data.phase[base:base + terms.shape[1]]
            order = np.argsort(phase, kind="stable")
            order = order[terms[1][order] != 0]
            ends = np.searchsorted(phase[order], np.arange(self.phases + 2))
            for f in np.flatnonzero(np.diff(ends)):
                part = np.zeros((width, width))
                passes.gram(data.index, data.count, data.row, order[ends[f]:ends[f + 1]], base, terms, data.columns, part)
                for pair, (a, b) in enumerate(pairs):
                    if share := self.shares[a, f] * self.shares[b, f]:
                        found[pair] += np.multiply(part, share, out=scratch)
            return found

        for found in in_order(work, blocks(ranges), self.workers):
            sums += found
            self._release()
        matrix = np.empty((stages, width, stages, width))
        for (a, b), half in zip(pairs, sums, strict=True):
            matrix[a, :, b, :] = matrix[b, :, a, :] = half + half.T - np.diag(np.diag(half))
        return matrix.reshape(stages * width, stages * width)

    def game_scores(self, weights: np.ndarray, most: int = 256) -> Iterator[np.ndarray]:
        """Gradients of the summed loss of each game (or group of games with one identity), some at a time: (n, d)."""
        names, group = np.unique(self.data.game[self.games], return_inverse=True)
        by_group = np.argsort(group, kind="stable")
        bounds = np.searchsorted(group[by_group], np.arange(0, len(names) + most, most))
        for begin in range(len(bounds) - 1):
            members = by_group[bounds[begin]:bounds[begin + 1]]
            if len(members) == 0:
                continue
            scores = np.zeros((most, self.stages, self.start.shape[1]))
            members = np.sort(members)  # in the order of the file, so that neighbours are read together
            ranges = np.stack([self.data.first[self.games[members]], self.data.first[self.games[members] + 1]], axis=1)
            place = (group[members] - begin * most).astype(np.int64)
            self._scores_of(weights, np.ascontiguousarray(ranges), place, scores)
            used = min(most, len(names) - begin * most)
            yield scores[:used].reshape(used, -1)

    def _scores_of(self, weights: np.ndarray, ranges: np.ndarray, place: np.ndarray, scores: np.ndarray) -> None:
        begin = 0
        data = self.data
        while begin < len(ranges):
            end = begin + 1
            while end < len(ranges) and ranges[end, 1] - ranges[begin, 0] <= BLOCK:
                end += 1
            piece = ranges[begin:end]
            base, terms = self._terms(weights, piece)
            passes.range_scores(data.index, data.count, data.row, data.phase, piece, place[begin:end], base, terms,
                                data.columns, self.phases, scores)
            self._release()
            begin = end

    @cached_property
    def use(self) -> tuple[np.ndarray, np.ndarray]:
        """As `use_of`, for the positions of the problem."""
        return use_of(self.data, self.ranges, self.phases)

    def evaluations(self, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Evaluations in centipawns, first player's view, of the positions of some ranges."""
        out = np.empty(int((ranges[:, 1] - ranges[:, 0]).sum()))
        table = np.ascontiguousarray(self._table(weights)[:, :self.data.columns + 1])
        passes.evaluations(*self._matrix, table, np.ascontiguousarray(ranges), out)
        return out
