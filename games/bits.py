"""Bitboards: sets of up to 64 squares in one uint64, and the machine instructions on them.

Square 0 is the first square of the first row, square 63 the last square of the last row, with eight
squares per row. Squares and counts are int64, sets of squares uint64. Do not mix a set with a
Python integer: in compiled code `uint64 + int` is a float and `uint64 & int` is signed. Use the
constants of this module."""

import numpy as np
from llvmlite import ir
from numba.core import types

from games.compile import jit

EMPTY = np.uint64(0)
ONE = np.uint64(1)
EIGHT = np.uint64(8)
HIGHEST = np.uint64(1 << 63)

_I64 = ir.IntType(64)
_TRUE = ir.IntType(1)(1)  # undefined for the empty set


@jit.intrinsic(types.int64, (types.uint64,), lambda builder, values: builder.ctpop(values[0]))
def popcount(squares):
    """Return the number of squares in a set."""
    return int(squares).bit_count()


@jit.intrinsic(types.int64, (types.uint64,), lambda builder, values: builder.cttz(values[0], _TRUE))
def lowest(squares):
    """Return the lowest square of a set that is not empty."""
    return (int(squares) & -int(squares)).bit_length() - 1


@jit.intrinsic(types.int64, (types.uint64,), lambda builder, values: builder.ctlz(values[0], _TRUE))
def leading_zeros(squares):
    """Return 63 minus the highest square of a set that is not empty."""
    return 64 - int(squares).bit_length()


@jit.intrinsic(types.uint64, (types.uint64,), lambda builder, values: builder.bswap(values[0]))
def flip(squares):
    """Return the set with its rows in reverse order: square s becomes s ^ 56."""
    return np.uint64(int.from_bytes(int(squares).to_bytes(8, "little"), "big"))


@jit.intrinsic(
    types.uint64, (types.int64,), lambda builder, values: builder.shl(_I64(1), values[0])
)
def bit(square):
    """Return the set of one square."""
    return np.uint64(1 << int(square))


@jit.intrinsic(
    types.uint64,
    (types.uint64,),
    lambda builder, values: builder.and_(values[0], builder.sub(values[0], _I64(1))),
)
def without_lowest(squares):
    """Return the set without its lowest square."""
    return np.uint64(int(squares) & (int(squares) - 1))


@jit.intrinsic(
    types.uint64,
    (types.boolean, types.uint64),
    lambda builder, values: builder.select(values[0], values[1], _I64(0)),
)
def when(condition, squares):
    """Return the set if the condition holds, otherwise the empty set."""
    return squares if condition else EMPTY
