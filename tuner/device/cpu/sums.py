"""Sums over positions and over games on CPU threads, from the terms that a pass computes for each position."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tuner.datasets.ranges import BLOCK, ahead, prefetch, together, whole_games
from tuner.device.cpu import kernels
from tuner.device.cpu.products import assembled, order_of, products
from tuner.device.cpu.scaled import scaled_moments
from tuner.device.cpu.tree import MATRIX_GROUP, TreeSum
from tuner.device.cpu.watched import watched
from tuner.device.model import Model, Piece
from tuner.parallel import in_order

GROUPS = 256  # groups of games whose scores are in memory together
PORTIONS = 8  # of the groups, each with its own sums
LARGER = 4  # times the size of a piece, for matrices: each piece has its own sums


PieceOf = Callable[[Model, np.ndarray, np.ndarray], Piece]  # from a model, weights and ranges of positions


class Terms(NamedTuple):
    """Positions `base` to base + n of the arrays of a piece, and `terms` (2 or 5, n) of them, those of
    `tuner.device.cpu.kernels.position_terms`; row 0 has the residuals, row 1 the curvatures."""

    piece: Piece
    base: int
    terms: np.ndarray


TermsOf = Callable[[np.ndarray], Terms]  # from ranges of positions


def score_products(model: Model, shape: tuple[int, int], terms_of: TermsOf, chosen: np.ndarray,
                   workers: int) -> tuple[np.ndarray, int]:
    """Return what `Device.score_products` describes, from the scores of `game_scores`."""
    groups = len(model.groups[0])
    order, dense = order_of(next(game_scores(model, shape, terms_of, 0, min(GROUPS, groups))), chosen)
    sums = over_games(model, shape, terms_of, lambda batches: products(batches, order, dense), workers)
    return assembled(sums, order, chosen), groups


def over_games(model: Model, shape: tuple[int, int], terms_of: TermsOf,
               function: Callable[[Iterator[np.ndarray]], np.ndarray], workers: int) -> np.ndarray:
    """Return the sum of function(batches of scores from `game_scores`) over portions of the groups of games."""
    groups = len(model.groups[0])
    edges = np.linspace(0, groups, max(1, min(PORTIONS, groups // GROUPS)) + 1).astype(np.int64).tolist()
    results = in_order(lambda part: function(game_scores(model, shape, terms_of, *part)), pairwise(edges), workers)
    total = int((model.ranges[:, 1] - model.ranges[:, 0]).sum())
    model.progress(0, total)
    found = next(results)
    for done, some in enumerate(results, 2):
        found += some
        model.progress(total * done // (len(edges) - 1), total)
    return found


def game_scores(model: Model, shape: tuple[int, int], terms_of: TermsOf, low: int,
                high: int) -> Iterator[np.ndarray]:
    """Yield sums (n, d) of residual * x of each game, or group of games with one identity, for groups low to high, some at a
    time and for weights of this shape. `terms_of` is called with whole games."""
    group, by_group = model.groups[1], model.by_group
    for begin in range(low, high, GROUPS):
        end = min(begin + GROUPS, high)
        members = by_group[np.searchsorted(group, begin, sorter=by_group):np.searchsorted(group, end, sorter=by_group)]
        members = np.sort(members)  # in the order of the file, so that adjacent games are read together
        games, scores = whole_games(model.data, model.games[members]), np.zeros((end - begin, *shape))
        for some in together(games):
            add_scores(model, terms_of, np.ascontiguousarray(games[some]), group[members[some]] - begin, scores)
        yield scores.reshape(end - begin, -1)


def add_scores(model: Model, terms_of: TermsOf, games: np.ndarray, place: np.ndarray,
               scores: np.ndarray) -> None:
    """Add the scores of some games, which are read together, to scores[place] of (n, stages, width)."""
    data = model.data
    prefetch(data, games)
    piece, base, terms = terms_of(games)
    kernels.range_scores(*piece.arrays[:4], piece.ranges, place, base, terms, data.columns, model.shares, model.unscaled, scores)
    model.release()


def evaluations(model: Model, weights: np.ndarray, piece_of: PieceOf, ranges: np.ndarray, workers: int) -> np.ndarray:
    """Return the evaluations (n,) of the positions of some ranges in centipawns, first player's view."""
    found = in_order(lambda some: evaluated(model, weights, piece_of(model, weights, some)), ahead(model.data, ranges), workers)
    return np.concatenate([np.zeros(0), *watched(found, model, ranges)])


