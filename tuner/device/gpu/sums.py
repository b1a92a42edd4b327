"""Sums over positions and over games on a GPU, from the terms that a pass computes for each position.

Matrices are products of dense rows that a kernel writes, some thousands of one phase at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tuner.device.gpu.chunk import Chosen, Chunk
from tuner.device.gpu.chunks import Chunks
from tuner.device.gpu.library import THREADS, Library
from tuner.device.model import Model

WARPS, GROUPS = THREADS // 32, THREADS // 4  # positions of a block that has a warp, or four lanes, for each
ALIGNED = 8  # row lengths are multiples of this
ROWS_BYTES = 1 << 29  # of dense rows written at once

Residuals = Callable[[Chunk, Chosen], tuple[Any, Any]]


@dataclass(frozen=True)
class Sums:
    """Sums over the positions of a dataset in chunks."""

    library: Library
    chunks: Chunks

    def watched(self, model: Model, ranges: np.ndarray) -> Iterator[tuple[Chunk, Chosen]]:
        """Yield the chunks of `Chunks.with_positions` and report progress."""
        done, total = 0, int((ranges[:, 1] - ranges[:, 0]).sum())
        model.progress(done, total)
        for chunk, chosen in self.chunks.with_positions(model.data, ranges):
            yield chunk, chosen
            done += len(chosen.order)
            model.progress(done, total)

    def second_moments(self, model: Model, shape: tuple[int, int],
                       terms_of: Callable[[Chunk, Chosen], tuple[Any, Any, Any]], ranges: np.ndarray) -> np.ndarray:
        """Return the sum (d, d) of curvature * x x' over ranges of positions, for weights of this shape. `terms_of` gives, for
        the chosen positions of a chunk, the curvatures; and for widths of draws their entry in x, and the remainder of the
        second derivative by the width."""
        library, arrays, (stages, width) = self.library, self.library.arrays, shape
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
                    if model.data.scaled:
                        factors = np.multiply.outer(model.factors(a, phase, width), model.factors(b, phase, width))
                        sums[pair] += library.put(factors, np.float64) * part
                    elif share := float(model.shares[a, phase] * model.shares[b, phase]):
                        sums[pair] += share * part
        matrix = np.empty((stages, width, stages, width))
        for (a, b), found in zip(pairs, arrays.asnumpy(sums), strict=True):
            matrix[b, :, a, :] = found.T
            matrix[a, :, b, :] = found
        return matrix.reshape(stages * width, stages * width)

    def scores(self, model: Model, shape: tuple[int, int], residuals: Residuals, columns: np.ndarray,
               function: Callable[[Any], Any]) -> np.ndarray:
        """Return the sum of function(scores) over all groups of games, some at a time; scores (n, k) are sums of residual * x in
        the chosen columns. `residuals` gives those of chosen positions, and their derivatives by the width of a draw."""
        library, arrays = self.library, self.library.arrays
        _, group = model.groups
        first, last = model.data.first[model.games], model.data.first[model.games + 1]
        wanted = library.put(columns, np.int64)
        found, split = 0, {}  # `split`: scores of groups whose games are in several chunks
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
        """Return the sums (groups, d) of residual * x over games first[g]:first[g + 1]: positions low to high of a chunk in
        the order of the file; residuals are in the order of the chunk."""
        library, groups = self.library, len(first) - 1
        rows = library.arrays.zeros((groups, shape[0] * shape[1]))
        library.launch("group_scores", -(-groups // WARPS), *chunk.rows, chunk.at.phase, chunk.place, library.put(low, np.int32),
                       library.put(high, np.int32), library.put(first, np.int32), groups, residual, drawn, model.data.columns,
                       shape[1], library.put(model.shares, np.float64), library.put(model.unscaled, np.float64),
                       model.codes, shape[0], rows)
        return rows

    def evaluated(self, chunk: Chunk, order: Any, table: np.ndarray, last: int) -> tuple[Any, Any]:
        """Return the evaluations, and widths of a draw, of some entries of a chunk, from the weights of each phase."""
        arrays, n, weights = self.library.arrays, len(order), self.library.put(table, np.float64)
        evaluation, drawn = arrays.empty(n), arrays.zeros(n)
        self.library.launch("evaluate", -(-n // GROUPS), *chunk.rows, chunk.at.phase, chunk.at.rest, order, n, weights, last,
                            table.shape[1], evaluation, drawn)
        return evaluation, drawn

    def rows(self, chunk: Chunk, order: Any, factor: Any, behind: Any, last: int, width: int) -> Any:
        """Return dense rows (n, padded width) factor * x of some entries of a chunk, with `behind` in the column of a draw's
        width. The padding with zeros makes products fast."""
        n, stride = len(order), -(-width // ALIGNED) * ALIGNED
        rows = self.library.arrays.zeros((n, stride))
        self.library.launch("expand", -(-n // WARPS), *chunk.rows, order, n, factor, behind, last, width, stride, rows)
        return rows


def _by_place(arrays: Any, chunk: Chunk, chosen: Chosen, values: Any) -> Any:
    found = arrays.zeros(chunk.last - chunk.first)
    found[chosen.order] = values
    return found


def _of_one_phase(chosen: Chosen, most: int) -> Iterator[tuple[int, slice]]:
    """Yield each phase with slices of at most `most` of its chosen positions."""
    for phase, (low, high) in enumerate(pairwise(chosen.ends.tolist())):
        for begin in range(low, high, most):
            yield phase, slice(begin, min(begin + most, high))


def _batches(group: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Yield index ranges of sorted group numbers, at most `most` groups at a time."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    edges = [*starts[::most].tolist(), len(group)]
    for low, high in pairwise(edges):
        yield np.arange(low, high)
