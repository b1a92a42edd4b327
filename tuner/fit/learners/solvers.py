"""Gauss-Newton with damping: for cross-entropy iteratively reweighted least squares.

The first steps use the matrix of a sample of the positions, which is cheap and good enough far from
the optimum; then the whole matrix is computed once and reused while its steps succeed. Directions
that the data do not identify do not move. Bounds are kept by projection: a weight at its bound is
excluded from a step that would move it beyond (Bertsekas 1982).

An estimating equation without a loss, such as that of TD(lambda), has a matrix that is not
symmetric (LSTD(lambda), Bradtke and Barto 1996, Boyan 1999, for a tanh of a linear evaluation)."""

from typing import NamedTuple

import numpy as np

from tuner.datasets.dataset import blocks, size_of
from tuner.fit.curvature import EXACT, FAR, Curvature
from tuner.fit.datafit import Datafit
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.problem import Problem

SAMPLE = 60_000  # positions of a sampled matrix
NEAR = 1e-3  # relative gain of a step below which the whole matrix is computed
ACHIEVED = 0.7  # share of the predicted gain that a step by a sampled matrix has to achieve
ITERATIONS = 60
CONVERGED = 1e-5  # of the objective: the largest gain left to a converged fit
SOLVED = 0.1  # centipawns of a Newton step, at most, after an equation is solved
CAREFUL = 1.0  # first damping for evaluations that are not linear


def sample_ranges(datafit: Datafit, wanted: int) -> np.ndarray | None:
    """Return ranges with about `wanted` positions, spread evenly over the data; None if that would
    be most of them."""
    step = datafit.positions // wanted
    if step < 3:
        return None
    pieces = [
        (low + offset, min(low + offset + 64, high))
        for low, high in datafit.ranges.tolist()
        for offset in range((-low) % (64 * step), max(high - low, 0), 64 * step)
    ]
    return np.array(pieces, np.int64) if pieces else None


def newton(
    problem: Problem,
    options: LearnerOptions,
    record: Record,
    start: np.ndarray | None = None,
    matrix: Curvature | None = None,
) -> np.ndarray:
    """Return the weights at the optimum; a `start` and a `matrix` computed near it save work."""
    weights = np.clip(problem.start if start is None else start, problem.low, problem.high)
    value, gradient = problem.residual(weights)
    apart = bool(problem.datafit.data.apart)
    if start is not None:
        record(weights, value)
    kind, damping = "stale", CAREFUL if apart else 0.0
    tolerance = FAR  # of a step
    sample = sample_ranges(problem.datafit, SAMPLE) if matrix is None else None
    for _ in range(options.iterations or ITERATIONS):
        if matrix is None:
            kind = "sample" if sample is not None else "whole"
            matrix = problem.datafit.curvature(weights, sample)
        step, gain = newton_step(problem, weights, gradient, matrix, damping, tolerance)
        if kind == "sample" and gain < NEAR * value:
            sample, matrix = None, None
            continue
        if gain < NEAR * value and tolerance == FAR and matrix.matrix is None:
            tolerance = EXACT
            continue
        if gain <= options.tolerance * value:
            break
        lower = _search(problem, weights, step, value)
        if lower is None:
            if kind == "stale":
                matrix = None  # try again with the matrix at these weights
            elif damping > 1e6:
                break
            else:
                damping = max(10 * damping, 1e-3)
            continue
        obtained = value - lower[1]
        weights, value, gradient = lower
        record(weights, value, matrix=kind)
        damping = (
            _eased(damping, obtained / gain) if apart else damping / 10 if damping > 1e-6 else 0.0
        )
        if kind == "sample" and obtained < ACHIEVED * gain:
            sample = None  # its matrix fits the sample better than all positions
        # far from the optimum the matrix changes with the weights; near it, an old one serves
        if kind == "sample" or gain > NEAR * value or obtained < 0.5 * gain:
            matrix = None
        else:
            kind = "stale"
    return record.weights


def _eased(damping: float, ratio: float) -> float:
    """Return the damping after a step that obtained this part of the predicted gain (Levenberg
    1944, Marquardt 1963): an evaluation that is not linear has further minima, which a long step
    can reach."""
    if ratio < 0.25:
        return max(4 * damping, 1e-2)
    return damping if ratio < 0.75 else damping / 4 if damping > 1e-4 else 0.0


