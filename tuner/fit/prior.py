"""Gaussian priors on the weights, by empirical Bayes unless given, and slopes by phase.

Positions of one game share its result, so n positions carry as much information as n / design
effect independent ones; the loss is weighted down accordingly, so that a prior of 20 centipawns
means 20 centipawns. The automatic prior is empirical Bayes: every list or table, and the scalar
weights of each term together, have one standard deviation per stage around their starting values,
chosen to maximise the probability of the data (MacKay 1992, "Bayesian interpolation", equation
4.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.linalg import lapack

from tuner.datasets.dataset import Dataset
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import newton
from tuner.fit.problem import Problem
from tuner.fit.scale import outcomes_of, sampled_games, slope_of
from tuner.parameters.layout import Place

FIRST_SD = 100.0  # centipawns, until the design effect is known
SMALLEST_SD, LARGEST_SD = 0.5, 10_000.0
ROUNDS = (
    1e-3,
    1e-5,
)  # tolerances of the fits; the second is cheap because it starts where the first one ended
ENOUGH = 1 << 21  # positions to estimate the prior from
RUN = 500  # adjacent games read together
UPDATES = 5  # of the standard deviations between two fits


def design_effect(problem: Problem, weights: np.ndarray, matrix: np.ndarray) -> float:
    """Return how many positions of a game count as one: clustered over naive variance of the
    gradient, mean over weights."""
    information = np.diag(matrix) * problem.total_weight
    squares = problem.device.score_squares(problem.model, weights)
    chosen = problem.free.ravel() & (information > 0)
    return float((squares[chosen] / information[chosen]).mean()) if chosen.any() else 1.0


def prior_groups(places: Sequence[Place], allowed: np.ndarray) -> list[np.ndarray]:
    """Return groups of flat indices of the `allowed` weights (stages, columns + 1) that share a
    standard deviation."""
    stages, width = allowed.shape
    groups = []
    for stage in range(stages):
        singles: dict[str, list[int]] = {}
        for place in places:
            columns = range(place.first, place.first + place.size)
            if place.size == 1:
                singles.setdefault(place.term, []).extend(columns)
            else:
                groups.append(stage * width + np.array(columns))
        groups += [stage * width + np.array(columns) for columns in singles.values()]
    return [kept for group in groups if len(kept := group[allowed.ravel()[group]])]


def empirical_prior(
    problem: Problem, places: Sequence[Place], allowed: np.ndarray
) -> tuple[Problem, np.ndarray, np.ndarray]:
    """Return the problem with a prior for the `allowed` weights, weights to start from, and the
    Gauss-Newton matrix nearby.

    `problem.precision` is given for the other weights, as 1 / sd^2. In the result it is per
    position and multiplied by the design effect, which is stored there. Large datasets are sampled.
    """
    whole, problem = problem, problem.on(runs_of_games(problem))
    groups = prior_groups(places, allowed & problem.free)
    given = problem.precision.ravel()
    sd = [FIRST_SD] * len(groups)
    first = problem.positions / len(
        problem.model.groups[0]
    )  # as if the positions of a game counted as one
    current, weights = _with_prior(problem, groups, sd, given, first), problem.start
    matrix: np.ndarray | None = None
    for tolerance in ROUNDS:
        weights = newton(current, LearnerOptions(tolerance=tolerance), Record(), weights, matrix)
        if matrix is None:
            matrix = problem.gauss_newton(weights)
            effect = design_effect(problem, weights, matrix)
        if groups:
            sd = _updated(problem, weights, matrix, groups, sd, given, effect)
        current = _with_prior(problem, groups, sd, given, effect)
    assert matrix is not None, "the first round computes it"
    return _with_prior(whole, groups, sd, given, effect), weights, matrix


def runs_of_games(problem: Problem) -> np.ndarray:
    """Return all games, or runs of adjacent games, spread over the data, with about ENOUGH
    positions."""
    every = problem.positions // ENOUGH
    return (
        problem.games
        if every < 2
        else problem.games[np.arange(len(problem.games)) // RUN % every == 0]
    )


def _with_prior(
    problem: Problem, groups: list[np.ndarray], sd: list[float], given: np.ndarray, effect: float
) -> Problem:
    precision = given.copy()
    for group, deviation in zip(groups, sd, strict=True):
        precision[group] = deviation**-2
    return replace(
        problem,
        precision=(precision * effect / problem.total_weight).reshape(problem.start.shape),
        design_effect=effect,
    )


def _updated(
    problem: Problem,
    weights: np.ndarray,
    matrix: np.ndarray,
    groups: list[np.ndarray],
    sd: list[float],
    given: np.ndarray,
    effect: float,
) -> list[float]:
    """Return standard deviations that make the data more probable, by the quadratic model of the
    loss at these weights."""
    free = np.flatnonzero(problem.free.ravel())
    information = matrix[np.ix_(free, free)] * (problem.total_weight / effect)
    _, gradient = problem.loss_gradient(weights)
    mean = problem.mean.ravel()[free]
    pull = information @ (weights.ravel()[free] - mean) - gradient.ravel()[free] * (
        problem.total_weight / effect
    )
    place = np.full(problem.start.size, -1)
    place[free] = np.arange(len(free))
    members = [place[group] for group in groups]
    for _ in range(UPDATES):
        precision = given[free]
        for group, deviation in zip(members, sd, strict=True):
            precision[group] = deviation**-2
        posterior = information.copy()
        posterior[np.diag_indices(len(free))] += precision + 1e-12
        factor, failed = lapack.dpotrf(posterior, lower=1)
        if failed:  # neither data nor prior determine some direction
            posterior[np.diag_indices(len(free))] += 1e-9 * np.diag(information).max()
            factor, _ = lapack.dpotrf(posterior, lower=1)
        shift, _ = lapack.dpotrs(factor, pull, lower=1)
        inverse, _ = lapack.dpotri(factor, lower=1)
        variance = np.diag(inverse)
        sd = [
            _deviation(shift[group], variance[group], deviation)
            for group, deviation in zip(members, sd, strict=True)
        ]
    return sd


def _deviation(shift: np.ndarray, variance: np.ndarray, sd: float) -> float:
    determined = len(shift) - variance.sum() / sd**2  # how many of the weights the data determine
    if determined < 1e-3:
        return sd
    return float(np.clip(np.sqrt((shift**2).sum() / determined), SMALLEST_SD, LARGEST_SD))


FEWEST_GAMES = 200  # of a slope; phases with fewer share the games of the phases around them
LEAST, LARGEST = 0.02, 10.0  # slopes: evaluations hardly count where results do not follow them
SHOWN = 1.25  # ratio of the largest to the least slope that is reported


@dataclass(frozen=True, repr=False)
class SlopedDataset(Dataset):
    """A dataset in whose evaluations the phases have slopes: `slopes`, one for each step of the
    phase, from 0 on."""

    slopes: tuple[float, ...] = ()

    def shares(self, stages: int, scaled: bool = True) -> np.ndarray:
        """Return the shares (stages, codes) of the stages, multiplied by the slope of the
        position's phase."""
        return (
            super().shares(stages, scaled)
            * np.array(self.slopes)[self.phase_scale[:, 0].astype(np.int64)]
        )


