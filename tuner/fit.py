"""TD(1) logistic regression from start to finish: split, scale, learn, hold what the data do not tell, measure errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tuner.dataset import Dataset
from tuner.gauge import find_gauge
from tuner.layout import Layout
from tuner.learners import LEARNERS
from tuner.learners.base import LearnerOptions, Record
from tuner.parameters import Parameters
from tuner.problem import Problem
from tuner.uncertainty import Uncertainty, standard_errors

SCALE_POSITIONS = 200_000


@dataclass(frozen=True)
class FitOptions:
    """How to fit. `prior_sd` is a prior for all free weights, in centipawns round their starting values; 0: none."""

    loss: str = "cross-entropy"
    learner: str = "newton"
    learning: LearnerOptions = field(default_factory=LearnerOptions)
    held_out: float = 0.1
    prior_sd: float = 0.0
    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    fit_scale: bool = True
    intercept: bool = True
    errors: bool = True
    seed: int = 1


@dataclass(frozen=True)
class FitResult:
    """What a fit found. Losses are means per position; held-out ones are NaN without held-out games."""

    parameters: Parameters
    intercept: np.ndarray
    start: np.ndarray
    games: int
    positions: int
    held_out_games: int
    held_out_positions: int
    loss_before: float
    loss_after: float
    held_out_before: float
    held_out_after: float
    null_directions: int
    never_applied: int
    uncertainty: Uncertainty | None
    history: list[dict]


def split_games(data: Dataset, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Games to learn from and games held out: whole openings, so that none is on both sides."""
    mixed = data.opening ^ np.uint64(seed * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    with np.errstate(over="ignore"):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    held = (mixed >> np.uint64(11)).astype(np.float64) / 2**53 < share
    # the same game can stand in two places of a merged dataset under two openings
    held &= ~np.isin(data.game, data.game[~held]) if share else False
    return np.flatnonzero(~held), np.flatnonzero(held)


def fit_scale(problem: Problem) -> float | None:
    """The scale at which the starting weights predict outcomes best; None if they do not predict them at all.

    A logistic regression of the outcome on the evaluation and an intercept.
    """
    ranges = problem.ranges
    step = max(1, problem.positions // SCALE_POSITIONS)
    kept = np.cumsum(ranges[:, 1] - ranges[:, 0]) // max(1, problem.positions // max(1, len(ranges) // step))
    chosen = ranges if step == 1 else ranges[np.concatenate([[True], np.diff(kept) > 0])]
    evaluation = problem.evaluations(problem.start, chosen)
    outcome = np.concatenate([problem.data.outcome[low:high] for low, high in chosen]).astype(np.float64)
    columns = np.stack([evaluation, np.ones_like(evaluation)], axis=1)
    q, coefficients = (1 + outcome) / 2, np.array([2 * problem.scale, 0.0])
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


def make_problem(data: Dataset, parameters: Parameters, options: FitOptions, games: np.ndarray, phases: int,
                 scale: float) -> Problem:
    """The problem that these options pose, on these games."""
    stages, columns = parameters.weights.shape
    start = np.zeros((stages, columns + 1))
    start[:, :columns] = parameters.weights
    free = np.zeros(start.shape, np.bool_)
    free[:, :columns] = ~parameters.mask((*parameters.fixed, *options.fixed))
    if options.only:
        free[:, :columns] &= parameters.mask(options.only)
    free[:, columns] = options.intercept
    low, high = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    for name, (smallest, largest) in parameters.bounds:
        chosen = parameters.mask((name,))
        low[:, :columns][chosen], high[:, :columns][chosen] = smallest, largest
    mean, deviation = start.copy(), np.full(start.shape, options.prior_sd or np.inf)
    deviation[:, columns] = np.inf
    for name, (center, sd) in parameters.prior:
        chosen = parameters.mask((name,))
        deviation[:, :columns][chosen] = sd
        if center is not None:
            mean[:, :columns][chosen] = center
    # positions of a game are one observation of its outcome, so a prior counts against games, not positions
    precision = np.where(free, 1 / deviation**2, 0.0) / max(1, len(np.unique(data.game[games])))
    return Problem(data, games, phases, options.loss, scale, start, free, low, high, mean, precision)


def fit(data: Dataset, parameters: Parameters, layout: Layout, phases: int, options: FitOptions,
        watch: Callable[[dict], None] = lambda line: None, note: Callable[[str], None] = lambda text: None) -> FitResult:
    """Fit the free weights of these parameters to a dataset."""
    train, held = split_games(data, options.held_out, options.seed)
    if len(train) == 0:
        train, held = held, train
    problem = make_problem(data, parameters, options, train, phases, parameters.scale)
    scale = parameters.scale
    if options.fit_scale and parameters.weights.any():
        found = fit_scale(problem)
        if found is None:
            note(f"the starting values do not predict the results: scale stays at {scale:g}")
        else:
            scale = found
    problem = make_problem(data, parameters, options, train, phases, scale)
    held_out = problem.on(held) if len(held) else None
    record = Record(watch, held_out)
    weights = LEARNERS[options.learner](problem, options.learning, record)

    matrix = problem.gauss_newton(weights)
    gauge = find_gauge(problem, matrix, layout.places)
    weights = np.clip(gauge.restore(weights, problem.start), problem.low, problem.high)
    uncertainty = standard_errors(problem, weights, matrix, gauge) if options.errors else None
    columns = layout.size
    errors = uncertainty.standard_errors[:, :columns] if uncertainty else None
    never = int((problem.use[0].sum(axis=0) == 0).sum())
    return FitResult(
        parameters.with_weights(weights[:, :columns], scale=scale, standard_errors=errors), weights[:, columns],
        problem.start, len(train), problem.positions, len(held), held_out.positions if held_out else 0,
        problem.loss(problem.start), problem.loss(weights), held_out.loss(problem.start) if held_out else math.nan,
        held_out.loss(weights) if held_out else math.nan, gauge.dimension, never, uncertainty, record.history)


