"""Directions that no data can tell: found, and held, so that numbers keep their meaning.

Adding a centipawn to the value of a knight and taking it from every square of its table changes nothing: such a
direction leaves every evaluation as it is. The fit moves along them freely, so its result is brought back: each table
or list has, weighted by how often each of its numbers applies, the mean that it started with. From a start of zeros the
tables come out centred by occupancy; from an author's own tables they keep the author's convention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from tuner.layout import Place
from tuner.learners.newton import factorise
from tuner.problem import Problem

SMALL = 1e-6


@dataclass(frozen=True)
class Gauge:
    """A basis of the null directions (d, k), and what holds them: rows (k, d) whose products with the weights stay.

    `coordinates` are the d free numbers' places in the flattened (stages, columns + 1) weights.
    """

    coordinates: np.ndarray
    basis: np.ndarray
    held: np.ndarray

    @property
    def dimension(self) -> int:
        return self.basis.shape[1]

    def restore(self, weights: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Move weights (stages, columns + 1) along null directions until what is held is as at the start."""
        if not self.dimension:
            return weights
        moved = weights.ravel().copy()
        change = (weights - start).ravel()[self.coordinates]
        moved[self.coordinates] -= self.basis @ np.linalg.solve(self.held @ self.basis, self.held @ change)
        return moved.reshape(weights.shape)

    def project(self, matrix: np.ndarray) -> np.ndarray:
        """P matrix P' of a covariance (d, d) of the free numbers, for weights restored as above."""
        if not self.dimension:
            return matrix
        inner = np.linalg.solve(self.held @ self.basis, self.held)
        left = matrix - self.basis @ (inner @ matrix)
        return left - (left @ inner.T) @ self.basis.T


def null_basis(matrix: np.ndarray) -> np.ndarray:
    """Orthonormal basis (d, k) of the null space of a positive semidefinite matrix."""
    chosen, factor, scale = factorise(matrix)
    rest = np.setdiff1d(np.arange(len(matrix)), chosen)
    basis = np.zeros((len(matrix), len(rest)))
    if len(rest):
        scaled = matrix[np.ix_(chosen, rest)] / np.outer(scale[chosen], scale[rest])
        x, _ = lapack.dpotrs(factor, scaled, lower=1)
        basis[chosen] = -x / scale[chosen][:, None]
        basis[rest, np.arange(len(rest))] = 1 / scale[rest]
        basis, _ = np.linalg.qr(basis)
    return basis


def find_gauge(problem: Problem, matrix: np.ndarray, places: Sequence[Place]) -> Gauge:
    """The null directions of the Gauss-Newton matrix among the free numbers, and the means that hold them."""
    free = np.flatnonzero(problem.free.ravel())
    basis = null_basis(matrix[np.ix_(free, free)])
    if not basis.shape[1]:
        return Gauge(free, basis, np.zeros((0, len(free))))
    rows = _means(problem, places)[:, free]
    rows = rows[np.linalg.norm(rows, axis=1) > 0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return Gauge(free, basis, _independent(rows, basis))


def _means(problem: Problem, places: Sequence[Place]) -> np.ndarray:
    """Rows (m, stages * (columns + 1)): the sum of each list or table, each number weighted by how often it applies."""
    _, total = problem.use
    occupancy = problem.shares @ total
    rows = []
    for place in sorted((place for place in places if place.size > 1), key=lambda place: -place.size):
        for stage in range(problem.stages):
            row = np.zeros(problem.start.shape)
            row[stage, place.columns] = occupancy[stage, place.columns]
            rows.append(row.ravel())
    return np.array(rows).reshape(-1, problem.start.size)


def _independent(rows: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """k rows whose products with the basis are independent: means as far as they go, then the directions themselves."""
    k = basis.shape[1]
    products = rows @ basis
    found: list[np.ndarray] = []
    span = np.zeros((0, k))
    for row, product in zip(rows, products, strict=True):
        left = product - span.T @ (span @ product)
        size = np.linalg.norm(left)
        if size > SMALL:
            found.append(row)
            span = np.vstack([span, left / size])
        if len(found) == k:
            return np.array(found)
    complement = np.linalg.svd(span, full_matrices=True)[2][len(span):] if len(span) else np.eye(k)
    return np.vstack([*found, *(complement @ basis.T)]) if found else complement @ basis.T
