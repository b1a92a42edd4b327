"""Newton's method on the equation of TD(lambda): the sum of c_t dv_t/dw over all games is zero.

It needs no learning rate; its matrix is not symmetric (LSTD(lambda), Bradtke and Barto 1996, Boyan
1999, for a tanh of a linear evaluation)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tuner.datasets.dataset import size_of
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.problem import Problem

SAMPLE = 40_000  # positions for the matrix of a step
ITERATIONS = 60
LONGEST_STEP = 80.0  # centipawns that a weight may move in one step
RIDGE = 1e-10  # of the matrix's mean diagonal: keeps unidentified directions in place


def newton(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the weights that solve the equation, or those after the largest number of steps."""
    weights = np.clip(problem.start, problem.low, problem.high)
    free = np.flatnonzero(problem.free.ravel())
    right, factor, fresh = problem.equation(weights)[0][free], None, False
    for _ in range(options.iterations or ITERATIONS):
        if factor is None:
            factor, fresh = newton_steps(problem, weights, free), True
        step = factor(right)
        step *= min(1.0, LONGEST_STEP / max(np.abs(step).max(), 1e-300))
        after = weights.copy().ravel()
        after[free] += step
        after = np.clip(after.reshape(weights.shape), problem.low, problem.high)
        equation, squares = problem.equation(after)
        if np.linalg.norm(equation[free]) < 0.7 * np.linalg.norm(right) or fresh:
            moved = np.abs(after - weights).max()
            weights, right, fresh = after, equation[free], False
            record(weights, squares)
            if moved < options.tolerance * 1e3:  # 1e-4 centipawns at the usual tolerance
                break
        else:
            factor = None
    record.best = weights  # these solve the equation; they minimize no objective
    return weights


def newton_steps(
    problem: Problem, weights: np.ndarray, free: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from the equation of the free weights to their Newton step, by the matrix
    of about SAMPLE positions."""
    games = problem.model.whole_games
    sample = np.ascontiguousarray(games[:: max(1, size_of(games) // SAMPLE)])
    block = problem.equation_matrix(weights, sample)[np.ix_(free, free)]
    if len(free):
        block[np.diag_indices(len(free))] += RIDGE * np.diag(block).mean()
    return factorised(block + problem.precision_of(free))


def factorised(matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that multiplies by the inverse of a matrix."""
    from scipy.linalg import lu_factor, lu_solve

    factor = lu_factor(matrix, check_finite=False)
    return lambda right: lu_solve(factor, right, check_finite=False)
