"""Sums in a fixed order, wherever their parts come from: parts are added to the sum of their group,
groups to the total."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tuner.datasets.dataset import (
    BLOCK,
    ahead,
    places_of,
    prefetch,
    size_of,
    together,
    whole_games,
)
from tuner.fit.device.base import Model, Piece
from tuner.fit.device.cpu import kernels
from tuner.parallel import in_order

# pieces of a group: 1,048,576 positions, for matrices four times as many
GRADIENT_GROUP, MATRIX_GROUP = 16, 16


class TreeSum:
    """The sum of arrays of the same shape, added one by one in order."""

    def __init__(self, group: int) -> None:
        self._group, self._added = group, 0
        self._subtotal: np.ndarray | None = None
        self._total: np.ndarray | None = None

    def add(self, part: np.ndarray) -> None:
        """Add a part."""
        if self._subtotal is None:
            self._subtotal = np.zeros_like(part)
        self._subtotal += part
        self._added += 1
        if self._added == self._group:
            self.add_group(self._subtotal)
            self._subtotal, self._added = None, 0

    def add_group(self, subtotal: np.ndarray) -> None:
        """Add the sum of a whole group."""
        if self._total is None:
            self._total = np.zeros_like(subtotal)
        self._total += subtotal

    def total(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the sum, zeros of this shape if nothing was added."""
        if self._subtotal is not None:
            self.add_group(self._subtotal)
            self._subtotal = None
        return np.zeros(shape) if self._total is None else self._total


