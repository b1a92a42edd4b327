"""Cluster-robust standard errors of fitted weights (sandwich estimator, clustered by game).

Positions of a game share its outcome, so they are not independent: the covariance is V = H^-1 (sum of u u') H^-1 with
the score u of a whole game, times G / (G - 1) * (n - 1) / (n - p) (Liang and Zeger 1986). A prior adds its precision to
H, and the variance of its own gradient to the middle: under a strong prior, the error is the prior's standard deviation. The
number p of weights that the data set is then the effective one, the trace of H^-1 times H without the prior (Moody 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuner.fit.learners.newton import factorise, inverse_of
from tuner.fit.null_space import NullSpace
from tuner.fit.problem import Problem
from tuner.statistics.intervals import quantile

COMPARED = 1 << 16  # positions for naive errors


class Ratio(NamedTuple):
    """The column of a weight, its ratio to the first weight, and a 95 % interval."""

    column: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Uncertainty:
    """Standard errors (stages, columns + 1) in centipawns: NaN if not identified, 0 if fixed.

    `sampling` excludes what the prior adds: it is the spread of fits to other games under the same prior. `naive` is the same
    estimator without clusters, as if positions were independent. `covariance` (d, d) is that of the weights at `coordinates`,
    `noise` (d, d) that of `sampling`.
    """

    standard_errors: np.ndarray
    sampling: np.ndarray
    naive: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray
    coordinates: np.ndarray
    games: int


def ratios(found: Uncertainty, weights: np.ndarray, columns: list[int]) -> list[Ratio]:
    """Return weights, each averaged over the stages, as multiples of the first one, with intervals by
    the delta method. Ratios of weights that were not learned have none, and are left out."""
    stages, width = weights.shape
    mean = weights[:, columns].mean(axis=0)
    if not mean[0]:
        return []
    place = {int(coordinate): i for i, coordinate in enumerate(found.coordinates)}
    known = [[place.get(stage * width + column) for stage in range(stages)] for column in columns]
    z, lines = quantile(found.games), []
    for i in range(1, len(columns)):
        ratio = mean[i] / mean[0]
        slope = np.zeros(len(found.coordinates))
        for j, factor in ((i, 1 / mean[0]), (0, -ratio / mean[0])):
            for at in known[j]:
                if at is not None:
                    slope[at] += factor / stages
        error = float(np.sqrt(max(slope @ found.covariance @ slope, 0.0)))
        if error > 0:
            low, high = float(ratio - z * error), float(ratio + z * error)
            lines.append(Ratio(columns[i], float(ratio), low, high))
    return lines


def standard_errors(problem: Problem, weights: np.ndarray, matrix: np.ndarray, null_space: NullSpace) -> Uncertainty:
    """Return clustered standard errors at the optimum, from the Gauss-Newton matrix there."""
    free = null_space.coordinates
    n = problem.total_weight
    hessian = matrix[np.ix_(free, free)] * n
    hessian[np.diag_indices(len(free))] += problem.precision.ravel()[free] * n
    chosen, factor, scale = factorise(hessian)
    prior = (problem.prior_gradient(weights) * n).ravel()[free]
    meat, names = problem.device.score_products(problem.model, weights, free)
    meat -= np.outer(prior, prior) / names  # the scores sum to minus the prior's gradient at the optimum
    inverse = inverse_of(chosen, factor, scale)
    # the prior's gradient is precision * (mean - weights), with the variance of the weights under the prior
    pull = problem.precision.ravel()[free[chosen]] * n * problem.design_effect
    effective = len(chosen) - float(np.diagonal(inverse) @ problem.precision.ravel()[free[chosen]]) * n
    few = names / (names - 1) * (n - 1) / max(n - effective, 1) if names > 1 else 1.0

    def whole(part: np.ndarray) -> np.ndarray:
        found = np.zeros_like(meat)
        found[np.ix_(chosen, chosen)] = part
        return null_space.project(found)

    covariance = sampling = whole(few * (inverse @ meat[np.ix_(chosen, chosen)] @ inverse))
    alone = _position_products(problem, weights)[np.ix_(free, free)]
    naive = whole(inverse @ alone[np.ix_(chosen, chosen)] @ inverse)
    if pull.any():
        covariance = sampling + few * whole((inverse * pull) @ inverse)
    return Uncertainty(spread(problem, covariance, null_space), spread(problem, sampling, null_space),
                       spread(problem, naive, null_space), covariance, sampling, free, names)


def _position_products(problem: Problem, weights: np.ndarray) -> np.ndarray:
    """Return the sum (d, d) of u u' over positions, u the score of a single position; estimated from a sample of the games,
    because it is only for comparison."""
    some = problem.on(problem.games[::max(1, problem.positions // COMPARED)])
    found = problem.device.position_products(problem.model, weights, some.ranges)
    return found * (problem.total_weight / some.total_weight)


def spread(problem: Problem, covariance: np.ndarray, null_space: NullSpace) -> np.ndarray:
    """Return standard errors in the shape of the weights: NaN if not identified, 0 if fixed."""
    errors = np.zeros(problem.start.size)
    errors[null_space.coordinates] = np.where(null_space.loose, np.nan, np.sqrt(np.maximum(np.diag(covariance), 0)))
    return errors.reshape(problem.start.shape)
