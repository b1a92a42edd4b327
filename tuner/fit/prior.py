"""Gaussian priors on the weights, chosen by the data.

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

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, lapack

from tuner.fit.blocks import FORMS, Block, BlockPrior, Part, Smoothness, prior_blocks
from tuner.fit.covariance import random_signs
from tuner.fit.curvature import ROUGH, Curvature
from tuner.fit.datafit import Datafit
from tuner.fit.errors import DRAWS
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import SAMPLE, newton
from tuner.fit.penalty import Boards
from tuner.fit.problem import Problem
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
UNITS = 1 << 14  # positions from which units are known
MIN_APPLIES = 10  # sampled positions that a weight applies to, for a unit of its own
LEAST_UNIT = 0.25  # of an evaluation per weight: no prior is wider than four times its width
# log odds for another form than the first: with 3, and the evidence at a width of 20, weights from
# the results of 3,000 games lost 59 Elo where the first form lost 15
CLEAR = 10.0


def design_effect(datafit: Datafit, weights: np.ndarray, curvature: Curvature) -> float:
    """Return how many positions of a game count as one: clustered over naive variance of the
    gradient, mean over weights; 1 if nothing varies."""
    information = curvature.diagonal() * datafit.total_weight
    if datafit.has_many_weights:
        signs = random_signs(3, datafit.independent_games, DRAWS)
        squares = (datafit.signed_scores(weights, signs) ** 2).mean(axis=1)
    else:
        squares = datafit.score_squares(weights)
    chosen = datafit.free.ravel() & (information > 0)
    return float((squares[chosen] / information[chosen]).mean() if chosen.any() else 1.0) or 1.0


def units_of(rows: sparse.csr_array, shape: tuple[int, ...], columns: int) -> np.ndarray:
    """Return by column (columns,) the root mean square derivative of the evaluation where it is not
    zero, from those (n, d) of some positions by weights of a shape; 1 where hardly any position has
    one."""
    given, width = rows.tocoo(), shape[1]
    whole = sparse.csr_array((given.data, (given.row, given.col % width)))  # stages are added
    count = np.bincount(whole.indices, whole.data != 0, width)[:columns]
    squares = np.bincount(whole.indices, whole.data**2, width)[:columns]
    known = count >= MIN_APPLIES
    units = np.sqrt(np.divide(squares, count, where=known, out=np.ones(columns)))
    return np.maximum(units, LEAST_UNIT)


def empirical_prior(
    problem: Problem, places: Sequence[Place], allowed: np.ndarray, width: float | None = None
) -> tuple[Problem, np.ndarray, Curvature]:
    """Return the problem with a prior for the `allowed` weights, weights to start from, and the
    curvature nearby. The prior has this width in centipawns; None: the data choose it for
    each block.

    The penalty of `problem` is given for the remaining weights, as 1 / sd^2. In the result it is
    per position and multiplied by the design effect, which is stored there. Large datasets are
    sampled."""
    whole, problem = problem, problem.on(runs_of_games(problem.datafit))
    datafit, given = problem.datafit, problem.penalty
    rows = datafit.derivatives(problem.start, datafit.sampled_places(UNITS))
    units = units_of(rows, problem.start.shape, datafit.data.columns)
    blocks, rows = prior_blocks(places, allowed & problem.free, units), rows.tocsc()
    widths = [BlockPrior(width or USUAL_SD, FORMS[0])] * len(blocks)
    weights, large = problem.inside, datafit.has_many_weights

    def current(problem: Problem) -> Problem:
        factor = effect / problem.datafit.total_weight
        penalty = Boards(given.mean, given.given, effect, blocks, widths, factor, not large)
        return replace(problem, penalty=penalty)

    some = datafit.on(spread_games(datafit, SAMPLE))
    curvature = some.curvature(weights)
    effect = design_effect(some, weights, curvature)
    for turn, tolerance in enumerate(ROUNDS):
        if blocks and not (width and turn):  # of a given width only the form is chosen, once
            widths = updated_widths(current(problem), weights, curvature, blocks, widths, rows)
            widths = [one._replace(sd=width or one.sd) for one in widths]
        options = LearnerOptions(tolerance=tolerance)
        near = curvature if turn or large else None
        weights = newton(current(problem), options, Record(), weights, near)
        if not turn:
            curvature = datafit.curvature(weights)
        effect = design_effect(datafit, weights, curvature)
    if blocks and not width:
        widths = updated_widths(current(problem), weights, curvature, blocks, widths, rows)
    return current(whole), weights, curvature


def spread_games(datafit: Datafit, wanted: int) -> np.ndarray:
    """Return games with about `wanted` positions, spread evenly over the data, whole ones, as the
    positions of a game share its result; all if that would be most of them."""
    step = datafit.positions // wanted
    return datafit.games[::step] if step >= 3 else datafit.games


def runs_of_games(datafit: Datafit) -> np.ndarray:
    """Return all games, or runs of adjacent games, spread over the data, with about ENOUGH
    positions."""
    every = datafit.positions // ENOUGH
    return (
        datafit.games
        if every < 2
        else datafit.games[np.arange(len(datafit.games)) // RUN % every == 0]
    )


def updated_widths(
    problem: Problem,
    weights: np.ndarray,
    curvature: Curvature,
    blocks: list[Block],
    widths: list[BlockPrior],
    rows: sparse.csc_array,
) -> list[BlockPrior]:
    """Return widths and forms that make the data more probable, by the quadratic model of the loss
    at these weights; `rows` (n, d) are derivatives of the evaluations of sampled positions."""
    if curvature.matrix is None:
        return _sampled_widths(problem, weights, curvature, blocks, widths, rows)
    free = np.flatnonzero(problem.free.ravel())
    count = problem.datafit.total_weight / problem.penalty.design_effect
    information = curvature.matrix[np.ix_(free, free)] * count
    _, gradient = problem.datafit.loss_gradient(weights)
    moved = weights.ravel()[free] - problem.penalty.mean.ravel()[free]
    pull = information @ moved - gradient.ravel()[free] * count
    place = np.full(problem.start.size, -1)
    place[free] = np.arange(len(free))
    members = [place[block.indices] for block in blocks]
    largest = np.diag(information).max(initial=0.0)
    information += problem.penalty.matrix(free) * count
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


def _sampled_widths(
    problem: Problem,
    weights: np.ndarray,
    curvature: Curvature,
    blocks: list[Block],
    widths: list[BlockPrior],
    rows: sparse.csc_array,
) -> list[BlockPrior]:
    """Return the same where there is no matrix, from the mean of the weights, given the data and
    their prior, and random vectors for their covariance."""
    free, penalty = np.flatnonzero(problem.free.ravel()), problem.penalty
    count = problem.datafit.total_weight / penalty.design_effect
    _, gradient = problem.datafit.loss_gradient(weights)
    moved = np.where(problem.free, weights - penalty.mean, 0.0).reshape(-1, 1)
    pull = curvature.products(moved)[:, 0] - gradient.ravel()
    pulls = penalty.draws(random_signs(2, problem.start.size, DRAWS))
    shift, inside = np.zeros(len(pull)), np.zeros(pulls.shape)
    shift[free] = curvature.solve(penalty, free, pull[free], tolerance=ROUGH)
    inside[free] = curvature.solve(penalty, free, pulls[free], tolerance=ROUGH)
    information = curvature.diagonal() * count
    return [
        likely_prior(
            block,
            width,
            shift[block.indices],
            pulls[block.indices],
            inside[block.indices],
            information[block.indices],
            rows[:, block.indices],
        )
        for block, width in zip(blocks, widths, strict=True)
    ]


def likely_prior(
    block: Block,
    before: BlockPrior,
    shift: np.ndarray,
    pulls: np.ndarray,
    inside: np.ndarray,
    information: np.ndarray,
    rows: sparse.csc_array,
) -> BlockPrior:
    """Return the prior of a block under which the data are more probable, from the mean `shift`
    (N,) of its weights; from random vectors `pulls` (N, k) with the precision of the prior `before`
    as covariance, and `inside` (N, k), those divided by that of the weights given the data and the
    prior; from the `information` (N,) that the data have about each weight; and from coefficients
    `rows` (n, N) of sampled positions, which say what boards and lists share of it.

    How many weights the data set is known from the random vectors. The information is taken to be
    that of independent boards or pieces of lists, some of which stand for all, as much less as it
    has to be for this number. Where widths stay as they are, the derivative of the probability by
    the width is exact (MacKay 1992)."""
    units = np.concatenate([part.units.ravel() for part in block.parts])
    white = block.root_transposed(before.form, pulls) * block.whitened(before.form, inside)
    known = 1 - float(white.mean(axis=1).mean())  # share of the weights
    # in units of the evaluation, in which the prior is alike for all weights
    alone = np.sqrt(information) / units
    pieces = [
        Piece(part, (shift * units)[places], shared_information(rows, alone, places))
        for part, places in block.pieces
    ]
    forms = FORMS if block.related else (before.form,)
    spectra = {form: [np.linalg.eigh(piece.within(form)) for piece in pieces] for form in forms}
    values = np.concatenate([each.eigenvalues.ravel() for each in spectra[before.form]])
    values = np.maximum(values, 0.0)
    least = (np.log(WIDTHS / USUAL_SD) / SPREAD) ** 2 / 2
    if known < 1e-6 or not values.any():
        return before._replace(sd=float(WIDTHS[int(least.argmin())]))
    told = _factor_of(values * before.sd**2, min(known, 1 - 1e-9) * len(values))
    if block.related:
        other = likely_form(pieces, spectra, told, before)
        if other.form != before.form:
            return other
    values = values * told
    whitened = block.whitened(before.form, shift)
    gained = float(whitened @ whitened) / (before.sd**2 * known * len(shift))
    pull = gained * values * (1 + before.sd**2 * values)
    added = 1 + np.outer(WIDTHS**2, values)
    evidence = (WIDTHS[:, None] ** 2 * pull / added - np.log(added)).mean(axis=1) / 2
    evidence = (evidence * len(shift) - least).round(6)
    return before._replace(sd=float(WIDTHS[int(evidence.argmax())]))


class Piece(NamedTuple):
    """Boards or pieces of lists that stand for others: mean weights (m, n), and the information
    (m, n, n) about them."""

    part: Part
    shift: np.ndarray
    information: np.ndarray

    def within(self, form: Smoothness) -> np.ndarray:
        """Return the information (m, n, n) in units of a prior of this form, of width 1."""
        lower = self.part.root(form).lower
        return np.asarray(lower.T @ self.information @ lower)


def shared_information(rows: sparse.csc_array, alone: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the information (m, n, n) about weights at places (m, n): correlated as they are in
    the rows (k, N), with the square of `alone` (N,) about each by itself."""
    information = np.empty((*places.shape, places.shape[1]))
    for one, at in zip(information, places, strict=True):
        some = rows[:, at]
        one[:] = (some.T @ some).toarray()
        scale = np.sqrt(np.maximum(one.diagonal(), 1e-300))
        one /= np.outer(scale, scale)
        np.fill_diagonal(one, 1.0)
        one *= np.outer(alone[at], alone[at])
    return information


