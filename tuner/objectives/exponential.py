"""exp(-t) in plain arithmetic, which a compiler can vectorize, unlike the C library's function."""

import math

import numpy as np
from llvmlite import ir
from numba.core import types

from games.compile import jit
from tuner.unit import inner

MAX_EXPONENT = 700.0  # exp(-700) is 1e-304; smaller results would be subnormal
LOG2_E = 1 / math.log(2)
LN2_HIGH = 0.693147180369123816490  # log 2 in two parts; multiples of the first are exact
LN2_LOW = 1.90821492927058770002e-10
SHIFT = 1.5 * 2.0**52  # adding it leaves the nearest integer in the lowest bits
MANTISSA, BIAS = np.uint64(52), np.uint64(1023)
FACTORIALS = tuple((-1) ** k / math.factorial(k) for k in range(14))
_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13 = FACTORIALS[1:]


@jit.intrinsic(
    types.uint64,
    (types.float64,),
    lambda builder, values: builder.bitcast(values[0], ir.IntType(64)),
)
def bits_of(number):
    """Return the 64 bits of a number."""
    return np.float64(number).view(np.uint64)


@jit.intrinsic(
    types.float64,
    (types.uint64,),
    lambda builder, values: builder.bitcast(values[0], ir.DoubleType()),
)
def number_of(bits):
    """Return the number with these 64 bits."""
    return np.uint64(bits).view(np.float64)


@inner(types.float64(types.float64), forceinline=True, fastmath=False)
def exp_minus(t):
    """Return exp(-t) for t >= 0, to within two units in the last place; exp(-700) for larger t.

    t = n log 2 + r with |r| <= log(2) / 2; exp(-r) by its Taylor series, times a power of two put
    into the exponent."""
    t = min(t, MAX_EXPONENT)
    shifted = t * LOG2_E + SHIFT
    n = shifted - SHIFT
    r = (t - n * LN2_HIGH) - n * LN2_LOW
    series = _8 + r * (_9 + r * (_10 + r * (_11 + r * (_12 + r * _13))))
    series = 1.0 + r * (
        _1 + r * (_2 + r * (_3 + r * (_4 + r * (_5 + r * (_6 + r * (_7 + r * series))))))
    )
    return series * number_of((BIAS - bits_of(shifted)) << MANTISSA)
