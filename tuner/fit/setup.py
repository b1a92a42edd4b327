"""Make the problem of a fit from parameters and options."""

from __future__ import annotations

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.ranges import ahead, ranges_of
from tuner.fit.options import FitOptions
from tuner.fit.play_prior import PLAY
from tuner.fit.prior import empirical_prior
from tuner.fit.problem import Problem
from tuner.objectives.table import OBJECTIVES
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters


def make_problem(data: Dataset, parameters: Parameters, options: FitOptions, games: np.ndarray, scale: float) -> Problem:
    """Return the problem of these options on these games. Its precision is 1 / sd^2, before `empirical_prior` weights it. If
    the loss models draws, the scale is increased, so that the expected score stays as steep as with the given scale."""
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
    return Problem(data, games, objective, scale, start, free, low, high, mean, np.where(free, precision, 0.0),
                   device=options.device, progress=options.progress)


def _share_of_draws(data: Dataset, games: np.ndarray) -> float:
    """Return the share of draws among the positions of these games; InputError if it is 0 or 1."""
    ranges = ranges_of(data, games)
    drawn = 0.0
    for piece in ahead(data, ranges, ("outcome",)):
        drawn += sum(float((1 - np.abs(data.outcome[low:high])).sum(dtype=np.float64)) for low, high in piece)
        data.release()
    share = drawn / max(int((ranges[:, 1] - ranges[:, 0]).sum()), 1)
    if not 0 < share < 1:
        raise InputError(f"{'none' if share == 0 else 'every one'} of the games is drawn: a loss that models draws needs both "
                         "drawn and decided games; leave out --loss")
    return share


def with_prior(problem: Problem, parameters: Parameters, options: FitOptions) -> tuple[Problem, np.ndarray, np.ndarray]:
    """Call `empirical_prior` for the weights that have no prior in the file or by an option."""
    allowed = np.zeros(problem.free.shape, np.bool_)
    allowed[:, :problem.data.columns] = options.prior in ("auto", PLAY) and ~parameters.mask(
        tuple(name for name, _ in parameters.prior))
    return empirical_prior(problem, problem.data.layout.places, allowed)
