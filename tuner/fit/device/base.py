"""The interface between a fit and the device that runs its passes: the CPU, a GPU, or finite
differences on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from tuner.datasets.dataset import Dataset, Rows, ranges_of, whole_games
from tuner.objectives.base import Objective
from tuner.objectives.temporal import TemporalData


class CurvatureSums(Protocol):
    """A sum (d, d) of curvature * x x' over positions, which is not formed."""

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """Return its products (d, k) with vectors (d, k)."""

    def diagonal(self, leaders: np.ndarray) -> np.ndarray:
        """Return its diagonal (d,), where the coefficients of weights with one flat index in
        `leaders` (stages, columns + 1 or 2) are added."""


class Passes(Protocol):
    """Sums over positions that a fit needs. Weights have shape (stages, columns + 1), or columns +
    2 with the width of a draw."""

    @property
    def has_products(self) -> bool:
        """Return whether there are `curvatures` and `signed_scores`, for many weights."""

    def loss_gradient(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return the sum of weight * loss over ranges (m, 2) of positions, and its gradient in the
        shape of the weights."""

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return the sum (d, d) of weight * curvature * x x', stage after stage."""

    def curvatures(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> CurvatureSums:
        """Return the matrix of `gauss_newton` as a function of vectors."""

    def signed_scores(self, model: Model, weights: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """Return the sums (d, k) of u over groups of games, each times its signs (groups, k)."""

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """Return the sum (d,) of u^2 over groups of games; u (d,) is the gradient of a group's loss
        by the flat weights, or under TD(lambda) the group's sum of c j, see `equation`."""

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the sum (k, k) of u u' for the k flat weights `chosen` (ascending)."""


class Device(Passes, Protocol):
    """What runs the passes over positions."""

    @property
    def name(self) -> str:
        """Return what to call it in reports."""

    @property
    def workers(self) -> int:
        """Return the number of CPU threads, which help any device."""

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of the positions of the ranges: centipawns, first player's
        view, with the intercept."""

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of positions in centipawns, first player's view. `table`
        (phases + 1, columns + 1) has the weights of each phase, the intercept last."""

    def derivatives(
        self, model: Model, weights: np.ndarray, positions: np.ndarray
    ) -> sparse.csr_array:
        """Return the derivatives (n, d) of the evaluations of some positions (indices) by the
        weights, without slopes by phase and intercept."""

    def equation(
        self, model: Model, weights: np.ndarray, games: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Return the sum (d,) of c j over whole games (g, 2), ascending ranges of positions, and
        the sum of c^2.

        For each position, v is the value, v' its slope dv/de (zero if the value is known), c the
        error (see `tuner.objectives.temporal`), x the coefficients by stage, j = v' x."""

    def equation_matrix(
        self, model: Model, weights: np.ndarray, games: np.ndarray, exact: bool
    ) -> np.ndarray:
        """Return minus the derivative (d, d) of the sum of c j; without the curvature of tanh
        unless `exact`."""


class Piece(NamedTuple):
    """Positions as kernels take them: `rows`, read-only, and `ranges` (m, 2) of positions in them,
    which are by `offset` less than in the dataset."""

    rows: Rows
    ranges: np.ndarray
    offset: int = 0


SMALL = 48 << 20  # bytes of nonzeros below which a dataset stays in memory


@dataclass(frozen=True)
class Model:
    """The positions of `games` of a dataset and the loss of their evaluations, v = tanh(scale * e).
    Weights have shape (stages, columns + 1), or columns + 2 with the width of a draw; `free` (same
    shape, bool) marks those that are fitted. A device calls nothing of it but `progress`, with the
    number of positions done, from 0 at the start of a pass, and of all positions. Under TD(lambda)
    scores belong to its equation, from the `temporal` data."""

    data: Dataset
    games: np.ndarray
    objective: Objective
    scale: float
    free: np.ndarray
    progress: Callable[[int, int], None] = lambda done, total: None
    temporal: TemporalData | None = None
    exact: bool = False  # curvatures are second derivatives also where the loss is not convex

    @property
    def stages(self) -> int:
        return len(self.free)

    @property
    def codes(self) -> int:
        """Values that `phase` can have: rows of tables."""
        return self.data.codes

    @cached_property
    def ranges(self) -> np.ndarray:
        """Ranges (m, 2) of the positions of its games; adjacent games are joined."""
        return ranges_of(self.data, self.games)

    @property
    def whole_games(self) -> np.ndarray:
        """Range of positions (g, 2) of each game."""
        return whole_games(self.data, self.games)

    @property
    def temporal_data(self) -> TemporalData:
        """The data of TD(lambda), whose passes alone ask for them."""
        assert self.temporal is not None, "only TD(lambda) has an equation"
        return self.temporal

    @cached_property
    def shares(self) -> np.ndarray:
        """Share (stages, codes) of each stage in a position for each value of `phase`, with its
        scale."""
        return self.data.shares(self.stages)

    @cached_property
    def unscaled(self) -> np.ndarray:
        """Share (stages, codes) of each stage in intercept and width of a draw."""
        return self.data.shares(self.stages, scaled=False)

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Identities (g,) of the games, and for each game (n,) the index of its identity.
        Identities are in the order of their first game, so that adjacent games are read
        together."""
        names, first, group = np.unique(
            self.data.game[self.games], return_index=True, return_inverse=True
        )
        order = np.argsort(first)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return names[order], rank[group]

    @cached_property
    def by_group(self) -> np.ndarray:
        """Indices (n,) of the games, sorted by group."""
        return np.argsort(self.groups[1], kind="stable")

    @property
    def rows(self) -> Rows:
        """All rows of the dataset, read-only."""
        data = self.data
        return Rows(
            data.index, data.count, data.row, data.phase, data.outcome, data.weight, data.rest
        ).read_only

    def curvatures_of(self, evaluation: np.ndarray, outcome: np.ndarray) -> np.ndarray:
        """Return the curvatures (n,) of the loss of evaluations, without widths."""
        formula = self.objective.curvature
        if self.exact and self.objective.second:
            formula = self.objective.second
        return formula(self.scale, evaluation, 0.0, outcome)

    def table(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights (codes, columns + 1 or 2) for each value of `phase`."""
        if not self.data.scaled:
            return np.ascontiguousarray(self.shares.T @ weights)
        columns = self.data.columns
        return np.hstack(
            [self.shares.T @ weights[:, :columns], self.unscaled.T @ weights[:, columns:]]
        )

    def by_stage(self, sums: np.ndarray) -> np.ndarray:
        """Return sums (stages, columns + 1 or 2) from sums for each value of `phase`, in the shape
        of `table`."""
        if not self.data.scaled:
            return self.shares @ sums
        columns = self.data.columns
        return np.hstack([self.shares @ sums[:, :columns], self.unscaled @ sums[:, columns:]])

    def factors(self, stage: int, code: int, width: int) -> np.ndarray:
        """Return the share (width,) of a stage in each column, intercept and width of a draw
        included."""
        columns = self.data.columns
        return np.repeat(
            [self.shares[stage, code], self.unscaled[stage, code]], [columns, width - columns]
        )

    @property
    def nonzero_bytes(self) -> int:
        """Bytes of the nonzeros, most of a dataset."""
        return (2 + self.data.count.itemsize) * len(self.data.index)

    def release(self) -> None:
        """Release the memory of pages read, if the dataset is large."""
        if self.nonzero_bytes > SMALL:
            self.data.release()
