"""Weights that are correlated before any data are seen: those of a list or table, and the stages of
one weight.

Numbers of a list or board are related by their distance. The boards of a table are alike, so that
one factor of the covariance of a board serves for all of them. With three or more indices, as in
`pawn[6][8][8]`, the first one names buckets of one table: they share a mean, which makes up SHARED
of their variance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from tuner.parameters.parameters import Place

BOARDS = {64: 8, 81: 9}  # squares, and ranks
SHARED = 0.5  # of the variance of the same weight in all buckets
LONG = 1024  # weights of a list from which its covariance is banded
LARGEST_BOARD = 4096  # weights of a board; those of larger ones are not related
PIECE, SOME = 256, 8192  # weights of a piece, and of all that stand for a list or table
LARGEST_BOARDS = 1 << 25  # numbers of the matrices of boards
NEGLIGIBLE = 1e-9  # correlation that counts as none in a band


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


class BlockPrior(NamedTuple):
    """The prior of a block: its standard deviation in centipawns of evaluation, and its form."""

    sd: float
    form: Smoothness


class Root:
    """The lower triangular square root `lower` (n, n) of a covariance: dense, or in a band."""

    def __init__(self, covariance: np.ndarray, banded: bool) -> None:
        self.banded, self._band = banded, covariance
        if banded:
            self._band, failed = lapack.dpbtrf(covariance, lower=1)
            assert not failed, "a covariance is positive definite"
            below, n = -np.arange(len(self._band)), self._band.shape[1]
            self.lower = sparse.dia_array((self._band, below), shape=(n, n)).tocsr()
        else:
            self.lower = np.linalg.cholesky(covariance)

    def solve(self, right: np.ndarray, transposed: bool = False) -> np.ndarray:
        """Return L^-1 x, or L'^-1 x, of x (n, k)."""
        if not right.size:
            return right
        if not self.banded:
            return solve_triangular(
                self.lower, right, trans=int(transposed), lower=True, check_finite=False
            )
        return lapack.dtbtrs(self._band, right, uplo="L", trans="T" if transposed else "N")[0]


