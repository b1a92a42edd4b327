"""Errors in points, for games that are won by more or fewer of them."""

from __future__ import annotations

import math

from tuner.diagnostics.validation import predictions, some_games
from tuner.fit.problem import Problem
from tuner.fit.result import FitResult


def error_in_points(result: FitResult, on_results: tuple[Problem, Problem | None] | None, most: int) -> dict:
    """Return, as plain data, the root mean square error of the expected points before and after a fit, of held-out positions if
    there are any, and the standard deviation of what they are compared with: the results of `on_results`, or else the targets of
    the fit. `most` is what an outcome of 1 stands for."""
    learned, held_out = on_results or (result.problem, result.held_out)
    is_held_out = held_out is not None and held_out.positions > 0
    problem = held_out if held_out is not None and is_held_out else learned
    positions, before, deviation = _errors(problem, result.reference)
    after = _errors(problem, result.weights)[1]
    return {"before": round(most * before, 4), "after": round(most * after, 4), "deviation": round(most * deviation, 4),
            "positions": positions, "held_out": is_held_out}


def _errors(problem: Problem, weights) -> tuple[int, float, float]:
    """Return the number of positions, the root mean square of outcome minus value, and the deviation of the outcomes."""
    number, squares, total, total_squares = 0, 0.0, 0.0, 0.0
    for found in predictions(problem, weights, some_games(problem)):
        outcome = problem.data.outcome[found.place].astype(float)
        residual = outcome - (2 * found.score - 1)
        number += len(outcome)
        squares += float(residual @ residual)
        total += float(outcome.sum())
        total_squares += float(outcome @ outcome)
    n = max(number, 1)
    return number, math.sqrt(squares / n), math.sqrt(max(total_squares / n - (total / n) ** 2, 0.0))