def sum_of(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of the parts of one group."""
    total: np.ndarray | None = None
    for part in parts:
        total = np.zeros_like(part) if total is None else total
        total += part
    assert total is not None, "a group has a part"
    return total


def watch(
    results: Iterator[Any], model: Model, ranges: np.ndarray, size: int = BLOCK
) -> Iterator[Any]:
    """Yield the results for the pieces, of some size, of ranges; after each, release memory and
    report progress."""
    done, total = 0, size_of(ranges)
    for result in results:
        yield result
        model.release()
        done = min(done + size, total)
        model.progress(done, total)


def summed(
    work: Callable[[Any], np.ndarray],
    pieces: Iterable[Any],
    workers: int,
    model: Model,
    ranges: np.ndarray,
    size: int,
    shape: tuple[int, ...],
) -> np.ndarray:
    """Return the sum of the arrays of this shape that `work` makes of the pieces, of some size, of
    ranges, added in order, see `watch`."""
    total = np.zeros(shape)
    for part in watch(in_order(work, pieces, workers), model, ranges, size):
        total += part
    return total


LARGER = 4  # times the size of a piece: each piece has its own sums
# products of a pair of nonzeros that a matrix of its own saves, per entry of that matrix times the
# stages
SAVED = 0.8


def scaled_moments(
    model: Model,
    shape: tuple[int, int],
    terms_of: Callable[[np.ndarray], Any],
    ranges: np.ndarray,
    workers: int,
) -> np.ndarray:
    """Return the sum (d, d) of curvature * x x' over ranges of positions, see
    `tuner.fit.device.cpu.sums.second_moments`."""
    stages, width = shape
    data, size, last = model.data, stages * width, model.data.columns
    nonzeros = max(1.0, len(data.index) / max(1, data.positions))
    few = SAVED * stages * width**2 / nonzeros**2
    pairs = [(a, b) for a in range(stages) for b in range(a, stages)]
    shares, unscaled = model.shares, model.unscaled

    def work(piece: np.ndarray) -> np.ndarray:
        _, base, terms = terms_of(piece)
        code = data.phase[base : base + terms.shape[1]]
        order = np.argsort(code, kind="stable")
        order = order[terms[1][order] != 0]
        ends = np.searchsorted(code[order], np.arange(model.codes + 1))
        rare = np.diff(ends) < few
        # by pair of stages: products of columns, of columns with intercept and width, and of those
        # alone
        inner, part, scratch = (
            np.zeros((len(pairs), last, last)),
            np.empty((width, width)),
            np.empty((last, last)),
        )
        edge, corner = (
            np.zeros((stages, stages, last, width - last)),
            np.zeros((stages, stages, width - last, width - last)),
        )
        for f in np.flatnonzero(~rare):
            part[:] = 0.0
            kernels.gram(
                data.index,
                data.count,
                data.row,
                order[ends[f] : ends[f + 1]],
                base,
                terms,
                last,
                part,
            )
            for pair, (a, b) in enumerate(pairs):
                if share := shares[a, f] * shares[b, f]:
                    inner[pair] += np.multiply(part[:last, :last], share, out=scratch)
            edge += np.multiply.outer(
                np.outer(shares[:, f], unscaled[:, f]), part[:last, last:] + part[last:, :last].T
            )
            corner += np.multiply.outer(
                np.outer(unscaled[:, f], unscaled[:, f]), _symmetric(part[last:, last:])
            )
        half = np.zeros((size, size))
        others = order[rare[code[order]]]
        kernels.gram_of_stages(
            model.rows,
            others,
            base,
            terms,
            last,
            shares,
            unscaled,
            half,
        )
        matrix = np.empty((stages, width, stages, width))
        for (a, b), columns in zip(pairs, inner, strict=True):
            matrix[a, :last, b, :last] = matrix[b, :last, a, :last] = _symmetric(columns)
        matrix[:, :last, :, last:] = edge.transpose(0, 2, 1, 3)
        matrix[:, last:, :, :last] = edge.transpose(1, 3, 0, 2)
        matrix[:, last:, :, last:] = corner.transpose(0, 2, 1, 3)
        return matrix.reshape(size, size) + _symmetric(half)

    pieces = ahead(data, ranges, larger=LARGER)
    return summed(work, pieces, workers, model, ranges, LARGER * BLOCK, (size, size))


def _symmetric(half: np.ndarray) -> np.ndarray:
    return half + half.T - np.diag(np.diag(half))


GROUPS = 256  # groups of games whose scores are in memory together
PORTIONS = 8  # of the groups, each with its own sums


# from a model, weights and ranges of positions
PieceOf = Callable[[Model, np.ndarray, np.ndarray], Piece]


class Terms(NamedTuple):
    """Positions `base` to base + n of the arrays of a piece, and `terms` (2 or 5, n) of them, those
    of `tuner.fit.device.cpu.kernels.position_terms`; row 0 has the residuals, row 1, which TD does
    not have, the curvatures."""

    piece: Piece
    base: int
    terms: np.ndarray


TermsOf = Callable[[np.ndarray], Terms]  # from ranges of positions


class TemporalState(NamedTuple):
    """Values, slopes and errors (n,) of the positions that a piece of whole games spans; zero
    outside the chosen games."""

    piece: Piece
    values: np.ndarray
    slopes: np.ndarray
    c: np.ndarray

    @property
    def terms(self) -> Terms:
        """The residuals c v' alone, (1, n)."""
        residual = self.c * self.slopes
        return Terms(self.piece, int(self.piece.ranges[0, 0]), residual[np.newaxis])


def over_games(
    model: Model,
    shape: tuple[int, int],
    terms_of: TermsOf,
    function: Callable[[Iterator[np.ndarray]], np.ndarray],
    workers: int,
) -> np.ndarray:
    """Return the sum of function(batches of scores from `game_scores`) over portions of the groups
    of games."""
    groups = len(model.groups[0])
    edges = (
        np.linspace(0, groups, max(1, min(PORTIONS, groups // GROUPS)) + 1)
        .astype(np.int64)
        .tolist()
    )
    results = in_order(
        lambda part: function(game_scores(model, shape, terms_of, *part)), pairwise(edges), workers
    )
    total = size_of(model.ranges)
    model.progress(0, total)
    sums = next(results)
    for done, some in enumerate(results, 2):
        sums += some
        model.progress(total * done // (len(edges) - 1), total)
    return sums


def game_scores(
    model: Model, shape: tuple[int, int], terms_of: TermsOf, low: int, high: int
) -> Iterator[np.ndarray]:
    """Yield sums (n, d) of residual * x of each game, or group of games with one identity, for
    groups low to high, some at a time and for weights of this shape. `terms_of` is called with
    whole games."""
    group, by_group = model.groups[1], model.by_group
    for begin in range(low, high, GROUPS):
        end = min(begin + GROUPS, high)
        members = by_group[
            np.searchsorted(group, begin, sorter=by_group) : np.searchsorted(
                group, end, sorter=by_group
            )
        ]
        # in the order of the file, so that adjacent games are read together
        members = np.sort(members)
        games, scores = (
            whole_games(model.data, model.games[members]),
            np.zeros((end - begin, *shape)),
        )
        for some in together(games):
            add_scores(
                model,
                terms_of,
                np.ascontiguousarray(games[some]),
                group[members[some]] - begin,
                scores,
            )
        yield scores.reshape(end - begin, -1)


def add_scores(
    model: Model, terms_of: TermsOf, games: np.ndarray, place: np.ndarray, scores: np.ndarray
) -> None:
    """Add the scores of some games, which are read together, to scores[place] of (n, stages,
    width)."""
    data = model.data
    prefetch(data, games)
    piece, base, terms = terms_of(games)
    kernels.range_scores(
        piece.rows,
        piece.ranges,
        place,
        base,
        terms,
        data.columns,
        model.shares,
        model.unscaled,
        scores,
    )
    model.release()


def evaluations(
    model: Model, weights: np.ndarray, piece_of: PieceOf, ranges: np.ndarray, workers: int
) -> np.ndarray:
    """Return the evaluations (n,) of the positions of some ranges in centipawns, first player's
    view."""
    parts = in_order(
        lambda some: evaluate_piece(model, weights, piece_of(model, weights, some)),
        ahead(model.data, ranges),
        workers,
    )
    return np.concatenate([np.zeros(0), *watch(parts, model, ranges)])


def evaluate_piece(model: Model, weights: np.ndarray, piece: Piece) -> np.ndarray:
    """Return the evaluations (n,) of the positions of a piece."""
    out = np.empty(size_of(piece.ranges))
    table = np.ascontiguousarray(model.table(weights)[:, : model.data.columns + 1])
    kernels.evaluations(piece.rows, table, np.ascontiguousarray(piece.ranges), out)
    return out


def position_terms(model: Model, weights: np.ndarray, piece: Piece) -> Terms:
    """Return the derivatives of the objective for the positions that a piece spans."""
    base, size = int(piece.ranges[0, 0]), int(piece.ranges[-1, 1] - piece.ranges[0, 0])
    terms = np.zeros((5 if model.objective.widths else 2, size))
    kernels.position_terms(
        piece.rows,
        model.table(weights),
        model.data.columns,
        piece.ranges,
        model.objective.block.address(),
        model.scale,
        base,
        terms,
    )
    if model.exact:
        places, rows = places_of(piece.ranges), piece.rows
        curvatures = model.curvatures_of(
            evaluate_piece(model, weights, piece), rows.outcome[places]
        )
        terms[1, places - base] = rows.weight[places] * curvatures
    return Terms(piece, base, terms)


def second_moments(
    model: Model,
    shape: tuple[int, int],
    terms_of: TermsOf,
    ranges: np.ndarray,
    workers: int = 1,
) -> np.ndarray:
    """Return the sum (d, d) of curvature * x x' over ranges of positions, for weights of this
    shape."""
    if model.data.scaled:
        return scaled_moments(model, shape, terms_of, ranges, workers)
    sums, pieces = TreeSum(MATRIX_GROUP), ahead(model.data, ranges, larger=LARGER)
    for found in watch(
        in_order(lambda piece: half_moments(model, shape, terms_of(piece)), pieces, workers),
        model,
        ranges,
        LARGER * BLOCK,
    ):
        sums.add(found)
    return whole_moments(sums.total(half_shape(shape)), shape)


def half_shape(shape: tuple[int, int]) -> tuple[int, int, int]:
    """Return the shape of `half_moments` for weights of this shape."""
    stages, width = shape
    return stages * (stages + 1) // 2, width, width


def half_moments(model: Model, shape: tuple[int, int], some: Terms) -> np.ndarray:
    """Return half of the sum (pairs of stages, width, width) of curvature * x x' over the positions
    of a piece, see `whole_moments`."""
    halves, scratch = np.zeros(half_shape(shape)), np.empty((shape[1], shape[1]))
    local, base, terms = some
    index, count, row, phase, *_ = local.rows
    phase = phase[base : base + terms.shape[1]]
    order = np.argsort(phase, kind="stable")
    order = order[terms[1][order] != 0]
    ends = np.searchsorted(phase[order], np.arange(model.codes + 1))
    for f in np.flatnonzero(np.diff(ends)):
        part = np.zeros((shape[1], shape[1]))
        kernels.gram(
            index, count, row, order[ends[f] : ends[f + 1]], base, terms, model.data.columns, part
        )
        for pair, (a, b) in enumerate(_pairs(shape)):
            if share := model.shares[a, f] * model.shares[b, f]:
                halves[pair] += np.multiply(part, share, out=scratch)
    return halves


def whole_moments(sums: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return the symmetric matrix (d, d) from sums of its halves."""
    stages, width = shape
    matrix = np.empty((stages, width, stages, width))
    for (a, b), half in zip(_pairs(shape), sums, strict=True):
        matrix[a, :, b, :] = matrix[b, :, a, :] = half + half.T - np.diag(np.diag(half))
    return matrix.reshape(stages * width, stages * width)


def _pairs(shape: tuple[int, int]) -> list[tuple[int, int]]:
    return [(a, b) for a in range(shape[0]) for b in range(a, shape[0])]


def larger_pieces(model: Model, numbers: int) -> int:
    """Return how many times the usual size a piece should have, if its sums are so many numbers:
    adding them up then costs about as much as its nonzeros."""
    nonzeros = len(model.data.index) / max(1, model.data.positions)
    return max(1, int(numbers / (max(1.0, nonzeros) * BLOCK)))


class Curvatures:
    """The sum of curvature * x x' over ranges of positions, as a function of vectors; the
    curvatures, at the weights where it is made, are computed once."""

    def __init__(
        self,
        model: Model,
        shape: tuple[int, int],
        terms_of: TermsOf,
        piece_of: Callable[[np.ndarray], Piece],
        ranges: np.ndarray,
        workers: int,
    ) -> None:
        self.model, self.shape, self.ranges, self.workers = model, shape, ranges, workers
        self._piece_of = piece_of
        self._larger = larger_pieces(model, shape[0] * shape[1])
        rows = [1, 3, 4] if model.objective.widths else [1]

        def known(piece: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(terms_of(piece).terms[rows])

        self._terms = list(self._over(known))

    def _over(self, work: Callable[[np.ndarray], np.ndarray]) -> Iterator[np.ndarray]:
        pieces = ahead(self.model.data, self.ranges, larger=self._larger)
        results = in_order(work, pieces, self.workers)
        return watch(results, self.model, self.ranges, self._larger * BLOCK)

    def _sum(self, kernel: Callable[..., None], shape: tuple[int, ...], *given: Any) -> np.ndarray:
        """Return the sum over the pieces of what a kernel adds."""
        numbered = enumerate(ahead(self.model.data, self.ranges, larger=self._larger))
        last, shares, unscaled = self.model.data.columns, self.model.shares, self.model.unscaled

        def work(numbered: tuple[int, np.ndarray]) -> np.ndarray:
            number, some = numbered
            (rows, ranges, _), part = self._piece_of(some), np.zeros(shape)
            base, terms = int(ranges[0, 0]), self._terms[number]
            kernel(rows, ranges, base, terms, last, shares, unscaled, *given, part)
            return part

        size = self._larger * BLOCK
        return summed(work, numbered, self.workers, self.model, self.ranges, size, shape)

    def products(self, vectors: np.ndarray) -> np.ndarray:
        """Return the products (d, k) with vectors (d, k)."""
        inner = vectors.reshape(*self.shape, -1).transpose(1, 0, 2)
        inner = np.ascontiguousarray(inner)
        return by_stage(self._sum(kernels.curvature_products, inner.shape, inner))

    def diagonal(self, leaders: np.ndarray) -> np.ndarray:
        """See `CurvatureSums`."""
        return self._sum(kernels.curvature_diagonal, self.shape, leaders).ravel()


def by_stage(sums: np.ndarray) -> np.ndarray:
    """Return sums (d, k), stage after stage, from (columns + 1 or 2, stages, k)."""
    return sums.transpose(1, 0, 2).reshape(-1, sums.shape[2])


def signed_scores(
    model: Model, of_weights: tuple[int, int], terms_of: TermsOf, signs: np.ndarray, workers: int
) -> np.ndarray:
    """Return the sums (d, k) of the scores of all groups of games, each times its signs (groups,
    k)."""
    games, group = model.whole_games, model.groups[1]
    stages, width = of_weights

    def work(some: slice) -> np.ndarray:
        piece = np.ascontiguousarray(games[some])
        prefetch(model.data, piece)
        given, base, terms = terms_of(piece)
        part = np.zeros((width, stages, signs.shape[1]))
        kernels.signed_scores(
            given.rows,
            given.ranges,
            group[some],
            base,
            terms,
            model.data.columns,
            model.shares,
            model.unscaled,
            signs,
            part,
        )
        return part

    size, shape = BLOCK * larger_pieces(model, stages * width), (width, stages, signs.shape[1])
    return by_stage(summed(work, together(games, size), workers, model, model.ranges, size, shape))
