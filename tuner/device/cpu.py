"""Passes by the processors of this machine: compiled, on threads, over data that need not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuner import passes
from tuner.device.base import Model
from tuner.parallel import in_order
from tuner.ranges import BLOCK, ahead

GROUPS = 256  # whose scores are looked at together
LARGER = 4  # pieces for a matrix: each has sums of the matrix's size


@dataclass(frozen=True)
class Processors:
    """Some threads; sums are the same to the bit for any number of them."""

    workers: int = 1

    @property
    def name(self) -> str:
        return f"cpu ({self.workers} thread{'s' if self.workers > 1 else ''})"

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """See `Device`."""
        table, shape = model.table(weights), (model.phases + 1, weights.shape[1])
        loss, per_phase, address = 0.0, np.zeros(shape), model.address

        def work(piece: np.ndarray) -> tuple[float, np.ndarray]:
            part = np.zeros(shape)
            return passes.loss_gradient(*model.arrays, table, model.data.columns, piece, address, model.scale, part), part

        for some, part in watched(in_order(work, ahead(model.data, ranges), self.workers), model, ranges):
            loss += some
            per_phase += part
        return loss, model.shares @ per_phase

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return second_moments(model, weights.shape, lambda piece: position_terms(model, weights, piece), ranges, self.workers)

    def over_groups(self, model: Model, weights: np.ndarray, chosen: np.ndarray,
                    function: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, int]:
        """See `Device`."""
        return sum(function(scores[:, chosen]) for scores in game_scores(model, weights)), len(model.groups[0])


def watched(results: Iterator[Any], model: Model, ranges: np.ndarray, size: int = BLOCK) -> Iterator[Any]:
    """Results for the pieces, of some size, of ranges; after each, memory is given back and the progress told."""
    done, total = 0, int((ranges[:, 1] - ranges[:, 0]).sum())
    for result in results:
        yield result
        model.release()
        done = min(done + size, total)
        model.progress(done, total)


def game_scores(model: Model, weights: np.ndarray, most: int = GROUPS) -> Iterator[np.ndarray]:
    """Gradients of the summed loss of each game (or group of games with one identity), some at a time: (n, d)."""
    names, group = model.groups
    by_group = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[by_group], np.arange(0, len(names) + most, most))
    for begin in range(len(bounds) - 1):
        members = by_group[bounds[begin]:bounds[begin + 1]]
        if len(members) == 0:
            continue
        scores = np.zeros((most, *weights.shape))
        members = np.sort(members)  # in the order of the file, so that neighbours are read together
        ranges = np.stack([model.data.first[model.games[members]], model.data.first[model.games[members] + 1]], axis=1)
        place = (group[members] - begin * most).astype(np.int64)
        _scores_of(model, weights, np.ascontiguousarray(ranges), place, scores)
        used = min(most, len(names) - begin * most)
        yield scores[:used].reshape(used, -1)


def position_terms(model: Model, weights: np.ndarray, piece: np.ndarray) -> tuple[int, np.ndarray]:
    """The first position, and what the objective says of the positions that a piece of ranges spans: see
    `passes.position_terms`."""
    base, size = int(piece[0, 0]), int(piece[-1, 1] - piece[0, 0])
    terms = np.zeros((5 if model.draws else 2, size))
    passes.position_terms(*model.arrays, model.table(weights), model.data.columns, piece, model.address, model.scale, base,
                          terms)
    return base, terms


def second_moments(model: Model, shape: tuple[int, int], terms_of: Callable[[np.ndarray], tuple[int, np.ndarray]],
                   ranges: np.ndarray, workers: int = 1) -> np.ndarray:
    """(d, d) the sum of curvature * x x' over ranges of positions, for weights of this shape. `terms_of` a piece of them are
    its first position, and for those that it spans what `passes.position_terms` gives; the curvatures are row 1."""
    stages, width = shape
    pairs = [(a, b) for a in range(stages) for b in range(a, stages)]
    sums = np.zeros((len(pairs), width, width))
    data = model.data

    def work(piece: np.ndarray) -> np.ndarray:
        found, scratch = np.zeros(sums.shape), np.empty((width, width))
        base, terms = terms_of(piece)
        phase = data.phase[base:base + terms.shape[1]]
        order = np.argsort(phase, kind="stable")
        order = order[terms[1][order] != 0]
        ends = np.searchsorted(phase[order], np.arange(model.phases + 2))
        for f in np.flatnonzero(np.diff(ends)):
            part = np.zeros((width, width))
            passes.gram(data.index, data.count, data.row, order[ends[f]:ends[f + 1]], base, terms, data.columns, part)
            for pair, (a, b) in enumerate(pairs):
                if share := model.shares[a, f] * model.shares[b, f]:
                    found[pair] += np.multiply(part, share, out=scratch)
        return found

    pieces = ahead(data, ranges, larger=LARGER)
    for found in watched(in_order(work, pieces, workers), model, ranges, LARGER * BLOCK):
        sums += found
    matrix = np.empty((stages, width, stages, width))
    for (a, b), half in zip(pairs, sums, strict=True):
        matrix[a, :, b, :] = matrix[b, :, a, :] = half + half.T - np.diag(np.diag(half))
    return matrix.reshape(stages * width, stages * width)


def _scores_of(model: Model, weights: np.ndarray, ranges: np.ndarray, place: np.ndarray, scores: np.ndarray) -> None:
    begin = 0
    data = model.data
    while begin < len(ranges):
        end = begin + 1
        while end < len(ranges) and ranges[end, 1] - ranges[begin, 0] <= BLOCK:
            end += 1
        piece = ranges[begin:end]
        model.data.prefetch(int(piece[0, 0]), int(piece[-1, 1]))
        base, terms = position_terms(model, weights, piece)
        passes.range_scores(data.index, data.count, data.row, data.phase, piece, place[begin:end], base, terms,
                            data.columns, model.phases, scores)
        model.release()
        begin = end


CPU = Processors()
