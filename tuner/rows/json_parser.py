"""Parse JSON lines of the plain form that engines print; compiled.

A line of any other form (escapes, letters beyond ASCII, unknown keys or names, faults) ends the parse: the module json reads on,
and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numba.core import types

from tuner.rows.numbers import DOT, END, LOWER, MINUS, NINE, SPACE, ZERO, bytes_type, decimal, skip_blanks, state_type
from tuner.unit import entry, inner

# cells of the state
USED, LINE, ROWS, NONZEROS = range(END + 1, 5)
QUOTE, COLON, COMMA, OPEN, CLOSE, BACKSLASH, NEWLINE, HASH, SLASH = (ord(letter) for letter in '":,{}\\\n#/')
DELETE = 0x7F  # bytes from here on, and below a space, make a text that is left to the module json
_E, _N = ord("e"), ord("n")
FIELDS = ("counts", "fen", "game", "result", "phase", "rest", "scale", "eval", "score")
COUNTS, TEXT, GAME, RESULT = range(4)
# the hash of a name: turned by 5 bits for each byte, which is quick, and mixed at the end
LEFT, RIGHT, MIXED, FACTOR = np.uint64(5), np.uint64(59), np.uint64(40), np.uint64(0x9E3779B97F4A7C15)
ALL = (1 << 64) - 1
NAMED_GAME, NUMBERED_GAME = 1, 2


def _array(kind, dimensions=1):
    return types.Array(kind, dimensions, "C")


numbers_type = _array(types.int64)


def hash_of(name: bytes) -> int:
    """Return the hash of a name, as the parser computes it."""
    found = 0
    for letter in name:
        found = ((found << 5 | found >> 59) & ALL) ^ letter
    return (found * int(FACTOR) & ALL) >> 40


def table_of(columns: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return a hash table (size, 3) int64 of column (-1: empty), begin and end of the name, and all names (bytes) as uint8."""
    names = [name.encode() for name in columns]
    size = 1 << max(4, (4 * len(names)).bit_length())
    table, begin = np.full((size, 3), -1, np.int64), 0
    for name, column in zip(names, columns.values(), strict=True):
        place = hash_of(name) & (size - 1)
        while table[place, 0] >= 0:
            place = (place + 1) & (size - 1)
        table[place] = column, begin, begin + len(name)
        begin += len(name)
    return table, np.frombuffer(b"".join(names) or b" ", np.uint8)


@inner(types.int64(bytes_type, types.int64, types.int64, bytes_type, _array(types.int64, 2), state_type))
def _lookup(text, i, end, names, table, state):
    """Find the name that ends at the next quote of text[i:end]: its column, or -1; state[END] becomes the index of the quote."""
    found, k = np.uint64(0), i
    while k < end and text[k] != QUOTE:
        found = (found << LEFT | found >> RIGHT) ^ np.uint64(text[k])
        k += 1
    state[END] = k
    place = np.int64(found * FACTOR >> MIXED) & (len(table) - 1)
    while table[place, 0] >= 0:
        begin = table[place, 1]
        size = table[place, 2] - begin
        if size == k - i:
            n = 0
            while n < size and names[begin + n] == text[i + n]:
                n += 1
            if n == size:
                return table[place, 0]
        place = (place + 1) & (len(table) - 1)
    return -1


@inner(types.int64(bytes_type, types.int64, types.int64))
def _text_end(text, i, end):
    """Return the index of the quote that ends the plain text at i, or -1 for texts with escapes, control bytes, or no end."""
    while i < end:
        if text[i] == QUOTE:
            return i
        if text[i] == BACKSLASH or text[i] < SPACE or text[i] >= DELETE:
            return -1
        i += 1
    return -1


