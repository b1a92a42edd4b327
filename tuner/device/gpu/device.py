"""Passes on a GPU: one kernel reads each row once; the sums are those of the CPU.

Loss and gradient are summed as integers in a small unit: in whatever order the GPU adds them, every run gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tuner.datasets.rows import Rows
from tuner.device.base import TemporalPasses
from tuner.device.cpu.device import Cpu
from tuner.device.gpu.chunk import Chosen, Chunk, arranged
from tuner.device.gpu.chunks import Chunks
from tuner.device.gpu.library import SHARED_BYTES, THREADS, Library, objective_number
from tuner.device.gpu.sums import Residuals, Sums
from tuner.device.gpu.temporal import GpuTemporal
from tuner.device.model import Model
from tuner.objectives.temporal import TemporalData
from tuner.parallel import available_cpus

WHOLE_BITS, TILE_BITS, WEIGHT_BITS = 61, 31, 30  # of a sum, of one tile's sum, of a weight


class Gpu:
    """One GPU, by CuPy."""

    def __init__(self, library: Library, name: str) -> None:
        self.name, self.workers = f"gpu ({name})", available_cpus()
        self._library = library
        self._chunks = Chunks(library)
        self._sums = Sums(library, self._chunks)

    @property
    def arrays(self) -> Any:
        """CuPy, for what needs no kernels."""
        return self._library.arrays

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
        for chunk, chosen in self._sums.watched(model, ranges):
            n, largest = len(chosen.order), self._chunks.heaviest * model.objective.largest_residual * model.scale
            tile = (2.0**TILE_BITS - 1 - chosen.largest) / (chosen.largest * largest)  # each is rounded by less than one
            units = tuple(map(np.float64, (tile, _unit(1000 * n * largest), _unit(1000 * n * self._chunks.heaviest))))
            library.launch("loss_gradient", len(chosen.tiles), *chunk.rows, chunk.at.outcome, chunk.at.weight, chunk.at.rest,
                           chosen.order, chosen.tiles, len(chosen.tiles), fixed, np.float64(step), constants, columns,
                           table.shape[1], objective_number(model.objective), np.float64(model.scale), *units, sums, total,
                           shared=SHARED_BYTES * columns)
            library.launch("fold", -(-sums.size // THREADS), sums, total, len(table), columns, table.shape[1], *units, gradient,
                           loss)
        return float(arrays.asnumpy(loss)[0]), model.by_stage(arrays.asnumpy(gradient))

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        arrays = self._library.arrays

        def terms_of(chunk: Chunk, chosen: Chosen) -> tuple[Any, Any, Any]:
            terms = self.terms(model, chunk, chosen, weights)
            known = terms[1] > 0
            behind = arrays.where(known, terms[3] / arrays.where(known, terms[1], 1.0), 0.0)
            return terms[1], behind, terms[4] - behind * terms[3]

        return self._sums.second_moments(model, weights.shape, terms_of, ranges)

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """See `Device`."""
        residuals, columns = self._residuals(model, weights), np.arange(weights.size)
        return self._sums.scores(model, weights.shape, residuals, columns, lambda scores: (scores**2).sum(axis=0))

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """See `Device`."""
        residuals = self._residuals(model, weights)
        return (self._sums.scores(model, weights.shape, residuals, chosen, lambda scores: scores.T @ scores),
                len(model.groups[0]))

    def _residuals(self, model: Model, weights: np.ndarray) -> Residuals:
        def residuals(chunk: Chunk, some: Chosen) -> tuple[Any, Any]:
            terms = self.terms(model, chunk, some, weights)
            return terms[0], terms[2]

        return residuals

    def position_products(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`; on the CPU, because only samples are asked for."""
        return Cpu(self.workers).position_products(model, weights, ranges)

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`; on the CPU, because the results are used in host memory."""
        return Cpu(self.workers).evaluations(model, weights, ranges)

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """See `Device`."""
        library = self._library
        nothing = np.zeros(len(rows.phase), np.float32)  # outcomes and weights are not used
        rest = nothing if rows.rest is None else rows.rest
        given = Rows(*map(library.arrays.asarray, rows._replace(outcome=nothing, weight=nothing, rest=rest)))
        chunk = arranged(library, given, int(rows.row[0]), table.shape[1] - 1)
        values, _ = self._sums.evaluated(chunk, chunk.place, table, table.shape[1] - 1)
        return library.arrays.asnumpy(values)

    def temporal(self, model: Model, extra: TemporalData) -> TemporalPasses:
        """See `Device`."""
        return GpuTemporal(self._sums, self._library, model, extra)

    def copying(self, size: int) -> Callable[[], None]:
        """Return a function that copies `size` bytes within GPU memory, to measure its bandwidth."""
        arrays = self._library.arrays
        source, target = arrays.zeros(size, np.uint8), arrays.zeros(size, np.uint8)

        def copy() -> None:
            target[...] = source
            arrays.cuda.runtime.deviceSynchronize()

        return copy

    def terms(self, model: Model, chunk: Chunk, chosen: Chosen, weights: np.ndarray) -> Any:
        """Return the derivatives (5, n) of the objective for chosen positions, in the order of `kernels.position_terms`."""
        n = len(chosen.order)
        terms = self._library.arrays.empty((5, n))
        self._library.launch("objective_terms", -(-n // THREADS), chunk.at.outcome, chunk.at.weight, chosen.order, n,
                             objective_number(model.objective), np.float64(model.scale),
                             *self._sums.evaluated(chunk, chosen.order, model.table(weights), model.data.columns), terms)
        return terms


def _unit(largest: float) -> float:
    """Return the integer steps per 1.0 of a sum of at most this size."""
    return 2.0 ** math.floor(WHOLE_BITS - math.log2(max(largest, 1e-300)))
