"""TD(lambda) on finished games, solved for the weights at which the sum of c_t dv_t/dw over all
games is zero.

With lambda = 1 it is the regression of tanh on the results by squared error. Standard errors are
the sandwich estimator of the derivative of that equation and the scores of whole games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.datasets.writing import split_games
from tuner.fit.curvature import curvature_of
from tuner.fit.errors import (
    Full,
    NullSpace,
    Uncertainty,
    correction,
    find_null_space,
    uncertainty_of,
    with_unused_kept,
)
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import Record
from tuner.fit.learners.equation import RIDGE, factorised, newton_steps
from tuner.fit.problem import Problem
from tuner.fit.result import Convergence, FitResult, learned, whole
from tuner.fit.setup import FitOptions, make_problem, with_prior
from tuner.objectives.temporal import TemporalData
from tuner.parameters.parameters import Parameters

CONVERGED = 0.1  # centipawns of a Newton step, at most, after convergence


def fit_temporal(
    data: Dataset,
    extra: TemporalData,
    parameters: Parameters,
    options: FitOptions,
    watch: Callable[[dict], None] = lambda line: None,
) -> FitResult:
    """Fit like `tuner.fit.regression.fit`, by TD(lambda). An automatic prior has the width for the
    regression on results; losses are those on the results."""
    train, held = split_games(data, options.held_out, options.seed)
    if len(train) == 0:
        train, held = held, train
    regression = make_problem(data, parameters, options, train, parameters.scale)
    if options.prior is not None or parameters.prior:
        regression, _, _ = with_prior(regression, parameters, options)
    problem = replace(regression, temporal=extra)
    record, solve = Record(watch), LEARNERS[options.learner].solve
    assert solve is not None, "the method allows learners that solve the equation"
    record(problem.start, problem.equation(problem.start)[1])
    weights = solve(problem, options.learning, record)
    convergence = convergence_of(problem, weights, parameters.wording.unit)
    curvature = curvature_of(regression, weights)
    null_space = find_null_space(regression, curvature, data.layout.places)
    undecided = null_space.under(regression)
    weights = undecided.restore(regression, weights)
    weights = with_unused_kept(regression, weights, curvature.diagonal())
    uncertainty = standard_errors(problem, weights, undecided) if options.errors else None
    weights, _, uncertainty = whole(problem, weights, weights, uncertainty)
    return FitResult(
        learned(parameters, weights, weights, uncertainty, parameters.scale),
        regression,
        regression.on(held) if len(held) else None,
        weights,
        curvature,
        null_space,
        uncertainty,
        record.history,
        convergence,
        weights,
    )


def convergence_of(problem: Problem, weights: np.ndarray, unit: str) -> Convergence:
    """Return whether a fit converged, measured by the size of one more Newton step."""
    right = problem.equation(weights)[0]
    rising = right.reshape(weights.shape)
    inside = ((weights > problem.low) | (rising > 0)) & ((weights < problem.high) | (rising < 0))
    free = np.flatnonzero((problem.free & inside).ravel())
    norm = float(np.linalg.norm(right[free]))
    furthest = float(np.abs(newton_steps(problem, weights, free)(right[free])).max(initial=0.0))
    if furthest <= CONVERGED:
        return Convergence(True, norm)
    return Convergence(
        False, norm, f"one more Newton step would move a weight by {furthest:.2g} {unit}"
    )


def standard_errors(problem: Problem, weights: np.ndarray, null_space: NullSpace) -> Uncertainty:
    """Return standard errors clustered by game: V = A^-1 (sum of u u') A'^-1 G / (G - p), u the
    scores of whole games. A prior adds as in `tuner.fit.errors`."""
    games, free, total = problem.model.whole_games, null_space.coordinates, problem.positions
    matrix = problem.equation_matrix(weights, games, exact=True)[np.ix_(free, free)] * total
    pull = problem.precision_of(free) * total
    matrix += pull
    diagonal = np.diag(matrix).copy()
    matrix[np.diag_indices(len(free))] += RIDGE * np.abs(diagonal).mean()
    meat, names = problem.device.score_products(problem.model, weights, free)
    inverse = factorised(matrix)(np.eye(len(free)))
    few = correction(problem, names, len(free) - float((inverse * pull).sum()))
    covariance = sampling = null_space.project(inverse @ (meat * few) @ inverse.T)
    if pull.any():
        pull *= problem.design_effect * few
        covariance = sampling + null_space.project(inverse @ pull @ inverse.T)
    return uncertainty_of(problem, Full(covariance), Full(sampling), null_space, names)
