"""TD(1) logistic regression from start to finish: split, scale, learn, hold what the data do not tell, measure errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.ranges import ahead, ranges_of
from tuner.datasets.split import split_games
from tuner.device.base import Device
from tuner.device.cpu.device import CPU
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import LearnerOptions, Record, objective_gradient
from tuner.fit.learners.newton import newton, newton_step
from tuner.fit.null_space import Gauge, find_gauge
from tuner.fit.prior import empirical_prior
from tuner.fit.problem import Problem
from tuner.fit.scale import fit_scale, scale_lines
from tuner.fit.standard_errors import Uncertainty, standard_errors
from tuner.objectives.table import DRAW_MODELS, OBJECTIVES
from tuner.parameters.layout import Layout
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters

DRAWS = "draws"  # of the losses: the better one of the draw models
CONVERGED = 1e-5  # of the objective: what a converged fit may still have to gain


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
    device: Device = CPU
    progress: Callable[[int, int], None] = lambda done, total: None  # of a pass, in positions


class Convergence(NamedTuple):
    """Whether a fit came to its end: the norm of the gradient of the objective (loss a position and prior, by weights in
    centipawns; of an equation what is left of it), and what remains, in words, where it did not."""

    converged: bool
    gradient_norm: float
    remains: str = ""


@dataclass(frozen=True)
class FitResult:
    """What a fit found: learned `parameters`; the `problem` on the games learned from, with its prior, and on those `held_out`;
    `weights` (stages, columns + 1, or 2 with the width of a draw), the Gauss-Newton `matrix` there, and what holds its null
    directions. Losses are means per position; held-out ones are NaN without held-out games."""

    parameters: Parameters
    problem: Problem
    held_out: Problem | None
    weights: np.ndarray
    matrix: np.ndarray
    gauge: Gauge
    uncertainty: Uncertainty | None
    history: list[dict]
    convergence: Convergence

    @property
    def intercept(self) -> np.ndarray:
        return self.weights[:, self.problem.data.columns]

    @property
    def width(self) -> np.ndarray | None:
        """(stages,) of a draw, in centipawns, if it is an outcome of its own."""
        return self.weights[:, -1] if self.problem.objective.widths else None

    @property
    def games(self) -> int:
        return len(self.problem.games)

    @property
    def positions(self) -> int:
        return self.problem.positions

    @property
    def held_out_games(self) -> int:
        return len(self.held_out.games) if self.held_out else 0

    @property
    def held_out_positions(self) -> int:
        return self.held_out.positions if self.held_out else 0

    @cached_property
    def loss_before(self) -> float:
        return self.problem.loss(self.problem.start)

    @cached_property
    def loss_after(self) -> float:
        return self.problem.loss(self.weights)

    @cached_property
    def held_out_before(self) -> float:
        return self.held_out.loss(self.problem.start) if self.held_out else math.nan

    @cached_property
    def held_out_after(self) -> float:
        return self.held_out.loss(self.weights) if self.held_out else math.nan

    @property
    def null_directions(self) -> int:
        return self.gauge.dimension

    @cached_property
    def never_applied(self) -> int:
        return int((self.problem.use[0].sum(axis=0) == 0).sum())

    @property
    def design_effect(self) -> float:
        return self.problem.design_effect


def make_problem(data: Dataset, parameters: Parameters, options: FitOptions, games: np.ndarray, phases: int,
                 scale: float) -> Problem:
    """The problem that these options pose, on these games; its precision is 1 / sd^2, for `empirical_prior` to weigh. With
    draws as an outcome of their own the scale grows, so that expected scores stay as steep as the given one makes them."""
    stages, columns = parameters.weights.shape
    objective = OBJECTIVES[options.loss]
    start = np.zeros((stages, columns + 1 + objective.widths))
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
    if objective.start:
        width, growth = objective.start(_share_of_draws(data, games))
        scale *= growth
        start[:, -1], free[:, -1] = width / (2 * scale), True
        low[:, -1] = np.maximum(low[:, -1], objective.narrowest / (2 * scale))
    return Problem(data, games, phases, objective, scale, start, free, low, high, mean, np.where(free, precision, 0.0),
                   device=options.device, progress=options.progress)


def _share_of_draws(data: Dataset, games: np.ndarray) -> float:
    """Of the positions of these games; InputError if there are none, or nothing else."""
    ranges = ranges_of(data, games)
    drawn = 0.0
    for piece in ahead(data, ranges, ("outcome",)):
        drawn += sum(float((1 - np.abs(data.outcome[low:high])).sum(dtype=np.float64)) for low, high in piece)
        data.release()
    share = drawn / max(int((ranges[:, 1] - ranges[:, 0]).sum()), 1)
    if not 0 < share < 1:
        raise InputError(f"{'none' if share == 0 else 'every one'} of the games is drawn: draws as an outcome of their own need "
                         "both kinds; leave out --loss")
    return share


def with_prior(problem: Problem, parameters: Parameters, layout: Layout, options: FitOptions):
    """See `empirical_prior`, for the weights for which neither the file nor an option says what to believe."""
    allowed = np.zeros(problem.free.shape, np.bool_)
    allowed[:, :problem.data.columns] = options.prior == "auto" and ~parameters.mask(tuple(name for name, _ in parameters.prior))
    return empirical_prior(problem, layout.places, allowed)


def fit(data: Dataset, parameters: Parameters, layout: Layout, phases: int, options: FitOptions,
        watch: Callable[[dict], None] = lambda line: None, note: Callable[[str], None] = lambda text: None,
        games: np.ndarray | None = None) -> FitResult:
    """Fit the free weights of these parameters to a dataset, or to some of its games."""
    train, held = split_games(data, options.held_out, options.seed)
    if games is not None:
        train, held = (part[np.isin(part, games)] for part in (train, held))
    if len(train) == 0:
        train, held = held, train
    scale = parameters.scale
    problem = make_problem(data, parameters, options, train, phases, scale)
    if options.fit_scale and parameters.weights.any():
        found = fit_scale(problem)
        for line in scale_lines(found, scale):
            note(line)
        if found is not None:
            scale = found.value
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
    convergence = convergence_of(problem, weights, matrix)
    gauge = find_gauge(problem, matrix, layout.places)
    weights = gauge.restore(problem, weights)
    uncertainty = standard_errors(problem, weights, matrix, gauge) if options.errors else None
    if problem.objective.widths and options.fit_scale:  # what a centipawn means to a reader without draws
        found = fit_scale(replace(problem, start=weights))
        scale = found.value if found else scale
    return FitResult(learned(parameters, weights, uncertainty, scale), problem, held_out, weights, matrix, gauge, uncertainty,
                     record.history, convergence)


def convergence_of(problem: Problem, weights: np.ndarray, matrix: np.ndarray) -> Convergence:
    """By what one more step of Newton's method would gain, whoever the learner was and however it stopped."""
    value, gradient = objective_gradient(problem, weights)
    step, gain = newton_step(problem, weights, gradient, matrix)
    moving = step != 0
    norm = float(np.linalg.norm(gradient[moving]))
    if gain <= CONVERGED * value:
        return Convergence(True, norm)
    return Convergence(False, norm, f"one more Newton step would lower the objective by {gain:.2g} and move a weight by up to "
                                    f"{np.abs(step).max():.1f} centipawns")


