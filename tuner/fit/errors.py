"""Standard errors clustered by game (sandwich estimator).

Positions of a game share its outcome, so they are not independent: the covariance is V = A^-1 (sum
of u u') A'^-1 with the score u of a whole game and the derivative A of the estimating equation, for
a loss its Hessian H (Liang and Zeger 1986), times G / (G - p): p weights fitted to G games leave
scores that are too small by that factor. A prior adds its precision to A, and the variance of its
own gradient to the middle: under a strong prior, the error is the prior's standard deviation. The
number p of weights that the data set is then the effective one, the trace of A^-1 times A without
the prior (Moody 1992). Without more games than that there are no errors."""

import math
from dataclasses import replace

import numpy as np

from tuner.fit.covariance import Full, RandomVectors, Uncertainty, random_signs
from tuner.fit.curvature import FINE, Curvature
from tuner.fit.datafit import Datafit
from tuner.fit.null_space import NullSpace, find_null_space
from tuner.fit.penalty import Independent
from tuner.fit.problem import Problem


def standard_errors(
    problem: Problem, weights: np.ndarray, slope: Curvature, null_space: NullSpace
) -> Uncertainty:
    """Return clustered standard errors at the solution, from the `slope` of the equation there."""
    if slope.matrix is None:
        return sampled_errors(problem, weights, slope, null_space)
    free, penalty = null_space.coordinates, problem.penalty
    n, games = problem.datafit.total_weight, problem.datafit.independent_games
    inverse, chosen = slope.inverse(penalty, free, n)
    meat = problem.datafit.score_products(weights, free)
    # the scores sum to minus the prior's gradient at the optimum
    prior = (penalty.gradient(weights) * n).ravel()[free]
    meat -= np.outer(prior, prior) / games
    # the prior's gradient is precision * (mean - weights), with the variance of the weights under
    # the prior
    pull = penalty.matrix(free[chosen]) * n
    effective = len(chosen) - float((pull * inverse).sum())
    few = correction(problem, effective)

    def whole(part: np.ndarray) -> np.ndarray:
        filled = np.zeros_like(meat)
        filled[np.ix_(chosen, chosen)] = part
        return null_space.project(filled)

    covariance = sampling = whole(few * (inverse @ meat[np.ix_(chosen, chosen)] @ inverse.T))
    if pull.any():
        covariance = sampling + few * penalty.design_effect * whole(inverse @ pull @ inverse.T)
    return uncertainty_of(problem, Full(covariance), Full(sampling), null_space)


def errors_at_bounds(
    problem: Problem,
    weights: np.ndarray,
    curvature: Curvature,
    slope: Curvature,
    held: np.ndarray,
    found: Uncertainty,
) -> Uncertainty:
    """Return the errors where bounds hold some weights: for the others, those of the fit with the
    `held` ones fixed. A held weight keeps its error of the fit without bounds, `found`. Without
    them its estimate is at or beyond the bound, so that an interval from the bound inwards holds
    the true value at least as often as one of this length on one side of the estimate."""
    rest = replace(problem, datafit=replace(problem.datafit, free=problem.free & ~held))
    places = problem.datafit.data.layout.places
    regression = replace(rest, datafit=rest.datafit.regression)
    undecided = find_null_space(regression, weights, curvature, places).under(rest)
    inner = standard_errors(rest, weights, slope, undecided)
    errors = np.where(held, found.standard_errors, inner.standard_errors)
    return replace(inner, standard_errors=errors)


DRAWS, MOST_DRAWS = 50, 150  # random vectors for errors
VECTORS = 3_000_000  # numbers in more than DRAWS of them


def vectors_needed(datafit: Datafit) -> int:
    """Return how many random vectors errors are estimated from: standard errors are within 10 % of
    those of the matrix with 50, within 6 % with 150, where a prior counts within half of it."""
    free = max(1, int(np.count_nonzero(datafit.free)))
    return int(np.clip(VECTORS / free, DRAWS, MOST_DRAWS))


