"""Addresses of arrays, which compiled code passes more cheaply than arrays."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types

from games import jit
from games.addresses import address_of_arrays

row_at, words_at, numbers_at = map(address_of_arrays, (types.int32, types.int64, types.float64))


def _nonzero(builder, values):
    lanes = ir.VectorType(ir.IntType(32), 64)
    place = builder.bitcast(builder.gep(values[0], [values[1]]), lanes.as_pointer())
    chunk = builder.load(place, align=4)
    return builder.bitcast(builder.icmp_unsigned("!=", chunk, lanes(None)), ir.IntType(64))


@jit.intrinsic(types.uint64, (types.CPointer(types.int32), types.int64), _nonzero)
def nonzero(row, start):
    """Return which of the 64 numbers from `start` on are not zero, as a bit set."""
    return np.uint64(sum(1 << i for i in range(64) if row[start + i]))


def row_function(length: int):
    """Return a function that turns an address into an array of `length` uint64."""
    pointer, word = ir.IntType(8).as_pointer(), ir.IntType(64)

    def build(builder, values):
        data = values[0]
        shape = ir.Constant(ir.ArrayType(word, 1), [length])
        strides = ir.Constant(ir.ArrayType(word, 1), [8])
        kind = ir.LiteralStructType([pointer, pointer, word, word, data.type, shape.type, strides.type])
        array = ir.Constant(kind, ir.Undefined)
        for place, value in enumerate((pointer(None), pointer(None), word(length), word(8), data, shape, strides)):
            array = builder.insert_value(array, value, place)
        return array

    @jit.intrinsic(types.Array(types.uint64, 1, "C"), (types.CPointer(types.uint64),), build)
    def row_of(words):
        """Return the words at an address as an array."""
        return words

    return row_of