FURTHEST = 4.0  # ratio of the widths before and after another form is chosen


def likely_form(
    pieces: Sequence[Piece],
    spectra: dict[Smoothness, list[Any]],
    told: float,
    before: BlockPrior,
) -> BlockPrior:
    """Return the prior, with a form that is clearly better, under which the data are most probable,
    if they tell `told` times the information of some pieces, whose `spectra` are known for each
    form."""
    evidence = dict.fromkeys(FORMS, -((np.log(WIDTHS / USUAL_SD) / SPREAD) ** 2) / 2)
    for k, piece in enumerate(pieces):
        part, here = piece.part, piece.shift
        half = part.root(before.form).solve(here.T)
        pull = told * np.einsum("mij,mj->mi", piece.information, here)
        pull += part.root(before.form).solve(half, True).T / before.sd**2
        for form in FORMS:
            values, vectors = spectra[form][k]
            right = np.einsum("mji,mj->mi", vectors, pull @ part.root(form).lower) ** 2
            wide = WIDTHS[:, None] ** 2
            added = 1 + wide * told * np.maximum(values, 0.0).ravel()
            found = (wide * right.ravel() / added - np.log(added)).sum(axis=1) / 2
            evidence[form] = evidence[form] + found
    best = {form: found.max() - CLEAR * (form != before.form) for form, found in evidence.items()}
    form = max(FORMS, key=lambda form: round(best[form], 6))
    sd = float(WIDTHS[int(evidence[form].argmax())])
    return BlockPrior(float(np.clip(sd, before.sd / FURTHEST, before.sd * FURTHEST)), form)