def sampled_errors(
    problem: Problem, weights: np.ndarray, slope: Curvature, null_space: NullSpace
) -> Uncertainty:
    """Return the same from random vectors: the scores of games with random signs, and the prior's
    gradient, each divided by the slope."""
    datafit, free = problem.datafit, null_space.coordinates
    n, number, games = datafit.total_weight, vectors_needed(datafit), datafit.independent_games
    signs = random_signs(1, games, number)
    signs -= signs.mean(axis=0)  # less the mean score, the prior's gradient at the optimum
    scores = datafit.signed_scores(weights, signs)[free] / n
    sampling, prior, effective = divided(problem, slope, null_space, scores, number)
    few = correction(problem, effective) ** 0.5
    if math.isnan(few):
        unknown = RandomVectors(np.full((2, len(free)), np.nan), 2)
        return uncertainty_of(problem, unknown, unknown, null_space)
    prior *= (problem.penalty.design_effect / n) ** 0.5
    noise, more = (null_space.projected(few * part).T for part in (sampling, prior))
    whole = RandomVectors(np.concatenate([noise, more]), number)
    return uncertainty_of(problem, whole, RandomVectors(noise, number), null_space, number)


def divided(
    problem: Problem, slope: Curvature, null_space: NullSpace, scores: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return scores (d, k) divided by the slope; the same of random vectors (d, number) with the
    precision of the prior as covariance; and the effective number of weights: of those that are
    used, the trace of H (H + P)^-1, where P (H + P)^-1 is known from the vectors."""
    free, penalty = null_space.coordinates, problem.penalty
    used = np.count_nonzero(slope.diagonal()[free] + penalty.diagonal()[free])
    effective = float(used - null_space.basis.shape[1])
    signs = random_signs(2, problem.start.size, 0 if penalty.is_none else number)
    pulls, k = penalty.draws(signs)[free], scores.shape[1]
    steps = slope.solve(penalty, free, np.hstack([scores, pulls]), tolerance=FINE)
    scores, prior = steps[:, :k], steps[:, k:]
    if penalty.is_none:
        return scores, prior, effective
    effective -= float((pulls * prior).sum()) / number
    return scores, prior * known_spread(penalty, signs, free, prior)[:, None], effective


def effective_weights(problem: Problem, slope: Curvature, null_space: NullSpace) -> float:
    """Return the effective number of weights under the prior."""
    none = np.zeros((len(null_space.coordinates), 0))
    return divided(problem, slope, null_space, none, DRAWS)[2]


def known_spread(
    penalty: Independent, signs: np.ndarray, free: np.ndarray, found: np.ndarray
) -> np.ndarray:
    """Return factors (d,) that make the spread of random vectors `found` (d, k) more exact.

    Where the data tell little, they are nearly the weights that the prior draws with the same
    signs, whose variance is known: a control variate (Lavenberg and Welch 1981). If 50 such weights
    have 1.2 times their true variance, and the vectors are equal to them, the factor is
    sqrt(1 / 1.2)."""
    drawn, variances = (each[free] for each in penalty.weight_draws(signs))
    squares, own = (found**2).mean(axis=1), (drawn**2).mean(axis=1)
    like = np.divide((found * drawn).mean(axis=1), own, where=own > 0, out=np.zeros(len(own)))
    right = np.maximum(squares - like**2 * (own - variances), 0.0)
    return np.sqrt(np.divide(right, squares, where=squares > 0, out=np.ones(len(own))))


def correction(problem: Problem, weights: float) -> float:
    """Return G / (G - p), by which the covariance of p effective weights fitted to G games is too
    small; NaN unless G exceeds p. With a prior the design effect is known, and G is at least the
    number of independent positions."""
    count: float = problem.datafit.independent_games
    if not problem.penalty.is_none:
        count = max(count, problem.datafit.positions / problem.penalty.design_effect)
    return count / (count - weights) if count > weights else math.nan


def uncertainty_of(
    problem: Problem,
    covariance: Full | RandomVectors,
    sampling: Full | RandomVectors,
    null_space: NullSpace,
    draws: int = 0,
) -> Uncertainty:
    """Return the standard errors from covariances of the weights of a null space; NaN is
    unknown."""
    errors = np.zeros(problem.start.size)
    errors[null_space.coordinates] = np.where(
        null_space.loose, np.nan, np.sqrt(np.maximum(covariance.variances, 0))
    )
    return Uncertainty(
        errors.reshape(problem.start.shape),
        covariance,
        sampling,
        null_space.coordinates,
        problem.datafit.independent_games,
        draws,
    )