def with_slopes(problem: Problem, slopes: np.ndarray) -> Problem:
    """Return the problem with a slope for each step of the phase, from 0 on."""
    arrays = {field.name: getattr(problem.data, field.name) for field in fields(Dataset)}
    return replace(
        problem, data=SlopedDataset(**arrays, slopes=tuple(float(slope) for slope in slopes))
    )


def fit_slopes(problem: Problem, scale: float) -> np.ndarray:
    """Return the slopes (phases + 1,) at which the starting evaluation predicts outcomes best in
    each phase, relative to `scale`. They are 1 if the starting weights are zero."""
    games = sampled_games(problem)
    evaluation, outcome, phase, game = outcomes_of(problem, games)
    slopes = np.ones(problem.data.phases + 1)
    for step in range(len(slopes)):
        for reach in range(len(slopes)):
            here = np.abs(phase - step) <= reach
            if len(np.unique(game[here])) >= min(FEWEST_GAMES, len(games)):
                found = slope_of(evaluation[here], outcome[here])
                slopes[step] = (
                    np.clip((found or 0.0) / scale, LEAST, LARGEST) if evaluation.any() else 1.0
                )
                break
    return slopes


def slope_lines(slopes: np.ndarray) -> list[str]:
    """Return notes about slopes by phase."""
    low, high = slopes.min(), slopes.max()
    if high < SHOWN * low:
        return []
    return [
        f"slopes by phase: results follow the starting evaluation {low:.2f} (phase"
        f" {slopes.argmin()}) to {high:.2f} (phase {slopes.argmax()}) times as steeply as the scale"
        " says; the fit takes that from them, not from the weights"
    ]
