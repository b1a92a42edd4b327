"""Standard errors clustered by game (sandwich estimator), and the directions that no data identify.

Positions of a game share its outcome, so they are not independent: the covariance is V = H^-1 (sum
of u u') H^-1 with the score u of a whole game (Liang and Zeger 1986), times G / (G - p): p weights
fitted to G games leave scores that are too small by that factor. A prior adds its precision to H,
and the variance of its own gradient to the middle: under a strong prior, the error is the prior's
standard deviation. The number p of weights that the data set is then the effective one, the trace
of H^-1 times H without the prior (Moody 1992). Without more games than that there are no errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, null_space

from tuner.core.estimates import reach_of
from tuner.fit.blocks import BlockPrecision
from tuner.fit.curvature import (
    RANK_TOLERANCE,
    ROUGH,
    Curvature,
    Operator,
    factorise,
    inverse_of,
)
from tuner.fit.problem import Problem, sample_places
from tuner.parameters.parameters import Place


class WeightRatio(NamedTuple):
    """The column of a weight, its ratio to the first weight, and a 95 % interval."""

    column: int
    ratio: float
    low: float
    high: float


class Full:
    """A covariance as a `matrix` (d, d); NaN is unknown. Rows (n, d) are coefficients of n linear
    combinations, dense or sparse."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    @property
    def unknown(self) -> bool:
        return bool(np.isnan(self.matrix).any())

    @property
    def variances(self) -> np.ndarray:
        """The variances (d,) of the weights."""
        return self.matrix.diagonal()

    def scaled(self, factors: np.ndarray) -> Full:
        """Return the covariance of the weights times factors (d,)."""
        return Full(self.matrix * np.outer(factors, factors))

    def of(self, rows: Any, centred: bool = False) -> float:
        """Return the mean variance of linear combinations, less that of their mean if `centred`."""
        rows = dense_rows(rows, centred)
        return float(np.einsum("ij,ij->", rows @ self.matrix, rows) / len(rows))

    def freedom(self, rows: Any) -> float:
        """Return the degrees of freedom of the mean square of centred linear combinations
        (Satterthwaite 1946)."""
        rows = dense_rows(rows, True)
        spread = rows.T @ rows @ self.matrix / len(rows)
        return float(np.trace(spread) ** 2 / max(float((spread * spread.T).sum()), 1e-300))


class Draws:
    """A covariance as random vectors (n, d): the sum of their squares over `number`."""

    def __init__(self, vectors: np.ndarray, number: int) -> None:
        self.vectors, self.number = vectors, number

    @property
    def unknown(self) -> bool:
        return bool(np.isnan(self.vectors).any())

    @property
    def variances(self) -> np.ndarray:
        """See `Full`."""
        return (self.vectors**2).sum(axis=0) / self.number

    def scaled(self, factors: np.ndarray) -> Draws:
        """See `Full`."""
        return Draws(self.vectors * factors, self.number)

    def of(self, rows: Any, centred: bool = False) -> float:
        """See `Full`."""
        return float((self._along(rows, centred) ** 2).sum() / self.number)

    def freedom(self, rows: Any) -> float:
        """See `Full`; from pairs of different vectors, whose products have no bias."""
        along = self._along(rows, True)
        products = along.T @ along
        own = products.diagonal()
        pairs = len(own) * (len(own) - 1)
        squares = ((products**2).sum() - (own**2).sum()) / pairs
        return float(own.mean() ** 2 / max(float(squares), 1e-300))

    def _along(self, rows: Any, centred: bool) -> np.ndarray:
        found = rows @ self.vectors.T / np.sqrt(rows.shape[0])
        return found - found.mean(axis=0) if centred else found


def dense_rows(rows: Any, centred: bool) -> np.ndarray:
    """Return dense or sparse rows (n, d) as a dense array, less their mean if `centred`."""
    found = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return found - found.mean(axis=0) if centred else found


@dataclass(frozen=True)
class Uncertainty:
    """Standard errors (stages, columns + 1) in centipawns: NaN if not identified, 0 if fixed.

    `covariance` belongs to the weights at `coordinates` (d,). `noise` excludes what the
    prior adds, and has the share of the way that the weights went: it is that of fits to different
    games under the same prior. `draws`: random vectors from which both were estimated; 0 if they
    are matrices, or unknown."""

    standard_errors: np.ndarray
    covariance: Full | Draws
    noise: Full | Draws
    coordinates: np.ndarray
    games: int
    draws: int = 0


