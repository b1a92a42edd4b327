"""A dataset on a card: chunks of whole games, in each the positions in the order of their phases.

Packed rows go to the card as they are and are put in order there. Data that have room stay; others go through two buffers,
one of which is filled while the card works on what was in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from games.streams import InputError
from tuner.dataset import Dataset
from tuner.device.library import SHARED_BYTES, THREADS, Library
from tuner.parallel import in_order, processors

STAYING, PASSING = 1 << 23, 1 << 22  # positions of a chunk that stays on the card, or goes through a buffer
NONZEROS = 1 << 30  # of a chunk; more of any of these only where a single game has them
EIGHT = 8  # nonzeros that are read at once
ROOM = 0.6  # of the card's free memory, for data that stay
KEPT = 4  # times all positions may be chosen before choices are forgotten
COPIED = 1 << 22  # numbers that a processor copies at once
FEW = 16  # times as many positions in a chunk: then those chosen are named one by one


class Chosen(NamedTuple):
    """Places (n,) int32 of positions in their chunk, ascending; tiles (t, 3) int32 of them: begin, end, phase; both on the card.
    Those of phase f are ends[f]:ends[f + 1]. No column has a larger sum of absolute counts over a tile than `largest`."""

    order: Any
    tiles: Any
    ends: np.ndarray
    largest: int


@dataclass
class Chunk:
    """Positions first to last of a dataset on a card: place p has the eights row[p]:row[p + 1] of `index` and `count`, and
    `phase`, `outcome` and `weight`. It is position first + origin[p]; place[origin[p]] = p."""

    first: int
    last: int
    index: Any
    count: Any
    row: Any
    phase: Any
    outcome: Any
    weight: Any
    origin: Any
    place: Any
    starts: np.ndarray  # (phases + 2,) of places of each phase
    extra: Any = None  # what somebody else knows of its positions

    @property
    def rows(self) -> tuple[Any, Any, Any]:
        return self.index, self.count, self.row


class Slices(NamedTuple):
    """Consecutive positions as a dataset has them; their nonzeros begin at row[0]."""

    index: Any
    count: Any
    row: Any
    phase: Any
    outcome: Any
    weight: Any


def slices(data: Dataset, a: int, b: int) -> Slices:
    low, high = int(data.row[a]), int(data.row[b])
    return Slices(data.index[low:high], data.count[low:high], data.row[a:b + 1], data.phase[a:b], data.outcome[a:b],
                  data.weight[a:b])


def arranged(library: Library, given: Slices, base: int, starts: np.ndarray, columns: int, first: int = 0) -> Chunk:
    """A chunk of positions that are on the card, with `starts[f]` of them in phases below f."""
    arrays, n = library.arrays, len(given.phase)
    # no two keys are alike, so that the order is the same in every run
    origin = arrays.argsort(given.phase.astype(np.int64) * n + arrays.arange(n, dtype=np.int64)).astype(np.int32)
    place = arrays.empty(n, np.int32)
    place[origin] = arrays.arange(n, dtype=np.int32)
    eights = (given.row[1:] - given.row[:-1] + EIGHT - 1) // EIGHT
    row = arrays.zeros(n + 1, np.int32)
    row[1:] = arrays.cumsum(eights[origin]).astype(np.int32)
    size = EIGHT * max(1, int(row[-1]))  # one is read where a row has none
    index, count = arrays.empty(size, np.uint16), arrays.empty(size, np.int8)
    library.launch("arrange", -(-n // (THREADS // 32)), given.index, given.count, given.row, np.int64(base), origin, n,
                   max(1, columns), row, index, count)
    return Chunk(first, first + n, index, count, row, given.phase[origin], given.outcome[origin], given.weight[origin], origin,
                 place, starts)


@dataclass
class Chunks:
    """The last dataset that a card was given, as chunks."""

    library: Library
    data: Dataset | None = None
    heaviest: float = 1.0  # of its positions' weights
    _resident: list[Chunk] | None = None
    _buffers: list[_Buffer] = field(default_factory=list)
    _starts: dict[tuple[int, int, int], np.ndarray] = field(default_factory=dict)
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
            self._starts.clear()
            self.library.arrays.get_default_memory_pool().free_all_blocks()  # or the next would find no room
        elif self._resident is not None:
            for chunk in self._resident:
                chunk.weight = self.library.arrays.asarray(data.weight[chunk.first:chunk.last])[chunk.origin]
        self.data, self.heaviest = data, float(data.weight.max(initial=1.0))

    def with_positions(self, data: Dataset, phases: int, ranges: np.ndarray) -> Iterator[tuple[Chunk, Chosen]]:
        """The chunks of a dataset in which there are positions of some ranges, which do not overlap, and these."""
        self.know(data)
        for chunk in self._chunks(data, phases, ranges):
            if _touched(ranges, chunk.first, chunk.last):
                yield chunk, self._choice(chunk, ranges)

    def _starts_of(self, a: int, b: int, phases: int) -> np.ndarray:
        if (a, b, phases) not in self._starts:
            counts = np.bincount(self.data.phase[a:b], minlength=phases + 1)
            self._starts[a, b, phases] = np.concatenate([[0], np.cumsum(counts)])
        return self._starts[a, b, phases]

    def _choice(self, chunk: Chunk, ranges: np.ndarray) -> Chosen:
        key = (id(ranges), chunk.first)
        if key not in self._chosen or self._chosen[key][0] is not ranges:
            kept = sum(len(chosen.order) for _, chosen in self._chosen.values())
            while self._chosen and kept > KEPT * self.data.positions:
                kept -= len(self._chosen.pop(next(iter(self._chosen)))[1].order)
            self._chosen[key] = ranges, _choose(self.library, chunk, ranges, self.data.columns)
        return self._chosen[key][1]

    def _chunks(self, data: Dataset, phases: int, ranges: np.ndarray) -> Iterator[Chunk]:
        if self._resident is None:
            free, _ = self.library.arrays.cuda.runtime.memGetInfo()
            # nonzeros with what fills them up to eights, and 26 bytes a position
            if self._buffers or 3 * len(data.index) + 50 * data.positions >= ROOM * free:
                yield from self._streamed(data, phases, ranges)
                return
            self._resident = []
            for a, b in bounds(data, STAYING):
                parts = slices(data, a, b)
                host = [np.empty(len(part), part.dtype) for part in parts]
                read(data, a, b, host)
                given = Slices(*map(self.library.arrays.asarray, host))
                starts = self._starts_of(a, b, phases)
                self._resident.append(arranged(self.library, given, int(data.row[a]), starts, data.columns, a))
            data.release()
        yield from self._resident

    def _streamed(self, data: Dataset, phases: int, ranges: np.ndarray) -> Iterator[Chunk]:
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
            chunk = arranged(self.library, given, int(data.row[a]), self._starts_of(a, b, phases), data.columns, a)
            done.append(cuda.Event())
            done[-1].record()
            yield chunk
            data.release()


class _Buffer:
    """Room for the largest chunk, on the card and in memory that the card can read by itself."""

    def __init__(self, library: Library, data: Dataset, whole: list[tuple[int, int]]) -> None:
        sizes = [max(len(part) for part in parts) for parts in zip(*(slices(data, a, b) for a, b in whole), strict=True)]
        kinds = [part.dtype for part in slices(data, *whole[0])]
        self._host = [library.pinned(size, kind) for size, kind in zip(sizes, kinds, strict=True)]
        self._card = [library.arrays.empty(size, kind) for size, kind in zip(sizes, kinds, strict=True)]

    def filled(self, data: Dataset, a: int, b: int, stream: Any) -> Slices:
        sizes = [len(part) for part in slices(data, a, b)]
        read(data, a, b, [host[:size] for host, size in zip(self._host, sizes, strict=True)])
        views = [card[:size] for card, size in zip(self._card, sizes, strict=True)]
        for view, host in zip(views, self._host, strict=True):
            view.set(host[:len(view)], stream=stream)
        return Slices(*views)


def read(data: Dataset, a: int, b: int, hosts: Sequence[np.ndarray]) -> None:
    """Positions a to b into memory: by all processors, and from the disk before they ask for it, else a card would wait."""
    low = int(data.row[a])
    for name, host, source in zip(Slices._fields, hosts, slices(data, a, b), strict=True):
        first = {"index": low, "count": low}.get(name, a)

        def pieces(name: str = name, first: int = first, host: np.ndarray = host) -> Iterator[slice]:
            for begin in range(0, len(host), COPIED):
                some = slice(begin, min(begin + COPIED, len(host)))
                data.prefetch_bytes(name, (first + some.start) * host.itemsize, (first + some.stop) * host.itemsize)
                yield some

        def work(some: slice, host: np.ndarray = host, source: np.ndarray = source) -> None:
            host[some] = source[some]

        for _ in in_order(work, pieces(), processors()):
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


def _choose(library: Library, chunk: Chunk, ranges: np.ndarray, columns: int) -> Chosen:
    arrays = library.arrays
    low, high = np.clip(ranges, chunk.first, chunk.last).T - chunk.first
    low, high = low[low < high], high[low < high]
    sizes = high - low
    if FEW * sizes.sum() < len(chunk.origin):
        offsets = np.repeat(high - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        order = arrays.sort(chunk.place[library.put(offsets, np.int64)])
    else:
        marks = arrays.zeros(len(chunk.origin) + 1, np.int32)
        marks[library.put(low, np.int64)] += 1  # ranges begin, and end, in different places: none is lost
        marks[library.put(high, np.int64)] -= 1
        order = arrays.flatnonzero((arrays.cumsum(marks[:-1]) > 0)[chunk.origin]).astype(np.int32)
    ends = arrays.asnumpy(arrays.searchsorted(order, library.put(chunk.starts, np.int32)))
    tiles, largest = library.put(_tiles(ends), np.int32), arrays.zeros(1, np.int32)
    library.launch("largest_sum", len(tiles), *chunk.rows, order, tiles, len(tiles), columns, largest, shared=4 * columns)
    return Chosen(order, tiles, ends, max(1, int(largest[0])))


def _tiles(ends: np.ndarray) -> np.ndarray:
    """(t, 3): begin, end, phase of at most THREADS positions of one phase."""
    found = []
    for phase, (low, high) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
        begin = np.arange(low, high, THREADS)
        found.append(np.stack([begin, np.minimum(begin + THREADS, high), np.full(len(begin), phase)], axis=1))
    return np.concatenate(found)