def learned(parameters: Parameters, weights: np.ndarray, uncertainty: Uncertainty | None, scale: float) -> Parameters:
    """The parameters with weights (stages, columns + 1 or more) that a fit has found, and their errors."""
    columns = parameters.weights.shape[1]
    errors = uncertainty.standard_errors[:, :columns] if uncertainty else None
    return parameters.with_weights(weights[:, :columns], scale=scale, standard_errors=errors)


def best_fit(data: Dataset, parameters: Parameters, layout: Layout, phases: int, options: FitOptions,
             watch: Callable[[dict], None] = lambda line: None, note: Callable[[str], None] = lambda text: None) -> FitResult:
    """As `fit`; for the loss "draws", by that model of them under which the held-out games are most probable."""
    if options.loss != DRAWS:
        return fit(data, parameters, layout, phases, options, watch, note)
    found = {model: fit(data, parameters, layout, phases, replace(options, loss=model), watch) for model in DRAW_MODELS}
    if not all(result.held_out for result in found.values()):
        raise InputError("--loss draws: chooses by held-out games, and there are none; name ordered or davidson")
    best = min(found, key=lambda model: found[model].held_out_after)
    losses = ", ".join(f"{model} {result.held_out_after:.5f}" for model, result in found.items())
    note(f"log loss of the held-out games: {losses}; chosen: {best}")
    return found[best]
