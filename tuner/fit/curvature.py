"""The curvature of an objective, or the derivative of an estimating equation, and how equations
with it are solved.

With few weights it is a matrix, and covariances are computed from its inverse. With many it is a
function of vectors, and equations are solved by conjugate gradients (Hestenes and Stiefel 1952;
truncated Newton steps: Nash 2000): by passes over the positions, preconditioned by what the matrix
and the prior have within each board or list, so that the number of passes hardly depends on the
number of weights; or, where positions have many counts, by the matrix and its factor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack

from tuner.fit.device.base import CurvatureSums
from tuner.fit.penalty import Independent, Preconditioner
from tuner.fit.ties import Ties

RANK_TOLERANCE = 1e-9  # of the matrix scaled to a diagonal of ones
# remaining error of a step near the optimum and far from it, and of a random vector, relative
EXACT, FAR, ROUGH = 1e-4, 0.1, 0.03
MOST_PASSES = 100  # of a step: directions that the data hardly determine do not move
TOGETHER = 1 << 23  # numbers of vectors that are solved for together


class Curvature(ABC):
    """A matrix (d, d) H over the flat weights, per position."""

    is_exact: ClassVar[bool] = False  # whether equations are solved exactly, whatever the tolerance
    matrix: np.ndarray | None = None  # (d, d), if it is formed

    @abstractmethod
    def products(self, vectors: np.ndarray) -> np.ndarray:
        """Return H x of vectors x (d, k)."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """Return the diagonal (d,)."""

    @abstractmethod
    def inverse_with(self, penalty: Independent, damping: float) -> Preconditioner:
        """Return the multiplication by nearly the inverse of H + P; the diagonal of H is multiplied
        by 1 + damping."""

    def solve(
        self,
        penalty: Independent,
        moving: np.ndarray,
        right: np.ndarray,
        damping: float = 0.0,
        tolerance: float = EXACT,
    ) -> np.ndarray:
        """Return x (m,) or (m, k) with (H + P) x = right for some of the weights (m,), the others
        fixed; the diagonal of H is multiplied by 1 + damping. The error, in the norm of the matrix
        and relative to x, is about the tolerance. What nothing determines is zero."""
        diagonal = self.diagonal()
        inside = np.zeros((len(diagonal), 1), np.bool_)
        inside[moving] = True
        given = right.reshape(len(moving), -1)
        rough = self.inverse_with(penalty, damping)
        more = damping * diagonal[:, None]

        def product(vectors: np.ndarray) -> np.ndarray:
            found = self.products(vectors) + penalty.products(vectors)
            if damping:
                found += more * vectors
            return np.where(inside, found, 0.0)

        found = np.empty(given.shape)
        at_once = max(1, TOGETHER // len(inside))
        for begin in range(0, given.shape[1], at_once):
            some = slice(begin, begin + at_once)
            whole = np.zeros((len(inside), given[:, some].shape[1]))
            whole[moving] = given[:, some]
            solved = conjugate_gradients(
                product, lambda x: np.where(inside, rough(x), 0.0), whole, tolerance
            )
            found[:, some] = solved[moving]
        return found.reshape(right.shape)

    def inverse(
        self, penalty: Independent, free: np.ndarray, count: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the inverse (r, r) of `count` times H + P for weights among the `free` ones, and
        which of them they are: a block of full rank."""
        assert self.matrix is not None, "it is formed"
        part = self.matrix[np.ix_(free, free)] * count
        part += penalty.matrix(free) * count
        chosen, factor, scale = factorise(part)
        return inverse_of(chosen, factor, scale), chosen


class Matrix(Curvature):
    """The same as a `matrix` (d, d): equations are solved exactly."""

    is_exact = True
    matrix: np.ndarray

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """See `Curvature`."""
        return self.matrix @ vectors

    def diagonal(self) -> np.ndarray:
        """See `Curvature`."""
        return self.matrix.diagonal()

    def inverse_with(self, penalty: Independent, damping: float) -> Preconditioner:
        """See `Curvature`."""
        return factored(self.matrix, penalty)

    def solve(
        self,
        penalty: Independent,
        moving: np.ndarray,
        right: np.ndarray,
        damping: float = 0.0,
        tolerance: float = EXACT,
    ) -> np.ndarray:
        """See `Curvature`."""
        part = self.matrix[np.ix_(moving, moving)].copy()
        part[np.diag_indices(len(moving))] *= 1 + damping
        part += penalty.matrix(moving)
        return solve(part, right)


