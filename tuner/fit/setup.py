"""The options of a fit, and the problem that it solves."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from games.record import USUAL_SCALE
from games.streams import InputError
from tuner.datasets.dataset import Dataset, ahead, ranges_of, size_of
from tuner.fit.curvature import Curvature
from tuner.fit.datafit import Datafit
from tuner.fit.device.base import Device
from tuner.fit.device.cpu.device import CPU
from tuner.fit.learners.base import LearnerOptions
from tuner.fit.noise import OWN_REACH, REACH
from tuner.fit.penalty import Independent
from tuner.fit.prior import empirical_prior
from tuner.fit.problem import Problem
from tuner.fit.ties import free_leaders, ties_of
from tuner.objectives.table import OBJECTIVES
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters

Note = Callable[[str], None]  # what a fit says while it goes on


@dataclass(frozen=True)
class FitOptions:
    """The options of a fit. `prior` is for weights that have none in their file: estimated from the
    data ("auto"), the same with a step that is best for play ("play", see `tuner.fit.noise`), a
    standard deviation around the starting values in centipawns of the evaluation, see
    `tuner.fit.prior`, or None. `own_results`: all games
    are those of similar values against themselves, which "play" can trust more. `centipawn`: how
    many centipawns of `classic`, for which "play" was measured, one of the evaluation is worth;
    None: as many as make the same value at the scale of the fit."""

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
    own_results: bool = False
    device: Device = CPU
    # makes the datafit, such as that of choices, of the arguments of the regression on outcomes
    datafit: Callable[..., Datafit] = Datafit
    # called with the positions done in a pass, and all of them
    progress: Callable[[int, int], None] = lambda done, total: None
    centipawn: float | None = None

    def step_at(self, scale: float) -> tuple[float, float]:
        """Return `centipawn` for a fit of this scale, and the length of the step of "play" in
        centipawns of `classic`, see `tuner.fit.noise`."""
        return self.centipawn or scale / USUAL_SCALE, OWN_REACH if self.own_results else REACH


def make_problem(
    data: Dataset, parameters: Parameters, options: FitOptions, games: np.ndarray, scale: float
) -> Problem:
    """Return the problem of these options on these games. Its precision is 1 / sd^2, before
    `empirical_prior` weights it. If the loss models draws, the scale is increased, so that the
    expected score stays as steep as with the given scale."""
    stages, columns = parameters.weights.shape
    data = data.staged(replace(parameters.staging, phases=data.phases))
    objective = OBJECTIVES[options.loss]
    start = np.zeros((stages, columns + 1 + objective.widths))
    start[:, :columns] = parameters.weights
    free = np.zeros(start.shape, np.bool_)
    free[:, :columns] = ~parameters.mask((*parameters.fixed, *options.fixed))
    if options.only:
        free[:, :columns] &= parameters.mask(options.only)
    leaders = np.arange(start.size).reshape(start.shape)
    leaders[:, :columns] = leaders[:, :columns].ravel()[parameters.leaders()]
    free = free_leaders(free, leaders)
    free[:, columns] = options.intercept
    low, high = np.full(start.shape, -LARGEST_WEIGHT), np.full(start.shape, LARGEST_WEIGHT)
    low[:, :columns], high[:, :columns] = parameters.limits()
    mean, precision = start.copy(), np.zeros(start.shape)
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
    datafit = options.datafit(
        data,
        games,
        objective,
        scale,
        free=free,
        progress=options.progress,
        device=options.device,
        ties=ties_of(leaders),
    )
    penalty = Independent(mean, np.where(free, precision, 0.0).ravel())
    return Problem(datafit, penalty, start, low, high)


def _share_of_draws(data: Dataset, games: np.ndarray) -> float:
    """Return the share of draws among the positions of these games; InputError if it is 0 or 1."""
    ranges = ranges_of(data, games)
    drawn = 0.0
    for piece in ahead(data, ranges, ("outcome",)):
        drawn += sum(
            float((1 - np.abs(data.outcome[low:high])).sum(dtype=np.float64)) for low, high in piece
        )
        data.release()
    share = drawn / max(size_of(ranges), 1)
    if not 0 < share < 1:
        raise InputError(
            f"{'none' if share == 0 else 'every one'} of the games is drawn: a loss that models"
            " draws needs both drawn and decided games; leave out --loss"
        )
    return share


def with_prior(
    problem: Problem, parameters: Parameters, options: FitOptions
) -> tuple[Problem, np.ndarray, Curvature]:
    """Call `empirical_prior` for the weights that have no prior in the file."""
    allowed = np.zeros(problem.free.shape, np.bool_)
    allowed[:, : problem.datafit.data.columns] = options.prior is not None and ~parameters.mask(
        tuple(name for name, _ in parameters.prior)
    )
    width = options.prior if isinstance(options.prior, (int, float)) else None
    return empirical_prior(problem, problem.datafit.data.layout.places, allowed, width)
