"""Parse lines of svmlight: a share of the first player, the game, and pairs of column and count; compiled.

    1.0 qid:12 0:24 17:1 41:-2 # FEN; rest=12.5 scale=0.5 eval=31 score=28 opening=7
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from tuner.rows.numbers import END, MINUS, NINE, NO_NUMBER, ZERO, bytes_type, decimal, skip_blanks, state_type
from tuner.unit import entry, inner

COLON, HASH, SEMICOLON, EQUALS, NEWLINE, RETURN, SPACE = (ord(letter) for letter in ":#;=\n\r ")
# cells of the state, in which the parser says where it is
USED, LINE, FAULT, AT, ROWS, NONZEROS = range(END + 1, 7)
(FINE, BAD_LABEL, BAD_SHARE, BAD_GAME, BAD_PAIR, NOT_ASCENDING, TOO_LARGE, BAD_VALUE, BAD_PHASE, BAD_KEY,
 BAD_LINE_END) = range(11)
HAS_GAME, HAS_PHASE, HAS_OPENING = 1, 2, 4  # bits of `given`
LARGEST_INDEX = 1 << 30
KEYS = ("rest", "scale", "eval", "score", "opening")
OPENING = KEYS.index("opening")
_R, _S, _E, _C, _V, _T, _O, _A, _L, _Q, _I, _D, _P, _N, _G = (ord(letter) for letter in "rsecvtoalqidpng")


def _array(kind, dimensions=1):
    return types.Array(kind, dimensions, "C")


@inner(types.int64(bytes_type, types.int64, types.int64))
def _line_end(text, i, end):
    """Return the index of the line end from i on; every block ends with one."""
    while i < end and text[i] != NEWLINE:
        i += 1
    return i


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _ends_word(text, i, end):
    """Whether a word ends before index i."""
    return i >= end or text[i] <= SPACE or text[i] == HASH


@inner(types.int64(bytes_type, types.int64, types.int64))
def _key_at(text, i, end):
    """Return the number in KEYS of the word before the `=` at i or later, or -1; `end` is the end of the word."""
    size = end - i
    if size == 4 and text[i] == _R and text[i + 1] == _E and text[i + 2] == _S and text[i + 3] == _T:
        return 0
    if size == 5 and text[i] == _S and text[i + 1] == _C and text[i + 2] == _A and text[i + 3] == _L and text[i + 4] == _E:
        return 1
    if size == 4 and text[i] == _E and text[i + 1] == _V and text[i + 2] == _A and text[i + 3] == _L:
        return 2
    if size == 5 and text[i] == _S and text[i + 1] == _C and text[i + 2] == _O and text[i + 3] == _R and text[i + 4] == _E:
        return 3
    if (size == 7 and text[i] == _O and text[i + 1] == _P and text[i + 2] == _E and text[i + 3] == _N and text[i + 4] == _I
            and text[i + 5] == _N and text[i + 6] == _G):
        return OPENING
    return -1


@inner(types.boolean(bytes_type, types.int64, types.int64, state_type, types.int64, _array(types.uint64)))
def _identity(text, k, end, state, n, found):
    """Parse a whole number of 64 bits at k into found[n]; False for others. state[END] becomes the index after it."""
    negative = k < end and text[k] == MINUS
    if negative:
        k += 1
    value, digits = np.uint64(0), 0
    while k < end and ZERO <= text[k] <= NINE:
        digit = np.uint64(np.int64(text[k]) - ZERO)
        if value > np.uint64(1844674407370955161) or (value == np.uint64(1844674407370955161) and digit > np.uint64(5)):
            return False
        value = value * np.uint64(10) + digit
        digits += 1
        k += 1
    if digits == 0 or not _ends_word(text, k, end) or (negative and value > np.uint64(1 << 63)):
        return False
    if negative and value > np.uint64(0):
        value = ~(value - np.uint64(1))
    found[n] = value
    state[END] = k
    return True


@inner(types.int64(bytes_type, types.int64, types.int64, state_type, types.int64, _array(types.int64, 2),
                   _array(types.float32, 2), _array(types.uint64), _array(types.uint8)))
def _comment(text, i, end, state, n, comment, extra, opening, given):
    """Parse `text; key=value ...` in text[i:end]: the range of the text, and the values; returns a fault."""
    while end > i and text[end - 1] <= SPACE:
        end -= 1
    tail, values = end, False
    k = end - 1
    while k >= i and text[k] != SEMICOLON:
        values = values or text[k] == EQUALS
        k -= 1
    if values and k >= i:
        tail = k
        k = skip_blanks(text, k + 1, end)
        while k < end:
            equals = k
            while equals < end and text[equals] != EQUALS and text[equals] > SPACE:
                equals += 1
            key = _key_at(text, k, equals)
            state[AT] = k
            if key < 0 or equals == end or text[equals] != EQUALS:
                return BAD_KEY
            if key == OPENING:
                if not _identity(text, equals + 1, end, state, n, opening):
                    return BAD_KEY
                given[n] |= np.uint8(HAS_OPENING)
                k = skip_blanks(text, state[END], end)
                continue
            value = decimal(text, equals + 1, end, state)
            if state[END] == equals + 1 or not _ends_word(text, state[END], end):
                return BAD_KEY
            extra[n, key] = np.float32(value)
            k = skip_blanks(text, state[END], end)
    i = skip_blanks(text, i, tail)
    while tail > i and text[tail - 1] <= SPACE:
        tail -= 1
    comment[n, 0], comment[n, 1] = i, tail
    for k in range(i, tail):
        if text[k] == RETURN:
            state[AT] = k
            return BAD_LINE_END
    return FINE


@inner(types.int64(bytes_type, types.int64, types.int64, state_type, types.int64, _array(types.uint64), _array(types.uint8)))
def _game(text, i, end, state, n, game, given):
    """Parse `qid:number` at i, if it is there; returns a fault, and in state[END] the index after it."""
    state[END] = i
    if not (i + 4 < end and text[i] == _Q and text[i + 1] == _I and text[i + 2] == _D and text[i + 3] == COLON):
        return FINE
    state[AT] = i
    if not _identity(text, i + 4, end, state, n, game):
        return BAD_GAME
    given[n] |= np.uint8(HAS_GAME)
    return FINE


@inner(types.int64(bytes_type, types.int64, types.int64, state_type, types.int64, types.int64, _array(types.int32),
                   _array(types.float32), _array(types.int64), _array(types.uint8)))
def _pairs(text, i, end, state, n, columns, index, count, phase, given):
    """Parse `column:count` pairs from i on; returns a fault, and in state[END] the index of the comment or line end."""
    last = np.int64(-1)
    k = state[NONZEROS]
    while True:
        i = skip_blanks(text, i, end)
        if i >= end or text[i] == HASH:
            break
        column, colon = np.int64(0), i
        while colon < end and ZERO <= text[colon] <= NINE and column < LARGEST_INDEX:
            column = column * 10 + (np.int64(text[colon]) - ZERO)
            colon += 1
        if colon == i or colon >= end or text[colon] != COLON:
            state[AT] = i
            return TOO_LARGE if column >= LARGEST_INDEX else BAD_PAIR
        if column <= last or column > columns:
            state[AT] = i
            return NOT_ASCENDING if column <= last else TOO_LARGE
        # most counts are small whole numbers
        stop = colon + 1
        negative = stop < end and text[stop] == MINUS
        if negative:
            stop += 1
        whole, first = np.int64(0), stop
        while stop < end and ZERO <= text[stop] <= NINE and stop < first + 9:
            whole = whole * 10 + (np.int64(text[stop]) - ZERO)
            stop += 1
        value = np.float64(-whole if negative else whole)
        if stop == first or not _ends_word(text, stop, end):
            value = decimal(text, colon + 1, end, state)
            stop = state[END]
            if stop == colon + 1 or not _ends_word(text, stop, end):
                state[AT] = i
                return BAD_VALUE
        if column == 0:
            if not 0 <= value <= 65535 or value != np.floor(value):
                state[AT] = i
                return BAD_PHASE
            phase[n] = np.int64(value)
            given[n] |= np.uint8(HAS_PHASE)
        else:
            index[k] = np.int32(column - 1)
            count[k] = np.float32(value)
            k += 1
        last, i = column, stop
    state[NONZEROS] = k
    state[END] = i
    return FINE


@entry(types.void(bytes_type, types.int64, state_type, types.int64, _array(types.int32), _array(types.float32),
                  _array(types.int64),
                  _array(types.int64), _array(types.float64), _array(types.uint64), _array(types.uint64), _array(types.uint8),
                  _array(types.int64, 2), _array(types.float32, 2), _array(types.int64)))
def parse_svmlight(text, begin, state, columns, index, count, row, phase, outcome, game, opening, given, comment, extra, line):
    """Parse whole lines of text[begin:] until the arrays are full, the text ends, or a line has a fault.

    `index` and `count` must have room for len(text) / 4 + 1 pairs, the other arrays are of the most rows. `outcome` is in
    [-1, 1], `comment` (n, 2) the range of the position's text, `extra` (n, 4) the numbers of KEYS but the opening, `line` the
    number of the line. `columns` is the largest column that may occur. The state says what was used and found.
    """
    end, n, i = len(text), 0, begin
    state[FAULT], state[NONZEROS] = FINE, 0
    while i < end and n < len(phase):
        stop = _line_end(text, i, end)
        state[LINE] += 1
        after = stop + 1
        i = skip_blanks(text, i, stop)
        if i >= stop or text[i] == HASH:
            i = after
            continue
        state[AT] = i
        share = decimal(text, i, stop, state)
        fault = FINE
        if share == NO_NUMBER or state[END] == i or not _ends_word(text, state[END], stop):
            fault = BAD_LABEL
        elif share < 0.0 or share > 1.0:
            fault = BAD_SHARE
        if fault == FINE:
            outcome[n] = 2.0 * share - 1.0
            phase[n], given[n], line[n] = 0, 0, state[LINE]
            comment[n, 0], comment[n, 1] = 0, 0
            extra[n, 0], extra[n, 1], extra[n, 2], extra[n, 3] = 0.0, 1.0, np.nan, np.nan
            fault = _game(text, skip_blanks(text, state[END], stop), stop, state, n, game, given)
        if fault == FINE:
            fault = _pairs(text, state[END], stop, state, n, columns, index, count, phase, given)
        if fault == FINE and state[END] < stop:
            fault = _comment(text, state[END] + 1, stop, state, n, comment, extra, opening, given)
        if fault != FINE:
            state[FAULT] = fault
            break
        n += 1
        row[n] = state[NONZEROS]
        i = after
    state[USED], state[ROWS] = i, n