def newton_step(
    problem: Problem,
    weights: np.ndarray,
    gradient: np.ndarray,
    matrix: Curvature,
    damping: float = 0.0,
    tolerance: float = EXACT,
) -> tuple[np.ndarray, float]:
    """Return the damped Newton step from weights with this gradient of the objective, zero for
    weights blocked by a bound, and the gain that the quadratic model predicts."""
    moving = np.flatnonzero((problem.free & ~problem.blocked(weights, gradient)).ravel())
    right = -gradient.ravel()[moving]
    change = matrix.solve(problem.penalty, moving, right, damping, tolerance)
    step = np.zeros(weights.size)
    step[moving] = change
    return step.reshape(weights.shape), 0.5 * float(right @ change)


class Convergence(NamedTuple):
    """Whether a fit converged, the norm of the gradient (of loss per position and prior, by weights
    in centipawns; of TD, the residual of the equation), which weights are `held` by a bound, and,
    if it did not converge, what one more step would change, in words."""

    converged: bool
    gradient_norm: float
    held: np.ndarray
    remains: str = ""


def convergence_of(
    problem: Problem, weights: np.ndarray, slope: Curvature, unit: str
) -> Convergence:
    """Return whether a fit converged, measured by one more Newton step: its gain if there is a
    loss, else its size."""
    value, residual = problem.residual(weights)
    step, gain = newton_step(problem, weights, residual, slope)
    norm, furthest = float(np.linalg.norm(residual[step != 0])), float(np.abs(step).max())
    held = problem.free & problem.blocked(weights, residual)
    if gain <= CONVERGED * value if problem.datafit.has_value else furthest <= SOLVED:
        return Convergence(True, norm, held)
    lowers = f"lower the objective by {gain:.2g} and " if problem.datafit.has_value else ""
    return Convergence(
        False,
        norm,
        held,
        f"one more Newton step would {lowers}move a weight by up to {furthest:.1f} {unit}",
    )


def _search(
    problem: Problem, weights: np.ndarray, step: np.ndarray, value: float
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Shorten the step until the objective falls; return weights, objective and gradient, or None
    if it does not."""
    for _ in range(6):
        after = np.clip(weights + step, problem.low, problem.high)
        new_value, new_gradient = problem.residual(after)
        if new_value < value:
            return after, new_value, new_gradient
        step = step / 4
    return None


def column_scale(problem: Problem) -> np.ndarray:
    """Return one over the root mean square coefficient of each weight, 1 if it never applies; less
    where the prior curves the objective more than the positions do."""
    _, total = problem.datafit.use
    shares = problem.datafit.shares**2
    always = (shares @ phase_counts(problem.datafit))[:, None]
    use = np.concatenate(
        [shares @ total, *[always] * (problem.start.shape[1] - total.shape[1])], axis=1
    )
    scale = np.ones(problem.start.shape)
    np.divide(
        1,
        np.sqrt(use / problem.datafit.positions, where=use > 0, out=scale),
        where=use > 0,
        out=scale,
    )
    prior = problem.penalty.diagonal().reshape(scale.shape) / problem.datafit.scale**2
    return 1 / np.sqrt(scale**-2 + prior)


def phase_counts(datafit: Datafit) -> np.ndarray:
    """Return the number of positions of each phase (codes,)."""
    counts = np.zeros(datafit.data.codes, np.int64)
    for piece in blocks(
        datafit.ranges
    ):  # the phases of all positions, at eight bytes each, might not fit into memory
        for low, high in piece:
            counts += np.bincount(datafit.data.phase[low:high], minlength=datafit.data.codes)
        datafit.release()
    return counts


def lbfgs(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the weights at the optimum."""
    from scipy.optimize import minimize

    scale, free = column_scale(problem)[problem.free], problem.free
    weights = problem.inside
    if not free.any():
        return weights

    def full(x: np.ndarray) -> np.ndarray:
        result = weights.copy()
        result[free] = x * scale
        return result

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = problem.residual(full(x))
        values.append(value)
        if value < record.best_objective:
            record.best, record.best_objective = full(x), value
        return value, gradient[free] * scale

    values: list[float] = []
    bounds = np.stack([problem.low[free] / scale, problem.high[free] / scale], axis=1)
    minimize(
        function,
        weights[free] / scale,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=lambda x: record(full(x), values[-1]),
        options={
            "maxiter": options.iterations or 1000,
            "maxcor": 30,
            "ftol": options.tolerance * 1e-2,
            "gtol": 0.0,
            "maxfun": 10 * (options.iterations or 1000),
        },
    )
    return record.weights


SAMPLE_OF_EQUATION = 40_000  # positions for the matrix of a step
LONGEST_STEP = 80.0  # centipawns that a weight may move in one step


def newton_of_equation(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the weights that solve the equation, or those after the largest number of steps."""
    weights, free = problem.inside, np.flatnonzero(problem.free.ravel())
    games = problem.datafit.whole_games
    sample = np.ascontiguousarray(games[:: max(1, size_of(games) // SAMPLE_OF_EQUATION)])
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
