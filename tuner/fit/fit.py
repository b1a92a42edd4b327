"""A fit: split, scale, slopes, prior, learn, curvature, null space, errors, step, result."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.datasets.writing import split_games
from tuner.fit.datafit import Datafit
from tuner.fit.errors import errors_at_bounds, standard_errors
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import Learn, Record
from tuner.fit.learners.solvers import convergence_of, newton
from tuner.fit.noise import PLAY, go_part_of_the_way, play_line, play_step, weights_that_step
from tuner.fit.null_space import find_null_space, with_unused_kept
from tuner.fit.problem import Problem
from tuner.fit.result import FitResult, Undiagnosed, learned, whole
from tuner.fit.scale import fit_scale, fit_slopes, scale_lines, slope_lines, with_slopes
from tuner.fit.setup import FitOptions, Note, make_problem, with_prior
from tuner.parameters.parameters import Parameters


def fit(
    data: Dataset,
    parameters: Parameters,
    options: FitOptions,
    watch: Callable[[dict], None] = lambda line: None,
    note: Note = lambda text: None,
    games: np.ndarray | None = None,
) -> FitResult:
    """Fit the free weights of these parameters to a dataset, or to some of its games, and return
    the result. Undiagnosed if only what is learned is known."""
    inside = np.arange(data.games) if games is None else games
    both = split_games(data, options.held_out, options.seed)
    train, held = (part[np.isin(part, inside)] for part in both)
    if len(train) == 0:
        train, held = held, train
    problem, scale = _scaled(data, parameters, options, train, note)
    if options.prior == PLAY:
        problem = _sloped(problem, scale, note)
    problem, learn = _with_prior(problem, parameters, options)
    datafit = problem.datafit
    held_out = datafit.regression.on(held) if len(held) else None
    record = Record(watch, held_out if datafit.has_value else None)
    record(problem.inside, problem.residual(problem.inside)[0])
    weights = learn(problem, options.learning, record)
    try:
        return _diagnosed(parameters, options, note, problem, held_out, weights, record, scale)
    except MemoryError as failure:
        if options.prior == PLAY:  # how far to go is not known
            raise
        weights = datafit.ties.expand(weights)
        file = learned(parameters, weights, weights, None, scale)
        raise Undiagnosed(str(failure), file) from None


def _scaled(
    data: Dataset, parameters: Parameters, options: FitOptions, games: np.ndarray, note: Note
) -> tuple[Problem, float]:
    """Return the problem on these games at the scale that fits them, and that scale."""
    problem = make_problem(data, parameters, options, games, parameters.scale)
    if not (options.fit_scale and parameters.weights.any()):
        return problem, parameters.scale
    fitted = fit_scale(problem)
    for line in scale_lines(fitted, parameters.scale):
        note(line)
    scale = fitted.value if fitted else parameters.scale
    return make_problem(data, parameters, options, games, scale), scale


def _sloped(problem: Problem, scale: float, note: Note) -> Problem:
    """Return the problem with the slopes by phase that fit it."""
    slopes = fit_slopes(problem, scale)
    for line in slope_lines(slopes):
        note(line)
    return replace(problem, datafit=with_slopes(problem.datafit, slopes))


def _with_prior(
    problem: Problem, parameters: Parameters, options: FitOptions
) -> tuple[Problem, Learn]:
    """Return the problem with its prior, chosen by the regression, and what learns its weights."""
    learn = LEARNERS[options.learner].learns(problem.datafit.has_value)
    if options.prior is None and not parameters.prior:
        return problem, learn
    regression = replace(problem, datafit=problem.datafit.regression)
    found, near, matrix = with_prior(regression, parameters, options)
    if learn is newton:
        learn = partial(newton, start=near, matrix=matrix)
    return replace(problem, penalty=found.penalty), learn


def _diagnosed(
    parameters: Parameters,
    options: FitOptions,
    note: Note,
    problem: Problem,
    held_out: Datafit | None,
    weights: np.ndarray,
    record: Record,
    scale: float,
) -> FitResult:
    """Return the result of a fit that learned these weights: with errors, part of the way."""
    datafit, wording, play = problem.datafit, parameters.wording, options.prior == PLAY
    regression = replace(problem, datafit=datafit.regression)
    curvature = regression.datafit.curvature(weights)
    slope = curvature if datafit.slope_is_curvature else datafit.slope(weights)
    convergence = convergence_of(problem, weights, slope, wording.unit)
    null_space = find_null_space(regression, weights, curvature, datafit.data.layout.places)
    undecided = null_space.under(problem)
    weights = with_unused_kept(problem, undecided.restore(problem, weights), curvature.diagonal())
    uncertainty = None
    if options.errors or play:
        uncertainty = standard_errors(problem, weights, slope, undecided)
        if convergence.held.any():
            held = convergence.held
            uncertainty = errors_at_bounds(problem, weights, curvature, slope, held, uncertainty)
    step, optimum = None, weights
    if play and uncertainty:
        part = weights_that_step(parameters, weights.shape)
        step = play_step(problem, weights, curvature, uncertainty, part, *options.step_at(scale))
        note(play_line(step, wording.unit))
        weights, optimum, uncertainty = go_part_of_the_way(
            problem, weights, uncertainty, part, step.share
        )
    if uncertainty and not convergence.converged:
        unknown = np.where(problem.free, np.nan, 0.0)
        uncertainty = replace(uncertainty, standard_errors=unknown)
    weights, optimum, uncertainty = whole(datafit.ties, weights, optimum, uncertainty)
    if datafit.objective.widths and options.fit_scale:  # for readers who do not model draws
        of_score = fit_scale(replace(problem, start=weights))
        scale = of_score.value if of_score else scale
    return FitResult(
        learned(parameters, weights, optimum, uncertainty, scale),
        regression,
        held_out,
        weights,
        curvature,
        null_space,
        uncertainty,
        record.history,
        convergence,
        optimum,
        step,
    )
