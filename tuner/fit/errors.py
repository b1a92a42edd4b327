"""Standard errors clustered by game (sandwich estimator), and the directions that no data identify.

Positions of a game share its outcome, so they are not independent: the covariance is V = H^-1 (sum
of u u') H^-1 with the score u of a whole game (Liang and Zeger 1986), times G / (G - p): p weights
fitted to G games leave scores that are too small by that factor. A prior adds its precision to H,
and the variance of its own gradient to the middle: under a strong prior, the error is the prior's
standard deviation. The number p of weights that the data set is then the effective one, the trace
of H^-1 times H without the prior (Moody 1992). Without more games than that there are no errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, null_space

from tuner.fit.learners.solvers import factorise, inverse_of
from tuner.fit.problem import Problem
from tuner.parameters.parameters import Place
from tuner.statistics.intervals import quantile


class WeightRatio(NamedTuple):
    """The column of a weight, its ratio to the first weight, and a 95 % interval."""

    column: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Uncertainty:
    """Standard errors (stages, columns + 1) in centipawns: NaN if not identified, 0 if fixed.

    `covariance` (d, d) belongs to the weights at `coordinates`. `noise` (d, d) excludes what the
    prior adds, and has the share of the way that the weights went: it is that of fits to different
    games under the same prior."""

    standard_errors: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray
    coordinates: np.ndarray
    games: int


def ratios(found: Uncertainty, weights: np.ndarray, columns: list[int]) -> list[WeightRatio]:
    """Return weights, each averaged over the stages, as multiples of the first one, with intervals
    by the delta method. Ratios of weights that were not learned or are not identified have none,
    and are left out; so are all if the interval of the first weight contains 0."""
    stages, width = weights.shape
    mean = weights[:, columns].mean(axis=0)
    place = {int(coordinate): i for i, coordinate in enumerate(found.coordinates)}
    known = [[place.get(stage * width + column) for stage in range(stages)] for column in columns]
    z, lines = quantile(found.games), []

    def error_of(factors: dict[int, float]) -> float:
        """The standard error of a sum of means with these factors, by their places in columns."""
        slope = np.zeros(len(found.coordinates))
        for j, factor in factors.items():
            for at in known[j]:
                if at is not None:
                    slope[at] += factor / stages
        return float(np.sqrt(max(slope @ found.covariance @ slope, 0.0)))

    identified = ~np.isnan(found.standard_errors[:, columns]).any(axis=0)
    if not identified[0] or abs(mean[0]) <= z * error_of({0: 1.0}):
        return []
    for i in np.flatnonzero(identified)[1:].tolist():
        ratio = mean[i] / mean[0]
        error = error_of({i: 1 / mean[0], 0: -ratio / mean[0]})
        if error > 0:
            low, high = float(ratio - z * error), float(ratio + z * error)
            lines.append(WeightRatio(columns[i], float(ratio), low, high))
    return lines


def standard_errors(
    problem: Problem, weights: np.ndarray, matrix: np.ndarray, null_space: NullSpace
) -> Uncertainty:
    """Return clustered standard errors at the optimum, from the Gauss-Newton matrix there."""
    free = null_space.coordinates
    n = problem.total_weight
    hessian = matrix[np.ix_(free, free)] * n
    hessian += problem.precision_of(free) * n
    chosen, factor, scale = factorise(hessian)
    prior = (problem.prior_gradient(weights) * n).ravel()[free]
    meat, names = problem.device.score_products(problem.model, weights, free)
    # the scores sum to minus the prior's gradient at the optimum
    meat -= np.outer(prior, prior) / names
    inverse = inverse_of(chosen, factor, scale)
    # the prior's gradient is precision * (mean - weights), with the variance of the weights under
    # the prior
    pull = problem.precision[free[chosen]][:, free[chosen]] * n
    effective = len(chosen) - float((pull * inverse).sum())
    few = correction(problem, names, effective)

    def whole(part: np.ndarray) -> np.ndarray:
        found = np.zeros_like(meat)
        found[np.ix_(chosen, chosen)] = part
        return null_space.project(found)

    covariance = sampling = whole(few * (inverse @ meat[np.ix_(chosen, chosen)] @ inverse))
    if pull.count_nonzero():
        covariance = sampling + few * problem.design_effect * whole(inverse @ pull @ inverse)
    return uncertainty_of(problem, covariance, sampling, null_space, names)


def correction(problem: Problem, games: int, weights: float) -> float:
    """Return G / (G - p), by which the covariance of p effective weights fitted to G games is too
    small; NaN unless G exceeds p. With a prior the design effect is known, and G is at least the
    number of independent positions."""
    count: float = games
    if problem.precision.count_nonzero():
        count = max(games, problem.positions / problem.design_effect)
    return count / (count - weights) if count > weights else math.nan


def uncertainty_of(
    problem: Problem,
    covariance: np.ndarray,
    sampling: np.ndarray,
    null_space: NullSpace,
    games: int,
) -> Uncertainty:
    """Return the standard errors from covariances (d, d) of the weights of a null space; NaN is
    unknown."""
    coordinates = null_space.coordinates
    errors = np.zeros(problem.start.size)
    errors[coordinates] = np.where(
        null_space.loose, np.nan, np.sqrt(np.maximum(np.diag(covariance), 0))
    )
    return Uncertainty(
        errors.reshape(problem.start.shape),
        covariance,
        sampling,
        coordinates,
        games,
    )


FAINT = 1e-7  # importance of scalar weights and of those that never apply, relative to the largest
ROUNDING = 1e-9
# of a direction of length 1: smaller components come from weights that hardly ever apply
LOOSE = 1e-2


@dataclass(frozen=True)
class NullSpace:
    """A basis (d, k) of the null directions, and the importance (d,) of keeping each of the d free
    weights in place.

    `coordinates` are the indices of the free weights in the flattened (stages, columns + 1)
    weights. `loose` (d,) marks those that stay unidentified even if the mean of every list and
    table is given."""

    coordinates: np.ndarray
    basis: np.ndarray
    importance: np.ndarray
    loose: np.ndarray

    @property
    def dimension(self) -> int:
        return self.basis.shape[1]

    def restore(self, problem: Problem, weights: np.ndarray) -> np.ndarray:
        """Return weights (stages, columns + 1) moved along null directions as close to the start as
        the bounds allow."""
        free, basis, found = self.coordinates, self.basis, weights.ravel().copy()
        low, high, here = problem.low.ravel()[free], problem.high.ravel()[free], found[free]
        while basis.shape[1]:
            moved = (
                here
                - basis
                @ _inner(basis, self.importance, (here - problem.start.ravel()[free])[:, None])[
                    :, 0
                ]
            )
            beyond = (moved < low - ROUNDING) | (moved > high + ROUNDING)
            if not beyond.any():
                found[free] = np.clip(moved, low, high)
                break
            basis = basis @ null_space(basis[beyond])
        return found.reshape(weights.shape)

    def project(self, matrix: np.ndarray) -> np.ndarray:
        """Return P matrix P' of a covariance (d, d) of the free weights, after `restore`."""
        if not self.dimension:
            return matrix
        left = matrix - self.basis @ _inner(self.basis, self.importance, matrix)
        return left - (self.basis @ _inner(self.basis, self.importance, left.T)).T