class Formed(Matrix):
    """A large matrix: products with it precede exact solutions, which take long."""

    is_exact = False
    solve = Curvature.solve

    @cached_property
    def _inverse(self) -> list[Preconditioner]:
        return []

    def inverse_with(self, penalty: Independent, damping: float) -> Preconditioner:
        """See `Curvature`: the first one serves with other penalties, too, as products are
        cheap."""
        if not self._inverse:
            self._inverse.append(factored(self.matrix, penalty))
        return self._inverse[0]


class Products(Curvature):
    """The same as a function of vectors: `sums` over positions of a total weight, whose weights are
    expanded by `ties`."""

    def __init__(self, sums: CurvatureSums, ties: Ties, total: float) -> None:
        self._sums, self._ties, self._total = sums, ties, total
        self._inverse: tuple[object, float, Preconditioner] | None = None

    @cached_property
    def _diagonal(self) -> np.ndarray:
        # but for products of weights that are equal, which only a preconditioner misses
        return self._ties.pull(self._sums.diagonal()) / self._total

    def diagonal(self) -> np.ndarray:
        """See `Curvature`."""
        return self._diagonal

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """See `Curvature`."""
        return self._ties.pull(self._sums.products(self._ties.expand(vectors))) / self._total

    def inverse_with(self, penalty: Independent, damping: float) -> Preconditioner:
        """See `Curvature`."""
        known = self._inverse
        if known is None or known[0] is not penalty or known[1] != damping:
            within = penalty.inverse_with(self._diagonal * (1 + damping))
            self._inverse = known = penalty, damping, within
        return known[2]


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    tolerance: float,
) -> np.ndarray:
    """Return x (d, k) with A x = right, each column on its own, by products with A."""
    found, left = np.zeros(right.shape), right.copy()
    near = precondition(left)
    direction = near.copy()
    size = np.einsum("ij,ij->j", left, near)
    enough = tolerance**2 * size
    for _ in range(MOST_PASSES):
        going = size > enough
        if not going.any():
            break
        turned = product(direction)
        curved = np.einsum("ij,ij->j", direction, turned)
        going &= curved > 0
        step = np.divide(size, curved, where=going, out=np.zeros(len(size)))
        found += step * direction
        left -= step * turned
        near = precondition(left)
        after = np.einsum("ij,ij->j", left, near)
        direction *= np.divide(after, size, where=going, out=np.zeros(len(size)))
        direction += near
        size = np.where(going, after, 0.0)
    return found


def factored(matrix: np.ndarray, penalty: Independent) -> Preconditioner:
    """Return a function that multiplies vectors (d, k) by the inverse of a matrix (d, d) with the
    penalty added; where neither determines anything, by that of more."""
    whole = matrix + penalty.matrix(np.arange(len(matrix)))
    scale = np.sqrt(np.maximum(whole.diagonal(), 0))
    scale[scale == 0] = 1.0
    whole /= np.outer(scale, scale)
    whole[np.diag_indices(len(whole))] += RANK_TOLERANCE
    factor = cho_factor(whole, lower=True, overwrite_a=True, check_finite=False)
    return lambda vectors: (
        cho_solve(factor, vectors / scale[:, None], check_finite=False) / scale[:, None]
    )


def solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return x with matrix @ x = right for a positive semidefinite matrix that may be singular.

    By pivoted Cholesky factorization of the scaled matrix; coordinates beyond its rank stay zero.
    """
    chosen, factor, scale = factorise(matrix)
    result = np.zeros(len(right))
    if len(chosen):
        x, _ = lapack.dpotrs(factor, right[chosen] / scale[chosen], lower=1)
        result[chosen] = x / scale[chosen]
    return result


def factorise(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates of a block of full rank, the Cholesky factor of that block, scaled, and
    the scale of all coordinates."""
    scale = np.sqrt(np.maximum(np.diag(matrix), 0))
    scale[scale == 0] = 1.0
    scaled = matrix / np.outer(scale, scale)
    factor, pivots, rank, _ = lapack.dpstrf(scaled, lower=1, tol=RANK_TOLERANCE)
    return pivots[:rank] - 1, np.asfortranarray(np.tril(factor[:rank, :rank])), scale


def inverse_of(chosen: np.ndarray, factor: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the inverse (r, r) of the block of the coordinates chosen, from the results of
    `factorise`."""
    lower = lapack.dpotri(factor, lower=1)[0] if len(chosen) else factor
    return (np.tril(lower) + np.tril(lower, -1).T) / np.outer(scale[chosen], scale[chosen])
