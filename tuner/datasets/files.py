"""The format of a dataset on disk, and arrays that grow while they are written.

A dataset is a folder of `.npy` files and a manifest. Position i has the nonzeros row[i]:row[i + 1]
of `index` (uint16 columns) and `count` (int8), and `phase` (uint8, steps of the first stage),
`outcome` (float32 in [-1, 1], first player) and `weight` (float32). Game g has the positions
first[g]:first[g + 1]; `game` and `opening` (uint64) identify it. The manifest has a checksum
(CRC-32) for each part of each array, so that damage is detected and located.

Positions that another program counted may have more, each for all positions or for none: `rest`
(float32 centipawns that are not tuned), `evaluation` and `score` (float32 centipawns, static and of
a search, NaN if unknown), and `text` (uint8, all positions as concatenated text) with
`text_end` (int64, the end of each). If the evaluation scales its last stage, `phase` is an index
into `shares` of the manifest, a list of [phase, scale]. `spans` of the manifest are the phases
in which each stage is alone, see `tuner.parameters.parameters`. Where counts do not fit into
int8, or indices into uint8, the dataset is wide: `count` is float32 and `phase` uint16. One of more
than 65,536 columns is wide, and `index` is uint32.

Terms that are not linear, which `apart` of the manifest names, have counts of the first player in
their columns; the counts of the second follow after all columns, in the same order.

Format 1 had none of this, and is otherwise the same.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba.core import types

FORMAT, READABLE = 2, (1, 2)
ARRAYS = {
    "index": np.uint16,
    "count": np.int8,
    "row": np.int64,
    "phase": np.uint8,
    "outcome": np.float32,
    "weight": np.float32,
    "first": np.int64,
    "game": np.uint64,
    "opening": np.uint64,
}
WIDE = {"count": np.float32, "phase": np.uint16}
LARGE = {**WIDE, "index": np.uint32}
NARROW = 1 << 16  # columns of 16 bits
OPTIONAL = {
    "rest": np.float32,
    "evaluation": np.float32,
    "score": np.float32,
    "text": np.uint8,
    "text_end": np.int64,
}
BY_NONZERO = ("index", "count")
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1 << 26  # bytes


class Rows(NamedTuple):
    """n positions: the nonzeros of position i are row[i] - row[0] to row[i + 1] - row[0] of `index`
    (uint16 columns, or uint32 if they are many) and `count` (int8, or float32 if wide); `row`
    (n + 1,) is int64. `phase` (n,) is uint8 (uint16 if wide), indices into the shares of the
    stages. `outcome`, `weight` and `rest` (n,) float32 are optional. Arrays are NumPy's or CuPy's.
    Compiled code takes rows that are `read_only`."""

    index: Any
    count: Any
    row: Any
    phase: Any
    outcome: Any = None
    weight: Any = None
    rest: Any = None

    @property
    def of(self) -> np.ndarray:
        """The position (nonzeros,) of each nonzero."""
        return np.repeat(np.arange(len(self.phase)), np.diff(self.row))

    @property
    def bare(self) -> Rows:
        """Nonzeros and phases alone, from the first nonzero."""
        return Rows(self.index, self.count, self.row - self.row[0], self.phase).read_only

    @property
    def read_only(self) -> Rows:
        """The same arrays, which cannot be written to."""
        views = [None if array is None else array.view() for array in self]
        for view in views:
            if view is not None:
                view.flags.writeable = False
        return Rows(*views)

    def matrix(self, columns: int) -> Any:
        """Return the rows (n, columns) as a SciPy CSR array of float64."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.count.astype(np.float64), self.index.astype(np.int32), self.row - self.row[0]),
            shape=(len(self.phase), columns),
        )

    def dense(self, columns: int) -> np.ndarray:
        """Return the rows as a dense array (n, columns) of float64."""
        matrix = np.zeros((len(self.phase), columns))
        matrix[self.of, self.index] = self.count
        return matrix


Sparse = TypeVar("Sparse", bound=NamedTuple)


def only(rows: Sparse, keep: np.ndarray) -> Sparse:
    """Return the positions that `keep` (n,) bool marks, of `Rows` or another record with `index`,
    `count` and `row` before arrays and lists by position, which may be None or empty."""
    index, count, row, *others = rows
    lengths = np.diff(row)
    nonzeros = np.repeat(keep, lengths)
    kept = [
        list(compress(values, keep))
        if isinstance(values, list)
        else values[keep]
        if values is not None and len(values)
        else values
        for values in others
    ]
    csr = (index[nonzeros], count[nonzeros], np.concatenate([[0], np.cumsum(lengths[keep])]))
    return rows._replace(**dict(zip(rows._fields, (*csr, *kept), strict=True)))


BY_POSITION = Rows._fields
FILES = {MANIFEST, *(f"{name}.npy" for name in (*ARRAYS, *OPTIONAL))}


def is_dataset(path: str | Path) -> bool:
    return os.path.isfile(Path(path) / MANIFEST)


def _array(kind, dimensions=1, readonly=True):
    return types.Array(kind, dimensions, "C", readonly=readonly)


index_type, count_type, row_type = _array(types.uint16), _array(types.int8), _array(types.int64)
phase_type, outcome_type = _array(types.uint8), _array(types.float32)
# types of columns, counts and phases, of a dataset, a wide and a large one
KINDS = (
    (index_type, count_type, phase_type),
    (index_type, _array(types.float32), _array(types.uint16)),
    (_array(types.uint32), _array(types.float32), _array(types.uint16)),
)
ranges_type = types.Array(types.int64, 2, "C")
vector_type, matrix_type = types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C")
cube_type = types.Array(types.float64, 3, "C")
order_type = types.Array(types.int64, 1, "C")


HEADER = 128
PART = 1 << 24  # bytes that share a checksum


class ArrayWriter:
    """A one-dimensional `.npy` file that grows; its header is written last, into reserved space."""

    def __init__(self, path: Path, dtype: type) -> None:
        self.dtype, self.length = np.dtype(dtype), 0
        self.checks: list[int] = []
        self._filled = PART  # bytes of the last part
        self._file = open(path, "wb")
        self._file.write(b"\0" * HEADER)

    def append(self, values: np.ndarray) -> None:
        values = np.ascontiguousarray(values, self.dtype)
        self._file.write(values.data)
        self._check(values.data.cast("B"))
        self.length += len(values)

    def _check(self, data: memoryview) -> None:
        while data:
            if self._filled == PART:
                self.checks.append(0)
                self._filled = 0
            some = data[: PART - self._filled]
            self.checks[-1] = zlib.crc32(some, self.checks[-1])
            self._filled += len(some)
            data = data[len(some) :]

    def close(self) -> None:
        text = (
            f"{{'descr': {self.dtype.str!r}, 'fortran_order': False, 'shape': ({self.length},), }}"
        )
        self._file.seek(0)
        self._file.write(b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little"))
        self._file.write(text.encode().ljust(HEADER - 11) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        with contextlib.suppress(OSError):  # on a full disk, closing fails too
            self._file.close()