def _inner(basis: np.ndarray, importance: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return coordinates (k, m) in the basis (d, k) closest to values (d, m), by least squares with
    these importances."""
    rows = basis.T * importance
    return np.linalg.solve(rows @ basis, rows @ values)


def null_basis(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (d, k) of the null space of a positive semidefinite matrix."""
    chosen, factor, scale = factorise(matrix)
    rest = np.setdiff1d(np.arange(len(matrix)), chosen)
    basis = np.zeros((len(matrix), len(rest)))
    if len(rest):
        basis[rest, np.arange(len(rest))] = 1 / scale[rest]
    if len(rest) and len(chosen):
        scaled = matrix[np.ix_(chosen, rest)] / np.outer(scale[chosen], scale[rest])
        x, _ = lapack.dpotrs(factor, scaled, lower=1)
        basis[chosen] = -x / scale[chosen][:, None]
        basis, _ = np.linalg.qr(basis)
    return basis


def find_null_space(
    problem: Problem, matrix: np.ndarray, places: Sequence[Place], prior: bool = False
) -> NullSpace:
    """Return the null space of the Gauss-Newton matrix of the free weights, with the importances
    that fix it; with `prior`, that of the objective: directions that the prior decides are left
    out."""
    free = np.flatnonzero(problem.free.ravel())
    part = matrix[np.ix_(free, free)]
    basis = null_basis(part + problem.precision_of(free) if prior else part)
    means = _means(problem, places)[:, free]
    left = basis @ null_space(means @ basis) if basis.shape[1] else basis
    return NullSpace(
        free,
        basis,
        _importance(problem, places).ravel()[free],
        np.abs(left).max(axis=1, initial=0) > LOOSE,
    )


def _means(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Return a row (stages * (columns + 1),) for the mean of each list or table in each stage,
    weighted by use."""
    occupancy, rows = _occupancy(problem), []
    for place in places:
        for stage in range(problem.stages if place.size > 1 else 0):
            row = np.zeros(problem.start.shape)
            used = occupancy[stage, place.columns]
            row[stage, place.columns] = used / max(used.sum(), 1)
            rows.append(row.ravel())
    return np.array(rows).reshape(-1, problem.start.size)


def with_unused_kept(problem: Problem, weights: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return weights (stages, columns + 1 or more) in which those of no position have the value
    that they began with: a smooth prior moves them with their neighbours. `matrix` (d, d) is the
    Gauss-Newton matrix."""
    unused = problem.free & (matrix.diagonal().reshape(weights.shape) == 0)
    used = _occupancy(problem) > 0  # but without a slope where they are
    unused[:, : used.shape[1]] &= ~used
    return np.where(unused, np.clip(problem.start, problem.low, problem.high), weights)


def _occupancy(problem: Problem) -> np.ndarray:
    """Return how often each weight applies (stages, columns)."""
    return problem.shares @ problem.use[1]


def _importance(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Return how often each weight of a list or table applies (stages, columns + 1), from FAINT to
    1; FAINT for the rest."""
    occupancy = _occupancy(problem)
    found = np.zeros(problem.start.shape)
    for place in places:
        if place.size > 1:
            found[:, place.columns] = occupancy[:, place.columns]
    return np.maximum(found / max(found.max(), 1), FAINT)