def _factor_of(values: np.ndarray, known: float) -> float:
    """Return the factor f at which the sum of f v / (1 + f v) over values (n,) is `known`."""
    low, high = -60.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        some = np.exp(middle) * values
        if (some / (1 + some)).sum() < known:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def inverse_by(factor: np.ndarray) -> np.ndarray:
    """Return the inverse (n, n) of a matrix by its Cholesky factor, which is overwritten."""
    lower, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    inverse = lower + lower.T
    inverse[np.diag_indices(len(inverse))] /= 2
    return inverse


def best_prior(
    block: Block, before: BlockPrior, shift: np.ndarray, covariance: np.ndarray
) -> BlockPrior:
    """Return the prior of a block under which the data are most probable, from the mean and
    covariance of its weights given the data and the prior `before`."""
    message = inverse_by(lapack.dpotrf(covariance.T, lower=1, overwrite_a=1)[0])
    pull = message @ shift
    white = block.whitened(before.form, np.eye(len(shift)))
    message -= block.whitened_transposed(before.form, white) / before.sd**2
    likeliest, most = before, -np.inf
    for form in FORMS if block.related else FORMS[:1]:
        half = block.root_transposed(form, message)
        both = block.root_transposed(form, half.T)
        # SciPy 1.12 has too little room for one number with evd
        values, vectors = eigh(both, overwrite_a=True, driver="evd" if len(both) > 1 else "ev")
        squares = (vectors.T @ block.root_transposed(form, pull)) ** 2
        added = np.outer(WIDTHS**2, np.maximum(values, 0.0)) + 1
        evidence = (WIDTHS[:, None] ** 2 * squares / added - np.log(added)).sum(axis=1) / 2
        evidence -= (np.log(WIDTHS / USUAL_SD) / SPREAD) ** 2 / 2
        evidence = (evidence - CLEAR * (form != FORMS[0])).round(6)
        best = int(evidence.argmax())
        if evidence[best] > most:
            likeliest, most = BlockPrior(float(WIDTHS[best]), form), evidence[best]
    return likeliest
