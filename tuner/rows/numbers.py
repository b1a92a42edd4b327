"""Read decimal numbers from bytes, compiled."""

from __future__ import annotations

import numpy as np
from numba.core import types

from tuner.unit import inner

bytes_type = types.Array(types.uint8, 1, "C", readonly=True)
state_type = types.Array(types.int64, 1, "C")
END = 0  # the cell of the state in which a parser leaves the index after what it read
NO_NUMBER = -1e300
MOST_DIGITS = 18  # of a mantissa in 64 bits
MINUS, PLUS, DOT, ZERO, NINE, SPACE, NEWLINE = (ord(letter) for letter in "-+.09 \n")
LOWER = 0x20  # makes a letter small
_E, _N, _A, _I, _F = (ord(letter) for letter in "enaif")


@inner(types.int64(bytes_type, types.int64, types.int64))
def skip_blanks(text, i, end):
    """Return the index after the white space at i."""
    while i < end and text[i] <= SPACE:
        i += 1
    return i


@inner(types.int64(bytes_type, types.int64, types.int64, state_type))
def digits_from(text, i, end, state):
    """Parse a whole number without sign at i, limited to about 2^40; state[END] becomes the index after it."""
    value = np.int64(0)
    while i < end and ZERO <= text[i] <= NINE:
        if value < 1 << 40:
            value = value * 10 + (np.int64(text[i]) - ZERO)
        i += 1
    state[END] = i
    return value


@inner(types.float64(types.int64))
def _power_of_ten(exponent):
    power = 1.0  # exact up to 10^22
    for _ in range(min(exponent, 400)):
        power *= 10.0
    return power


@inner(types.float64(bytes_type, types.int64, types.int64, state_type))
def _word(text, i, end, state):
    """Parse `nan` or `inf` at i, or return NO_NUMBER."""
    if i + 3 <= end:
        a, b, c = np.int64(text[i]) | LOWER, np.int64(text[i + 1]) | LOWER, np.int64(text[i + 2]) | LOWER
        state[END] = i + 3
        if a == _N and b == _A and c == _N:
            return np.nan
        if a == _I and b == _N and c == _F:
            return np.inf
    return NO_NUMBER


@inner(types.float64(bytes_type, types.int64, types.int64, state_type))
def decimal(text, i, end, state):
    """Parse a number at i (1, -2.5, 1e-3, nan, inf) in text[i:end]; state[END] becomes the index after it, or i: there is none.

    Up to 15 digits and an exponent of 22 the result is the nearest float64; beyond, it can differ in the last bit.
    """
    begin = i
    negative = i < end and text[i] == MINUS
    if i < end and (text[i] == MINUS or text[i] == PLUS):
        i += 1
    mantissa, digits, seen, exponent, dot = np.int64(0), 0, 0, 0, False
    while i < end:
        letter = np.int64(text[i])
        if ZERO <= letter <= NINE:
            seen += 1
            if digits < MOST_DIGITS:
                mantissa = mantissa * 10 + (letter - ZERO)
                digits += 1 if mantissa > 0 else 0
                exponent -= 1 if dot else 0
            elif not dot:
                exponent += 1
        elif letter == DOT and not dot:
            dot = True
        else:
            break
        i += 1
    if seen == 0:
        value = NO_NUMBER if dot else _word(text, i, end, state)
        if value == NO_NUMBER:
            state[END] = begin
            return NO_NUMBER
        return -value if negative else value
    if i + 1 < end and np.int64(text[i]) | LOWER == _E:
        k = i + 1
        minus = text[k] == MINUS
        if text[k] == MINUS or text[k] == PLUS:
            k += 1
        power = digits_from(text, k, end, state)
        if state[END] > k:
            i = state[END]
            power = min(power, 100000)
            exponent += -power if minus else power
    state[END] = i
    value = np.float64(mantissa)
    if exponent > 0 and mantissa > 0:
        value *= _power_of_ten(exponent)
    elif exponent < 0:
        value /= _power_of_ten(-exponent)
    return -value if negative else value
