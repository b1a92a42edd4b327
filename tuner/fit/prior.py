"""Gaussian priors on the weights, and slopes by phase.

Positions of one game share its result, so n positions carry as much information as n / design
effect independent ones; the loss is weighted down accordingly, so that a prior of 20 centipawns
means 20 centipawns.

The weights of a list or table are correlated: neighbors, and the stages of one weight. Widths are
those of what a weight adds to the evaluation where it applies. Form and, unless given, width of
each list and table, and of the single weights of each term together, are those that make the data
most probable, the remaining weights integrated out (empirical Bayes: MacKay 1992, "Bayesian
interpolation"; smooth covariances: Rasmussen and Williams 2006, "Gaussian processes for machine
learning", sections 4.2 and 5.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, lapack

from tuner.datasets.dataset import Dataset
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import SAMPLE, newton, sample_ranges
from tuner.fit.noise import coefficients, sample_places
from tuner.fit.problem import Problem
from tuner.fit.scale import outcomes_of, sampled_games, slope_of
from tuner.parameters.parameters import Place

WIDTHS = np.geomspace(0.5, 10_000, 101)  # centipawns, from which empirical Bayes chooses
# centipawns that changes usually have, and the standard deviation of the logarithm of the widths of
# lists: games that say nothing about a width leave it at the usual one, not at the least
USUAL_SD, SPREAD = 20.0, 1.5
# tolerances of the fits between choices of the widths. The first choice is made at the start: at
# weights fitted without a prior, residuals of few games are too small, and widths were three times
# too large. After ten choices in place of two, held-out games were predicted worse
ROUNDS = (1e-3, 1e-5)
ENOUGH = 1 << 21  # positions to estimate the prior from
RUN = 500  # adjacent games read together
MIN_APPLIES = 10  # sampled positions that a weight applies to, for a unit of its own
LEAST_UNIT = 0.25  # of an evaluation per weight: no prior is wider than four times its width
BOARDS = {64: 8, 81: 9}  # squares, and ranks
# log odds for another form than the first: with 3, and the evidence at a width of 20, weights from
# the results of 3,000 games lost 59 Elo where the first form lost 15
CLEAR = 10.0


class Smoothness(NamedTuple):
    """Prior correlations in a list or table: near * exp(-d^2 / (2 length^2)) for weights d squares
    or indices apart, and `stages` between adjacent stages of one weight. `mirrored`: the
    left half of a board is near to the right half, as if folded."""

    near: float
    length: float
    stages: float
    mirrored: bool = False


FORMS = (
    Smoothness(0.95, 2.0, 0.5, mirrored=True),
    Smoothness(0.95, 2.0, 0.5),
    Smoothness(0.0, 1.0, 0.5),
)


@dataclass(frozen=True)
class Block:
    """Weights that are correlated with one another only: flat `indices` (n,) of the weights
    (stages, columns + 1), squared `distances` (2, n, n), infinite where unrelated, as they are and
    on a folded board, `stages` (n, n) between them, and `units` (n,): what one of the weight is
    worth in the evaluation."""

    indices: np.ndarray
    distances: np.ndarray
    stages: np.ndarray
    units: np.ndarray

    def covariance(self, form: Smoothness) -> np.ndarray:
        """Return the covariance (n, n) for a width of 1."""
        found = form.near * np.exp(
            -self.distances[int(form.mirrored)] / (2 * form.length**2), dtype=np.float64
        )
        found += (1 - form.near) * (self.distances[0] == 0)
        found *= form.stages**self.stages
        found /= np.outer(self.units, self.units)
        return found

    def factors(self, form: Smoothness) -> tuple[np.ndarray, np.ndarray]:
        """Return a square root (n, n) of the covariance, and its inverse (n, n)."""
        if form not in self._factors:
            half = np.linalg.cholesky(self.covariance(form))
            self._factors[form] = half, inverse_by(np.array(half, order="F"))
        return self._factors[form]

    @cached_property
    def _factors(self) -> dict[Smoothness, tuple[np.ndarray, np.ndarray]]:
        return {}


class BlockPrior(NamedTuple):
    """The prior of a block: its standard deviation in centipawns of evaluation, and its form."""

    sd: float
    form: Smoothness


def design_effect(problem: Problem, weights: np.ndarray, matrix: np.ndarray) -> float:
    """Return how many positions of a game count as one: clustered over naive variance of the
    gradient, mean over weights; 1 if nothing varies."""
    information = np.diag(matrix) * problem.total_weight
    squares = problem.device.score_squares(problem.model, weights)
    chosen = problem.free.ravel() & (information > 0)
    return float((squares[chosen] / information[chosen]).mean() if chosen.any() else 1.0) or 1.0


def prior_blocks(places: Sequence[Place], allowed: np.ndarray, units: np.ndarray) -> list[Block]:
    """Return the blocks of the `allowed` weights (stages, columns + 1): each list or table, and the
    single weights of each term, which are not related. `units` (columns,)."""
    stages, width = allowed.shape
    found: list[tuple[np.ndarray, np.ndarray]] = []
    singles: dict[str, list[int]] = {}
    for place in places:
        if place.size == 1:
            singles.setdefault(place.term, []).append(place.first)
        else:
            found.append((place.first + np.arange(place.size), squared_distances(place.shape)))
    found += [
        (
            np.array(columns),
            np.where(np.eye(len(columns)), np.float32(0), np.full((2, 1, 1), np.inf, np.float32)),
        )
        for columns in singles.values()
    ]
    blocks = []
    for columns, distances in found:
        stage, column = (part.ravel() for part in np.indices((stages, len(columns))))
        indices = stage * width + columns[column]
        kept = np.flatnonzero(allowed.ravel()[indices])
        if len(kept):
            stage, column = stage[kept], column[kept]
            blocks.append(
                Block(
                    indices[kept],
                    distances[:, column[:, None], column],
                    np.abs(stage[:, None] - stage).astype(np.int8),
                    units[columns[column]],
                )
            )
    return blocks


def squared_distances(shape: tuple[int, ...]) -> np.ndarray:
    """Return the squared distances (2, n, n) of the numbers of a list, or of a table of squares:
    the last two indices if they are about equally long, or a last one of 64 or 81 numbers; as they
    are, and with the right half of a whole board folded over the left one. Remaining indices name
    kinds of things, which are not related: infinity."""
    side = BOARDS.get(shape[-1])
    shape = (*shape[:-1], side, side) if side else shape
    axes = 2 if len(shape) > 1 and 2 * min(shape[-2:]) >= max(shape[-2:]) else 1
    found = []
    for folded in (False, True):
        at = np.indices(shape).reshape(len(shape), -1)
        files = shape[-2] if axes == 2 else 0  # of boards, and of tables of 8 x 16 (0x88)
        if folded and files in BOARDS.values() and shape[-1] in (files, 2 * files):
            at[-1] = np.minimum(at[-1], np.abs(files - 1 - at[-1]))
        squares = (at[:, :, None] - at[:, None]) ** 2.0
        found.append(np.where(squares[:-axes].any(axis=0), np.inf, squares[-axes:].sum(axis=0)))
    return np.stack(found)


def units_of(problem: Problem) -> np.ndarray:
    """Return by column (columns,) the root mean square derivative of the evaluation of sampled
    positions at the start, where it is not zero; 1 where hardly any position has one."""
    count = squares = np.zeros(problem.data.columns)
    places = sample_places(problem)[::4]
    for some in np.array_split(places, len(places) // 20 + 1):
        rows = coefficients(problem, some, problem.start).reshape(len(some), *problem.start.shape)
        here = rows.sum(axis=1)[:, : problem.data.columns]
        count = count + (here != 0).sum(axis=0)
        squares = squares + (here**2).sum(axis=0)
    known = count >= MIN_APPLIES
    found = np.sqrt(np.divide(squares, count, where=known, out=np.ones(len(count))))
    return np.maximum(found, LEAST_UNIT)


def precision_of(
    blocks: Sequence[Block], widths: Sequence[BlockPrior], given: sparse.csr_array
) -> sparse.csr_array:
    """Return a precision with the blocks added."""
    at, values = [np.zeros((0, 2), int)], [np.zeros(0)]
    for block, width in zip(blocks, widths, strict=True):
        part = sparse.coo_array(block.factors(width.form)[1] / width.sd**2)
        at.append(block.indices[np.stack([part.row, part.col], axis=1)])
        values.append(part.data)
    pairs = np.concatenate(at).T
    return given + sparse.csr_array((np.concatenate(values), (pairs[0], pairs[1])), given.shape)


def empirical_prior(
    problem: Problem, places: Sequence[Place], allowed: np.ndarray, width: float | None = None
) -> tuple[Problem, np.ndarray, np.ndarray]:
    """Return the problem with a prior for the `allowed` weights, weights to start from, and the
    Gauss-Newton matrix nearby. The prior has this width in centipawns; None: the data choose it for
    each block.

    `problem.precision` is given for the remaining weights, as 1 / sd^2. In the result it is per
    position and multiplied by the design effect, which is stored there. Large datasets are sampled.
    """
    whole, problem = problem, problem.on(runs_of_games(problem))
    blocks = prior_blocks(places, allowed & problem.free, units_of(problem))
    widths = [BlockPrior(width or USUAL_SD, FORMS[0])] * len(blocks)
    given, weights = problem.precision, np.clip(problem.start, problem.low, problem.high)
    matrix = problem.gauss_newton(weights, sample_ranges(problem, SAMPLE))
    effect = design_effect(problem, weights, matrix)
    for turn, tolerance in enumerate(ROUNDS):
        if blocks and not (width and turn):  # of a given width only the form is chosen, once
            widths = _updated(problem, weights, matrix, blocks, widths, given, effect)
            widths = [one._replace(sd=width or one.sd) for one in widths]
        current = _with_prior(problem, precision_of(blocks, widths, given), effect)
        options, near = LearnerOptions(tolerance=tolerance), matrix if turn else None
        weights = newton(current, options, Record(), weights, near)
        matrix = matrix if turn else problem.gauss_newton(weights)
        effect = design_effect(problem, weights, matrix)
    if blocks and not width:
        widths = _updated(problem, weights, matrix, blocks, widths, given, effect)
    return _with_prior(whole, precision_of(blocks, widths, given), effect), weights, matrix


def runs_of_games(problem: Problem) -> np.ndarray:
    """Return all games, or runs of adjacent games, spread over the data, with about ENOUGH
    positions."""
    every = problem.positions // ENOUGH
    return (
        problem.games
        if every < 2
        else problem.games[np.arange(len(problem.games)) // RUN % every == 0]
    )


def _with_prior(problem: Problem, precision: sparse.csr_array, effect: float) -> Problem:
    return replace(
        problem, precision=precision * (effect / problem.total_weight), design_effect=effect
    )


def _updated(
    problem: Problem,
    weights: np.ndarray,
    matrix: np.ndarray,
    blocks: list[Block],
    widths: list[BlockPrior],
    given: sparse.csr_array,
    effect: float,
) -> list[BlockPrior]:
    """Return widths and forms that make the data more probable, by the quadratic model of the loss
    at these weights."""
    free = np.flatnonzero(problem.free.ravel())
    count = problem.total_weight / effect
    information = matrix[np.ix_(free, free)] * count
    _, gradient = problem.loss_gradient(weights)
    moved = weights.ravel()[free] - problem.mean.ravel()[free]
    pull = information @ moved - gradient.ravel()[free] * count
    place = np.full(problem.start.size, -1)
    place[free] = np.arange(len(free))
    members = [place[block.indices] for block in blocks]
    largest = np.diag(information).max(initial=0.0)
    information += precision_of(blocks, widths, given)[free][:, free].toarray()
    information[np.diag_indices(len(free))] += 1e-12
    factor, failed = lapack.dpotrf(information, lower=1)
    if failed:  # neither data nor prior determine some direction
        information[np.diag_indices(len(free))] += 1e-9 * largest
        factor, _ = lapack.dpotrf(information, lower=1)
    del information  # of thousands of weights each matrix has hundreds of megabytes
    shift, _ = lapack.dpotrs(factor, pull, lower=1)
    inverse = inverse_by(factor)
    return [
        best_prior(block, width, shift[at], inverse[np.ix_(at, at)])
        for block, width, at in zip(blocks, widths, members, strict=True)
    ]


def inverse_by(factor: np.ndarray) -> np.ndarray:
    """Return the inverse (n, n) of a matrix by its Cholesky factor, which is overwritten."""
    lower, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    found = lower + lower.T
    found[np.diag_indices(len(found))] /= 2
    return found


def best_prior(
    block: Block, before: BlockPrior, shift: np.ndarray, covariance: np.ndarray
) -> BlockPrior:
    """Return the prior of a block under which the data are most probable, from the mean and
    covariance of its weights given the data and the prior `before`."""
    message = inverse_by(lapack.dpotrf(covariance.T, lower=1, overwrite_a=1)[0])
    pull = message @ shift
    message -= block.factors(before.form)[1] / before.sd**2
    found, most = before, -np.inf
    apart = block.distances[0]
    related = bool(((apart > 0) & (apart < np.inf)).any())
    for form in FORMS if related else FORMS[:1]:
        half = block.factors(form)[0]
        half = half if related else sparse.csr_array(half)
        values, vectors = eigh(half.T @ message @ half, overwrite_a=True, driver="evd")
        squares = (vectors.T @ (half.T @ pull)) ** 2
        added = np.outer(WIDTHS**2, np.maximum(values, 0.0)) + 1
        evidence = (WIDTHS[:, None] ** 2 * squares / added - np.log(added)).sum(axis=1) / 2
        evidence -= (np.log(WIDTHS / USUAL_SD) / SPREAD) ** 2 / 2
        evidence = (evidence - CLEAR * (form != FORMS[0])).round(6)
        best = int(evidence.argmax())
        if evidence[best] > most:
            found, most = BlockPrior(float(WIDTHS[best]), form), evidence[best]
    return found


FEWEST_GAMES = 200  # of a slope; phases with fewer share the games of the phases around them
MIN_SLOPE, MAX_SLOPE = (
    0.02,
    10.0,
)  # slopes: evaluations hardly count where results do not follow them
MIN_SLOPE_RATIO = 1.25  # ratio of the largest to the least slope that is reported


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
                    np.clip((found or 0.0) / scale, MIN_SLOPE, MAX_SLOPE)
                    if evaluation.any()
                    else 1.0
                )
                break
    return slopes


def slope_lines(slopes: np.ndarray) -> list[str]:
    """Return notes about slopes by phase."""
    low, high = slopes.min(), slopes.max()
    if high < MIN_SLOPE_RATIO * low:
        return []
    return [
        f"slopes by phase: an advantage predicts results {low:.2f} (phase"
        f" {slopes.argmin()}) to {high:.2f} (phase {slopes.argmax()}) times as strongly as the"
        " scale assumes; the fit corrects for this"
    ]