def ratios(found: Uncertainty, weights: np.ndarray, columns: list[int]) -> list[WeightRatio]:
    """Return weights, each averaged over the stages, as multiples of the first one, with intervals
    by the delta method. Ratios of weights that were not learned or are not identified have none,
    and are left out; so are all if the interval of the first weight contains 0."""
    stages, width = weights.shape
    mean = weights[:, columns].mean(axis=0)
    place = {int(coordinate): i for i, coordinate in enumerate(found.coordinates)}
    known = [[place.get(stage * width + column) for stage in range(stages)] for column in columns]
    z, lines = reach_of(found.games), []
    z = max(z, reach_of(found.draws + 1)) if found.draws else z

    def error_of(factors: dict[int, float]) -> float:
        """The standard error of a sum of means with these factors, by their places in columns."""
        slope = np.zeros(len(found.coordinates))
        for j, factor in factors.items():
            for at in known[j]:
                if at is not None:
                    slope[at] += factor / stages
        return float(np.sqrt(max(found.covariance.of(slope[None]), 0.0)))

    identified = ~np.isnan(found.standard_errors[:, columns]).any(axis=0)
    if not identified[0] or abs(mean[0]) <= z * error_of({0: 1.0}):
        return []
    for i in np.flatnonzero(identified)[1:].tolist():
        ratio = mean[i] / mean[0]
        error = error_of({i: 1 / mean[0], 0: -ratio / mean[0]})
        if error > 0:
            low, high = float(ratio - z * error), float(ratio + z * error)
            lines.append(WeightRatio(columns[i], float(ratio), low, high))
    return lines


def standard_errors(
    problem: Problem, weights: np.ndarray, curvature: Curvature, null_space: NullSpace
) -> Uncertainty:
    """Return clustered standard errors at the optimum, from the curvature there."""
    if isinstance(curvature, Operator):
        return sampled_errors(problem, weights, curvature, null_space)
    free = null_space.coordinates
    n = problem.total_weight
    hessian = curvature.matrix[np.ix_(free, free)] * n
    hessian += problem.precision_of(free) * n
    chosen, factor, scale = factorise(hessian)
    prior = (problem.prior_gradient(weights) * n).ravel()[free]
    meat, names = problem.device.score_products(problem.model, weights, free)
    # the scores sum to minus the prior's gradient at the optimum
    meat -= np.outer(prior, prior) / names
    inverse = inverse_of(chosen, factor, scale)
    # the prior's gradient is precision * (mean - weights), with the variance of the weights under
    # the prior
    pull = problem.precision_of(free[chosen]) * n
    effective = len(chosen) - float((pull * inverse).sum())
    few = correction(problem, names, effective)

    def whole(part: np.ndarray) -> np.ndarray:
        found = np.zeros_like(meat)
        found[np.ix_(chosen, chosen)] = part
        return null_space.project(found)

    covariance = sampling = whole(few * (inverse @ meat[np.ix_(chosen, chosen)] @ inverse))
    if pull.any():
        covariance = sampling + few * problem.design_effect * whole(inverse @ pull @ inverse)
    return uncertainty_of(problem, Full(covariance), Full(sampling), null_space, names)


DRAWS, MOST_DRAWS = 50, 200  # random vectors for errors
AFFORDED = 4e9  # products of numbers and random vectors, in a pass, for more than DRAWS


def draws_of(problem: Problem) -> int:
    """Return how many random vectors errors are estimated from: standard errors are within 10 % of
    those of the matrix with 50, within 5 % with 200."""
    data = problem.data
    nonzeros = problem.positions * len(data.index) / max(1, data.positions)
    cost = problem.stages * (nonzeros + 10 * data.columns)
    return int(np.clip(AFFORDED / (50 * cost), DRAWS, MOST_DRAWS))


def random_signs(seed: int, *shape: int) -> np.ndarray:
    """Return 1 and -1 at random."""
    return np.random.default_rng(seed).integers(0, 2, shape, np.int8) * 2.0 - 1.0


