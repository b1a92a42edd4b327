"""A fit, from start to finish: split, scale, slopes, prior, learn, curvature, null space, errors,
step, result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.datasets.writing import split_games
from tuner.fit.curvature import Curvature
from tuner.fit.datafit import Datafit
from tuner.fit.errors import errors_at_bounds, standard_errors
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import Learn, Record
from tuner.fit.learners.solvers import newton, newton_step
from tuner.fit.noise import PLAY, go_part_of_the_way, play_line, play_step, weights_that_step
from tuner.fit.null_space import find_null_space, with_unused_kept
from tuner.fit.problem import Problem
from tuner.fit.result import Convergence, FitResult, learned, whole
from tuner.fit.scale import fit_scale, scale_lines
from tuner.fit.setup import FitOptions, make_problem, with_prior
from tuner.fit.slopes import fit_slopes, slope_lines, with_slopes
from tuner.parameters.parameters import Parameters

CONVERGED = 1e-5  # of the objective: the largest gain left to a converged fit
SOLVED = 0.1  # centipawns of a Newton step, at most, after an equation is solved

Note = Callable[[str], None]


class Undiagnosed(MemoryError):
    """There is too little memory for the errors of a fit; `parameters` are what was learned."""

    def __init__(self, text: str, parameters: Parameters) -> None:
        super().__init__(text)
        self.parameters = parameters


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
    train, held = split_games(data, options.held_out, options.seed)
    if games is not None:
        train, held = (part[np.isin(part, games)] for part in (train, held))
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
        weights, optimum, _ = whole(datafit.ties, weights, weights, None)
        file = learned(parameters, weights, optimum, None, scale)
        raise Undiagnosed(str(failure), file) from None


def _scaled(
    data: Dataset, parameters: Parameters, options: FitOptions, games: np.ndarray, note: Note
) -> tuple[Problem, float]:
    """Return the problem on these games at the scale that fits them, and that scale."""
    problem = make_problem(data, parameters, options, games, parameters.scale)
    if not (options.fit_scale and parameters.weights.any()):
        return problem, parameters.scale
    found = fit_scale(problem)
    for line in scale_lines(found, parameters.scale):
        note(line)
    if found is None:
        return problem, parameters.scale
    return make_problem(data, parameters, options, games, found.value), found.value


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
    assert learn is not None, "the method allows learners that can solve it"
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
    """Return the result of a fit that learned these weights, with their errors; with `--prior play`
    on the part of the way to them."""
    datafit, wording, play = problem.datafit, parameters.wording, options.prior == PLAY
    regression = replace(problem, datafit=datafit.regression)
    slope = datafit.slope(weights)
    curvature = slope if datafit.has_value else regression.datafit.curvature(weights)
    convergence = convergence_of(problem, weights, slope, wording.unit)
    null_space = find_null_space(regression, weights, curvature, datafit.data.layout.places)
    undecided = null_space.under(problem)
    weights = undecided.restore(problem, weights)
    weights = with_unused_kept(problem, weights, curvature.diagonal())
    uncertainty = None
    if options.errors or play:
        uncertainty = standard_errors(problem, weights, slope, undecided)
        if convergence.held.any():
            found = convergence.held, uncertainty
            uncertainty = errors_at_bounds(regression, problem, weights, curvature, slope, *found)
    step, optimum = None, weights
    if play and uncertainty:
        part = weights_that_step(parameters, weights.shape)
        centipawn, reach = options.centipawn_at(scale), options.reach
        step = play_step(problem, weights, curvature, uncertainty, part, centipawn, reach)
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
