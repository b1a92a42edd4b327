"""The curvature of an objective: the Gauss-Newton matrix of the loss, and the precision of the
prior.

With few weights the matrix is formed, and covariances are computed from its inverse. With many it
is a function of vectors, and equations are solved by conjugate gradients (Hestenes and Stiefel
1952; truncated Newton steps: Nash 2000): by passes over the positions, preconditioned by what the
matrix and the prior have within each board or list, so that the number of passes hardly depends on
the number of weights; or, where positions have many counts, by the matrix and its factor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, lapack

from tuner.fit.blocks import BlockPrecision, Part, Root, Smoothness
from tuner.fit.device.base import CurvatureSums
from tuner.fit.device.differences import Differences
from tuner.fit.problem import Problem

RANK_TOLERANCE = 1e-9  # of the matrix scaled to a diagonal of ones
# the cube of the weights, over the nonzeros of all stages, from which passes are cheaper
CROSSING = 1000.0
FEW = 1500  # weights, whose matrix is formed in any case
# remaining error of a step near the optimum and far from it, and of a random vector, relative
EXACT, FAR, ROUGH = 1e-4, 0.1, 0.03
MOST_PASSES = 100  # of a step: directions that the data hardly determine do not move
TOGETHER = 1 << 23  # numbers of vectors that are solved for together
# of a factorization, and of solving for random vectors by passes: multiplications, in units of
# those of a pass
FACTOR, PASSES = 1.0, 4000.0
LARGEST_MATRIX = 10_000  # weights
LARGEST_BOARDS = 1 << 25  # numbers of the matrices of boards


def is_large(problem: Problem) -> bool:
    """Return whether passes over the positions are cheaper than the matrix of a problem; for some
    of its games as for all."""
    free = int(np.count_nonzero(problem.free))
    nonzeros = len(problem.data.index) * problem.stages
    return (
        free > FEW and free**3 > CROSSING * nonzeros and not isinstance(problem.device, Differences)
    )


class Dense:
    """The Gauss-Newton matrix (d, d) of the mean loss, or of its sum."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """Return the products (d, k) with vectors (d, k)."""
        return self.matrix @ vectors

    def diagonal(self) -> np.ndarray:
        """Return the diagonal (d,)."""
        return self.matrix.diagonal()

    def solve(
        self,
        problem: Problem,
        moving: np.ndarray,
        right: np.ndarray,
        damping: float = 0.0,
        tolerance: float = EXACT,
    ) -> np.ndarray:
        """Return x (m,) with (H + P) x = right for some of the weights (m,), the others fixed; the
        diagonal of H is multiplied by 1 + damping. It is exact."""
        part = self.matrix[np.ix_(moving, moving)].copy()
        part[np.diag_indices(len(moving))] *= 1 + damping
        part += problem.precision_of(moving)
        return solve(part, right)


def is_formed(problem: Problem) -> bool:
    """Return whether the matrix of a large problem is cheaper than passes over the positions."""
    data, free = problem.data, int(np.count_nonzero(problem.free))
    nonzeros = len(data.index) * problem.stages
    matrix = nonzeros**2 / max(1, data.positions) + FACTOR * free**3
    return free <= LARGEST_MATRIX and matrix < PASSES * nonzeros


class Operator:
    """The Gauss-Newton matrix of the mean loss over some ranges, by default all, near some
    weights, as a function of vectors."""

    def __init__(
        self, problem: Problem, weights: np.ndarray, ranges: np.ndarray | None = None
    ) -> None:
        self.weights = weights
        chosen = problem.ranges if ranges is None else ranges
        device = problem.device
        self._sums: CurvatureSums = (
            Dense(device.gauss_newton(problem.model, weights, chosen))
            if is_formed(problem)
            else device.curvatures(problem.model, weights, chosen)
        )
        self._total = problem.weight_of(ranges)
        self._inverse: tuple[object, float, Callable[[np.ndarray], np.ndarray]] | None = None

    @cached_property
    def _diagonal(self) -> np.ndarray:
        return self._sums.diagonal() / self._total

    def diagonal(self) -> np.ndarray:
        """Return the diagonal (d,)."""
        return self._diagonal

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Return the products (d, k) with vectors (d, k)."""
        return self._sums.products(vectors) / self._total

    def solve(
        self,
        problem: Problem,
        moving: np.ndarray,
        right: np.ndarray,
        damping: float = 0.0,
        tolerance: float = EXACT,
    ) -> np.ndarray:
        """Return x (m,) or (m, k) with (H + P) x = right for some of the weights (m,), the others
        fixed; the diagonal of H is multiplied by 1 + damping. The error, in the norm of the matrix
        and relative to x, is about the tolerance. What nothing determines is zero."""
        inside = np.zeros((len(self._diagonal), 1), np.bool_)
        inside[moving] = True
        given = right.reshape(len(moving), -1)
        rough = self._preconditioner(problem, damping)
        more = damping * self._diagonal[:, None]

        def product(vectors: np.ndarray) -> np.ndarray:
            found = self.apply(vectors) + problem.precision @ vectors
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

    def _preconditioner(
        self, problem: Problem, damping: float
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function that nearly multiplies by the inverse of the matrix."""
        known = self._inverse
        if isinstance(self._sums, Dense):
            # products are cheap: a factor serves with another prior, too
            if known is None:
                within = factored(self._sums.matrix / self._total, problem.precision)
                self._inverse = known = problem.precision, damping, within
        elif known is None or known[0] is not problem.precision or known[1] != damping:
            within = preconditioner(problem.precision, self._diagonal * (1 + damping))
            self._inverse = known = problem.precision, damping, within
        return known[2]


Curvature = Dense | Operator


def curvature_of(
    problem: Problem, weights: np.ndarray, ranges: np.ndarray | None = None
) -> Curvature:
    """Return the curvature of the loss near some weights, over all positions or some ranges."""
    if is_large(problem):
        return Operator(problem, weights, ranges)
    return Dense(problem.gauss_newton(weights, ranges))


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


def preconditioner(
    precision: sparse.csr_array | BlockPrecision, diagonal: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that multiplies vectors (d, k) by the inverse of the precision with the
    `diagonal` (d,) of the loss added, without what relates different boards."""
    if not isinstance(precision, BlockPrecision):
        return by_numbers(diagonal + precision.diagonal())
    whole = by_numbers(diagonal + precision.given * precision.factor)
    boards = [
        (part.indices, within_boards(part, width.form, precision.factor / width.sd**2, diagonal))
        for block, width in zip(precision.blocks, precision.widths, strict=True)
        for part in block.parts
    ]

    def function(vectors: np.ndarray) -> np.ndarray:
        found = whole(vectors)
        for indices, inside in boards:
            found[indices] = inside(vectors[indices])
        return found

    return function


def factored(
    matrix: np.ndarray, precision: sparse.csr_array | BlockPrecision
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that multiplies vectors (d, k) by the inverse of a matrix (d, d) with the
    precision added; where neither determines anything, by that of more."""
    if isinstance(precision, BlockPrecision):
        precision = precision.formed
    whole = matrix + precision
    scale = np.sqrt(np.maximum(whole.diagonal(), 0))
    scale[scale == 0] = 1.0
    whole /= np.outer(scale, scale)
    whole[np.diag_indices(len(whole))] += RANK_TOLERANCE
    factor = cho_factor(whole, lower=True, overwrite_a=True, check_finite=False)
    return lambda vectors: (
        cho_solve(factor, vectors / scale[:, None], check_finite=False) / scale[:, None]
    )


def by_numbers(diagonal: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that divides vectors (d, k) by a diagonal (d,), zero where it is."""
    inverse = np.divide(1.0, diagonal, where=diagonal > 0, out=np.zeros(len(diagonal)))
    return lambda vectors: vectors * inverse[:, None]


def within_boards(
    part: Part, form: Smoothness, scale: float, diagonal: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that multiplies vectors (m, n, k) of the weights of boards by the inverse
    of their precision, times `scale`, with the `diagonal` (d,) of the loss added."""
    m, n = part.indices.shape
    units, root = part.units[..., None], part.root(form)
    scale *= part.turned(np.eye(part.buckets)[:, :, None], -2)[0, 0, 0]
    told = diagonal[part.indices] / (part.units**2 * scale)
    if not root.banded and m * n * n <= LARGEST_BOARDS:
        half = root.solve(np.eye(n))
        inverse = np.repeat((half.T @ half)[None], m, axis=0)
        inverse[:, np.arange(n), np.arange(n)] += told
        inverse = np.linalg.inv(inverse) / scale
        return lambda vectors: np.matmul(inverse, vectors / units) / units
    if not root.banded or told.max() < 1:  # nearly all is known from the prior
        known = scale * (1 + told.mean())

        def alike(vectors: np.ndarray) -> np.ndarray:
            return (
                part.through(lambda y: root.lower @ (root.lower.T @ y), vectors / units, 0)
                / units
                / known
            )

        return alike
    inner = [banded_root(root, some) for some in told]

    def each(vectors: np.ndarray) -> np.ndarray:
        found = np.empty(vectors.shape)
        for i, (one, right) in enumerate(zip(inner, vectors / units, strict=True)):
            found[i] = root.lower @ one.solve(one.solve(root.lower.T @ right), True)
        return found / units / scale

    return each


def banded_root(root: Root, told: np.ndarray) -> Root:
    """Return the root of 1 + L' told L for the root L of a banded covariance."""
    matrix = sparse.dia_array(root.lower.T @ sparse.diags_array(told) @ root.lower)
    n = len(told)
    band = np.zeros((1 - int(matrix.offsets.min(initial=0)), n))
    for k in range(len(band)):
        band[k, : n - k] = matrix.diagonal(-k)
    band[0] += 1
    return Root(band, True)


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