def sampled_errors(
    problem: Problem, weights: np.ndarray, curvature: Operator, null_space: NullSpace
) -> Uncertainty:
    """Return the same from random vectors: the scores of games with random signs, and the prior's
    gradient, each divided by the curvature."""
    free, n, number = null_space.coordinates, problem.total_weight, draws_of(problem)
    games = len(problem.model.groups[0])
    prior, effective = prior_part(problem, curvature, null_space, number)
    few = correction(problem, games, effective) ** 0.5
    if math.isnan(few):
        unknown = Draws(np.full((2, len(free)), np.nan), 2)
        return uncertainty_of(problem, unknown, unknown, null_space, games)
    signs = random_signs(1, games, number)
    signs -= signs.mean(axis=0)  # less the mean score, the prior's gradient at the optimum
    scores = problem.device.signed_scores(problem.model, weights, signs)[free] / n
    sampling = curvature.solve(problem, free, scores, tolerance=ROUGH)
    prior *= (problem.design_effect / n) ** 0.5
    noise, more = (null_space.projected(few * part).T for part in (sampling, prior))
    whole = Draws(np.concatenate([noise, more]), number)
    return uncertainty_of(problem, whole, Draws(noise, number), null_space, games, number)


def prior_part(
    problem: Problem, curvature: Operator, null_space: NullSpace, number: int
) -> tuple[np.ndarray, float]:
    """Return random vectors (d, number) with the precision of the prior as covariance, divided by
    the curvature, and the effective number of weights: of those that are used, the trace of
    H (H + P)^-1, where P (H + P)^-1 is known from the vectors."""
    free = null_space.coordinates
    used = np.count_nonzero(curvature.diagonal()[free] + problem.precision.diagonal()[free])
    effective = float(used - null_space.basis.shape[1])
    if not problem.precision.count_nonzero():
        return np.zeros((len(free), 0)), effective
    pulls = prior_draws(problem, number)[free]
    found = curvature.solve(problem, free, pulls, tolerance=ROUGH)
    return found, effective - float((pulls * found).sum()) / number


def effective_weights(problem: Problem, curvature: Operator, null_space: NullSpace) -> float:
    """Return the effective number of weights under the prior."""
    return prior_part(problem, curvature, null_space, DRAWS)[1]


def prior_draws(problem: Problem, number: int) -> np.ndarray:
    """Return random vectors (d, number) whose covariance is the precision of the prior."""
    signs = random_signs(2, problem.start.size, number)
    if isinstance(problem.precision, BlockPrecision):
        return problem.precision.draws(signs)
    return signs * np.sqrt(problem.precision.diagonal())[:, None]


def correction(problem: Problem, games: int, weights: float) -> float:
    """Return G / (G - p), by which the covariance of p effective weights fitted to G games is too
    small; NaN unless G exceeds p. With a prior the design effect is known, and G is at least the
    number of independent positions."""
    count: float = games
    if problem.precision.count_nonzero():
        count = max(games, problem.positions / problem.design_effect)
    return count / (count - weights) if count > weights else math.nan


def uncertainty_of(
    problem: Problem,
    covariance: Full | Draws,
    sampling: Full | Draws,
    null_space: NullSpace,
    games: int,
    draws: int = 0,
) -> Uncertainty:
    """Return the standard errors from covariances of the weights of a null space; NaN is
    unknown."""
    coordinates = null_space.coordinates
    errors = np.zeros(problem.start.size)
    errors[coordinates] = np.where(
        null_space.loose, np.nan, np.sqrt(np.maximum(covariance.variances, 0))
    )
    return Uncertainty(
        errors.reshape(problem.start.shape),
        covariance,
        sampling,
        coordinates,
        games,
        draws,
    )


FAINT = 1e-7  # importance of scalar weights and of those that never apply, relative to the largest
ROUNDING = 1e-9
# of a direction of length 1: smaller components come from weights that hardly ever apply
LOOSE = 1e-2


