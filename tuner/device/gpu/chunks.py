"""A dataset on a GPU, in chunks: packed rows are copied there and sorted there.

Data that fit stay resident; others are streamed through two buffers, one being filled while the GPU works on the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.rows import Rows
from tuner.device.gpu.chunk import Chosen, Chunk, arranged, choose
from tuner.device.gpu.library import SHARED_BYTES, Library
from tuner.parallel import available_cpus, in_order

RESIDENT, STREAMED = 1 << 23, 1 << 22  # positions of a chunk that stays on the GPU, or goes through a buffer
NONZEROS = 1 << 30  # of a chunk; only a single game may have more of any of these
ROOM = 0.6  # share of the GPU's free memory, for resident data
KEPT = 4  # choices are kept for up to this many times all positions
COPIED = 1 << 22  # numbers that a thread copies at once


@dataclass
class Chunks:
    """The dataset that the GPU works on, as chunks."""

    library: Library
    data: Dataset | None = None
    heaviest: float = 1.0  # largest weight of its positions
    _resident: list[Chunk] | None = None
    _buffers: list[_Buffer] = field(default_factory=list)
    _chosen: dict[tuple[int, int], tuple[np.ndarray, Chosen]] = field(default_factory=dict)

    def hold(self, data: Dataset) -> None:
        """Replace the dataset; if only its weights differ, only they are read again."""
        if data is self.data:
            return
        if data.wide:
            raise InputError("--device gpu: these rows have counts that are not whole numbers from -128 to 127, or more than 256 "
                             "pairs of phase and scale; choose --device cpu")
        if data.apart:
            raise InputError(f"--device gpu: term {data.apart[0]} is not linear in its weights, which GPUs have no passes for; "
                             "choose --device cpu")
        if SHARED_BYTES * data.columns > self.library.shared:
            most = self.library.shared // SHARED_BYTES
            raise InputError(f"--device gpu: {data.columns:,} parameters, expected at most {most:,} on this GPU; "
                             "choose --device cpu")
        alike = self.data is not None and data.index is self.data.index and data.outcome is self.data.outcome
        if not alike:
            self._resident, self._buffers = None, []
            self._chosen.clear()
            self.library.arrays.get_default_memory_pool().free_all_blocks()  # or there would be no memory for the next
        elif self._resident is not None:
            for chunk in self._resident:
                weight = self.library.arrays.asarray(data.weight[chunk.first:chunk.last])
                chunk.at = chunk.at._replace(weight=weight[chunk.origin])
        self.data, self.heaviest = data, float(data.weight.max(initial=1.0))

    def with_positions(self, data: Dataset, ranges: np.ndarray) -> Iterator[tuple[Chunk, Chosen]]:
        """Yield the chunks of a dataset that hold positions of some ranges, which do not overlap, and these positions."""
        self.hold(data)
        for chunk in self._chunks(data, ranges):
            if _touched(ranges, chunk.first, chunk.last):
                yield chunk, self._choice(chunk, ranges)

    def _choice(self, chunk: Chunk, ranges: np.ndarray) -> Chosen:
        key = (id(ranges), chunk.first)  # the ranges are kept with the choice: no other array gets their id
        if key not in self._chosen:
            kept = sum(len(chosen.order) for _, chosen in self._chosen.values())
            while self._chosen and kept > KEPT * self.data.positions:
                kept -= len(self._chosen.pop(next(iter(self._chosen)))[1].order)
            counts = np.bincount(self.data.phase[chunk.first:chunk.last], minlength=self.data.codes)
            starts = np.concatenate([[0], np.cumsum(counts)])
            self._chosen[key] = ranges, choose(self.library, chunk, ranges, starts, self.data.columns)
        return self._chosen[key][1]

    def _chunks(self, data: Dataset, ranges: np.ndarray) -> Iterator[Chunk]:
        if self._resident is None:
            free, _ = self.library.arrays.cuda.runtime.memGetInfo()
            # a position's nonzeros, about four more as padding, 21 bytes of its own, and the choices that are kept
            if self._buffers or 3 * len(data.index) + 50 * data.positions >= ROOM * free:
                yield from self._streamed(data, ranges)
                return
            self._resident = []
            for a, b in bounds(data, RESIDENT):
                parts = data.rows(a, b)
                host = [np.empty(len(part), part.dtype) for part in parts]
                read(data, a, b, host)
                given = Rows(*map(self.library.arrays.asarray, host))
                self._resident.append(arranged(self.library, given, int(data.row[a]), data.columns, a))
            data.release()
        yield from self._resident

    def _streamed(self, data: Dataset, ranges: np.ndarray) -> Iterator[Chunk]:
        """Yield chunks; one is copied while the GPU works on the one before."""
        cuda, whole = self.library.arrays.cuda, bounds(data, STREAMED)
        copying, done = cuda.Stream(non_blocking=True), []
        self._buffers = self._buffers or [_Buffer(self.library, data, whole) for _ in range(2)]
        wanted = [(a, b) for a, b in whole if _touched(ranges, a, b)]
        for number, (a, b) in enumerate(wanted):
            if number > 1:
                done[number - 2].synchronize()  # nothing reads the buffer any more
            given = self._buffers[number % 2].filled(data, a, b, copying)
            copying.synchronize()
            chunk = arranged(self.library, given, int(data.row[a]), data.columns, a)
            done.append(cuda.Event())
            done[-1].record()
            yield chunk
            data.release()


class _Buffer:
    """Device and pinned host buffers for the largest chunk."""

    def __init__(self, library: Library, data: Dataset, whole: list[tuple[int, int]]) -> None:
        sizes = [max(len(part) for part in parts) for parts in zip(*(data.rows(a, b) for a, b in whole), strict=True)]
        kinds = [part.dtype for part in data.rows(*whole[0])]
        self._host = [library.pinned(max(1, size), kind) for size, kind in zip(sizes, kinds, strict=True)]
        self._on_gpu = [library.arrays.empty(size, kind) for size, kind in zip(sizes, kinds, strict=True)]

    def filled(self, data: Dataset, a: int, b: int, stream: Any) -> Rows:
        sizes = [len(part) for part in data.rows(a, b)]
        read(data, a, b, [host[:size] for host, size in zip(self._host, sizes, strict=True)])
        views = [array[:size] for array, size in zip(self._on_gpu, sizes, strict=True)]
        for view, host in zip(views, self._host, strict=True):
            view.set(host[:len(view)], stream=stream)
        return Rows(*views)


def read(data: Dataset, a: int, b: int, hosts: Sequence[np.ndarray]) -> None:
    """Copy positions a to b into host memory: on all CPUs, with the disk reading ahead, so that the GPU does not wait."""
    low = int(data.row[a])
    for name, host, source in zip(Rows._fields, hosts, data.rows(a, b), strict=True):
        first = {"index": low, "count": low}.get(name, a)

        def pieces(name: str = name, first: int = first, host: np.ndarray = host) -> Iterator[slice]:
            for begin in range(0, len(host), COPIED):
                some = slice(begin, min(begin + COPIED, len(host)))
                data.prefetch_bytes(name, (first + some.start) * host.itemsize, (first + some.stop) * host.itemsize)
                yield some

        def work(some: slice, host: np.ndarray = host, source: np.ndarray = source) -> None:
            host[some] = source[some]

        for _ in in_order(work, pieces(), available_cpus()):
            pass


def _touched(ranges: np.ndarray, a: int, b: int) -> bool:
    """Return whether some ranges have positions in a to b."""
    return bool(((ranges[:, 0] < b) & (ranges[:, 1] > a) & (ranges[:, 0] < ranges[:, 1])).any())


def bounds(data: Dataset, positions: int) -> list[tuple[int, int]]:
    """Return the bounds of chunks of about `positions` positions; chunks hold whole games."""
    ends, found = data.first[1:], []
    begin = 0
    while begin < data.positions:
        most = min(begin + positions, int(np.searchsorted(data.row, data.row[begin] + NONZEROS, side="right")) - 1)
        at = np.searchsorted(ends, most, side="right")
        end = int(ends[at - 1]) if at and ends[at - 1] > begin else int(ends[np.searchsorted(ends, begin, side="right")])
        found.append((begin, end))
        begin = end
    return found
