"""SciPy's L-BFGS-B on weights scaled by how often each applies."""

from __future__ import annotations

import numpy as np

from tuner.datasets.ranges import blocks
from tuner.fit.learners.base import LearnerOptions, Record, objective_gradient
from tuner.fit.problem import Problem


def column_scale(problem: Problem) -> np.ndarray:
    """Return one over the root mean square coefficient of each weight; 1 if it never applies."""
    _, total = problem.use
    shares = problem.shares ** 2
    always = (shares @ problem_phase_counts(problem))[:, None]
    use = np.concatenate([shares @ total, *[always] * (problem.start.shape[1] - total.shape[1])], axis=1)
    scale = np.ones(problem.start.shape)
    np.divide(1, np.sqrt(use / problem.positions, where=use > 0, out=scale), where=use > 0, out=scale)
    return scale


def problem_phase_counts(problem: Problem) -> np.ndarray:
    """Return the number of positions of each phase (codes,)."""
    counts = np.zeros(problem.data.codes, np.int64)
    for piece in blocks(problem.ranges):  # the phases of all positions, at eight bytes each, might not fit into memory
        for low, high in piece:
            counts += np.bincount(problem.data.phase[low:high], minlength=problem.data.codes)
        problem.model.release()
    return counts


def lbfgs(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the weights at the optimum."""
    from scipy.optimize import minimize

    scale, free = column_scale(problem)[problem.free], problem.free
    weights = np.clip(problem.start, problem.low, problem.high)
    if not free.any():
        return weights

    def full(x: np.ndarray) -> np.ndarray:
        result = weights.copy()
        result[free] = x * scale
        return result

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective_gradient(problem, full(x))
        nonlocal last
        last = value
        if value < record.best_objective:
            record.best, record.best_objective = full(x), value
        return value, gradient[free] * scale

    last = np.inf
    bounds = np.stack([problem.low[free] / scale, problem.high[free] / scale], axis=1)
    minimize(function, weights[free] / scale, jac=True, method="L-BFGS-B", bounds=bounds,
             callback=lambda x: record(full(x), last),
             options={"maxiter": options.iterations or 1000, "maxcor": 30, "ftol": options.tolerance * 1e-2, "gtol": 0.0,
                      "maxfun": 10 * (options.iterations or 1000)})
    return record.best
