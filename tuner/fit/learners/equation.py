"""Newton's method on an estimating equation without a loss, such as that of TD(lambda).

It needs no learning rate; its matrix is not symmetric (LSTD(lambda), Bradtke and Barto 1996, Boyan
1999, for a tanh of a linear evaluation)."""

from __future__ import annotations

import numpy as np

from tuner.datasets.dataset import size_of
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.problem import Problem

SAMPLE = 40_000  # positions for the matrix of a step
ITERATIONS = 60
LONGEST_STEP = 80.0  # centipawns that a weight may move in one step


def newton(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the weights that solve the equation, or those after the largest number of steps."""
    weights, free = problem.inside, np.flatnonzero(problem.free.ravel())
    games = problem.datafit.whole_games
    sample = np.ascontiguousarray(games[:: max(1, size_of(games) // SAMPLE)])
    residual, matrix, fresh = problem.residual(weights)[1].ravel()[free], None, False
    for _ in range(options.iterations or ITERATIONS):
        if matrix is None:
            matrix, fresh = problem.datafit.slope(weights, sample), True
        step = -matrix.solve(problem.penalty, free, residual)
        step *= min(1.0, LONGEST_STEP / max(np.abs(step).max(), 1e-300))
        after = weights.copy().ravel()
        after[free] += step
        after = np.clip(after.reshape(weights.shape), problem.low, problem.high)
        squares, left = problem.residual(after)
        if np.linalg.norm(left.ravel()[free]) < 0.7 * np.linalg.norm(residual) or fresh:
            moved = np.abs(after - weights).max()
            weights, residual, fresh = after, left.ravel()[free], False
            record(weights, squares)
            if moved < options.tolerance * 1e3:  # 1e-4 centipawns at the usual tolerance
                break
        else:
            matrix = None
    record.best = weights  # these solve the equation; they minimize no objective
    return weights
