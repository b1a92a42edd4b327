"""Find the null space, the directions that no data identify, and fix them by constraints.

Adding a centipawn to the value of a knight and subtracting it from every square of its table changes no evaluation: that is
such a direction. A fit moves along them arbitrarily, so its result is corrected: along these directions the weights of lists
and tables change as little as possible (least squares, each weighted by how often it applies) and scalar weights compensate.
A table that a piece's value can compensate thus keeps its initial mean, weighted by how often each square is used. From a
start of zeros, tables are centred; from an author's own tables, they keep the author's convention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, null_space

from tuner.fit.learners.newton import factorise
from tuner.fit.problem import Problem
from tuner.parameters.layout import Place

FAINT = 1e-7  # importance of scalar weights and of those that never apply, relative to the largest
ROUNDING = 1e-9
LOOSE = 1e-2  # of a direction of length 1: smaller components come from weights that hardly ever apply


@dataclass(frozen=True)
class NullSpace:
    """A basis (d, k) of the null directions, and the importance (d,) of keeping each of the d free weights in place.

    `coordinates` are the indices of the free weights in the flattened (stages, columns + 1) weights. `loose` (d,) marks those
    that stay unidentified even if the mean of every list and table is given.
    """

    coordinates: np.ndarray
    basis: np.ndarray
    importance: np.ndarray
    loose: np.ndarray

    @property
    def dimension(self) -> int:
        return self.basis.shape[1]

    def restore(self, problem: Problem, weights: np.ndarray) -> np.ndarray:
        """Return weights (stages, columns + 1) moved along null directions as close to the start as the bounds allow."""
        free, basis, found = self.coordinates, self.basis, weights.ravel().copy()
        low, high, here = problem.low.ravel()[free], problem.high.ravel()[free], found[free]
        while basis.shape[1]:
            moved = here - basis @ _inner(basis, self.importance, (here - problem.start.ravel()[free])[:, None])[:, 0]
            beyond = (moved < low - ROUNDING) | (moved > high + ROUNDING)
            if not beyond.any():
                found[free] = np.clip(moved, low, high)
                break
            basis = basis @ null_space(basis[beyond])
        return found.reshape(weights.shape)

    def project(self, matrix: np.ndarray) -> np.ndarray:
        """Return P matrix P' of a covariance (d, d) of the free weights, after `restore`."""
        if not self.dimension:
            return matrix
        left = matrix - self.basis @ _inner(self.basis, self.importance, matrix)
        return left - (self.basis @ _inner(self.basis, self.importance, left.T)).T


def _inner(basis: np.ndarray, importance: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return coordinates (k, m) in the basis (d, k) closest to values (d, m), by least squares with these importances."""
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


def find_null_space(problem: Problem, matrix: np.ndarray, places: Sequence[Place]) -> NullSpace:
    """Return the null space of the Gauss-Newton matrix of the free weights, with the importances that fix it."""
    free = np.flatnonzero(problem.free.ravel())
    basis = null_basis(matrix[np.ix_(free, free)])
    means = _means(problem, places)[:, free]
    left = basis @ null_space(means @ basis) if basis.shape[1] else basis
    return NullSpace(free, basis, _importance(problem, places).ravel()[free], np.abs(left).max(axis=1, initial=0) > LOOSE)


def _means(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Return a row (stages * (columns + 1),) for the mean of each list or table in each stage, weighted by use."""
    occupancy, rows = _occupancy(problem), []
    for place in places:
        for stage in range(problem.stages if place.size > 1 else 0):
            row = np.zeros(problem.start.shape)
            used = occupancy[stage, place.columns]
            row[stage, place.columns] = used / max(used.sum(), 1)
            rows.append(row.ravel())
    return np.array(rows).reshape(-1, problem.start.size)


def _occupancy(problem: Problem) -> np.ndarray:
    """Return how often each weight applies (stages, columns)."""
    return problem.shares @ problem.use[1]


def _importance(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Return how often each weight of a list or table applies (stages, columns + 1), from FAINT to 1; FAINT for the others."""
    occupancy = _occupancy(problem)
    found = np.zeros(problem.start.shape)
    for place in places:
        if place.size > 1:
            found[:, place.columns] = occupancy[:, place.columns]
    return np.maximum(found / max(found.max(), 1), FAINT)
