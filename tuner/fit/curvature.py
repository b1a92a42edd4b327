"""The curvature of an objective, or the derivative of an estimating equation, and how equations
with it are solved.

With few weights it is a matrix, and covariances are computed from its inverse. With many it is a
function of vectors, and equations are solved by conjugate gradients (Hestenes and Stiefel 1952;
truncated Newton steps: Nash 2000): by passes over the positions, preconditioned by what the matrix
and the prior have within each board or list, so that the number of passes hardly depends on the
number of weights; or, where positions have many counts, by the matrix and its factor."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack

from tuner.fit.device.base import CurvatureSums
from tuner.fit.penalty import Independent, Preconditioner
from tuner.fit.ties import Ties

RANK_TOLERANCE = 1e-9  # of the matrix scaled to a diagonal of ones
FULL_RANK = 1e-6  # of its pivots, from which their order does not matter
# remaining error, relative: of a step near the optimum and far from it; of random vectors for
# errors, in which each of d directions has a share of 1 / d, and for widths of priors
EXACT, FAR, FINE, ROUGH = 1e-4, 0.1, 0.01, 0.03
MOST_PASSES = 100  # of a step: directions that the data hardly determine do not move
TOGETHER = 3_100_000  # numbers of vectors that are solved for together
ROUNDING = 1e-14  # of the squares of vectors


class Curvature(ABC):
    """A matrix (d, d) H over the flat weights, per position."""

    # of few weights, for which equations are solved exactly and inverses are computed
    matrix: np.ndarray | None = None

    @abstractmethod
    def products(self, vectors: np.ndarray) -> np.ndarray:
        """Return H x of vectors x (d, k)."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """Return the diagonal (d,)."""

    @abstractmethod
    def solve(
        self,
        penalty: Independent,
        moving: np.ndarray,
        right: np.ndarray,
        damping: float = 0.0,
        tolerance: float = EXACT,
    ) -> np.ndarray:
        """Return x (m,) or (m, k) with (H + P) x = right for some of the weights (m,), the others
        fixed; the diagonal of H is multiplied by 1 + damping. What nothing determines is zero.
        Unless there is a matrix, the error, in the norm of H + P and relative to x, is about the
        tolerance."""

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

    matrix: np.ndarray

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """See `Curvature`."""
        return self.matrix @ vectors

    def diagonal(self) -> np.ndarray:
        """See `Curvature`."""
        return self.matrix.diagonal()

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
        return solve_exactly(part, right)


class Iterated(Curvature):
    """The same of many weights: equations are solved by products."""

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
        """See `Curvature`."""
        diagonal = self.diagonal()
        inside = np.zeros((len(diagonal), 1), np.bool_)
        inside[moving] = True
        given = right.reshape(len(moving), -1)
        rough = self.inverse_with(penalty, damping)
        more = damping * diagonal[:, None]

        def product(vectors: np.ndarray) -> np.ndarray:
            applied = self.products(vectors) + penalty.products(vectors)
            if damping:
                applied += more * vectors
            return np.where(inside, applied, 0.0)

        solution = np.empty(given.shape)
        at_once = max(1, TOGETHER // len(inside))
        for begin in range(0, given.shape[1], at_once):
            some = slice(begin, begin + at_once)
            whole = np.zeros((len(inside), given[:, some].shape[1]))
            whole[moving] = given[:, some]
            solved = conjugate_gradients(
                product, lambda x: np.where(inside, rough(x), 0.0), whole, tolerance
            )
            solution[:, some] = solved[moving]
        return solution.reshape(right.shape)


class Formed(Iterated):
    """The same as a matrix (d, d), whose products precede exact solutions, which take long."""

    def __init__(self, matrix: np.ndarray) -> None:
        self._formed, self._inverse = matrix, list[Preconditioner]()

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """See `Curvature`."""
        return self._formed @ vectors

    def diagonal(self) -> np.ndarray:
        """See `Curvature`."""
        return self._formed.diagonal()

    def inverse_with(self, penalty: Independent, damping: float) -> Preconditioner:
        """See `Iterated`: the first one serves with other penalties, too, as products are cheap."""
        if not self._inverse:
            self._inverse.append(factored(self._formed, penalty))
        return self._inverse[0]


class Products(Iterated):
    """The same as a function of vectors: `sums` over positions of a total weight, whose weights, of
    a shape, are expanded by `ties`."""

    def __init__(
        self, sums: CurvatureSums, ties: Ties, shape: tuple[int, ...], total: float
    ) -> None:
        self._sums, self._ties, self._shape, self._total = sums, ties, shape, total
        self._inverse: tuple[object, float, Preconditioner] | None = None

    @cached_property
    def _diagonal(self) -> np.ndarray:
        return self._sums.diagonal(self._ties.leaders_in(self._shape)) / self._total

    def diagonal(self) -> np.ndarray:
        """See `Curvature`."""
        return self._diagonal

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """See `Curvature`."""
        return self._ties.pull(self._sums.products(self._ties.expand(vectors))) / self._total

    def inverse_with(self, penalty: Independent, damping: float) -> Preconditioner:
        """See `Iterated`."""
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
    """Return x (d, k) with A x = right, by products with A: each column is improved in the
    directions of all (O'Leary 1980; with orthonormal residuals: Dubrulle 2001), so that k columns
    need far fewer products than one."""
    solution = np.zeros(right.shape)
    left, near, sizes = orthonormal(right, precondition(right))
    directions, enough = near, tolerance**2 * (sizes**2).sum(axis=0)
    for _ in range(MOST_PASSES):
        if ((sizes**2).sum(axis=0) <= enough).all():
            break
        turned = product(directions)
        step = np.linalg.pinv(directions.T @ turned, RANK_TOLERANCE, hermitian=True)
        solution += directions @ (step @ sizes)
        left -= turned @ step
        left, near, change = orthonormal(left, precondition(left))
        directions = near + directions @ change.T
        sizes = change @ sizes
    return solution


def orthonormal(left: np.ndarray, near: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Q (d, r), C Q and f (r, k) with left = Q f and Q' C Q = 1, of vectors `left` (d, k),
    `near` to which is C left; without directions that rounding alone makes."""
    values, vectors = np.linalg.eigh(left.T @ near)
    kept = values > ROUNDING * max(values[-1], 0.0)
    root, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return left @ (vectors / root), near @ (vectors / root), (vectors * root).T


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


def solve_exactly(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
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
    factor, failed = lapack.dpotrf(scaled, lower=1, clean=1)
    if not failed and (factor.diagonal() ** 2).min(initial=1.0) > FULL_RANK:
        return np.arange(len(matrix)), factor, scale
    factor, pivots, rank, _ = lapack.dpstrf(scaled, lower=1, tol=RANK_TOLERANCE)
    return pivots[:rank] - 1, np.asfortranarray(np.tril(factor[:rank, :rank])), scale


def inverse_of(chosen: np.ndarray, factor: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the inverse (r, r) of the block of the coordinates chosen, from the results of
    `factorise`."""
    lower = lapack.dpotri(factor, lower=1)[0] if len(chosen) else factor
    return (np.tril(lower) + np.tril(lower, -1).T) / np.outer(scale[chosen], scale[chosen])
