"""Addresses of arrays, which compiled code passes more cheaply than arrays."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types

from games import jit

_DATA = 4  # index of the data address in Numba's array structure


def _address(builder, values):
    return builder.extract_value(values[0], _DATA)


@jit.intrinsic(types.CPointer(types.int32), (types.Array(types.int32, 1, "C"),), _address)
def row_at(array):
    """Return the address of an int32 array."""
    return array


@jit.intrinsic(types.CPointer(types.int64), (types.Array(types.int64, 1, "C"),), _address)
def words_at(array):
    """Return the address of an int64 array."""
    return array


@jit.intrinsic(types.CPointer(types.float64), (types.Array(types.float64, 1, "C"),), _address)
def numbers_at(array):
    """Return the address of a float64 array."""
    return array


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
