"""One-dimensional `.npy` files that grow while they are written, with checksums of their parts."""

from __future__ import annotations

import contextlib
import os
import zlib
from pathlib import Path

import numpy as np

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
        self._check(memoryview(values).cast("B"))
        self.length += len(values)

    def _check(self, data: memoryview) -> None:
        while data:
            if self._filled == PART:
                self.checks.append(0)
                self._filled = 0
            some = data[:PART - self._filled]
            self.checks[-1] = zlib.crc32(some, self.checks[-1])
            self._filled += len(some)
            data = data[len(some):]

    def close(self) -> None:
        text = f"{{'descr': {self.dtype.str!r}, 'fortran_order': False, 'shape': ({self.length},), }}"
        self._file.seek(0)
        self._file.write(b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little"))
        self._file.write(text.encode().ljust(HEADER - 11) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        with contextlib.suppress(OSError):  # on a full disk, closing fails too
            self._file.close()