@inner(types.boolean(bytes_type, types.int64, types.int64, state_type))
def _is_number(text, i, end, state):
    """Whether a number as JSON writes it is at i; state[END] becomes the index after it."""
    if i < end and text[i] == MINUS:
        i += 1
    if i >= end or not ZERO <= text[i] <= NINE:
        return False
    leading = text[i] == ZERO
    first = i
    while i < end and ZERO <= text[i] <= NINE:
        i += 1
    if leading and i > first + 1:
        return False
    if i < end and text[i] == DOT:
        i += 1
        first = i
        while i < end and ZERO <= text[i] <= NINE:
            i += 1
        if i == first:
            return False
    if i < end and np.int64(text[i]) | LOWER == _E:
        i += 1
        if i < end and (text[i] == MINUS or text[i] == ord("+")):
            i += 1
        first = i
        while i < end and ZERO <= text[i] <= NINE:
            i += 1
        if i == first:
            return False
    state[END] = i
    return True


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _is_null(text, i, end):
    """Whether `null` is at i."""
    return (i + 4 <= end and text[i] == _N and text[i + 1] == ord("u") and text[i + 2] == ord("l") and text[i + 3] == ord("l"))


@inner(types.float64(bytes_type, types.int64, types.int64))
def _result(text, i, end):
    """Return the outcome for the text[i:end] of a result, or 9."""
    size = end - i
    if size == 3 and text[i + 1] == MINUS:
        if text[i] == ord("1") and text[i + 2] == ZERO:
            return 1.0
        if text[i] == ZERO and text[i + 2] == ord("1"):
            return -1.0
    if size == 7 and text[i] == ord("1") and text[i + 1] == SLASH and text[i + 2] == ord("2") and text[i + 3] == MINUS \
            and text[i + 4] == ord("1") and text[i + 5] == SLASH and text[i + 6] == ord("2"):
        return 0.0
    return 9.0


@inner(types.boolean(bytes_type, types.int64, types.int64, bytes_type, _array(types.int64, 2), state_type, _array(types.int32),
                     _array(types.float32)))
def _counts(text, i, end, names, table, state, index, count):
    """Parse the object of counts at i; False for other forms. state[END] becomes the index after it."""
    if i >= end or text[i] != OPEN:
        return False
    k = state[NONZEROS]
    i = skip_blanks(text, i + 1, end)
    more = i < end and text[i] != CLOSE
    while more:
        if i >= end or text[i] != QUOTE:
            return False
        column = _lookup(text, i + 1, end, names, table, state)
        i = skip_blanks(text, state[END] + 1, end)
        if column < 0 or i >= end or text[i] != COLON:
            return False
        i = skip_blanks(text, i + 1, end)
        if i + 1 < end and ZERO <= text[i] <= NINE and (text[i + 1] == COMMA or text[i + 1] == CLOSE):
            count[k] = np.float32(np.int64(text[i]) - ZERO)  # most counts have one digit
            i += 1
        elif _is_number(text, i, end, state):
            count[k] = np.float32(decimal(text, i, end, state))
            i = skip_blanks(text, state[END], end)
        else:
            return False
        index[k] = np.int32(column)
        k += 1
        more = i < end and text[i] == COMMA
        if more:
            i = skip_blanks(text, i + 1, end)
    if i >= end or text[i] != CLOSE:
        return False
    state[NONZEROS] = k
    state[END] = i + 1
    return True


@inner(types.boolean(bytes_type, types.int64, types.int64, state_type, types.int64, types.int64, _array(types.float64, 2),
                     _array(types.uint64), _array(types.uint8), _array(types.int64, 2)))
