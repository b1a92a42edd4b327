"""A regression on outcomes, from start to finish: split, scale, learn, fix the null space, estimate
errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.writing import split_games
from tuner.fit.curvature import Curvature, curvature_of
from tuner.fit.errors import find_null_space, standard_errors, with_unused_kept
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import Record, objective_gradient
from tuner.fit.learners.solvers import newton, newton_step
from tuner.fit.noise import (
    OWN_REACH,
    PLAY,
    REACH,
    PlayStep,
    go_part_of_the_way,
    play_line,
    play_step,
    weights_that_step,
)
from tuner.fit.prior import fit_slopes, slope_lines, with_slopes
from tuner.fit.problem import Problem
from tuner.fit.result import Convergence, FitResult, learned, whole
from tuner.fit.scale import fit_scale, scale_lines
from tuner.fit.setup import FitOptions, make_problem, with_prior
from tuner.parameters.parameters import Parameters

WIDTHS = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)  # centipawns, of priors
SPLITS, SHARE = 4, 0.2  # of cross-validation
CONVERGED = 1e-5  # of the objective: the largest gain left to a converged fit


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
    note: Callable[[str], None] = lambda text: None,
    games: np.ndarray | None = None,
) -> FitResult:
    """Fit the free weights of these parameters to a dataset, or to some of its games, and return
    the result. Undiagnosed if only what is learned is known."""
    train, held = split_games(data, options.held_out, options.seed)
    if games is not None:
        train, held = (part[np.isin(part, games)] for part in (train, held))
    if len(train) == 0:
        train, held = held, train
    scale = parameters.scale
    problem = make_problem(data, parameters, options, train, scale)
    if options.fit_scale and parameters.weights.any():
        found = fit_scale(problem)
        for line in scale_lines(found, scale):
            note(line)
        if found is not None:
            scale = found.value
            problem = make_problem(data, parameters, options, train, scale)
    play = options.prior == PLAY
    if play:
        slopes = fit_slopes(problem, scale)
        problem = with_slopes(problem, slopes)
        for line in slope_lines(slopes):
            note(line)
    learn = LEARNERS[options.learner].minimise
    if options.prior is not None or parameters.prior:
        problem, near, matrix = with_prior(problem, parameters, options)
        if learn is newton:
            learn = partial(newton, start=near, matrix=matrix)
    held_out = problem.on(held) if len(held) else None
    record = Record(watch, held_out)
    inside = np.clip(problem.start, problem.low, problem.high)
    record(inside, problem.loss(inside) + problem.prior(inside))
    weights = learn(problem, options.learning, record)
    try:
        return _diagnosed(
            data, parameters, options, note, problem, held_out, weights, record, scale
        )
    except MemoryError as failure:
        if play:  # how far to go is not known
            raise
        weights, optimum, _ = whole(problem, weights, weights, None)
        file = learned(parameters, weights, optimum, None, scale)
        raise Undiagnosed(str(failure), file) from None


def _diagnosed(
    data: Dataset,
    parameters: Parameters,
    options: FitOptions,
    note: Callable[[str], None],
    problem: Problem,
    held_out: Problem | None,
    weights: np.ndarray,
    record: Record,
    scale: float,
) -> FitResult:
    """Return the result of a fit that learned these weights, with their errors; with `--prior play`
    on the part of the way to them."""
    play = options.prior == PLAY
    curvature = curvature_of(problem, weights)
    convergence = convergence_of(problem, weights, curvature, parameters.wording.unit)
    null_space = find_null_space(problem, curvature, data.layout.places)
    undecided = null_space.under(problem)
    weights = undecided.restore(problem, weights)
    weights = with_unused_kept(problem, weights, curvature.diagonal())
    uncertainty = (
        standard_errors(problem, weights, curvature, undecided) if options.errors or play else None
    )
    step, optimum = None, weights
    if play and uncertainty:
        part = weights_that_step(parameters, weights.shape)
        step = play_step(
            problem,
            weights,
            curvature,
            uncertainty,
            part,
            options.centipawn_at(scale),
            OWN_REACH if options.own_results else REACH,
        )
        note(play_line(step, parameters.wording.unit))
        weights, optimum, uncertainty = go_part_of_the_way(
            problem, weights, uncertainty, part, step.share
        )
    weights, optimum, uncertainty = whole(problem, weights, optimum, uncertainty)
    if (
        problem.objective.widths and options.fit_scale
    ):  # the scale for readers who do not model draws
        found = fit_scale(replace(problem, start=weights))
        scale = found.value if found else scale
    return FitResult(
        learned(parameters, weights, optimum, uncertainty, scale),
        problem,
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


def at_share(result: FitResult, start: Parameters, share: float) -> FitResult:
    """Return the result of `--prior play` from these parameters at another share of the way."""
    assert result.step is not None and result.uncertainty is not None, "there is a way"
    problem, ratio = result.problem, share / result.share
    weights, _, noise = go_part_of_the_way(
        problem,
        result.weights,
        result.uncertainty,
        weights_that_step(start, result.weights.shape),
        ratio,
    )
    weights, optimum, uncertainty = whole(problem, weights, result.optimum, noise)
    return replace(
        result,
        parameters=learned(start, weights, optimum, uncertainty, result.parameters.scale),
        weights=weights,
        optimum=optimum,
        uncertainty=uncertainty,
        step=PlayStep(share, result.step.change * ratio),
    )


def convergence_of(
    problem: Problem, weights: np.ndarray, curvature: Curvature, unit: str
) -> Convergence:
    """Return whether a fit converged, measured by the gain of one more Newton step."""
    value, gradient = objective_gradient(problem, weights)
    step, gain = newton_step(problem, weights, gradient, curvature)
    moving = step != 0
    norm = float(np.linalg.norm(gradient[moving]))
    if gain <= CONVERGED * value:
        return Convergence(True, norm)
    return Convergence(
        False,
        norm,
        f"one more Newton step would lower the objective by {gain:.2g} and move a weight by up to "
        f"{np.abs(step).max():.1f} {unit}",
    )


def choose_prior(
    data: Dataset,
    parameters: Parameters,
    options: FitOptions,
    watch: Callable[[str], None] = lambda text: None,
) -> tuple[float, dict[float, float]]:
    """Return the width of the prior in centipawns that predicts held-out games best, and the mean
    held-out loss of each width.

    Games are split several times, by whole openings; the games that `options` hold out are not
    used."""
    inside, _ = split_games(data, options.held_out, options.seed)
    losses: dict[float, float] = {}
    for width in WIDTHS:
        watch(f"prior of {width:g} {parameters.wording.unit}")
        found = []
        for number in range(SPLITS):
            trial = replace(
                options,
                prior=width,
                held_out=SHARE,
                seed=options.seed * 1000 + number + 1,
                errors=False,
            )
            result = fit(data, parameters, trial, games=inside)
            if result.held_out is None:
                raise InputError(
                    f"--prior cv: {len(inside)} games are too few to split; name a width, such as"
                    " --prior 50"
                )
            found.append(result.held_out_after)
        losses[width] = float(np.mean(found))
    return min(losses, key=lambda width: losses[width]), losses
