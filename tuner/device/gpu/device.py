"""Passes by a card: one kernel reads each row once; the same sums as the processors'.

Sums of loss and gradient are whole numbers of a small unit: the order of addition is left to the card, and every run gives
the same bits. Matrices are products of rows that a kernel writes out, some thousands of one phase at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tuner.device.base import Model, TemporalPasses
from tuner.device.cpu.device import Processors
from tuner.device.gpu.chunk import Chosen, Chunk, Packed, arranged
from tuner.device.gpu.chunks import Chunks
from tuner.device.gpu.library import SHARED_BYTES, THREADS, Library, objective_number
from tuner.objectives.temporal import TemporalData
from tuner.parallel import available_cpus

WARPS, GROUPS = THREADS // 32, THREADS // 4  # of a block: positions that it takes by warps, or by four lanes
ALIGNED = 8  # numbers of a row
ROWS_BYTES = 1 << 29  # of rows written out at once
WHOLE_BITS, TILE_BITS, WEIGHT_BITS = 61, 31, 30  # of a sum, of one tile's sum, of a weight

Residuals = Callable[[Chunk, Chosen], tuple[Any, Any]]


class Gpu:
    """One card, by CuPy."""

    def __init__(self, library: Library, name: str) -> None:
        self.name, self.workers = f"gpu ({name})", available_cpus()
        self._library = library
        self._chunks = Chunks(library)

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """See `Device`."""
        library, arrays = self._library, self._library.arrays
        table, columns = model.table(weights), model.data.columns
        step = max(float(np.abs(table[:, :columns]).max(initial=0.0)), 1e-300) / 2**WEIGHT_BITS
        constants = np.zeros((len(table), 2))
        constants[:, :table.shape[1] - columns] = table[:, columns:]
        fixed, constants = library.put(np.rint(table[:, :columns] / step), np.int32), library.put(constants, np.float64)
        gradient, loss = arrays.zeros(table.shape), arrays.zeros(1)
        sums, total = arrays.zeros(table.shape, np.int64), arrays.zeros(1, np.int64)
        for chunk, chosen in self.watched(model, ranges):
            n, largest = len(chosen.order), self._chunks.heaviest * model.objective.largest_residual * model.scale
            tile = (2.0**TILE_BITS - 1 - chosen.largest) / (chosen.largest * largest)  # each is rounded by less than one
            units = tuple(map(np.float64, (tile, _unit(1000 * n * largest), _unit(1000 * n * self._chunks.heaviest))))
            library.launch("loss_gradient", len(chosen.tiles), *chunk.rows, chunk.at.outcome, chunk.at.weight, chosen.order,
                           chosen.tiles, len(chosen.tiles), fixed, np.float64(step), constants, columns, table.shape[1],
                           objective_number(model.objective), np.float64(model.scale), *units, sums, total,
                           shared=SHARED_BYTES * columns)
            library.launch("fold", -(-sums.size // THREADS), sums, total, len(table), columns, table.shape[1], *units, gradient,
                           loss)
        return float(arrays.asnumpy(loss)[0]), model.shares @ arrays.asnumpy(gradient)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        arrays = self._library.arrays

        def terms_of(chunk: Chunk, chosen: Chosen) -> tuple[Any, Any, Any]:
            terms = self.terms(model, chunk, chosen, weights)
            known = terms[1] > 0
            behind = arrays.where(known, terms[3] / arrays.where(known, terms[1], 1.0), 0.0)
            return terms[1], behind, terms[4] - behind * terms[3]

        return self.second_moments(model, weights.shape, terms_of, ranges)

    def second_moments(self, model: Model, shape: tuple[int, int],
                       terms_of: Callable[[Chunk, Chosen], tuple[Any, Any, Any]], ranges: np.ndarray) -> np.ndarray:
        """(d, d) the sum of curvature * x x' over ranges of positions, for weights of this shape. `terms_of` chosen positions
        of a chunk are their curvatures; where there are widths of draws, what stands in their place in x; and what is left of
        the second derivative by the width."""
        arrays, (stages, width) = self._library.arrays, shape
        pairs = [(a, b) for a in range(stages) for b in range(a, stages)]
        sums = arrays.zeros((len(pairs), width, width))
        most = max(1, ROWS_BYTES // (8 * width))
        for chunk, chosen in self.watched(model, ranges):
            curvature, behind, rest = terms_of(chunk, chosen)
            root = arrays.sqrt(curvature)
            for phase, some in _of_one_phase(chosen, most):
                rows = self.rows(chunk, chosen.order[some], root[some], root[some] * behind[some], model.data.columns, width)
                part = (rows.T @ rows)[:width, :width]
                if model.objective.widths:
                    part[-1, -1] += rest[some].sum()
                for pair, (a, b) in enumerate(pairs):
                    if share := float(model.shares[a, phase] * model.shares[b, phase]):
                        sums[pair] += share * part
        matrix = np.empty((stages, width, stages, width))
        for (a, b), found in zip(pairs, arrays.asnumpy(sums), strict=True):
            matrix[a, :, b, :] = matrix[b, :, a, :] = found
        return matrix.reshape(stages * width, stages * width)

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """See `Device`."""
        columns = np.arange(weights.size)
        return self.scores(model, weights.shape, self._residuals(model, weights), columns, lambda scores: (scores**2).sum(axis=0))

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """See `Device`."""
        residuals = self._residuals(model, weights)
        return (self.scores(model, weights.shape, residuals, chosen, lambda scores: scores.T @ scores),
                len(model.groups[0]))

    def _residuals(self, model: Model, weights: np.ndarray) -> Residuals:
        def residuals(chunk: Chunk, some: Chosen) -> tuple[Any, Any]:
            terms = self.terms(model, chunk, some, weights)
            return terms[0], terms[2]

        return residuals

    def scores(self, model: Model, shape: tuple[int, int], residuals: Residuals, columns: np.ndarray,
               function: Callable[[Any], Any]) -> np.ndarray:
        """The sum of function(scores) over all groups of games, some at a time; scores (n, k) are sums of residual * x, of which
        some columns are looked at. `residuals` of chosen positions, and where there are widths of draws the derivatives by
        them."""
        library, arrays = self._library, self._library.arrays
        _, group = model.groups
        first, last = model.data.first[model.games], model.data.first[model.games + 1]
        wanted = library.put(columns, np.int64)
        found, split = 0, {}  # `split` are scores of groups whose games are in several chunks
        for chunk, chosen in self.watched(model, model.ranges):
            residual, drawn = (_by_place(arrays, chunk, chosen, values) for values in residuals(chunk, chosen))
            here = (first >= chunk.first) & (first < chunk.last)
            inside = np.flatnonzero(here)
            inside = inside[np.argsort(group[inside], kind="stable")]
            elsewhere = group[~here]
            for members in _batches(group[inside], max(1, ROWS_BYTES // (8 * shape[0] * shape[1]))):
                games = inside[members]
                local, sizes = np.unique(group[games], return_counts=True)
                low, high = ((edge[games] - chunk.first).astype(np.int32) for edge in (first, last))
                rows = self.score_rows(model, chunk, low, high, np.concatenate([[0], np.cumsum(sizes)]), residual, drawn, shape)
                scores = arrays.take(rows, wanted, axis=1)
                for i in np.flatnonzero(np.isin(local, elsewhere)).tolist():
                    split[int(local[i])] = split.get(int(local[i]), 0) + scores[i]
                    scores[i] = 0
                found = found + function(scores)
        if split:
            found = found + function(arrays.stack(list(split.values())))
        return arrays.asnumpy(found)

    def score_rows(self, model: Model, chunk: Chunk, low: np.ndarray, high: np.ndarray, first: np.ndarray, residual: Any,
                   drawn: Any, shape: tuple[int, int]) -> Any:
        """(groups, d) sums of residual * x over games first[g]:first[g + 1], which are positions low to high of a chunk in the
        order of its file; residuals are given by place."""
        library, groups = self._library, len(first) - 1
        rows = library.arrays.zeros((groups, shape[0] * shape[1]))
        library.launch("group_scores", -(-groups // WARPS), *chunk.rows, chunk.at.phase, chunk.place, library.put(low, np.int32),
                       library.put(high, np.int32), library.put(first, np.int32), groups, residual, drawn, model.data.columns,
                       shape[1], library.put(model.shares, np.float64), model.phases, shape[0], rows)
        return rows

    def position_products(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`; by the CPU: it is asked for a sample."""
        return Processors(self.workers).position_products(model, weights, ranges)

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`; by the CPU: what is looked at one by one has to be in host memory."""
        return Processors(self.workers).evaluations(model, weights, ranges)

    def evaluate(self, index: np.ndarray, count: np.ndarray, row: np.ndarray, phase: np.ndarray, table: np.ndarray) -> np.ndarray:
        """See `Device`."""
        library, n = self._library, len(phase)
        nothing = np.zeros(n, np.float32)  # neither outcomes nor weights are looked at
        given = Packed(*map(library.arrays.asarray, (index, count, row, phase, nothing, nothing)))
        chunk = arranged(library, given, int(row[0]), table.shape[1] - 1)
        values, _ = self.evaluated(chunk, chunk.place, table, table.shape[1] - 1)
        return library.arrays.asnumpy(values)

    def temporal(self, model: Model, extra: TemporalData) -> TemporalPasses:
        """See `Device`."""
        from tuner.device.gpu.temporal import TemporalCard

        return TemporalCard(self, self._library, model, extra)

    def copying(self, size: int) -> Callable[[], None]:
        """A function that copies so many bytes on the card: what it can do at best."""
        arrays = self._library.arrays
        source, target = arrays.zeros(size, np.uint8), arrays.zeros(size, np.uint8)

        def copy() -> None:
            target[...] = source
            arrays.cuda.runtime.deviceSynchronize()

        return copy

    def evaluated(self, chunk: Chunk, order: Any, table: np.ndarray, last: int) -> tuple[Any, Any]:
        """Evaluations, and widths of a draw, of positions at some places of a chunk; by the weights of each phase."""
        arrays, n, weights = self._library.arrays, len(order), self._library.put(table, np.float64)
        evaluation, drawn = arrays.empty(n), arrays.zeros(n)
        self._library.launch("evaluate", -(-n // GROUPS), *chunk.rows, chunk.at.phase, order, n, weights, last, table.shape[1],
                             evaluation, drawn)
        return evaluation, drawn

    def terms(self, model: Model, chunk: Chunk, chosen: Chosen, weights: np.ndarray) -> Any:
        """(5, n) what the objective says of chosen positions, in the order of `tuner.device.cpu.kernels.position_terms`."""
        n = len(chosen.order)
        terms = self._library.arrays.empty((5, n))
        self._library.launch("objective_terms", -(-n // THREADS), chunk.at.outcome, chunk.at.weight, chosen.order, n,
                             objective_number(model.objective), np.float64(model.scale),
                             *self.evaluated(chunk, chosen.order, model.table(weights), model.data.columns), terms)
        return terms

    def rows(self, chunk: Chunk, order: Any, factor: Any, behind: Any, last: int, width: int) -> Any:
        """(n, width or a little more, so that products are fast) factor * x of positions at some places of a chunk, with `behind`
        in the place of a draw's width, and zeros."""
        n, stride = len(order), -(-width // ALIGNED) * ALIGNED
        rows = self._library.arrays.zeros((n, stride))
        self._library.launch("expand", -(-n // WARPS), *chunk.rows, order, n, factor, behind, last, width, stride, rows)
        return rows

    def watched(self, model: Model, ranges: np.ndarray) -> Iterator[tuple[Chunk, Chosen]]:
        """What `Chunks.with_positions` gives; the progress is told."""
        done, total = 0, int((ranges[:, 1] - ranges[:, 0]).sum())
        model.progress(done, total)
        for chunk, chosen in self._chunks.with_positions(model.data, model.phases, ranges):
            yield chunk, chosen
            done += len(chosen.order)
            model.progress(done, total)


def _by_place(arrays: Any, chunk: Chunk, chosen: Chosen, values: Any) -> Any:
    found = arrays.zeros(chunk.last - chunk.first)
    found[chosen.order] = values
    return found


def _of_one_phase(chosen: Chosen, most: int) -> Iterator[tuple[int, slice]]:
    """A phase, and at most so many of the chosen positions that have it."""
    for phase, (low, high) in enumerate(pairwise(chosen.ends.tolist())):
        for begin in range(low, high, most):
            yield phase, slice(begin, min(begin + most, high))


def _batches(group: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Places of sorted group numbers, at most so many groups together."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    edges = [*starts[::most].tolist(), len(group)]
    for low, high in pairwise(edges):
        yield np.arange(low, high)


def _unit(largest: float) -> float:
    """Steps of a sum of at most this size."""
    return 2.0 ** math.floor(WHOLE_BITS - math.log2(max(largest, 1e-300)))
