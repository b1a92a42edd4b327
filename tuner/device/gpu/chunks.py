"""A dataset on a card, in chunks: packed rows go there as they are and are put in order.

Data that have room stay; others go through two buffers, one of which is filled while the card works on what was in the other.
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

STAYING, PASSING = 1 << 23, 1 << 22  # positions of a chunk that stays on the card, or goes through a buffer
NONZEROS = 1 << 30  # of a chunk; more of any of these only where a single game has them
ROOM = 0.6  # of the card's free memory, for data that stay
KEPT = 4  # times all positions may be chosen before choices are forgotten
COPIED = 1 << 22  # numbers that a processor copies at once


@dataclass
class Chunks:
    """The last dataset that a card was given, as chunks."""

    library: Library
    data: Dataset | None = None
    heaviest: float = 1.0  # of its positions' weights
    _resident: list[Chunk] | None = None
    _buffers: list[_Buffer] = field(default_factory=list)
    _chosen: dict[tuple[int, int], tuple[np.ndarray, Chosen]] = field(default_factory=dict)

    def know(self, data: Dataset) -> None:
        """Forget the last dataset for another one; of one that differs in its weights only, nothing else is read again."""
        if data is self.data:
            return
        if SHARED_BYTES * data.columns > self.library.shared:
            most = self.library.shared // SHARED_BYTES
            raise InputError(f"--device gpu: {data.columns:,} parameters, expected at most {most:,} on this card; "
                             "choose --device cpu")
        alike = self.data is not None and data.index is self.data.index and data.outcome is self.data.outcome
        if not alike:
            self._resident, self._buffers = None, []
            self._chosen.clear()
            self.library.arrays.get_default_memory_pool().free_all_blocks()  # or the next would find no room
        elif self._resident is not None:
            for chunk in self._resident:
                weight = self.library.arrays.asarray(data.weight[chunk.first:chunk.last])
                chunk.at = chunk.at._replace(weight=weight[chunk.origin])
        self.data, self.heaviest = data, float(data.weight.max(initial=1.0))

    def with_positions(self, data: Dataset, phases: int, ranges: np.ndarray) -> Iterator[tuple[Chunk, Chosen]]:
        """The chunks of a dataset in which there are positions of some ranges, which do not overlap, and these."""
        self.know(data)
        for chunk in self._chunks(data, ranges):
            if _touched(ranges, chunk.first, chunk.last):
                yield chunk, self._choice(chunk, phases, ranges)

    def _choice(self, chunk: Chunk, phases: int, ranges: np.ndarray) -> Chosen:
        key = (id(ranges), chunk.first)  # of ranges that are kept beside it: no others can have that number
        if key not in self._chosen:
            kept = sum(len(chosen.order) for _, chosen in self._chosen.values())
            while self._chosen and kept > KEPT * self.data.positions:
                kept -= len(self._chosen.pop(next(iter(self._chosen)))[1].order)
            counts = np.bincount(self.data.phase[chunk.first:chunk.last], minlength=phases + 1)
            starts = np.concatenate([[0], np.cumsum(counts)])
            self._chosen[key] = ranges, choose(self.library, chunk, ranges, starts, self.data.columns)
        return self._chosen[key][1]

    def _chunks(self, data: Dataset, ranges: np.ndarray) -> Iterator[Chunk]:
        if self._resident is None:
            free, _ = self.library.arrays.cuda.runtime.memGetInfo()
            # a position's nonzeros, some four more to fill up an eight, 21 bytes of its own, and choices that are kept
            if self._buffers or 3 * len(data.index) + 50 * data.positions >= ROOM * free:
                yield from self._streamed(data, ranges)
                return
            self._resident = []
            for a, b in bounds(data, STAYING):
                parts = data.rows(a, b)
                host = [np.empty(len(part), part.dtype) for part in parts]
                read(data, a, b, host)
                given = Rows(*map(self.library.arrays.asarray, host))
                self._resident.append(arranged(self.library, given, int(data.row[a]), data.columns, a))
            data.release()
        yield from self._resident

    def _streamed(self, data: Dataset, ranges: np.ndarray) -> Iterator[Chunk]:
        """A chunk is copied while the card works on the one before."""
        cuda, whole = self.library.arrays.cuda, bounds(data, PASSING)
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
    """Room for the largest chunk, on the card and in memory that the card can read by itself."""

    def __init__(self, library: Library, data: Dataset, whole: list[tuple[int, int]]) -> None:
        sizes = [max(len(part) for part in parts) for parts in zip(*(data.rows(a, b) for a, b in whole), strict=True)]
        kinds = [part.dtype for part in data.rows(*whole[0])]
        self._host = [library.pinned(size, kind) for size, kind in zip(sizes, kinds, strict=True)]
        self._on_gpu = [library.arrays.empty(size, kind) for size, kind in zip(sizes, kinds, strict=True)]

    def filled(self, data: Dataset, a: int, b: int, stream: Any) -> Rows:
        sizes = [len(part) for part in data.rows(a, b)]
        read(data, a, b, [host[:size] for host, size in zip(self._host, sizes, strict=True)])
        views = [array[:size] for array, size in zip(self._on_gpu, sizes, strict=True)]
        for view, host in zip(views, self._host, strict=True):
            view.set(host[:len(view)], stream=stream)
        return Rows(*views)


def read(data: Dataset, a: int, b: int, hosts: Sequence[np.ndarray]) -> None:
    """Positions a to b into memory: by all processors, and from the disk before they ask for it, else a card would wait."""
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
    """Whether there are positions of some ranges in a to b."""
    return bool(((ranges[:, 0] < b) & (ranges[:, 1] > a) & (ranges[:, 0] < ranges[:, 1])).any())


def bounds(data: Dataset, positions: int) -> list[tuple[int, int]]:
    """First positions and ends of chunks of about so many positions, whole games each."""
    ends, found = data.first[1:], []
    begin = 0
    while begin < data.positions:
        most = min(begin + positions, int(np.searchsorted(data.row, data.row[begin] + NONZEROS, side="right")) - 1)
        at = np.searchsorted(ends, most, side="right")
        end = int(ends[at - 1]) if at and ends[at - 1] > begin else int(ends[np.searchsorted(ends, begin, side="right")])
        found.append((begin, end))
        begin = end
    return found
