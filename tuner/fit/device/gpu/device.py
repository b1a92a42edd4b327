"""Sums over positions and over games on a GPU, from the terms that a pass computes for each
position.

Matrices are products of dense rows that a kernel writes, some thousands of one phase at a time.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from games.system import available_cpus
from tuner.datasets.dataset import Rows, places_of, size_of, together
from tuner.fit.device.base import CurvatureSums, Model
from tuner.fit.device.cpu.device import Cpu
from tuner.fit.device.cpu.sums import by_stage
from tuner.fit.device.gpu.chunks import (
    SHARED_BYTES,
    THREADS,
    Chosen,
    Chunk,
    Chunks,
    Library,
    arrange,
    objective_number,
)

# positions of a block that has a warp, or four lanes, for each
WARPS, GROUPS = THREADS // 32, THREADS // 4
ALIGNED = 8  # row lengths are multiples of this
ROWS_BYTES = 1 << 29  # of dense rows written at once

Residuals = Callable[[Chunk, Chosen], tuple[Any, Any]]


@dataclass(frozen=True)
class ChunkSums:
    """Sums over the positions of a dataset in chunks."""

    library: Library
    chunks: Chunks

    def watched(self, model: Model, ranges: np.ndarray) -> Iterator[tuple[Chunk, Chosen]]:
        """Yield the chunks of `Chunks.with_positions` and report progress."""
        done, total = 0, size_of(ranges)
        model.progress(done, total)
        for chunk, chosen in self.chunks.with_positions(model.data, ranges):
            yield chunk, chosen
            done += len(chosen.order)
            model.progress(done, total)

    def second_moments(
        self,
        model: Model,
        shape: tuple[int, int],
        terms_of: Callable[[Chunk, Chosen], tuple[Any, Any, Any]],
        ranges: np.ndarray,
    ) -> np.ndarray:
        """Return the sum (d, d) of curvature * x x' over ranges of positions, for weights of this
        shape. `terms_of` gives, for the chosen positions of a chunk, the curvatures; and for widths
        of draws their entry in x, and the remainder of the second derivative by the width."""
        library, arrays, (stages, width) = self.library, self.library.arrays, shape
        pairs = [(a, b) for a in range(stages) for b in range(a, stages)]
        sums = arrays.zeros((len(pairs), width, width))
        most = max(1, ROWS_BYTES // (8 * width))
        for chunk, chosen in self.watched(model, ranges):
            curvature, behind, rest = terms_of(chunk, chosen)
            root = arrays.sqrt(curvature)
            for phase, some in _of_one_phase(chosen, most):
                rows = self.rows(
                    chunk,
                    chosen.order[some],
                    root[some],
                    root[some] * behind[some],
                    model.data.columns,
                    width,
                )
                part = (rows.T @ rows)[:width, :width]
                if model.objective.widths:
                    part[-1, -1] += rest[some].sum()
                for pair, (a, b) in enumerate(pairs):
                    if model.data.scaled:
                        factors = np.multiply.outer(
                            model.factors(a, phase, width), model.factors(b, phase, width)
                        )
                        sums[pair] += library.put(factors, np.float64) * part
                    elif share := float(model.shares[a, phase] * model.shares[b, phase]):
                        sums[pair] += share * part
        matrix = np.empty((stages, width, stages, width))
        for (a, b), found in zip(pairs, arrays.asnumpy(sums), strict=True):
            matrix[b, :, a, :] = found.T
            matrix[a, :, b, :] = found
        return matrix.reshape(stages * width, stages * width)

    def scores(
        self,
        model: Model,
        shape: tuple[int, int],
        residuals: Residuals,
        columns: np.ndarray,
        function: Callable[[Any], Any],
    ) -> np.ndarray:
        """Return the sum of function(scores) over all groups of games, some at a time; scores (n,
        k) are sums of residual * x in the chosen columns. `residuals` gives those of chosen
        positions, and their derivatives by the width of a draw."""
        library, arrays = self.library, self.library.arrays
        _, group = model.groups
        first, last = model.data.first[model.games], model.data.first[model.games + 1]
        wanted = library.put(columns, np.int64)
        found: Any = 0
        split: dict[int, Any] = {}  # scores of groups whose games are in several chunks
        for chunk, chosen in self.watched(model, model.ranges):
            residual, drawn = (
                _by_place(arrays, chunk, chosen, values) for values in residuals(chunk, chosen)
            )
            here = (first >= chunk.first) & (first < chunk.last)
            inside = np.flatnonzero(here)
            inside = inside[np.argsort(group[inside], kind="stable")]
            elsewhere = group[~here]
            for members in _batches(group[inside], max(1, ROWS_BYTES // (8 * shape[0] * shape[1]))):
                games = inside[members]
                local, sizes = np.unique(group[games], return_counts=True)
                low, high = ((edge[games] - chunk.first).astype(np.int32) for edge in (first, last))
                rows = self.score_rows(
                    model,
                    chunk,
                    low,
                    high,
                    np.concatenate([[0], np.cumsum(sizes)]),
                    residual,
                    drawn,
                    shape,
                )
                scores = arrays.take(rows, wanted, axis=1)
                for i in np.flatnonzero(np.isin(local, elsewhere)).tolist():
                    split[int(local[i])] = split.get(int(local[i]), 0) + scores[i]
                    scores[i] = 0
                found = found + function(scores)
        if split:
            found = found + function(arrays.stack(list(split.values())))
        return arrays.asnumpy(found)

    def score_rows(
        self,
        model: Model,
        chunk: Chunk,
        low: np.ndarray,
        high: np.ndarray,
        first: np.ndarray,
        residual: Any,
        drawn: Any,
        shape: tuple[int, int],
    ) -> Any:
        """Return the sums (groups, d) of residual * x over games first[g]:first[g + 1]: positions
        low to high of a chunk in the order of the file; residuals are in the order of the chunk."""
        library, groups = self.library, len(first) - 1
        rows = library.arrays.zeros((groups, shape[0] * shape[1]))
        library.launch(
            "group_scores",
            -(-groups // WARPS),
            *chunk.rows,
            chunk.at.phase,
            chunk.place,
            library.put(low, np.int32),
            library.put(high, np.int32),
            library.put(first, np.int32),
            groups,
            residual,
            drawn,
            model.data.columns,
            shape[1],
            library.put(model.shares, np.float64),
            library.put(model.unscaled, np.float64),
            model.codes,
            shape[0],
            rows,
        )
        return rows

    def evaluated(self, chunk: Chunk, order: Any, table: np.ndarray, last: int) -> tuple[Any, Any]:
        """Return the evaluations, and widths of a draw, of some entries of a chunk, from the
        weights of each phase."""
        arrays, n, weights = self.library.arrays, len(order), self.library.put(table, np.float64)
        evaluation, drawn = arrays.empty(n), arrays.zeros(n)
        self.library.launch(
            "evaluate",
            -(-n // GROUPS),
            *chunk.rows,
            chunk.at.phase,
            chunk.at.rest,
            order,
            n,
            weights,
            last,
            table.shape[1],
            evaluation,
            drawn,
        )
        return evaluation, drawn

    def rows(
        self, chunk: Chunk, order: Any, factor: Any, behind: Any, last: int, width: int
    ) -> Any:
        """Return dense rows (n, padded width) factor * x of some entries of a chunk, with `behind`
        in the column of a draw's width. The padding with zeros makes products fast."""
        n, stride = len(order), -(-width // ALIGNED) * ALIGNED
        rows = self.library.arrays.zeros((n, stride))
        self.library.launch(
            "expand",
            -(-n // WARPS),
            *chunk.rows,
            order,
            n,
            factor,
            behind,
            last,
            width,
            stride,
            rows,
        )
        return rows


def _by_place(arrays: Any, chunk: Chunk, chosen: Chosen, values: Any) -> Any:
    by_place = arrays.zeros(chunk.last - chunk.first)
    by_place[chosen.order] = values
    return by_place


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


PARTS = 4096  # partial sums over games
LARGEST_COUNT = 128.0
WHOLE_BITS, TILE_BITS, WEIGHT_BITS = 61, 31, 30  # of a sum, of one tile's sum, of a weight


class ChunkState(NamedTuple):
    """Values, slopes and errors (n,) of a chunk's positions in the order of the file; zero outside
    the chosen games."""

    values: Any
    slopes: Any
    c: Any


class Gpu:
    """One GPU, by CuPy."""

    has_products = True

    def __init__(self, library: Library, name: str) -> None:
        self.name, self.workers = f"gpu ({name})", available_cpus()
        self._library = library
        self._chunks = Chunks(library)
        self._sums = ChunkSums(library, self._chunks)

    @property
    def arrays(self) -> Any:
        """CuPy, for what needs no kernels."""
        return self._library.arrays

    def loss_gradient(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """See `Device`."""
        library, arrays = self._library, self._library.arrays
        table, columns = model.table(weights), model.data.columns
        step = max(float(np.abs(table[:, :columns]).max(initial=0.0)), 1e-300) / 2**WEIGHT_BITS
        constants = np.zeros((len(table), 2))
        constants[:, : table.shape[1] - columns] = table[:, columns:]
        fixed, constants = (
            library.put(np.rint(table[:, :columns] / step), np.int32),
            library.put(constants, np.float64),
        )
        gradient, loss = arrays.zeros(table.shape), arrays.zeros(1)
        sums, total = arrays.zeros(table.shape, np.int64), arrays.zeros(1, np.int64)
        for chunk, chosen in self._sums.watched(model, ranges):
            n, largest = (
                len(chosen.order),
                self._chunks.heaviest * model.objective.largest_residual * model.scale,
            )
            # each is rounded by less than one
            tile = (2.0**TILE_BITS - 1 - chosen.largest) / (chosen.largest * largest)
            units = tuple(
                map(
                    np.float64,
                    (tile, _unit(1000 * n * largest), _unit(1000 * n * self._chunks.heaviest)),
                )
            )
            library.launch(
                "loss_gradient",
                len(chosen.tiles),
                *chunk.rows,
                chunk.at.outcome,
                chunk.at.weight,
                chunk.at.rest,
                chosen.order,
                chosen.tiles,
                len(chosen.tiles),
                fixed,
                np.float64(step),
                constants,
                columns,
                table.shape[1],
                objective_number(model.objective),
                np.float64(model.scale),
                *units,
                sums,
                total,
                shared=SHARED_BYTES * columns,
            )
            library.launch(
                "fold",
                -(-sums.size // THREADS),
                sums,
                total,
                len(table),
                columns,
                table.shape[1],
                *units,
                gradient,
                loss,
            )
        return float(arrays.asnumpy(loss)[0]), model.by_stage(arrays.asnumpy(gradient))

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        if model.exact:
            return Cpu(self.workers).gauss_newton(model, weights, ranges)
        arrays = self._library.arrays

        def terms_of(chunk: Chunk, chosen: Chosen) -> tuple[Any, Any, Any]:
            terms = self.terms(model, chunk, chosen, weights)
            known = terms[1] > 0
            behind = arrays.where(known, terms[3] / arrays.where(known, terms[1], 1.0), 0.0)
            return terms[1], behind, terms[4] - behind * terms[3]

        return self._sums.second_moments(model, weights.shape, terms_of, ranges)

    def curvatures(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> CurvatureSums:
        """See `Device`."""
        if model.exact:
            return Cpu(self.workers).curvatures(model, weights, ranges)
        return GpuCurvatures(self, model, weights, ranges)

    def signed_scores(self, model: Model, weights: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """See `Device`; on the CPU, because it is needed once."""
        return Cpu(self.workers).signed_scores(model, weights, signs)

    def curvature_products(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray, vectors: np.ndarray
    ) -> np.ndarray:
        """Return the sum of curvature * x (x' v) over ranges of positions, for vectors (width,
        stages, k)."""
        library, arrays, (width, stages, k) = self._library, self._library.arrays, vectors.shape
        given = library.put(vectors, np.float64)
        total = np.zeros(vectors.shape)
        longest = float(np.diff(model.data.row).max(initial=0)) * LARGEST_COUNT + 2
        for chunk, chosen in self._sums.watched(model, ranges):
            terms = self.terms(model, chunk, chosen, weights)
            curved = float(arrays.asnumpy(abs(terms[[1, 3, 4]]).max())) if len(chosen.order) else 0
            unit = _unit(
                2 * LARGEST_COUNT * len(chosen.order) * curved * longest * float(abs(vectors).max())
            )
            sums = arrays.zeros(vectors.shape, np.int64)
            library.launch(
                "curvature_products",
                -(-len(chosen.order) // WARPS),
                *chunk.rows,
                chunk.at.phase,
                chosen.order,
                len(chosen.order),
                terms,
                model.data.columns,
                width,
                library.put(model.shares, np.float64),
                library.put(model.unscaled, np.float64),
                model.codes,
                stages,
                k,
                given,
                np.float64(unit),
                sums,
            )
            total += arrays.asnumpy(sums) / unit
        return total

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """See `Device`."""
        residuals, columns = self._residuals(model, weights), np.arange(weights.size)
        return self._sums.scores(
            model, weights.shape, residuals, columns, lambda scores: (scores**2).sum(axis=0)
        )

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """See `Device`."""
        residuals = self._residuals(model, weights)
        return self._sums.scores(
            model, weights.shape, residuals, chosen, lambda scores: scores.T @ scores
        )

    def _residuals(self, model: Model, weights: np.ndarray) -> Residuals:
        def residuals(chunk: Chunk, some: Chosen) -> tuple[Any, Any]:
            if model.temporal is None:
                terms = self.terms(model, chunk, some, weights)
                return terms[0], terms[2]
            state = self._state(model, chunk, some, _inside(chunk, model.whole_games), weights)
            residual = (state.c * state.slopes)[chunk.origin[some.order]]
            return residual, residual  # without widths of draws, the second is not used

        return residuals

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`; on the CPU, because the results are used in host memory."""
        return Cpu(self.workers).evaluations(model, weights, ranges)

    def derivatives(
        self, model: Model, weights: np.ndarray, positions: np.ndarray
    ) -> sparse.csr_array:
        """See `Device`; on the CPU."""
        return Cpu(self.workers).derivatives(model, weights, positions)

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """See `Device`."""
        library = self._library
        nothing = np.zeros(len(rows.phase), np.float32)  # outcomes and weights are not used
        rest = nothing if rows.rest is None else rows.rest
        given = Rows(
            *map(library.arrays.asarray, rows._replace(outcome=nothing, weight=nothing, rest=rest))
        )
        chunk = arrange(library, given, int(rows.row[0]), table.shape[1] - 1)
        values, _ = self._sums.evaluated(chunk, chunk.place, table, table.shape[1] - 1)
        return library.arrays.asnumpy(values)

    def equation(
        self, model: Model, weights: np.ndarray, games: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """See `Device`."""
        arrays = self._library.arrays
        total, squares = arrays.zeros(weights.size), arrays.zeros(1)
        for chunk, chosen in self._sums.watched(model, games):
            inside = _inside(chunk, games)
            state = self._state(model, chunk, chosen, inside, weights)
            first = np.linspace(0, len(inside), min(PARTS, len(inside)) + 1).astype(np.int64)
            residual = (state.c * state.slopes)[chunk.origin]
            rows = self._sums.score_rows(
                model, chunk, inside[:, 0], inside[:, 1], first, residual, residual, weights.shape
            )
            total += rows.sum(axis=0)
            squares += (state.c * state.c).sum()
        return arrays.asnumpy(total), float(arrays.asnumpy(squares)[0])

    def equation_matrix(
        self, model: Model, weights: np.ndarray, games: np.ndarray, exact: bool
    ) -> np.ndarray:
        """See `Device`."""
        stages, width = weights.shape
        matrix = self._library.arrays.zeros((stages, width, stages, width))
        for chunk, chosen in self._sums.watched(model, games):
            inside = _inside(chunk, games)
            state = self._state(model, chunk, chosen, inside, weights)
            for some in together(inside, max(1, ROWS_BYTES // (8 * weights.size))):
                rows, traces = self._rows_and_traces(
                    model, chunk, inside[some], state, width, exact
                )
                for a, b in product(range(stages), repeat=2):
                    matrix[a, :, b, :] += (rows[a].T @ traces[b])[:width, :width]
        return self._library.arrays.asnumpy(matrix).reshape(weights.size, weights.size)

    def _rows_and_traces(
        self,
        model: Model,
        chunk: Chunk,
        games: np.ndarray,
        state: ChunkState,
        width: int,
        exact: bool,
    ) -> tuple[list[Any], list[Any]]:
        """Return, for each stage, j (n, padded width) of the positions of some games of a chunk,
        and their traces y: the matrix is the sum of j y'."""
        library, columns = self._library, model.data.columns
        sizes, rows, traces = games[:, 1] - games[:, 0], [], []
        ends, places = np.cumsum(sizes), library.put(places_of(games), np.int64)
        order, slope, decay = (
            chunk.place[places],
            state.slopes[places],
            self._temporal_data(model, chunk)[1][places],
        )
        share = library.put(model.shares, np.float64)[:, chunk.at.phase[order]]
        low, high = library.put(ends - sizes, np.int32), library.put(ends, np.int32)
        # d2v/de2 = -2 scale v v'; the product of two rows contains v' twice
        bend = (
            2
            * model.scale
            * state.values[places]
            * state.c[places]
            / library.arrays.where(slope > 0, slope, 1.0)
        )
        for stage in range(model.stages):
            factor = slope * share[stage]
            row = self._sums.rows(chunk, order, factor, factor, columns, width)
            trace = library.arrays.empty(row.shape)
            library.launch(
                "traces", len(games), low, high, len(games), decay, row.shape[1], row, trace
            )
            rows.append(row)
            traces.append(trace + bend[:, None] * row if exact else trace)
        return rows, traces

    def _state(
        self, model: Model, chunk: Chunk, chosen: Chosen, games: np.ndarray, weights: np.ndarray
    ) -> ChunkState:
        """Return the state of whole games of a chunk, whose positions are chosen."""
        library, arrays, scale = self._library, self._library.arrays, model.scale
        n, here = chunk.last - chunk.first, chunk.origin[chosen.order]
        known, decay, outcome = self._temporal_data(model, chunk)
        evaluation, _ = self._sums.evaluated(
            chunk, chosen.order, model.table(weights), model.data.columns
        )
        found, given = arrays.tanh(scale * evaluation), known[here]
        free = arrays.isnan(given)
        values, slopes, c = arrays.zeros(n), arrays.zeros(n), arrays.zeros(n)
        values[here] = arrays.where(free, found, given)
        slopes[here] = arrays.where(free, scale * (1 - found * found), 0.0)
        library.launch(
            "scan",
            -(-len(games) // THREADS),
            library.put(games[:, 0], np.int32),
            library.put(games[:, 1], np.int32),
            len(games),
            values,
            outcome,
            decay,
            c,
        )
        return ChunkState(values, slopes, c)

    def _temporal_data(self, model: Model, chunk: Chunk) -> tuple[Any, Any, Any]:
        """Return known values, decays and outcomes in the order of the file; they are kept with a
        resident chunk."""
        extra = model.temporal_data
        if chunk.extra is None or chunk.extra[0] is not extra:
            known, decay = (
                self._library.put(array[chunk.first : chunk.last], np.float64)
                for array in (extra.known, extra.decay)
            )
            chunk.extra = extra, (known, decay, chunk.at.outcome[chunk.place].astype(np.float64))
        return chunk.extra[1]

    def copying(self, size: int) -> Callable[[], None]:
        """Return a function that copies `size` bytes within GPU memory, to measure its
        bandwidth."""
        arrays = self._library.arrays
        source, target = arrays.zeros(size, np.uint8), arrays.zeros(size, np.uint8)

        def copy() -> None:
            target[...] = source
            arrays.cuda.runtime.deviceSynchronize()

        return copy

    def terms(self, model: Model, chunk: Chunk, chosen: Chosen, weights: np.ndarray) -> Any:
        """Return the derivatives (5, n) of the objective for chosen positions, in the order of
        `kernels.position_terms`."""
        n = len(chosen.order)
        terms = self._library.arrays.empty((5, n))
        self._library.launch(
            "objective_terms",
            -(-n // THREADS),
            chunk.at.outcome,
            chunk.at.weight,
            chosen.order,
            n,
            objective_number(model.objective),
            np.float64(model.scale),
            *self._sums.evaluated(chunk, chosen.order, model.table(weights), model.data.columns),
            terms,
        )
        return terms


@dataclass(frozen=True)
class GpuCurvatures:
    """See `tuner.fit.device.base.CurvatureSums`."""

    device: Gpu
    model: Model
    weights: np.ndarray
    ranges: np.ndarray

    def products(self, vectors: np.ndarray) -> np.ndarray:
        stages, width = self.weights.shape
        inner = vectors.reshape(stages, width, -1).transpose(1, 0, 2)
        return by_stage(
            self.device.curvature_products(self.model, self.weights, self.ranges, inner)
        )

    def diagonal(self, leaders: np.ndarray) -> np.ndarray:
        # on the CPU, because it is needed once
        cpu = Cpu(self.device.workers)
        return cpu.curvatures(self.model, self.weights, self.ranges).diagonal(leaders)


def _inside(chunk: Chunk, games: np.ndarray) -> np.ndarray:
    """Return the games of a chunk, as positions relative to its first."""
    return games[(games[:, 0] >= chunk.first) & (games[:, 0] < chunk.last)] - chunk.first


def _unit(largest: float) -> float:
    """Return the integer steps per 1.0 of a sum of at most this size."""
    return 2.0 ** math.floor(WHOLE_BITS - math.log2(max(largest, 1e-300)))
