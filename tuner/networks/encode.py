"""Positions as the inputs of networks: a sparse matrix of counts times units."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba.core import types
from scipy.sparse import csr_array, vstack

from games.bits import lowest, without_lowest
from tuner.networks.calls import Encoding, address_of, call_write, different, row_at, words_at
from tuner.networks.forward import LANES, counts_type, numbers
from tuner.networks.unit import entry

BLOCK = 8  # rows that are written before they are read, because wide loads right after narrow stores stall the CPU
AT_ONCE = 1 << 14  # positions
I64 = types.int64
words_type = types.Array(types.uint64, 1, "C")


@entry(I64(I64, words_type, I64, I64, counts_type, counts_type, counts_type, counts_type, numbers))
def encode(write, positions, words, n, rows, zeros, index, counts, ends):
    """Write the nonzero counts of n positions, one after the other, their places to `index`, and where those of each position
    end to `ends`; return how many there are. `rows` has room for BLOCK rows, each as long as `zeros`."""
    pad, found = len(zeros), 0
    for block in range(0, n, BLOCK):
        stop = min(block + BLOCK, n)
        for i in range(block, stop):
            call_write(write, words_at(positions, i * words), row_at(rows, (i - block) * pad))
        for i in range(block, stop):
            start = (i - block) * pad
            for chunk in range(0, pad, LANES):
                present = different(rows, zeros, start + chunk, chunk)
                while present:
                    at = chunk + lowest(present)
                    index[found] = at
                    counts[found] = rows[start + at]
                    found += 1
                    present = without_lowest(present)
            ends[i] = found
    return found


def padded(size: int) -> int:
    """Return the length of a row of counts for compiled code."""
    return -(-size // LANES) * LANES


def counts_of(encoding: Encoding, positions: np.ndarray) -> csr_array:
    """Return the counts (n, inputs) int32 of positions (n, words) uint64."""
    return vstack([csr_array((0, encoding.size), dtype=np.int32), *_parts(encoding, positions)], "csr", np.int32)


def inputs_of(encoding: Encoding, positions: np.ndarray) -> csr_array:
    """Return the inputs (n, inputs) float32 of positions (n, words) uint64: their counts times the units."""
    found = counts_of(encoding, positions)
    return csr_array(((found.data * encoding.units[found.indices]).astype(np.float32), found.indices, found.indptr), found.shape)


def _parts(encoding: Encoding, positions: np.ndarray) -> Iterator[csr_array]:
    pad, words = padded(encoding.size), positions.shape[1]
    zeros, rows = np.zeros(pad, np.int32), np.zeros(BLOCK * pad, np.int32)
    for begin in range(0, len(positions), AT_ONCE):
        part = np.ascontiguousarray(positions[begin:begin + AT_ONCE])
        ends = np.zeros(len(part) + 1, np.int64)
        index, counts = np.empty((2, len(part) * encoding.size), np.int32)
        n = encode(address_of(encoding.write), part.ravel(), words, len(part), rows, zeros, index, counts, ends[1:])
        yield csr_array((counts[:n].copy(), index[:n].copy(), ends), (len(part), encoding.size))