@dataclass(frozen=True)
class Part:
    """Boards or lists, or single weights, of which the same weights are free: flat `indices` (m, n)
    of the weights (stages, columns + 1) and `units` (m, n), what one of the weight is worth in the
    evaluation; for the n weights of each their coordinates `at` (axes, n), those on a board that is
    folded over, and their `stage` (n,). Groups of `buckets` consecutive ones share a mean."""

    indices: np.ndarray
    units: np.ndarray
    at: np.ndarray
    folded: np.ndarray
    stage: np.ndarray
    buckets: int = 1

    def covariance(self, form: Smoothness, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return the covariances of weights i and j of one board, for units and a width of 1."""
        at = self.folded if form.mirrored else self.at
        same = (self.at[:, i] == self.at[:, j]).all(axis=0)
        if len(at) == 2 and self.indices.shape[1] > LARGEST_BOARD:
            related = same * 1.0
        else:
            squares = ((at[:, i] - at[:, j]) ** 2).sum(axis=0)
            related = np.exp(-squares / (2 * form.length**2))
        correlated = form.near * related + (1 - form.near) * same
        return correlated * form.stages ** np.abs(self.stage[i] - self.stage[j])

    def root(self, form: Smoothness) -> Root:
        """Return the square root of the covariance (n, n) of one board, without units."""
        if form not in self._roots:
            n = self.indices.shape[1]
            reach = self._reach(form)
            if reach < n:
                below = np.arange(reach)[:, None]
                i, j = np.broadcast_arrays(np.arange(n), np.minimum(np.arange(n) + below, n - 1))
                band = np.where(np.arange(n) + below < n, self.covariance(form, i, j), 0.0)
                self._roots[form] = Root(band, True)
            else:
                i, j = np.indices((n, n))
                self._roots[form] = Root(self.covariance(form, i, j), False)
        return self._roots[form]

    def _reach(self, form: Smoothness) -> int:
        """Return the number of diagonals, on and below the main one, of the band that holds the
        covariance (n, n); n if it is dense."""
        n, stages = self.indices.shape[1], len(np.unique(self.stage))
        if n <= LONG or len(self.at) == 2 and n <= LARGEST_BOARD:
            return n
        near = form.near if len(self.at) == 1 else 0.0
        apart = form.length * np.sqrt(2 * np.log(1 / NEGLIGIBLE)) if near else 0.0
        return stages * (1 + int(apart))

    @cached_property
    def _roots(self) -> dict[Smoothness, Root]:
        return {}

    def diagonal(self, form: Smoothness) -> np.ndarray:
        """Return the diagonal (n,) of the precision of one board, without units; of a long list
        that of its middle."""
        n, stages = self.indices.shape[1], len(np.unique(self.stage))
        few = np.arange(min(n, LONG // stages * stages))
        half = Root(self.covariance(form, *np.meshgrid(few, few, indexing="ij")), False)
        squares = (half.solve(np.eye(len(few))) ** 2).sum(axis=0)
        middle = len(few) // 2 // stages * stages
        own = 1 / (1 - SHARED)
        between = (
            1.0
            if self.buckets == 1
            else (own + (1 / (1 - SHARED + SHARED * self.buckets) - own) / self.buckets)
        )
        if len(few) == n:
            return squares * between
        return np.resize(squares[middle : middle + stages], n) * between

    def turned(self, values: np.ndarray, power: int) -> np.ndarray:
        """Return values (m, n, k) with the square root of the covariance of buckets, to a power,
        applied to them."""
        if self.buckets == 1:
            return values
        some = values.reshape(-1, self.buckets, *values.shape[1:])
        own, mean = 1 - SHARED, 1 - SHARED + SHARED * self.buckets
        more = (mean ** (power / 2) - own ** (power / 2)) * some.mean(axis=1, keepdims=True)
        return (some * own ** (power / 2) + more).reshape(values.shape)

    def through(
        self, function: Callable[[np.ndarray], np.ndarray], values: np.ndarray, power: int
    ) -> np.ndarray:
        """Return a function of (n, j) applied to values (m, n, k), after that of buckets."""
        turned = self.turned(values, power)
        m, n, k = turned.shape
        if m == 1:
            return function(turned[0])[None]
        turned_back = function(turned.transpose(1, 0, 2).reshape(n, m * k))
        return turned_back.reshape(n, m, k).transpose(1, 0, 2)


@dataclass(frozen=True)
class Block:
    """Weights with one prior, which are correlated with one another only: those of `parts`. If the
    covariance of the N weights is S S', vectors (N, k) are multiplied by S, S', S^-1 or S'^-1."""

    parts: tuple[Part, ...]

    @cached_property
    def indices(self) -> np.ndarray:
        """The flat indices (N,) of its weights."""
        return np.concatenate([part.indices.ravel() for part in self.parts])

    @property
    def related(self) -> bool:
        """Whether weights of one stage are related."""
        return any(np.ptp(part.at, axis=1).any() for part in self.parts)

    @cached_property
    def pieces(self) -> list[tuple[Part, np.ndarray]]:
        """Boards, or pieces of lists and of large boards, as parts on their own, with the places
        (m, n) of their weights among those of the block: SOME of each part at most."""
        parts, begin = list[tuple[Part, np.ndarray]](), 0
        for part in self.parts:
            m, n = part.indices.shape
            places = begin + np.arange(m * n).reshape(m, n)
            begin += m * n
            if n > PIECE:
                line = len(np.unique(part.stage)) * (
                    1 if len(part.at) == 1 else int(np.ptp(part.at[1])) + 1
                )
                size = max(1, PIECE // line) * line
                places = places[:, : n // size * size].reshape(-1, size)
            places = places[:: -(-places.size // SOME)]
            few = slice(0, places.shape[1])
            units = np.ones(places.shape)
            own = Part(places, units, part.at[:, few], part.folded[:, few], part.stage[few])
            parts.append((own, places))
        return parts

    def _of_parts(
        self, vectors: np.ndarray, function: Callable[[Part, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        products, begin = np.empty(vectors.shape), 0
        for part in self.parts:
            some = slice(begin, begin + part.indices.size)
            values = vectors[some].reshape(*part.indices.shape, -1)
            products[some] = function(part, values).reshape(products[some].shape)
            begin = some.stop
        return products

    def root(self, form: Smoothness, vectors: np.ndarray) -> np.ndarray:
        """Return S x."""
        return self._of_parts(
            vectors,
            lambda part, x: (
                part.through(lambda y: part.root(form).lower @ y, x, 1) / part.units[..., None]
            ),
        )

    def root_transposed(self, form: Smoothness, vectors: np.ndarray) -> np.ndarray:
        """Return S' x."""
        return self._of_parts(
            vectors,
            lambda part, x: part.through(
                lambda y: part.root(form).lower.T @ y, x / part.units[..., None], 1
            ),
        )

    def whitened(self, form: Smoothness, vectors: np.ndarray) -> np.ndarray:
        """Return S^-1 x, which has the covariance 1 if x has that of the prior."""
        return self._of_parts(
            vectors,
            lambda part, x: part.through(part.root(form).solve, x * part.units[..., None], -1),
        )

    def whitened_transposed(self, form: Smoothness, vectors: np.ndarray) -> np.ndarray:
        """Return S'^-1 x, which has the precision of the prior as covariance if x has 1."""
        return self._of_parts(
            vectors,
            lambda part, x: (
                part.through(lambda y: part.root(form).solve(y, True), x, -1)
                * part.units[..., None]
            ),
        )

    def covariance(self, form: Smoothness) -> np.ndarray:
        """Return the covariance (N, N) for a width of 1."""
        return self.root(form, self.root_transposed(form, np.eye(len(self.indices))))

    def entries(self, form: Smoothness) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the precision for a width of 1: flat indices (e,) of rows and of columns, and
        values (e,)."""
        rows, columns, values = [], [], []
        for part in self.parts:
            n, buckets = part.indices.shape[1], part.buckets
            half = part.root(form).solve(np.eye(n))
            between = part.turned(np.eye(buckets)[:, :, None], -2)[:, :, 0]
            indices, units = (
                array.reshape(-1, buckets * n) for array in (part.indices, part.units)
            )
            inverse = np.kron(between, half.T @ half)
            shape = len(indices), *inverse.shape
            rows.append(np.broadcast_to(indices[:, :, None], shape).ravel())
            columns.append(np.broadcast_to(indices[:, None, :], shape).ravel())
            values.append((inverse * units[:, :, None] * units[:, None, :]).ravel())
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def board_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of one list, (n,), or of one board, (ranks, files), of a list or table: its
    last two indices if they are about equally long, or a last one of 64 or 81 numbers."""
    side = BOARDS.get(shape[-1])
    if side:
        return side, side
    axes = 2 if len(shape) > 1 and 2 * min(shape[-2:]) >= max(shape[-2:]) else 1
    return shape[-axes:]


def prior_blocks(places: Sequence[Place], allowed: np.ndarray, units: np.ndarray) -> list[Block]:
    """Return the blocks of the `allowed` weights (stages, columns + 1): each list or table, and the
    single weights of each term, which are not related. `units` (columns,)."""
    singles: dict[str, list[int]] = {}
    blocks = []
    for place in places:
        if place.size == 1:
            singles.setdefault(place.term, []).append(place.first)
        else:
            board = board_of(place.shape)
            boards = place.first + np.arange(place.size).reshape(-1, int(np.prod(board)))
            buckets = place.shape[0] if len(place.shape) > 2 and len(board) == 2 else 1
            # those of different buckets next to one another
            groups = boards.reshape(buckets, -1, boards.shape[1]).swapaxes(0, 1)
            blocks.append(block_of(groups, board, allowed, units))
    blocks += [
        block_of(np.array(columns).reshape(-1, 1, 1), (1,), allowed, units)
        for columns in singles.values()
    ]
    return [block for block in blocks if block.parts]


def block_of(
    columns: np.ndarray, board: tuple[int, ...], allowed: np.ndarray, units: np.ndarray
) -> Block:
    """Return the block of some columns (groups, buckets, squares) with boards of a shape."""
    stages, width = allowed.shape
    at = np.indices(board).reshape(len(board), -1)
    folded = at.copy()
    files = board[0]  # of boards, and of tables of 8 x 16 (0x88)
    if len(board) == 2 and files in BOARDS.values() and board[1] in (files, 2 * files):
        folded[1] = np.minimum(at[1], np.abs(files - 1 - at[1]))
    # the stages of a weight next to one another: in a list, what is related is in a band
    square, stage = np.divmod(np.arange(at.shape[1] * stages), stages)
    indices = stage * width + columns[..., square]
    free = allowed.ravel()[indices]
    parts = []
    patterns, pattern = np.unique(free.reshape(-1, len(square)), axis=0, return_inverse=True)
    for number, kept in enumerate(patterns):
        here = (pattern.reshape(free.shape[:2]) == number) & kept.any()
        whole = here.all(axis=1)
        for chosen, buckets in (
            (here & whole[:, None], columns.shape[1]),
            (here & ~whole[:, None], 1),
        ):
            if chosen.any():
                some = indices[chosen][:, kept]
                parts.append(
                    Part(
                        some,
                        units[some % width],
                        at[:, square[kept]].astype(np.float64),
                        folded[:, square[kept]].astype(np.float64),
                        stage[kept],
                        buckets,
                    )
                )
    return Block(tuple(parts))


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
        products = np.empty(vectors.shape)
        for i, (one, right) in enumerate(zip(inner, vectors / units, strict=True)):
            products[i] = root.lower @ one.solve(one.solve(root.lower.T @ right), True)
        return products / units / scale

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