def evaluated(model: Model, weights: np.ndarray, piece: Piece) -> np.ndarray:
    """Return the evaluations (n,) of the positions of a piece."""
    out = np.empty(int((piece.ranges[:, 1] - piece.ranges[:, 0]).sum()))
    table = np.ascontiguousarray(model.table(weights)[:, :model.data.columns + 1])
    kernels.evaluations(*piece.arrays, table, np.ascontiguousarray(piece.ranges), out)
    return out


def position_terms(model: Model, weights: np.ndarray, piece: Piece) -> Terms:
    """Return the derivatives of the objective for the positions that a piece spans."""
    base, size = int(piece.ranges[0, 0]), int(piece.ranges[-1, 1] - piece.ranges[0, 0])
    terms = np.zeros((5 if model.objective.widths else 2, size))
    kernels.position_terms(*piece.arrays, model.table(weights), model.data.columns, piece.ranges,
                           model.objective.block.address(), model.scale, base, terms)
    return Terms(piece, base, terms)


def second_moments(model: Model, shape: tuple[int, int], terms_of: TermsOf,
                   ranges: np.ndarray, workers: int = 1, pieces: Iterable[np.ndarray] | None = None) -> np.ndarray:
    """Return the sum (d, d) of curvature * x x' over ranges of positions, for weights of this shape. `pieces` may split the
    ranges differently."""
    if model.data.scaled:
        return scaled_moments(model, shape, terms_of, ranges, workers)
    sums = TreeSum(MATRIX_GROUP if pieces is None else sys.maxsize)
    pieces = ahead(model.data, ranges, larger=LARGER) if pieces is None else pieces
    for found in watched(in_order(lambda piece: half_moments(model, shape, terms_of(piece)), pieces, workers), model, ranges,
                         LARGER * BLOCK):
        sums.add(found)
    return whole_moments(sums.total(half_shape(shape)), shape)


def half_shape(shape: tuple[int, int]) -> tuple[int, int, int]:
    """Return the shape of `half_moments` for weights of this shape."""
    stages, width = shape
    return stages * (stages + 1) // 2, width, width


def half_moments(model: Model, shape: tuple[int, int], some: Terms) -> np.ndarray:
    """Return half of the sum (pairs of stages, width, width) of curvature * x x' over the positions of a piece, see
    `whole_moments`."""
    found, scratch = np.zeros(half_shape(shape)), np.empty((shape[1], shape[1]))
    local, base, terms = some
    index, count, row, phase, *_ = local.arrays
    phase = phase[base:base + terms.shape[1]]
    order = np.argsort(phase, kind="stable")
    order = order[terms[1][order] != 0]
    ends = np.searchsorted(phase[order], np.arange(model.codes + 1))
    for f in np.flatnonzero(np.diff(ends)):
        part = np.zeros((shape[1], shape[1]))
        kernels.gram(index, count, row, order[ends[f]:ends[f + 1]], base, terms, model.data.columns, part)
        for pair, (a, b) in enumerate(_pairs(shape)):
            if share := model.shares[a, f] * model.shares[b, f]:
                found[pair] += np.multiply(part, share, out=scratch)
    return found


def whole_moments(sums: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return the symmetric matrix (d, d) from sums of its halves."""
    stages, width = shape
    matrix = np.empty((stages, width, stages, width))
    for (a, b), half in zip(_pairs(shape), sums, strict=True):
        matrix[a, :, b, :] = matrix[b, :, a, :] = half + half.T - np.diag(np.diag(half))
    return matrix.reshape(stages * width, stages * width)


def _pairs(shape: tuple[int, int]) -> list[tuple[int, int]]:
    return [(a, b) for a in range(shape[0]) for b in range(a, shape[0])]
