"""TD(lambda) on a GPU: values of all positions, a scan of each game by its own thread, and products of dense rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tuner.datasets.ranges import together
from tuner.device.gpu.chunk import Chosen, Chunk
from tuner.device.gpu.library import THREADS, Library
from tuner.device.gpu.sums import ROWS_BYTES, Sums
from tuner.device.model import Model
from tuner.objectives.temporal import TemporalData

SUMS = 4096  # partial sums over games


class State(NamedTuple):
    """Values, slopes and errors (n,) of a chunk's positions in the order of the file; zero outside the chosen games."""

    values: Any
    slopes: Any
    c: Any


@dataclass(frozen=True)
class GpuTemporal:
    """See `TemporalPasses`."""

    sums: Sums
    library: Library
    model: Model
    extra: TemporalData

    def equation(self, weights: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, float]:
        """See `TemporalPasses`."""
        arrays = self.library.arrays
        found, squares = arrays.zeros(weights.size), arrays.zeros(1)
        for chunk, chosen in self.sums.watched(self.model, games):
            inside = self._inside(chunk, games)
            state = self._state(chunk, chosen, inside, weights)
            first = np.linspace(0, len(inside), min(SUMS, len(inside)) + 1).astype(np.int64)
            residual = (state.c * state.slopes)[chunk.origin]
            rows = self.sums.score_rows(self.model, chunk, inside[:, 0], inside[:, 1], first, residual, residual, weights.shape)
            found += rows.sum(axis=0)
            squares += (state.c * state.c).sum()
        return arrays.asnumpy(found), float(arrays.asnumpy(squares)[0])

    def matrix(self, weights: np.ndarray, games: np.ndarray, exact: bool) -> np.ndarray:
        """See `TemporalPasses`."""
        stages, width = weights.shape
        found = self.library.arrays.zeros((stages, width, stages, width))
        for chunk, chosen in self.sums.watched(self.model, games):
            inside = self._inside(chunk, games)
            state = self._state(chunk, chosen, inside, weights)
            for some in together(inside, max(1, ROWS_BYTES // (8 * weights.size))):
                rows, traces = self._rows_and_traces(chunk, inside[some], state, weights.shape, exact)
                for a, b in product(range(stages), repeat=2):
                    found[a, :, b, :] += (rows[a].T @ traces[b])[:width, :width]
        return self.library.arrays.asnumpy(found).reshape(weights.size, weights.size)

    def _rows_and_traces(self, chunk: Chunk, games: np.ndarray, state: State, shape: tuple[int, int],
                         exact: bool) -> tuple[list[Any], list[Any]]:
        """Return, for each stage, j (n, padded width) of the positions of some games of a chunk, and their traces y: the matrix
        is the sum of j y'."""
        library, (stages, width) = self.library, shape
        sizes = games[:, 1] - games[:, 0]
        ends = np.cumsum(sizes)
        places = library.put(np.repeat(games[:, 1] - ends, sizes) + np.arange(ends[-1]), np.int64)
        order, slope = chunk.place[places], state.slopes[places]
        share = library.put(self.model.shares, np.float64)[:, chunk.at.phase[order]]
        rows = [self._rows(chunk, order, slope * share[stage], width) for stage in range(stages)]
        low, high, decay = library.put(ends - sizes, np.int32), library.put(ends, np.int32), self._temporal_data(chunk)[1][places]
        traces = [self._traces(low, high, decay, row) for row in rows]
        if exact:
            # d2v/de2 = -2 scale v v'; the product of two rows contains v' twice
            bend = 2 * self.model.scale * state.values[places] * state.c[places] / library.arrays.where(slope > 0, slope, 1.0)
            traces = [trace + bend[:, None] * row for trace, row in zip(traces, rows, strict=True)]
        return rows, traces

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """See `TemporalPasses`."""
        def terms_of(chunk: Chunk, chosen: Chosen) -> tuple[Any, Any, Any]:
            residual = self._residual(chunk, chosen, weights)
            return residual * residual, residual, residual  # without widths of draws, the last two are not used

        return self.sums.second_moments(self.model, weights.shape, terms_of, self.model.ranges)

    def score_products(self, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """See `TemporalPasses`."""
        def residuals(chunk: Chunk, some: Chosen) -> tuple[Any, Any]:
            residual = self._residual(chunk, some, weights)
            return residual, residual

        return (self.sums.scores(self.model, weights.shape, residuals, chosen, lambda scores: scores.T @ scores),
                len(self.model.groups[0]))

    def _residual(self, chunk: Chunk, chosen: Chosen, weights: np.ndarray) -> Any:
        """Return c v' of the chosen positions, those of the model's games."""
        inside = self._inside(chunk, self.model.whole_games)
        state = self._state(chunk, chosen, inside, weights)
        return (state.c * state.slopes)[chunk.origin[chosen.order]]

    def _inside(self, chunk: Chunk, games: np.ndarray) -> np.ndarray:
        """Return the games of a chunk, as positions relative to its first."""
        return games[(games[:, 0] >= chunk.first) & (games[:, 0] < chunk.last)] - chunk.first

    def _state(self, chunk: Chunk, chosen: Chosen, games: np.ndarray, weights: np.ndarray) -> State:
        library, arrays, scale = self.library, self.library.arrays, self.model.scale
        n, here = chunk.last - chunk.first, chunk.origin[chosen.order]
        known, decay, outcome = self._temporal_data(chunk)
        evaluation, _ = self.sums.evaluated(chunk, chosen.order, self.model.table(weights), self.model.data.columns)
        found, given = arrays.tanh(scale * evaluation), known[here]
        free = arrays.isnan(given)
        values, slopes, c = arrays.zeros(n), arrays.zeros(n), arrays.zeros(n)
        values[here] = arrays.where(free, found, given)
        slopes[here] = arrays.where(free, scale * (1 - found * found), 0.0)
        library.launch("scan", -(-len(games) // THREADS), library.put(games[:, 0], np.int32), library.put(games[:, 1], np.int32),
                       len(games), values, outcome, decay, c)
        return State(values, slopes, c)

    def _temporal_data(self, chunk: Chunk) -> tuple[Any, Any, Any]:
        """Return known values, decays and outcomes in the order of the file; they are kept with a resident chunk."""
        if chunk.extra is None or chunk.extra[0] is not self.extra:
            known, decay = (self.library.put(array[chunk.first:chunk.last], np.float64)
                            for array in (self.extra.known, self.extra.decay))
            chunk.extra = self.extra, (known, decay, chunk.at.outcome[chunk.place].astype(np.float64))
        return chunk.extra[1]

    def _rows(self, chunk: Chunk, order: Any, factor: Any, width: int) -> Any:
        return self.sums.rows(chunk, order, factor, factor, self.model.data.columns, width)

    def _traces(self, low: Any, high: Any, decay: Any, rows: Any) -> Any:
        traces = self.library.arrays.empty(rows.shape)
        self.library.launch("traces", len(low), low, high, len(low), decay, rows.shape[1], rows, traces)
        return traces
