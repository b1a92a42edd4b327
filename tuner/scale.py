"""The scale of an evaluation: how many centipawns are worth how much probability."""

from __future__ import annotations

import numpy as np

from tuner.problem import Problem

POSITIONS = 200_000  # enough for four digits


def fit_scale(problem: Problem) -> float | None:
    """The scale at which the starting weights predict outcomes best; None if they do not predict them at all.

    A logistic regression of the outcome on the evaluation and an intercept.
    """
    ranges = problem.ranges
    step = max(1, problem.positions // POSITIONS)
    kept = np.cumsum(ranges[:, 1] - ranges[:, 0]) // max(1, problem.positions // max(1, len(ranges) // step))
    chosen = ranges if step == 1 else ranges[np.concatenate([[True], np.diff(kept) > 0])]
    evaluation = problem.evaluations(problem.start, chosen)
    outcome = np.concatenate([problem.data.outcome[low:high] for low, high in chosen]).astype(np.float64)
    columns = np.stack([evaluation, np.ones_like(evaluation)], axis=1)
    q, coefficients = (1 + outcome) / 2, np.zeros(2)  # Newton's method goes astray from a slope that is much too steep
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(columns @ coefficients, -500, 500)))
        hessian = columns.T @ (columns * (p * (1 - p))[:, None])
        if not np.isfinite(hessian).all() or np.linalg.cond(hessian) > 1e14:
            return None
        change = np.linalg.solve(hessian, columns.T @ (q - p))
        coefficients += change
        if abs(change[0]) < 1e-9:
            break
    scale = coefficients[0] / 2
    return float(scale) if 1e-5 < scale < 0.1 else None