@dataclass(frozen=True)
class NullSpace:
    """A basis (d, k) of the null directions, and the importance (d,) of keeping each of the d free
    weights in place.

    `coordinates` are the indices of the free weights in the flattened (stages, columns + 1)
    weights. `loose` (d,) marks those that stay unidentified even if the mean of every list and
    table is given; `unused` (d,) those of no position, of which many have no direction in the
    basis."""

    coordinates: np.ndarray
    basis: np.ndarray
    importance: np.ndarray
    loose: np.ndarray
    unused: np.ndarray
    means: np.ndarray  # (m, d), of lists and tables

    @property
    def dimension(self) -> int:
        return self.basis.shape[1] + int(self.unused.sum())

    def restore(self, problem: Problem, weights: np.ndarray) -> np.ndarray:
        """Return weights (stages, columns + 1) moved along null directions as close to the start as
        the bounds allow."""
        free, basis, found = self.coordinates, self.basis, weights.ravel().copy()
        low, high, here = problem.low.ravel()[free], problem.high.ravel()[free], found[free]
        while basis.shape[1]:
            moved = (
                here
                - basis
                @ _inner(basis, self.importance, (here - problem.start.ravel()[free])[:, None])[
                    :, 0
                ]
            )
            beyond = (moved < low - ROUNDING) | (moved > high + ROUNDING)
            if not beyond.any():
                found[free] = np.clip(moved, low, high)
                break
            basis = basis @ null_space(basis[beyond])
        return found.reshape(weights.shape)

    def project(self, matrix: np.ndarray) -> np.ndarray:
        """Return P matrix P' of a covariance (d, d) of the free weights, after `restore`."""
        return self.projected(self.projected(matrix).T).T

    def projected(self, vectors: np.ndarray) -> np.ndarray:
        """Return P x of vectors x (d, k)."""
        if not self.basis.shape[1]:
            return vectors
        return vectors - self.basis @ _inner(self.basis, self.importance, vectors)

    def under(self, problem: Problem) -> NullSpace:
        """Return the null space of the objective: without directions that the prior decides."""
        if not self.dimension or not problem.precision.count_nonzero():
            return self
        basis = self.basis
        if basis.shape[1]:
            whole = np.zeros((problem.start.size, basis.shape[1]))
            whole[self.coordinates] = basis
            decided = whole.T @ (problem.precision @ whole)
            # directions that touch the prior by rounding alone are not decided by it
            sure = np.diag(decided) > ROUNDING**2 * np.diag(decided).max(initial=0)
            basis = basis @ null_basis(np.where(np.outer(sure, sure), decided, 0.0))
        unused = self.unused & (problem.precision.diagonal()[self.coordinates] == 0)
        return replace(
            self, basis=basis, unused=unused, loose=loose_weights(basis, self.means) | unused
        )


