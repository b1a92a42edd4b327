"""The directions in which weights can move without changing any evaluation, which no data identify,
and how they are fixed: as close to the start as bounds allow, rare weights first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, null_space, qr

from tuner.fit.curvature import RANK_TOLERANCE, Curvature, factorise
from tuner.fit.datafit import Datafit
from tuner.fit.problem import Problem
from tuner.parameters.parameters import Place

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
        free, basis, restored = self.coordinates, self.basis, weights.ravel().copy()
        low, high, here = problem.low.ravel()[free], problem.high.ravel()[free], restored[free]
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
                restored[free] = np.clip(moved, low, high)
                break
            basis = basis @ null_space(basis[beyond])
        return restored.reshape(weights.shape)

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
        if not self.dimension or problem.penalty.is_none:
            return self
        basis = self.basis
        if basis.shape[1]:
            whole = np.zeros((problem.start.size, basis.shape[1]))
            whole[self.coordinates] = basis
            decided = whole.T @ problem.penalty.products(whole)
            # directions that touch the prior by rounding alone are not decided by it
            sure = np.diag(decided) > ROUNDING**2 * np.diag(decided).max(initial=0)
            basis = basis @ null_basis(np.where(np.outer(sure, sure), decided, 0.0))
        unused = self.unused & (problem.penalty.diagonal()[self.coordinates] == 0)
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


def find_null_space(
    problem: Problem, weights: np.ndarray, curvature: Curvature, places: Sequence[Place]
) -> NullSpace:
    """Return the null space of the Gauss-Newton matrix of the free weights near some weights, with
    the importances that fix it. Of a matrix that is not formed, it is that of sums of lists and
    tables, and of some single weights."""
    free = np.flatnonzero(problem.free.ravel())
    unused = np.zeros(len(free), np.bool_)
    if curvature.matrix is None:
        unused = (_occupancy(problem, whole=True) == 0).ravel()[free]
        basis = null_sums(problem, weights, curvature, places, free, unused)
    else:
        basis = null_basis(curvature.matrix[np.ix_(free, free)])
    means = _means(problem, places)[:, free]
    importance = _importance(problem, places).ravel()[free]
    return NullSpace(free, basis, importance, loose_weights(basis, means) | unused, unused, means)


def loose_weights(basis: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return which weights (d,) null directions (d, k) move even if means (m, d) are given."""
    left = basis @ null_space(means @ basis) if basis.shape[1] else basis
    return np.abs(left).max(axis=1, initial=0) > LOOSE


OUTCOMES, MOST_ALIKE = 3, 100  # by which weights are compared, and pairs that are alike
MOST_SUMS = 1000  # lists, tables and single weights that are looked at together


def null_sums(
    problem: Problem,
    weights: np.ndarray,
    curvature: Curvature,
    places: Sequence[Place],
    free: np.ndarray,
    unused: np.ndarray,
) -> np.ndarray:
    """Return an orthonormal basis (d, k) of the directions that change no evaluation, among the
    sums of lists and tables, single weights that are used, and weights that are proportional; lists
    and tables come first where there are many."""
    datafit, width = problem.datafit, problem.start.shape[1]
    ordered = sorted(places, key=lambda place: place.size == 1)
    spans = [(place.first, place.size) for place in ordered][: MOST_SUMS // datafit.stages]
    spans += [(column, 1) for column in range(datafit.data.columns, width)]
    of = np.full(problem.start.shape, -1)
    for number, (first, size) in enumerate(spans):
        of[:, first : first + size] = number + len(spans) * np.arange(datafit.stages)[:, None]
    member = of.ravel()[free]
    known = np.flatnonzero((member >= 0) & ~unused)
    sums = sparse.csr_array(
        (np.ones(len(known)), (known, member[known])), (len(free), len(spans) * datafit.stages)
    )
    positions = datafit.sampled_places()
    seen = (datafit.derivatives(weights, positions)[:, free] @ sums).toarray()
    # the intercept, which is no part of the evaluation
    edge = len(spans) - (width - datafit.data.columns) + len(spans) * np.arange(datafit.stages)
    seen[:, edge] = datafit.unscaled[:, datafit.data.phase[positions]].T
    here = np.flatnonzero(np.bincount(member[known], minlength=sums.shape[1]))
    basis = sums[:, here] @ null_basis(seen[:, here].T @ seen[:, here])
    basis = np.hstack([basis, proportional(datafit, weights, free)])
    basis, triangle, _ = qr(basis, mode="economic", pivoting=True)
    basis = basis[:, : np.count_nonzero(np.abs(triangle.diagonal()) > LOOSE * FAINT)]
    if not basis.shape[1]:
        return basis
    whole = np.zeros((problem.start.size, basis.shape[1]))
    whole[free] = basis
    scale = basis.T @ (curvature.diagonal()[free][:, None] * basis)
    exact = whole.T @ curvature.products(whole)
    # directions that the sample alone does not show
    values, vectors = np.linalg.eigh(exact)
    return basis @ vectors[:, values <= RANK_TOLERANCE * np.diag(scale).max()]


def proportional(datafit: Datafit, weights: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return directions (d, m) between free weights whose coefficients are proportional in all
    positions, of at most MOST_ALIKE pairs: they are so in gradients at random outcomes. Those of
    two weights that always apply together, the second one twice, are -3 and -6, 5 and 10, ...: the
    direction is +2 and -1."""
    random, gradients = np.random.default_rng(4), []
    for _ in range(OUTCOMES):
        drawn = random.uniform(-1, 1, datafit.data.positions).astype(np.float32)
        at_random = replace(datafit, data=replace(datafit.data, outcome=drawn))
        gradients.append(at_random.loss_gradient(weights)[1].ravel()[free])
    seen = np.stack(gradients, axis=1)
    size = np.linalg.norm(seen, axis=1) * np.where(seen[:, 0] < 0, -1, 1)
    used = np.flatnonzero(size)
    unit = seen[used] / size[used, None]
    order = np.lexsort(np.round(unit, 6).T)
    pairs = np.flatnonzero(np.abs(np.diff(unit[order], axis=0)).max(axis=1, initial=0) < ROUNDING)
    pairs = pairs[:MOST_ALIKE]
    directions, m = np.zeros((len(free), len(pairs))), np.arange(len(pairs))
    for places, sign in ((used[order[pairs]], 1), (used[order[pairs + 1]], -1)):
        directions[places, m] = sign / size[places]
    return directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300)


def _means(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Return a row (stages * (columns + 1),) for the mean of each list or table in each stage,
    weighted by use."""
    occupancy, rows = _occupancy(problem), []
    for place in places:
        for stage in range(problem.datafit.stages if place.size > 1 else 0):
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
    return np.where(unused, problem.inside, weights)


def _occupancy(problem: Problem, whole: bool = False) -> np.ndarray:
    """Return how often each weight applies (stages, columns); `whole`: with 1 for the intercept and
    the width of a draw."""
    occupancy = problem.datafit.shares @ problem.datafit.use[1]
    more = problem.start.shape[1] - occupancy.shape[1] if whole else 0
    return np.pad(occupancy, ((0, 0), (0, more)), constant_values=1)


def _importance(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Return how often each weight of a list or table applies (stages, columns + 1), from FAINT to
    1; FAINT for the rest."""
    occupancy = _occupancy(problem)
    importance = np.zeros(problem.start.shape)
    for place in places:
        if place.size > 1:
            importance[:, place.columns] = occupancy[:, place.columns]
    return np.maximum(importance / max(importance.max(), 1), FAINT)
