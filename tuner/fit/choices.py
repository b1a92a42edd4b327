"""Comparison training (Tesauro 1989; Hoki and Kaneko 2014): the loss of choices among siblings, the
positions after the moves of one position.

For the siblings i of a group, with evaluations e_i from the view of the side that chooses and
target probabilities q_i that sum to 1:

p_i = exp(e_i / T) / sum exp(e_j / T)     loss of the group: -sum q_i log p_i

The derivative by e_i is (p_i - q_i) / T and the Hessian (diag p - p p') / T^2: the Hessian of a
regression on differences of siblings, so that common terms cancel out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from tuner.datasets.dataset import Dataset, places_of
from tuner.fit.datafit import Datafit
from tuner.fit.device.base import Model


class Chosen(NamedTuple):
    """The siblings of a pass: their rows (n, d), which add up to groups by `sums` (k, n), the
    group (n,) of each, the evaluations (n,) over T, less the highest of the group, and the
    probabilities (n,)."""

    rows: Any
    sums: Any
    group: np.ndarray
    evaluations: np.ndarray
    chances: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class Choices(Datafit):
    """A regression on choices. `group` (n,) numbers the groups of positions in ascending order,
    `coefficients` (n, stages * (columns + 1)) are those from the view of the side that
    chooses, over T. The outcomes of the dataset are the target probabilities."""

    group: np.ndarray
    coefficients: sparse.csr_array

    @property
    def passes(self) -> ChoicePasses:
        """See `Datafit`."""
        return ChoicePasses(self)

    def among(self, weights: np.ndarray, places: np.ndarray) -> Chosen:
        """Return the choices among some positions."""
        begins = np.flatnonzero(np.diff(self.group[places], prepend=-1))
        sizes = np.diff(begins, append=len(places))
        group, rows = np.repeat(np.arange(len(begins)), sizes), self.coefficients[places]
        sums = sparse.csr_array(
            (np.ones(len(places)), np.arange(len(places)), np.append(begins, len(places)))
        )
        values = rows @ weights.ravel()
        values -= np.maximum.reduceat(values, begins)[group]
        odds = np.exp(values)
        return Chosen(rows, sums, group, values, odds / (sums @ odds)[group])

    def lost(self, weights: np.ndarray) -> np.ndarray:
        """Return, for each group, by how much the first of the siblings with the highest
        evaluation is behind the best one: the logarithm of the ratio of their targets."""
        places = places_of(self.ranges)
        chosen = self.among(weights, places)
        targets = np.log(np.maximum(self.data.outcome[places], 1e-37))
        best = np.flatnonzero(chosen.evaluations == 0)
        _, first = np.unique(chosen.group[best], return_index=True)
        begins = np.flatnonzero(np.diff(chosen.group, prepend=-1))
        return np.asarray(np.maximum.reduceat(targets, begins) - targets[best[first]])


@dataclass(frozen=True)
class ChoicePasses:
    """The passes of a regression on choices, see `tuner.fit.device.base.Passes`."""

    fit: Choices

    has_products: ClassVar[bool] = True

    def loss_gradient(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray
    ) -> tuple[float, np.ndarray]:
        places = places_of(ranges)
        chosen, targets = self.fit.among(weights, places), model.data.outcome[places]
        loss = np.log(chosen.sums @ np.exp(chosen.evaluations)).sum() - targets @ chosen.evaluations
        return float(loss), (chosen.rows.T @ (chosen.chances - targets)).reshape(weights.shape)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        chosen = self.fit.among(weights, places_of(ranges))
        weighted = chosen.rows.multiply(chosen.chances[:, None]).tocsr()
        means = chosen.sums @ weighted
        return np.asarray((chosen.rows.T @ weighted - means.T @ means).todense())

    def curvatures(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> ChoiceCurvatures:
        return ChoiceCurvatures(self.fit.among(weights, places_of(ranges)))

    def signed_scores(self, model: Model, weights: np.ndarray, signs: np.ndarray) -> np.ndarray:
        return np.asarray(self._by_game(model, weights).T @ signs)

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        scores = self._by_game(model, weights)
        return np.asarray(scores.multiply(scores).sum(axis=0)).ravel()

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        scores = self._by_game(model, weights)[:, chosen]
        return np.asarray((scores.T @ scores).todense())

    def _by_game(self, model: Model, weights: np.ndarray) -> Any:
        """Return the gradients (games, d) of groups of games with one identity."""
        places = places_of(model.whole_games)
        chosen = self.fit.among(weights, places)
        errors = chosen.chances - model.data.outcome[places]
        scores = chosen.sums @ chosen.rows.multiply(errors[:, None]).tocsr()
        first = places[np.flatnonzero(np.diff(chosen.group, prepend=-1))]
        game = np.searchsorted(model.data.first, first, side="right") - 1
        owner = model.groups[1][np.searchsorted(model.games, game)]
        shape = len(model.groups[0]), len(owner)
        into = sparse.csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))), shape)
        return into @ scores


@dataclass(frozen=True)
class ChoiceCurvatures:
    """See `tuner.fit.device.base.CurvatureSums`."""

    found: Chosen

    def products(self, vectors: np.ndarray) -> np.ndarray:
        moved = self.found.rows @ vectors
        means = self.found.sums @ (moved * self.found.chances[:, None])
        weighted = (moved - means[self.found.group]) * self.found.chances[:, None]
        return np.asarray(self.found.rows.T @ weighted)

    def diagonal(self, leaders: np.ndarray) -> np.ndarray:
        weighted = self.found.rows.multiply(self.found.chances[:, None]).tocsr()
        means = self.found.sums @ weighted
        squares = self.found.rows.multiply(weighted).sum(axis=0)
        return np.asarray(squares - means.multiply(means).sum(axis=0)).ravel()


def choices_of(group: np.ndarray, view: np.ndarray, temperature: float) -> Callable[..., Choices]:
    """Return a function that makes a datafit: from the `group` (n,) of each position, its `view`
    (n,), 1 where the first player chooses and -1 where the second does, and T in centipawns."""

    def make(data: Dataset, games: np.ndarray, *given: Any, **more: Any) -> Choices:
        counts = data.matrix()
        stages = len(more["free"])
        shares = data.shares(stages)[:, data.phase] * view / temperature
        none = sparse.csr_array((data.positions, 1))  # the intercept is the same for all siblings
        parts = [part for share in shares for part in (counts.multiply(share[:, None]), none)]
        rows = sparse.csr_array(sparse.hstack(parts, format="csr"))
        rows.eliminate_zeros()
        rows = more["ties"].pull_rows(rows)  # those of the leaders alone
        return Choices(data, games, *given, group=group, coefficients=rows, **more)

    return make


def usual_temperature(
    data: Dataset, weights: np.ndarray, group: np.ndarray, view: np.ndarray
) -> float | None:
    """Return the T, in centipawns, at which the evaluation of weights (stages, columns) predicts
    the choices of a dataset of siblings best; None if all siblings are equal."""
    from scipy.optimize import minimize_scalar

    counts, shares = data.matrix(), data.shares(len(weights))[:, data.phase]
    views = view * sum(share * (counts @ part) for share, part in zip(shares, weights, strict=True))
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    views -= np.maximum.reduceat(views, begins)[group]
    if not views.any():
        return None
    chosen = np.add.reduceat(data.outcome * views, begins).sum()

    def loss(log_unit: float) -> float:
        unit = np.exp(log_unit)
        return float(np.log(np.add.reduceat(np.exp(views / unit), begins)).sum() - chosen / unit)

    spread = float(np.abs(views).max())
    bounds = (np.log(spread * 1e-4), np.log(spread * 1e2))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
