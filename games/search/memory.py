"""Read and write words at an address, for tables whose size is chosen at run time."""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir
from numba.core import types

from games import jit

_WORD = ir.IntType(64)


def _place(builder, values):
    return builder.gep(builder.inttoptr(values[0], _WORD.as_pointer()), [values[1]])


def _read(builder, values):
    return builder.load(_place(builder, values))


def _write(builder, values):
    builder.store(values[2], _place(builder, values))
    return values[2]


@jit.intrinsic(types.uint64, (types.int64, types.int64), _read)
def word_at(address, index):
    """Return the word at `index` in an array at an address."""
    return np.uint64(ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value)


def _prefetch(builder, values):
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    place = builder.bitcast(_place(builder, values), byte)
    builder.call(builder.module.declare_intrinsic("llvm.prefetch", [byte], kind), [place, number(0), number(3), number(1)])
    return values[1]


@jit.intrinsic(types.int64, (types.int64, types.int64), _prefetch)
def prefetch(address, index):
    """Begin to load the word at `index` in an array at an address into the cache; returns the index."""
    return index


@jit.intrinsic(types.uint64, (types.int64, types.int64, types.uint64), _write)
def put_word(address, index, value):
    """Write a word at `index` in an array at an address; returns it."""
    ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value = int(value)
    return value
