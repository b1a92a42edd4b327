"""Bitboards: 64 squares in one uint64, and the handful of machine instructions that work on them.

Square 0 is the first square of the first row, square 63 the last of the last; eight squares a row. Squares and counts
are int64, sets of squares uint64. Never mix a bare Python integer with a set: `uint64 + int` becomes a float, and
`uint64 & int` becomes signed. Use the constants here.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types

from games import jit

EMPTY = np.uint64(0)
ONE = np.uint64(1)
EIGHT = np.uint64(8)
HIGHEST = np.uint64(1 << 63)

_I64 = ir.IntType(64)
_TRUE = ir.IntType(1)(1)  # the result for the empty set is undefined


@jit.intrinsic(types.int64, (types.uint64,), lambda builder, values: builder.ctpop(values[0]))
def popcount(squares):
    """Number of squares in the set."""
    return int(squares).bit_count()


@jit.intrinsic(types.int64, (types.uint64,), lambda builder, values: builder.cttz(values[0], _TRUE))
def lowest(squares):
    """Lowest square of a set that is not empty."""
    return (int(squares) & -int(squares)).bit_length() - 1


@jit.intrinsic(types.int64, (types.uint64,), lambda builder, values: builder.ctlz(values[0], _TRUE))
def leading_zeros(squares):
    """63 minus the highest square of a set that is not empty."""
    return 64 - int(squares).bit_length()


@jit.intrinsic(types.uint64, (types.uint64,), lambda builder, values: builder.bswap(values[0]))
def flip(squares):
    """The set with its rows in reverse order: square s becomes s ^ 56."""
    return np.uint64(int.from_bytes(int(squares).to_bytes(8, "little"), "big"))


@jit.intrinsic(types.uint64, (types.int64,), lambda builder, values: builder.shl(_I64(1), values[0]))
def bit(square):
    """The set of one square."""
    return np.uint64(1 << int(square))


@jit.intrinsic(types.uint64, (types.uint64,), lambda builder, values: builder.and_(
    values[0], builder.sub(values[0], _I64(1))))
def without_lowest(squares):
    """The set less its lowest square."""
    return np.uint64(int(squares) & (int(squares) - 1))


@jit.intrinsic(types.uint64, (types.boolean, types.uint64), lambda builder, values: builder.select(
    values[0], values[1], _I64(0)))
def when(condition, squares):
    """The set if the condition holds, else no square."""
    return squares if condition else EMPTY
