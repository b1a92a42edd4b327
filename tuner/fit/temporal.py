"""TD(lambda) on finished games, solved for the weights at which the sum of c_t dv_t/dw over all games is zero.

Newton's method on that equation needs no learning rate; its matrix is not symmetric (LSTD(lambda), Bradtke and Barto 1996,
Boyan 1999, for a tanh of a linear evaluation). With lambda = 1 it is the regression of tanh on the results by squared error.
Standard errors are the sandwich estimator of that matrix and the scores of whole games.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.datasets.split import split_games
from tuner.device.base import TemporalPasses
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.rules import RULES
from tuner.fit.null_space import NullSpace, find_null_space
from tuner.fit.options import FitOptions
from tuner.fit.problem import Problem
from tuner.fit.result import Convergence, FitResult, learned
from tuner.fit.setup import make_problem, with_prior
from tuner.fit.standard_errors import Uncertainty, spread
from tuner.objectives.temporal import TemporalData
from tuner.parameters.parameters import Parameters

SAMPLE = 40_000  # positions for the matrix of a step
ITERATIONS, EPOCHS = 60, 20
LONGEST_STEP = 80.0  # centipawns that a weight may move in one step
RIDGE = 1e-10  # of the matrix's mean diagonal: keeps unidentified directions in place
BATCH_GAMES = 64
CONVERGED = 0.1  # centipawns of a Newton step, at most, after convergence


@dataclass(frozen=True)
class TemporalProblem:
    """A Problem solved by TD(lambda); its games are complete and in order."""

    problem: Problem
    extra: TemporalData

    @property
    def games(self) -> np.ndarray:
        """Ranges of positions (g, 2) of the games."""
        return self.problem.model.whole_games

    @property
    def passes(self) -> TemporalPasses:
        """The passes of the problem's device."""
        return self.problem.device.temporal(self.problem.model, self.extra)

    def equation(self, weights: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the mean (d,) over positions of c dv/dw, minus the prior's gradient, which is zero at the solution; and the
        mean square of the errors c."""
        sums, squares = self.passes.equation(weights, games)
        total = _positions(games)
        return sums / total - self.problem.prior_gradient(weights).ravel(), squares / total

    def matrix(self, weights: np.ndarray, games: np.ndarray, exact: bool = False) -> np.ndarray:
        """Return minus the derivative (d, d) of the first part of `equation`; without the curvature of tanh unless `exact`."""
        return self.passes.matrix(weights, games, exact) / _positions(games)


def newton(temporal: TemporalProblem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the weights that solve the equation, or those after the largest number of steps."""
    problem, games = temporal.problem, temporal.games
    weights = np.clip(problem.start, problem.low, problem.high)
    sample = _sample(games)
    free = np.flatnonzero(problem.free.ravel())
    (right, _), factor, fresh = temporal.equation(weights, games), None, False
    right = right[free]
    for _ in range(options.iterations or ITERATIONS):
        if factor is None:
            factor, fresh = _factorised(_ridged(temporal.matrix(weights, sample), problem, free)), True
        step = factor(right)
        step *= min(1.0, LONGEST_STEP / max(np.abs(step).max(), 1e-300))
        after = weights.copy().ravel()
        after[free] += step
        after = np.clip(after.reshape(weights.shape), problem.low, problem.high)
        new, squares = temporal.equation(after, games)
        new = new[free]
        if np.linalg.norm(new) < 0.7 * np.linalg.norm(right) or fresh:
            moved = np.abs(after - weights).max()
            weights, right = after, new
            record(weights, squares)
            fresh = False
            if moved < options.tolerance * 1e3:  # 1e-4 centipawns at the usual tolerance
                break
        else:
            factor = None
    record.best = weights  # these solve the equation; they minimise no objective
    return weights


def epochs(name: str) -> Callable[[TemporalProblem, LearnerOptions, Record], np.ndarray]:
    """Return a learner that makes several passes over the games with one of the update rules of self-play."""

    def learn(temporal: TemporalProblem, options: LearnerOptions, record: Record) -> np.ndarray:
        problem, games, rule = temporal.problem, temporal.games, RULES[name]
        random, state = np.random.default_rng(options.seed), {key: np.zeros(problem.start.shape) for key in rule.names}
        rounds = options.iterations or EPOCHS
        rate, t = options.learning_rate or rule.rate, 0
        decay = options.final_rate ** (1 / max(1, rounds * -(-len(games) // BATCH_GAMES)))
        weights = np.clip(problem.start, problem.low, problem.high)
        for _ in range(rounds):
            for batch in np.array_split(random.permutation(len(games)), -(-len(games) // BATCH_GAMES)):
                chosen, t = games[np.sort(batch)], t + 1
                n = _positions(chosen)
                gradient = temporal.equation(weights, chosen)[0].reshape(weights.shape) * (n / problem.scale)
                weights = weights + rate * rule.step(state, np.where(problem.free, gradient, 0.0), n, t)
                weights = np.clip(weights, problem.low, problem.high)
                rate *= decay
            record(weights, temporal.equation(weights, games)[1], learning_rate=rate)
        record.best = weights
        return weights

    return learn


def fit_temporal(data: Dataset, extra: TemporalData, parameters: Parameters, options: FitOptions,
                 watch: Callable[[dict], None] = lambda line: None) -> FitResult:
    """Fit like `tuner.fit.regression.fit`, by TD(lambda). An automatic prior has the width for the regression on results;
    losses are those on the results."""
    train, held = split_games(data, options.held_out, options.seed)
    if len(train) == 0:
        train, held = held, train
    problem = make_problem(data, parameters, options, train, parameters.scale)
    if options.prior is not None or parameters.prior:
        problem, _, _ = with_prior(problem, parameters, options)
    temporal = TemporalProblem(problem, extra)
    record = Record(watch)
    record(problem.start, temporal.equation(problem.start, temporal.games)[1])
    weights = LEARNERS[options.learner](temporal, options.learning, record)
    convergence = convergence_of(temporal, weights, parameters.wording.unit)
    matrix = problem.gauss_newton(weights)
    null_space = find_null_space(problem, matrix, data.layout.places)
    weights = null_space.restore(problem, weights)
    uncertainty = standard_errors(temporal, weights, null_space) if options.errors else None
    return FitResult(learned(parameters, weights, uncertainty, parameters.scale), problem,
                     problem.on(held) if len(held) else None, weights, matrix, null_space, uncertainty,
                     record.history, convergence)


def convergence_of(temporal: TemporalProblem, weights: np.ndarray, unit: str) -> Convergence:
    """Return whether a fit converged, measured by the size of one more Newton step."""
    problem, games = temporal.problem, temporal.games
    right = temporal.equation(weights, games)[0]
    inside = ((weights > problem.low) | (right.reshape(weights.shape) > 0)) & (
        (weights < problem.high) | (right.reshape(weights.shape) < 0))
    free = np.flatnonzero((problem.free & inside).ravel())
    norm = float(np.linalg.norm(right[free]))
    matrix = _ridged(temporal.matrix(weights, _sample(games)), problem, free)
    furthest = float(np.abs(_factorised(matrix)(right[free])).max(initial=0.0))
    if furthest <= CONVERGED:
        return Convergence(True, norm)
    return Convergence(False, norm, f"one more Newton step would move a weight by {furthest:.2g} {unit}")


def _ridged(matrix: np.ndarray, problem: Problem, free: np.ndarray) -> np.ndarray:
    """Return the block of the free weights with the prior and a ridge, which keeps unidentified directions in place."""
    block = matrix[np.ix_(free, free)]
    block[np.diag_indices(len(free))] += problem.precision.ravel()[free] + RIDGE * np.diag(block).mean() if len(free) else 0.0
    return block


LEARNERS = {"newton": newton, "adam": epochs("adam"), "sgd": epochs("sgd")}


def standard_errors(temporal: TemporalProblem, weights: np.ndarray, null_space: NullSpace) -> Uncertainty:
    """Return standard errors clustered by game: V = A^-1 (sum of u u') A'^-1 G / (G - 1), u the scores of whole games. Naive
    errors treat positions as independent. A prior adds as in `tuner.fit.standard_errors`."""
    problem, games = temporal.problem, temporal.games
    free = null_space.coordinates
    total = _positions(games)
    matrix = temporal.matrix(weights, games, exact=True)[np.ix_(free, free)] * total
    matrix[np.diag_indices(len(free))] += problem.precision.ravel()[free] * total
    diagonal = np.diag(matrix).copy()
    matrix[np.diag_indices(len(free))] += RIDGE * np.abs(diagonal).mean()
    meat, names = temporal.passes.score_products(weights, free)
    pull = problem.precision.ravel()[free] * total * problem.design_effect
    if names > 1:
        pull *= names / (names - 1)
        meat *= names / (names - 1)
    # positions as if each were a game: the sum of (c dv/de)^2 x x'
    alone = temporal.passes.squares(weights)[np.ix_(free, free)]
    inverse = _factorised(matrix)(np.eye(len(free)))
    sampling, naive = (null_space.project(inverse @ middle @ inverse.T) for middle in (meat, alone))
    covariance = sampling + null_space.project((inverse * pull) @ inverse.T) if pull.any() else sampling
    return Uncertainty(spread(problem, covariance, null_space), spread(problem, sampling, null_space),
                       spread(problem, naive, null_space), covariance, sampling, free, names)


def _positions(games: np.ndarray) -> int:
    return int((games[:, 1] - games[:, 0]).sum())


def _sample(games: np.ndarray) -> np.ndarray:
    """Return every k-th game, with about SAMPLE positions."""
    total = _positions(games)
    return np.ascontiguousarray(games[::max(1, total // SAMPLE)])


def _factorised(matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    from scipy.linalg import lu_factor, lu_solve

    factor = lu_factor(matrix, check_finite=False)
    return lambda right: lu_solve(factor, right, check_finite=False)