def _inner(basis: np.ndarray, importance: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return coordinates (k, m) in the basis (d, k) closest to values (d, m), by least squares with
    these importances."""
    rows = basis.T * importance
    return np.linalg.solve(rows @ basis, rows @ values)


def null_basis(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (d, k) of the null space of a positive semidefinite matrix."""
    chosen, factor, scale = factorise(matrix)
    rest = np.setdiff1d(np.arange(len(matrix)), chosen)
    basis = np.zeros((len(matrix), len(rest)))
    if len(rest):
        basis[rest, np.arange(len(rest))] = 1 / scale[rest]
    if len(rest) and len(chosen):
        scaled = matrix[np.ix_(chosen, rest)] / np.outer(scale[chosen], scale[rest])
        x, _ = lapack.dpotrs(factor, scaled, lower=1)
        basis[chosen] = -x / scale[chosen][:, None]
        basis, _ = np.linalg.qr(basis)
    return basis


def find_null_space(problem: Problem, curvature: Curvature, places: Sequence[Place]) -> NullSpace:
    """Return the null space of the Gauss-Newton matrix of the free weights, with the importances
    that fix it. Of a matrix that is not formed, it is that of sums of lists and tables, and of some
    single weights."""
    free = np.flatnonzero(problem.free.ravel())
    unused = np.zeros(len(free), np.bool_)
    if isinstance(curvature, Operator):
        unused = (_occupancy(problem, whole=True) == 0).ravel()[free]
        basis = null_sums(problem, curvature, places, free, unused)
    else:
        basis = null_basis(curvature.matrix[np.ix_(free, free)])
    means = _means(problem, places)[:, free]
    importance = _importance(problem, places).ravel()[free]
    return NullSpace(free, basis, importance, loose_weights(basis, means) | unused, unused, means)


def loose_weights(basis: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return which weights (d,) null directions (d, k) move even if means (m, d) are given."""
    left = basis @ null_space(means @ basis) if basis.shape[1] else basis
    return np.abs(left).max(axis=1, initial=0) > LOOSE


MOST_SUMS = 1000  # lists, tables and single weights that are looked at together


def null_sums(
    problem: Problem,
    curvature: Operator,
    places: Sequence[Place],
    free: np.ndarray,
    unused: np.ndarray,
) -> np.ndarray:
    """Return an orthonormal basis (d, k) of the directions that change no evaluation, among the
    sums of lists and tables and single weights that are used; lists and tables come first where
    there are many."""
    width = problem.start.shape[1]
    ordered = sorted(places, key=lambda place: place.size == 1)
    spans = [(place.first, place.size) for place in ordered][: MOST_SUMS // problem.stages]
    spans += [(column, 1) for column in range(problem.data.columns, width)]
    of = np.full(problem.start.shape, -1)
    for number, (first, size) in enumerate(spans):
        of[:, first : first + size] = number + len(spans) * np.arange(problem.stages)[:, None]
    member = of.ravel()[free]
    known = np.flatnonzero((member >= 0) & ~unused)
    sums = sparse.csr_array(
        (np.ones(len(known)), (known, member[known])), (len(free), len(spans) * problem.stages)
    )
    positions = sample_places(problem)
    seen = (problem.derivatives(curvature.weights, positions)[:, free] @ sums).toarray()
    # the intercept, which is no part of the evaluation
    edge = len(spans) - (width - problem.data.columns) + len(spans) * np.arange(problem.stages)
    seen[:, edge] = problem.data.shares(problem.stages, False)[:, problem.data.phase[positions]].T
    here = np.flatnonzero(np.bincount(member[known], minlength=sums.shape[1]))
    basis = null_basis(seen[:, here].T @ seen[:, here])
    basis, _ = np.linalg.qr(sums[:, here] @ basis)
    if not basis.shape[1]:
        return basis
    whole = np.zeros((problem.start.size, basis.shape[1]))
    whole[free] = basis
    scale = basis.T @ (curvature.diagonal()[free][:, None] * basis)
    exact = whole.T @ curvature.apply(whole)
    # directions that the sample alone does not show
    values, vectors = np.linalg.eigh(exact)
    return basis @ vectors[:, values <= RANK_TOLERANCE * np.diag(scale).max()]


def _means(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Return a row (stages * (columns + 1),) for the mean of each list or table in each stage,
    weighted by use."""
    occupancy, rows = _occupancy(problem), []
    for place in places:
        for stage in range(problem.stages if place.size > 1 else 0):
            row = np.zeros(problem.start.shape)
            used = occupancy[stage, place.columns]
            row[stage, place.columns] = used / max(used.sum(), 1)
            rows.append(row.ravel())
    return np.array(rows).reshape(-1, problem.start.size)


def with_unused_kept(problem: Problem, weights: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """Return weights (stages, columns + 1 or more) in which those of no position have the value
    that they began with: a smooth prior moves them with their neighbours. `diagonal` (d,) is that
    of the Gauss-Newton matrix."""
    unused = problem.free & (diagonal.reshape(weights.shape) == 0)
    used = _occupancy(problem) > 0  # but without a slope where they are
    unused[:, : used.shape[1]] &= ~used
    return np.where(unused, np.clip(problem.start, problem.low, problem.high), weights)


def _occupancy(problem: Problem, whole: bool = False) -> np.ndarray:
    """Return how often each weight applies (stages, columns); `whole`: with 1 for the intercept and
    the width of a draw."""
    found = problem.shares @ problem.use[1]
    more = problem.start.shape[1] - found.shape[1] if whole else 0
    return np.pad(found, ((0, 0), (0, more)), constant_values=1)


def _importance(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Return how often each weight of a list or table applies (stages, columns + 1), from FAINT to
    1; FAINT for the rest."""
    occupancy = _occupancy(problem)
    found = np.zeros(problem.start.shape)
    for place in places:
        if place.size > 1:
            found[:, place.columns] = occupancy[:, place.columns]
    return np.maximum(found / max(found.max(), 1), FAINT)
