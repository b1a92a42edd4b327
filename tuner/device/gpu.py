"""Passes by a card: packed positions go to it as they are, one kernel reads each once; the same sums as the processors'.

Sums of loss and gradient are whole numbers of a small unit: the order of addition is left to the card, and every run gives
the same bits. Matrices are products of rows that a kernel writes out, some thousands at a time. Data that are larger than
the card's memory go through two buffers, one of which is filled while the other is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuner.dataset import Dataset
from tuner.device.base import Model

SOURCE = Path(__file__).with_name("kernels.cu")
KERNELS = ("loss_gradient", "expand", "group_scores")
OBJECTIVE_NUMBERS = {"cross-entropy": 0, "mse": 1, "ordered": 2, "davidson": 3}
THREADS, LANES = 256, 32
CHUNK = 1 << 22  # positions that go to the card at once
ROOM = 0.6  # of the card's free memory, for data that stay
ROWS_BYTES = 1 << 29  # of rows written out at once
WHOLE_BITS = 61  # of a sum


class Chunk(NamedTuple):
    """Positions first to last of a dataset on the card; nonzeros begin at `base`."""

    first: int
    last: int
    base: int
    arrays: tuple[Any, ...]


class Gpu:
    """One card, by CuPy (`library`, and `pinned(size, kind)` for memory that the card can read by itself)."""

    def __init__(self, library: Any, pinned: Callable[[int, Any], np.ndarray], name: str, processors: int) -> None:
        self.name = f"gpu ({name})"
        self._library, self._pinned = library, pinned
        self._blocks = 4 * processors
        module = library.RawModule(code=SOURCE.read_text(encoding="utf-8"), options=("--std=c++14",))
        self._kernels = {kernel: module.get_function(kernel) for kernel in KERNELS}
        self._data: Dataset | None = None  # the last one, of which the rest is known
        self._heaviest = 1.0  # of its positions' weights
        self._resident: list[Chunk] | None = None
        self._buffers: list[_Buffer] = []
        self._places: dict[tuple[int, int], tuple[np.ndarray, Any]] = {}

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """See `Device`."""
        library = self._library
        n = max(int((ranges[:, 1] - ranges[:, 0]).sum()), 1)
        self._know(model.data)
        mass = n * self._heaviest
        unit, loss_unit = _unit(mass * 127 * 2 * model.scale * (1000 if model.draws else 1)), _unit(mass * 1000)
        gradient, loss = library.zeros(weights.shape, np.int64), library.zeros(1, np.int64)
        given = library.asarray(np.ascontiguousarray(weights, np.float64))
        for chunk in self._chunks(model.data):
            place = self._place(ranges, chunk)
            model.progress(min(chunk.last, n), n)
            if len(place):
                self._launch("loss_gradient", model, weights, chunk, len(place), given, _number(model), np.float64(model.scale),
                             place, np.int32(len(place)), np.float64(unit), np.float64(loss_unit), gradient, loss,
                             shared=16 * weights.size + 8)
        return float(library.asnumpy(loss)[0]) / loss_unit, library.asnumpy(gradient) / unit

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        library, size = self._library, weights.size
        most = max(1, ROWS_BYTES // (8 * size))
        matrix = library.zeros((size, size))
        given, shares = (library.asarray(np.ascontiguousarray(array, np.float64)) for array in (weights, model.shares))
        drawn = slice(weights.shape[1] - 1, None, weights.shape[1])  # the width of a draw in each stage
        for chunk in self._chunks(model.data):
            place = self._place(ranges, chunk)
            for begin in range(0, len(place), most):
                some = place[begin:begin + most]
                rows, rest = library.zeros((len(some), size)), library.zeros(len(some))
                self._launch("expand", model, weights, chunk, len(some), given, _number(model), np.float64(model.scale), some,
                             np.int32(len(some)), rows, rest)
                matrix += rows.T @ rows
                if model.draws:
                    share = shares[:, chunk.arrays[3][some]]
                    matrix[drawn, drawn] += (share * rest) @ share.T
        return library.asnumpy(matrix)

    def over_groups(self, model: Model, weights: np.ndarray, chosen: np.ndarray,
                    function: Callable[[Any], Any]) -> tuple[np.ndarray, int]:
        """See `Device`."""
        library, size = self._library, weights.size
        names, group = model.groups
        first, last = model.data.first[model.games], model.data.first[model.games + 1]
        given, columns = library.asarray(np.ascontiguousarray(weights, np.float64)), library.asarray(chosen)
        found, split = 0, {}  # `split` are scores of groups whose games are in several chunks
        for chunk in self._chunks(model.data):
            here = (first >= chunk.first) & (first < chunk.last)
            inside = np.flatnonzero(here)
            inside = inside[np.argsort(group[inside], kind="stable")]
            elsewhere = group[~here]
            for members in _batches(group[inside], max(1, ROWS_BYTES // (8 * size))):
                games = inside[members]
                local, which = np.unique(group[games], return_inverse=True)
                sizes = last[games] - first[games]
                place = np.repeat(last[games] - np.cumsum(sizes), sizes) + np.arange(sizes.sum()) - chunk.first
                ends = np.concatenate([[0], np.cumsum(np.bincount(which, sizes, len(local)))])
                rows = library.zeros((len(local), size))
                self._launch("group_scores", model, weights, chunk, len(local), given, _number(model), np.float64(model.scale),
                             library.asarray(place.astype(np.int32)), library.asarray(ends.astype(np.int32)),
                             np.int32(len(local)), rows)
                scores = library.take(rows, columns, axis=1)
                for i in np.flatnonzero(np.isin(local, elsewhere)).tolist():
                    split[int(local[i])] = split.get(int(local[i]), 0) + scores[i]
                    scores[i] = 0
                found = found + function(scores)
        if split:
            found = found + function(library.stack(list(split.values())))
        return library.asnumpy(found), len(names)

    def _launch(self, kernel: str, model: Model, weights: np.ndarray, chunk: Chunk, n: int, *more: Any, shared: int = 0) -> None:
        stages, width = weights.shape
        function = self._kernels[kernel]
        if shared > 48 << 10:  # what a card gives without being asked
            function.max_dynamic_shared_size_bytes = shared
        blocks = max(1, min(self._blocks, -(-n * LANES // THREADS)))
        function((blocks,), (THREADS,), (*chunk.arrays, np.int64(chunk.base), np.int32(stages), np.int32(width),
                                         np.int32(model.data.columns), np.int32(model.phases), *more), shared_mem=shared)

    def _place(self, ranges: np.ndarray, chunk: Chunk) -> Any:
        """Places within a chunk of the positions in these ranges, kept for the next pass."""
        key = (id(ranges), chunk.first)
        if key not in self._places or self._places[key][0] is not ranges:
            low, high = np.clip(ranges, chunk.first, chunk.last).T
            sizes = high - low
            place = np.repeat(high - np.cumsum(sizes), sizes) + np.arange(sizes.sum()) - chunk.first
            if len(self._places) > 64:
                self._places.clear()
            self._places[key] = ranges, self._library.asarray(place.astype(np.int32))
        return self._places[key][1]

    def _know(self, data: Dataset) -> None:
        """Forget the last dataset for another one."""
        if data is not self._data:
            self._resident, self._buffers = None, []
            self._places.clear()
            self._data, self._heaviest = data, float(data.weight.max(initial=1.0))

    def _chunks(self, data: Dataset) -> Iterator[Chunk]:
        """The dataset on the card, whole games at a time."""
        self._know(data)
        if self._resident is None:
            free, _ = self._library.cuda.runtime.memGetInfo()
            if self._buffers or 3 * len(data.index) + 17 * data.positions >= ROOM * free:
                yield from self._streamed(data)
                return
            self._resident = [Chunk(a, b, int(data.row[a]), tuple(map(self._library.asarray, _slices(data, a, b))))
                              for a, b in _bounds(data)]
            data.release()
        yield from self._resident

    def _streamed(self, data: Dataset) -> Iterator[Chunk]:
        """A chunk is copied while the card works on the one before."""
        library, bounds = self._library, _bounds(data)
        copying, done = library.cuda.Stream(non_blocking=True), []
        self._buffers = self._buffers or [_Buffer(library, self._pinned, data, bounds) for _ in range(2)]
        for number, (a, b) in enumerate(bounds):
            if number > 1:
                done[number - 2].synchronize()  # nothing reads the buffer any more
            arrays = self._buffers[number % 2].filled(_slices(data, a, b), copying)
            copying.synchronize()
            yield Chunk(a, b, int(data.row[a]), arrays)
            done.append(library.cuda.Event())
            done[-1].record()
            data.release()


class _Buffer:
    """Room for the largest chunk, on the card and in memory that the card can read by itself."""

    def __init__(self, library: Any, pinned: Callable[[int, Any], np.ndarray], data: Dataset,
                 bounds: list[tuple[int, int]]) -> None:
        sizes = [max(len(part) for part in parts) for parts in zip(*(_slices(data, a, b) for a, b in bounds), strict=True)]
        kinds = [part.dtype for part in _slices(data, *bounds[0])]
        self._host = [pinned(size, kind) for size, kind in zip(sizes, kinds, strict=True)]
        self._card = [library.empty(size, kind) for size, kind in zip(sizes, kinds, strict=True)]

    def filled(self, parts: tuple[np.ndarray, ...], stream: Any) -> tuple[Any, ...]:
        found = []
        for part, host, card in zip(parts, self._host, self._card, strict=True):
            host[:len(part)] = part
            view = card[:len(part)]
            view.set(host[:len(part)], stream=stream)
            found.append(view)
        return tuple(found)


def _slices(data: Dataset, a: int, b: int) -> tuple[np.ndarray, ...]:
    low, high = int(data.row[a]), int(data.row[b])
    return (data.index[low:high], data.count[low:high], data.row[a:b + 1], data.phase[a:b], data.outcome[a:b], data.weight[a:b])


def _bounds(data: Dataset) -> list[tuple[int, int]]:
    """First positions and ends of chunks, whole games each."""
    ends, found = data.first[1:], []
    begin = 0
    while begin < data.positions:
        at = np.searchsorted(ends, begin + CHUNK, side="right")
        end = int(ends[at - 1]) if at and ends[at - 1] > begin else int(ends[min(at, len(ends) - 1)])
        found.append((begin, end))
        begin = end
    return found


def _batches(group: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Places of sorted group numbers, at most so many groups together."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    edges = [*starts[::most].tolist(), len(group)]
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        yield np.arange(low, high)


def _number(model: Model) -> np.int32:
    return np.int32(OBJECTIVE_NUMBERS[model.objective])


def _unit(largest: float) -> float:
    """Steps of a sum of at most this size."""
    return 2.0 ** math.floor(WHOLE_BITS - math.log2(max(largest, 1e-300)))
