"""TD(1) logistic regression from start to finish: split, scale, learn, hold what the data do not tell, measure errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tuner.dataset import Dataset
from tuner.gauge import find_gauge
from tuner.layout import Layout
from tuner.learners import LEARNERS
from tuner.learners.base import LearnerOptions, Record
from tuner.learners.newton import newton
from tuner.parameters import LARGEST_WEIGHT, Parameters
from tuner.prior import empirical_prior
from tuner.problem import Problem
from tuner.scale import fit_scale
from tuner.split import split_games
from tuner.uncertainty import Uncertainty, standard_errors


@dataclass(frozen=True)
class FitOptions:
    """How to fit. `prior` is for the weights whose file has none: found from the data ("auto"), a standard deviation in
    centipawns round the starting values, or None."""

    loss: str = "cross-entropy"
    learner: str = "newton"
    learning: LearnerOptions = field(default_factory=LearnerOptions)
    held_out: float = 0.1
    prior: float | str | None = "auto"
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
    design_effect: float
    uncertainty: Uncertainty | None
    history: list[dict]


def make_problem(data: Dataset, parameters: Parameters, options: FitOptions, games: np.ndarray, phases: int,
                 scale: float) -> Problem:
    """The problem that these options pose, on these games; its precision is 1 / sd^2, for `empirical_prior` to weigh."""
    stages, columns = parameters.weights.shape
    start = np.zeros((stages, columns + 1))
    start[:, :columns] = parameters.weights
    free = np.zeros(start.shape, np.bool_)
    free[:, :columns] = ~parameters.mask((*parameters.fixed, *options.fixed))
    if options.only:
        free[:, :columns] &= parameters.mask(options.only)
    free[:, columns] = options.intercept
    low, high = np.full(start.shape, -LARGEST_WEIGHT), np.full(start.shape, LARGEST_WEIGHT)
    low[:, :columns], high[:, :columns] = parameters.limits()
    mean, precision = start.copy(), np.zeros(start.shape)
    if isinstance(options.prior, (int, float)):
        precision[:, :columns] = options.prior**-2
    for name, (center, sd) in parameters.prior:
        chosen = parameters.mask((name,))
        precision[:, :columns][chosen] = sd**-2
        if center is not None:
            mean[:, :columns][chosen] = center
    return Problem(data, games, phases, options.loss, scale, start, free, low, high, mean, np.where(free, precision, 0.0))


def with_prior(problem: Problem, parameters: Parameters, layout: Layout, options: FitOptions):
    """See `empirical_prior`, for the weights for which neither the file nor an option says what to believe."""
    allowed = np.zeros(problem.free.shape, np.bool_)
    allowed[:, :-1] = options.prior == "auto" and ~parameters.mask(tuple(name for name, _ in parameters.prior))
    return empirical_prior(problem, layout.places, allowed)


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
    learn = LEARNERS[options.learner]
    if options.prior is not None or parameters.prior:
        problem, near, matrix = with_prior(problem, parameters, layout, options)
        if learn is newton:
            learn = partial(newton, start=near, matrix=matrix)
    held_out = problem.on(held) if len(held) else None
    record = Record(watch, held_out)
    inside = np.clip(problem.start, problem.low, problem.high)
    record(inside, problem.loss(inside) + problem.prior(inside))
    weights = learn(problem, options.learning, record)

    matrix = problem.gauss_newton(weights)
    gauge = find_gauge(problem, matrix, layout.places)
    weights = gauge.restore(problem, weights)
    uncertainty = standard_errors(problem, weights, matrix, gauge) if options.errors else None
    columns = layout.size
    errors = uncertainty.standard_errors[:, :columns] if uncertainty else None
    never = int((problem.use[0].sum(axis=0) == 0).sum())
    return FitResult(
        parameters.with_weights(weights[:, :columns], scale=scale, standard_errors=errors), weights[:, columns],
        problem.start, len(train), problem.positions, len(held), held_out.positions if held_out else 0,
        problem.loss(problem.start), problem.loss(weights), held_out.loss(problem.start) if held_out else math.nan,
        held_out.loss(weights) if held_out else math.nan, gauge.dimension, never, problem.design_effect, uncertainty,
        record.history)


