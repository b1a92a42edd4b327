"""A chunk: whole games on a GPU, their positions sorted by phase, and which of them a pass visits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tuner.datasets.rows import Rows
from tuner.device.gpu.library import THREADS, Library

EIGHT = 8  # nonzeros read at once
FEW = 16  # a chunk with this many times the chosen positions: those are listed one by one


@dataclass
class Chunk:
    """Positions first to last of a dataset on a GPU. Entry p of `at` is position first + origin[p], and place[origin[p]] = p;
    both int32. The rows of `at` are padded to multiples of eight; its `row` counts in eights."""

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
    """Entries (n,) int32 of chosen positions in their chunk, ascending, and their tiles (t, 3) int32: begin, end, phase; both on
    the GPU. Phase f has entries ends[f]:ends[f + 1]. `largest` bounds a column's sum of absolute counts over a tile."""

    order: Any
    tiles: Any
    ends: np.ndarray
    largest: int


def arranged(library: Library, given: Rows, base: int, columns: int, first: int = 0) -> Chunk:
    """Return a chunk of positions that are on the GPU in the dataset's order; `base` is the first entry of their `row`."""
    arrays, n = library.arrays, len(given.phase)
    # keys are distinct, so that the order is the same in every run
    origin = arrays.argsort(given.phase.astype(np.int64) * n + arrays.arange(n, dtype=np.int64)).astype(np.int32)
    place = arrays.empty(n, np.int32)
    place[origin] = arrays.arange(n, dtype=np.int32)
    eights = (given.row[1:] - given.row[:-1] + EIGHT - 1) // EIGHT
    row = arrays.zeros(n + 1, np.int32)
    row[1:] = arrays.cumsum(eights[origin]).astype(np.int32)
    size = EIGHT * max(1, int(row[-1]))  # kernels read one eight even if a row is empty
    index, count = arrays.empty(size, np.uint16), arrays.empty(size, np.int8)
    library.launch("arrange", -(-n // (THREADS // 32)), given.index, given.count, given.row, np.int64(base), origin, n,
                   max(1, columns), row, index, count)
    rest = given.rest[origin] if len(given.rest) else arrays.zeros(n, np.float32)
    at = Rows(index, count, row, given.phase[origin], given.outcome[origin], given.weight[origin], rest)
    return Chunk(first, first + n, at, origin, place)


def choose(library: Library, chunk: Chunk, ranges: np.ndarray, starts: np.ndarray, columns: int) -> Chosen:
    """Return the positions of some ranges, which do not overlap; `starts` (codes + 1,) are the first entries of each phase."""
    arrays = library.arrays
    low, high = np.clip(ranges, chunk.first, chunk.last).T - chunk.first
    low, high = low[low < high], high[low < high]
    sizes = high - low
    if FEW * sizes.sum() < len(chunk.origin):
        offsets = np.repeat(high - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        order = arrays.sort(chunk.place[library.put(offsets, np.int64)])
    else:
        marks = arrays.zeros(len(chunk.origin) + 1, np.int32)
        marks[library.put(low, np.int64)] += 1  # all starts differ, and all ends: no mark is lost
        marks[library.put(high, np.int64)] -= 1
        order = arrays.flatnonzero((arrays.cumsum(marks[:-1]) > 0)[chunk.origin]).astype(np.int32)
    ends = arrays.asnumpy(arrays.searchsorted(order, library.put(starts, np.int32)))
    tiles, largest = library.put(_tiles(ends), np.int32), arrays.zeros(1, np.int32)
    library.launch("largest_sum", len(tiles), *chunk.rows, order, tiles, len(tiles), columns, largest, shared=4 * columns)
    return Chosen(order, tiles, ends, max(1, int(largest[0])))


def _tiles(ends: np.ndarray) -> np.ndarray:
    """Return begin, end and phase (t, 3) of tiles of at most THREADS positions of one phase."""
    found = []
    for phase, (low, high) in enumerate(pairwise(ends)):
        begin = np.arange(low, high, THREADS)
        found.append(np.stack([begin, np.minimum(begin + THREADS, high), np.full(len(begin), phase)], axis=1))
    return np.concatenate(found)