def _field(text, i, end, state, key, n, values, game, given, places):
    """Parse the value of a field at i; False for other forms. state[END] becomes the index after it."""
    if _is_null(text, i, end):
        state[END] = i + 4
        return True
    if i < end and text[i] == QUOTE:
        stop = _text_end(text, i + 1, end)
        if stop < 0:
            return False
        state[END] = stop + 1
        if key == TEXT:
            places[n, 0], places[n, 1] = i + 1, stop
            return True
        if key == GAME:
            places[n, 2], places[n, 3] = i + 1, stop
            given[n] = NAMED_GAME
            return True
        if key == RESULT:
            values[n, 0] = _result(text, i + 1, stop)
            return values[n, 0] != 9.0
        return False
    if key == TEXT or not _is_number(text, i, end, state):
        return False
    stop = state[END]
    if key == GAME:
        value, k = np.uint64(0), i
        while k < stop and k < i + 18 and ZERO <= text[k] <= NINE:
            value = value * np.uint64(10) + np.uint64(np.int64(text[k]) - ZERO)
            k += 1
        game[n] = value
        given[n] = NUMBERED_GAME
        return k == stop
    value_ = decimal(text, i, end, state)
    if key == RESULT:
        if value_ < 0.0 or value_ > 1.0:
            return False
        value_ = 2.0 * value_ - 1.0
    values[n, key - RESULT] = value_
    return True


@inner(types.boolean(bytes_type, types.int64, types.int64, bytes_type, _array(types.int64, 2), bytes_type, _array(types.int64, 2),
                     state_type, types.int64, _array(types.int32), _array(types.float32), _array(types.float64, 2),
                     _array(types.uint64), _array(types.uint8), _array(types.int64, 2)))
def _line(text, i, end, names, table, keys, key_table, state, n, index, count, values, game, given, places):
    """Parse the object of a line at i; False for other forms."""
    if text[i] != OPEN:
        return False
    seen = np.int64(0)
    while True:
        i = skip_blanks(text, i + 1, end)
        if i >= end or text[i] != QUOTE:
            return False
        key = _lookup(text, i + 1, end, keys, key_table, state)
        i = skip_blanks(text, state[END] + 1, end)
        if key < 0 or i >= end or text[i] != COLON or seen >> key & 1:
            return False
        seen |= np.int64(1) << key
        i = skip_blanks(text, i + 1, end)
        if key == COUNTS:
            if not _counts(text, i, end, names, table, state, index, count):
                return False
        elif not _field(text, i, end, state, key, n, values, game, given, places):
            return False
        i = skip_blanks(text, state[END], end)
        if i >= end or text[i] != COMMA:
            break
    return i < end and text[i] == CLOSE and skip_blanks(text, i + 1, end) == end and seen & 1 == 1


@entry(types.boolean(bytes_type, types.int64, bytes_type, _array(types.int64, 2), bytes_type, _array(types.int64, 2), state_type,
                     _array(types.int32), _array(types.float32), _array(types.int64), _array(types.float64, 2),
                     _array(types.uint64), _array(types.uint8), _array(types.int64, 2), _array(types.int64)))
def parse_json(text, begin, names, table, keys, key_table, state, index, count, row, values, game, given, places, line):
    """Parse whole lines of text[begin:] until the arrays are full or the text ends; False if a line of another form comes next.

    `index` and `count` have room for len(text) / 5 + 1 pairs. `values` (n, 6) are outcome, phase, rest, scale, evaluation and
    score, with NaN for a phase that is missing; `places` (n, 4) the ranges of the position and of the name of the game.
    """
    end, n, i, fine = len(text), 0, begin, True
    state[NONZEROS] = 0
    while i < end and n < len(line):
        stop = i
        while stop < end and text[stop] != NEWLINE:
            stop += 1
        k = skip_blanks(text, i, stop)
        if k < stop and text[k] != HASH and not (text[k] == SLASH and k + 1 < stop and text[k + 1] == SLASH):
            values[n, 0], values[n, 1], values[n, 2] = np.nan, np.nan, 0.0
            values[n, 3], values[n, 4], values[n, 5] = 1.0, np.nan, np.nan
            given[n], places[n, 0], places[n, 1], places[n, 2], places[n, 3] = 0, 0, 0, 0, 0
            before = state[NONZEROS]
            if not _line(text, k, stop, names, table, keys, key_table, state, n, index, count, values, game, given, places):
                state[NONZEROS] = before
                fine = False
                break
            line[n] = state[LINE] + 1
            n += 1
            row[n] = state[NONZEROS]
        state[LINE] += 1
        i = stop + 1
    state[USED], state[ROWS] = i, n
    return fine
