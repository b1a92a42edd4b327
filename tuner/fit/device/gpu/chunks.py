"""CuPy with the kernels, which it compiles when a GPU is first used; and chunks: whole games on a
GPU, their positions sorted by phase, and which of them a pass visits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from games.streams import InputError
from games.system import available_cpus
from tuner.datasets.dataset import Dataset, Rows
from tuner.objectives.base import Objective
from tuner.objectives.table import OBJECTIVES
from tuner.parallel import in_order

FOLDER = Path(__file__).with_name("kernels")
SOURCES = ("position", "passes", "games")  # in the order in which they are compiled, as one
KERNELS = (
    "arrange",
    "largest_sum",
    "loss_gradient",
    "fold",
    "evaluate",
    "objective_terms",
    "expand",
    "curvature_products",
    "group_scores",
    "scan",
    "traces",
)
THREADS = 256  # of a block, as in position.cu
SHARED_BYTES = 16  # of shared memory for a column: its weight, its sums over a tile and over all
ORDINARY = 48 << 10  # bytes of shared memory that a block may use without opting in


def source() -> str:
    """Return the kernels as one text, with the losses after the first file, which defines what they
    use."""
    first, *others = ((FOLDER / f"{name}.cu").read_text(encoding="utf-8") for name in SOURCES)
    return "\n".join([first, _objectives(), *others])


def _objectives() -> str:
    """Return the source of a function with the terms of a position by any loss, see
    `tuner.objectives.base.Objective.cuda`."""
    cases = "".join(
        f"    case {objective_number(objective)}: {{{objective.cuda}        break;\n    }}\n"
        for objective in OBJECTIVES.values()
    )
    return (
        "__device__ inline Terms terms_of(int objective, double scale, double evaluation, double"
        " width, double z,\n                                 double mass) {\n    Terms t = {0.0,"
        " 0.0, 0.0, 0.0, 0.0, 0.0};\n    double unit = 2.0 * scale, a = unit * evaluation;\n   "
        f" switch (objective) {{\n{cases}    }}\n    return t;\n}}\n"
    )


def objective_number(objective: Objective) -> int:
    """Return the number of a loss in the kernels."""
    return list(OBJECTIVES).index(objective.name)


class Library:
    """CuPy as `arrays`, `pinned(size, kind)` for pinned host memory, and the kernels."""

    def __init__(
        self,
        arrays: Any,
        pinned: Callable[[int, Any], np.ndarray],
        multiprocessors: int,
        shared: int,
    ) -> None:
        # bytes of shared memory that a block can have
        self.arrays, self.pinned, self.shared = arrays, pinned, shared
        self._most = 8 * multiprocessors  # blocks that a GPU works on at once
        module = arrays.RawModule(code=source(), options=("--std=c++17",))
        self._kernels = {kernel: module.get_function(kernel) for kernel in KERNELS}

    def put(self, values: np.ndarray, kind: Any) -> Any:
        """Return a copy of an array on the GPU."""
        return self.arrays.asarray(np.ascontiguousarray(values, kind))

    def launch(self, kernel: str, blocks: int, *given: Any, shared: int = 0) -> None:
        """Run a kernel on as many blocks as it has work for, or as the GPU runs at once. Numbers
        are NumPy scalars; Python's int becomes int32."""
        function = self._kernels[kernel]
        if shared > ORDINARY:
            function.max_dynamic_shared_size_bytes = shared
        numbers = tuple(np.int32(value) if isinstance(value, int) else value for value in given)
        function((max(1, min(self._most, blocks)),), (THREADS,), numbers, shared_mem=shared)


EIGHT = 8  # nonzeros read at once
SPARSE_FACTOR = 16  # a chunk with this many times the chosen positions: those are listed one by one


@dataclass
class Chunk:
    """Positions first to last of a dataset on a GPU. Entry p of `at` is position first + origin[p],
    and place[origin[p]] = p; both int32. The rows of `at` are padded to multiples of eight; its
    `row` counts in eights."""

    first: int
    last: int
    at: Rows
    origin: Any
    place: Any
    extra: Any = None  # data of its positions, of whoever uses the chunk

    @property
    def rows(self) -> tuple[Any, Any, Any]:
        """The arguments that the kernels call ROWS."""
        return self.at[:3]


class Chosen(NamedTuple):
    """Entries (n,) int32 of chosen positions in their chunk, ascending, and their tiles (t, 3)
    int32: begin, end, phase; both on the GPU. Phase f has entries ends[f]:ends[f + 1]. `largest`
    bounds a column's sum of absolute counts over a tile."""

    order: Any
    tiles: Any
    ends: np.ndarray
    largest: int


def arrange(library: Library, given: Rows, base: int, columns: int, first: int = 0) -> Chunk:
    """Return a chunk of positions that are on the GPU in the dataset's order; `base` is the first
    entry of their `row`."""
    arrays, n = library.arrays, len(given.phase)
    # keys are distinct, so that the order is the same in every run
    origin = arrays.argsort(
        given.phase.astype(np.int64) * n + arrays.arange(n, dtype=np.int64)
    ).astype(np.int32)
    place = arrays.empty(n, np.int32)
    place[origin] = arrays.arange(n, dtype=np.int32)
    eights = (given.row[1:] - given.row[:-1] + EIGHT - 1) // EIGHT
    row = arrays.zeros(n + 1, np.int32)
    row[1:] = arrays.cumsum(eights[origin]).astype(np.int32)
    size = EIGHT * max(1, int(row[-1]))  # kernels read one eight even if a row is empty
    index, count = arrays.empty(size, np.uint16), arrays.empty(size, np.int8)
    library.launch(
        "arrange",
        -(-n // (THREADS // 32)),
        given.index,
        given.count,
        given.row,
        np.int64(base),
        origin,
        n,
        max(1, columns),
        row,
        index,
        count,
    )
    rest = given.rest[origin] if len(given.rest) else arrays.zeros(n, np.float32)
    at = Rows(
        index, count, row, given.phase[origin], given.outcome[origin], given.weight[origin], rest
    )
    return Chunk(first, first + n, at, origin, place)


def choose(
    library: Library, chunk: Chunk, ranges: np.ndarray, starts: np.ndarray, columns: int
) -> Chosen:
    """Return the positions of some ranges, which do not overlap; `starts` (codes + 1,) are the
    first entries of each phase."""
    arrays = library.arrays
    low, high = np.clip(ranges, chunk.first, chunk.last).T - chunk.first
    low, high = low[low < high], high[low < high]
    sizes = high - low
    if SPARSE_FACTOR * sizes.sum() < len(chunk.origin):
        offsets = np.repeat(high - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        order = arrays.sort(chunk.place[library.put(offsets, np.int64)])
    else:
        marks = arrays.zeros(len(chunk.origin) + 1, np.int32)
        marks[library.put(low, np.int64)] += 1  # all starts differ, and all ends: no mark is lost
        marks[library.put(high, np.int64)] -= 1
        order = arrays.flatnonzero((arrays.cumsum(marks[:-1]) > 0)[chunk.origin]).astype(np.int32)
    ends = arrays.asnumpy(arrays.searchsorted(order, library.put(starts, np.int32)))
    tiles, largest = library.put(_tiles(ends), np.int32), arrays.zeros(1, np.int32)
    library.launch(
        "largest_sum",
        len(tiles),
        *chunk.rows,
        order,
        tiles,
        len(tiles),
        columns,
        largest,
        shared=4 * columns,
    )
    return Chosen(order, tiles, ends, max(1, int(largest[0])))


def _tiles(ends: np.ndarray) -> np.ndarray:
    """Return begin, end and phase (t, 3) of tiles of at most THREADS positions of one phase."""
    tiles = []
    for phase, (low, high) in enumerate(pairwise(ends)):
        begin = np.arange(low, high, THREADS)
        tiles.append(
            np.stack([begin, np.minimum(begin + THREADS, high), np.full(len(begin), phase)], axis=1)
        )
    return np.concatenate(tiles)


# positions of a chunk that stays on the GPU, or goes through a buffer
RESIDENT, STREAMED = 1 << 23, 1 << 22
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
            raise InputError(
                "--device gpu: these rows have counts that are not whole numbers from -128 to 127,"
                " or more than 256 pairs of phase and scale; choose --device cpu"
            )
        if data.apart:
            raise InputError(
                f"--device gpu: term {data.apart[0]} is not linear in its weights, which GPUs have"
                " no passes for; choose --device cpu"
            )
        if SHARED_BYTES * data.columns > self.library.shared:
            most = self.library.shared // SHARED_BYTES
            raise InputError(
                f"--device gpu: {data.columns:,} parameters, expected at most {most:,} on this GPU;"
                " choose --device cpu"
            )
        alike = (
            self.data is not None
            and data.index is self.data.index
            and data.outcome is self.data.outcome
        )
        if not alike:
            self._resident, self._buffers = None, []
            self._chosen.clear()
            # or there would be no memory for the next
            self.library.arrays.get_default_memory_pool().free_all_blocks()
        elif self._resident is not None:
            for chunk in self._resident:
                weight = self.library.arrays.asarray(data.weight[chunk.first : chunk.last])
                chunk.at = chunk.at._replace(weight=weight[chunk.origin])
        self.data, self.heaviest = data, float(data.weight.max(initial=1.0))

    def with_positions(self, data: Dataset, ranges: np.ndarray) -> Iterator[tuple[Chunk, Chosen]]:
        """Yield the chunks of a dataset that hold positions of some ranges, which do not overlap,
        and these positions."""
        self.hold(data)
        for chunk in self._chunks(data, ranges):
            if _touched(ranges, chunk.first, chunk.last):
                yield chunk, self._choice(data, chunk, ranges)

    def _choice(self, data: Dataset, chunk: Chunk, ranges: np.ndarray) -> Chosen:
        # the ranges are kept with the choice: no second array gets their id
        key = (
            id(ranges),
            chunk.first,
        )
        if key not in self._chosen:
            kept = sum(len(chosen.order) for _, chosen in self._chosen.values())
            while self._chosen and kept > KEPT * data.positions:
                kept -= len(self._chosen.pop(next(iter(self._chosen)))[1].order)
            counts = np.bincount(data.phase[chunk.first : chunk.last], minlength=data.codes)
            starts = np.concatenate([[0], np.cumsum(counts)])
            self._chosen[key] = ranges, choose(self.library, chunk, ranges, starts, data.columns)
        return self._chosen[key][1]

    def _chunks(self, data: Dataset, ranges: np.ndarray) -> Iterator[Chunk]:
        if self._resident is None:
            free, _ = self.library.arrays.cuda.runtime.memGetInfo()
            # a position's nonzeros, about four more as padding, 21 bytes of its own, and the
            # choices that are kept
            if self._buffers or 3 * len(data.index) + 50 * data.positions >= ROOM * free:
                yield from self._streamed(data, ranges)
                return
            self._resident = []
            for a, b in bounds(data, RESIDENT):
                parts = data.rows(a, b)
                host = [np.empty(len(part), part.dtype) for part in parts]
                read(data, a, b, host)
                given = Rows(*map(self.library.arrays.asarray, host))
                self._resident.append(
                    arrange(self.library, given, int(data.row[a]), data.columns, a)
                )
            data.release()
        yield from self._resident

    def _streamed(self, data: Dataset, ranges: np.ndarray) -> Iterator[Chunk]:
        """Yield chunks; one is copied while the GPU works on its predecessor."""
        cuda, whole = self.library.arrays.cuda, bounds(data, STREAMED)
        copying = cuda.Stream(non_blocking=True)
        done: list[Any] = []
        self._buffers = self._buffers or [_Buffer(self.library, data, whole) for _ in range(2)]
        wanted = [(a, b) for a, b in whole if _touched(ranges, a, b)]
        for number, (a, b) in enumerate(wanted):
            if number > 1:
                done[number - 2].synchronize()  # nothing reads the buffer any more
            given = self._buffers[number % 2].filled(data, a, b, copying)
            copying.synchronize()
            chunk = arrange(self.library, given, int(data.row[a]), data.columns, a)
            done.append(cuda.Event())
            done[-1].record()
            yield chunk
            data.release()


class _Buffer:
    """Device and pinned host buffers for the largest chunk."""

    def __init__(self, library: Library, data: Dataset, whole: list[tuple[int, int]]) -> None:
        sizes = [
            max(len(part) for part in parts)
            for parts in zip(*(data.rows(a, b) for a, b in whole), strict=True)
        ]
        kinds = [part.dtype for part in data.rows(*whole[0])]
        self._host = [
            library.pinned(max(1, size), kind) for size, kind in zip(sizes, kinds, strict=True)
        ]
        self._on_gpu = [
            library.arrays.empty(size, kind) for size, kind in zip(sizes, kinds, strict=True)
        ]

    def filled(self, data: Dataset, a: int, b: int, stream: Any) -> Rows:
        sizes = [len(part) for part in data.rows(a, b)]
        read(data, a, b, [host[:size] for host, size in zip(self._host, sizes, strict=True)])
        views = [array[:size] for array, size in zip(self._on_gpu, sizes, strict=True)]
        for view, host in zip(views, self._host, strict=True):
            view.set(host[: len(view)], stream=stream)
        return Rows(*views)


def read(data: Dataset, a: int, b: int, hosts: Sequence[np.ndarray]) -> None:
    """Copy positions a to b into host memory: on all CPUs, with the disk reading ahead, so that the
    GPU does not wait."""
    low = int(data.row[a])
    for name, host, source in zip(Rows._fields, hosts, data.rows(a, b), strict=True):
        first = {"index": low, "count": low}.get(name, a)

        def pieces(
            name: str = name, first: int = first, host: np.ndarray = host
        ) -> Iterator[slice]:
            for begin in range(0, len(host), COPIED):
                some = slice(begin, min(begin + COPIED, len(host)))
                data.prefetch_bytes(
                    name, (first + some.start) * host.itemsize, (first + some.stop) * host.itemsize
                )
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
    ends, chunks = data.first[1:], []
    begin = 0
    while begin < data.positions:
        most = min(
            begin + positions,
            int(np.searchsorted(data.row, data.row[begin] + NONZEROS, side="right")) - 1,
        )
        at = np.searchsorted(ends, most, side="right")
        end = (
            int(ends[at - 1])
            if at and ends[at - 1] > begin
            else int(ends[np.searchsorted(ends, begin, side="right")])
        )
        chunks.append((begin, end))
        begin = end
    return chunks
