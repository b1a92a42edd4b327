"""Find the result in a line with a labelled position.

Accepted forms: quoted (`c9 "1-0"`), bracketed (`[0.5]`), bare (`1-0`, `0.5`), after a comma or semicolon (there also `w`, `d`
and `b` for the winner), or after the second bar (`FEN | score | result`). Numbers are White's share, from 0 to 1. A line with two
different results is refused.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.chess.fen import bytes_type
from games.chess.game_row import row_type
from games.chess.tokens import DIGIT, NO_TAG, OTHER, STAR, UNDECIDED, class_of, packed, result_of
from games.chess.tokens import DOT as DOT_CLASS
from games.chess.unit import inner
from games.hashset import FACTOR, mix

QUOTE, OPEN, CLOSE, SPACE, SEMICOLON, DOT, ZERO, BAR, COMMA, MINUS, PLUS = (ord(letter) for letter in '"[] ;.0|,-+')
_B, _C, _D, _E, _I, _M, _W, _9 = (ord(letter) for letter in "bcdeimw9")
UNKNOWN = 9.0  # no result found
OPEN_GAME = 8.0  # undecided, *
AMBIGUOUS = 7.0  # several results, or a number that may be a score


@inner(types.int64(bytes_type, types.int64, types.int64))
def skip_blanks(text, i, end):
    """Return the index after the white space at i."""
    while i < end and text[i] <= SPACE:
        i += 1
    return i


@inner(types.int64(bytes_type, types.int64, types.int64, types.int64))
def find(text, i, end, letter):
    """Return the index of a letter in text[i:end], or end."""
    while i < end and text[i] != letter:
        i += 1
    return i


@inner(types.float64(bytes_type, types.int64, types.int64))
def _result(text, i, end):
    """Parse text[i:end] as a result: outcome in [-1, 1], OPEN_GAME for *, or UNKNOWN."""
    i = skip_blanks(text, i, end)
    while end > i and text[end - 1] <= SPACE:
        end -= 1
    result = result_of(packed(text, i, end))
    if result == UNDECIDED:
        return OPEN_GAME
    if result != NO_TAG:
        return float(result)
    value, unit, dots, digits = 0.0, 1.0, 0, 0
    for k in range(i, end):
        if text[k] == DOT:
            dots += 1
        elif class_of(np.int64(text[k])) == DIGIT:
            value = value * 10.0 + (np.int64(text[k]) - ZERO)
            digits += 1
            if dots:
                unit *= 10.0
        else:
            return UNKNOWN
    value /= unit
    if digits == 0 or digits > 9 or dots > 1 or value > 1.0:
        return UNKNOWN
    return 2.0 * value - 1.0


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _is_number(text, i, end):
    """Whether text[i:end] is a signed decimal number."""
    i = skip_blanks(text, i, end)
    if i < end and (text[i] == MINUS or text[i] == PLUS):
        i += 1
    dots, digits = 0, 0
    while i < end and text[i] > SPACE:
        if text[i] == DOT:
            dots += 1
        elif class_of(np.int64(text[i])) == DIGIT:
            digits += 1
        else:
            return False
        i += 1
    return digits > 0 and dots <= 1 and skip_blanks(text, i, end) == end


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _is_whole(text, i, end):
    """Whether text[i:end] is a whole number."""
    return _is_number(text, i, end) and find(text, i, end, DOT) == end


@inner(types.float64(bytes_type, types.int64, types.int64))
def _winner(text, i, end):
    """Parse text[i:end] as w, d or b: the outcome, or UNKNOWN."""
    i = skip_blanks(text, i, end)
    if i < end and skip_blanks(text, i + 1, end) == end:
        if text[i] == _W:
            return 1.0
        if text[i] == _D:
            return 0.0
        if text[i] == _B:
            return -1.0
    return UNKNOWN


@inner(types.float64(bytes_type, types.int64, types.int64))
def _field(text, i, end):
    """Parse a field that holds only the result, quoted, bracketed or bare."""
    i = skip_blanks(text, i, end)
    while end > i and text[end - 1] <= SPACE:
        end -= 1
    if end - i > 1 and ((text[i] == QUOTE and text[end - 1] == QUOTE) or (text[i] == OPEN and text[end - 1] == CLOSE)):
        i, end = i + 1, end - 1
    winner = _winner(text, i, end)
    return winner if winner != UNKNOWN else _result(text, i, end)


@inner(types.float64(types.float64, types.float64))
def _both(one, other):
    """Combine the results of two places: AMBIGUOUS if they differ."""
    if other == UNKNOWN or other == one:
        return one
    return other if one == UNKNOWN else AMBIGUOUS


@inner(types.float64(bytes_type, types.int64, types.int64))
def _of_bars(text, i, stop):
    """Parse `| score | result` or `| result` at i; a number after a single bar is ambiguous."""
    second = find(text, i + 1, stop, BAR)
    if second == stop:
        return AMBIGUOUS if _is_number(text, i + 1, stop) else _field(text, i + 1, stop)
    if find(text, second + 1, stop, BAR) < stop or not _is_number(text, i + 1, second):
        return AMBIGUOUS
    return _field(text, second + 1, stop)


@inner(types.float64(bytes_type, types.int64, types.int64, types.int64))
def _of_columns(text, i, stop, column):
    """Parse `,result` at i, or the column that the header names; whole numbers are ambiguous, they may be scores."""
    number = 1
    while True:
        end = find(text, i + 1, stop, COMMA)
        if number == column or (column == 0 and end == stop):
            return AMBIGUOUS if _is_whole(text, i + 1, end) else _field(text, i + 1, end)
        if end == stop:
            return UNKNOWN
        if column == 0:
            return AMBIGUOUS
        number, i = number + 1, end


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _names_id(text, begin, i):
    """Whether the word before text[i], not before `begin`, is `id`."""
    i -= 1
    while i > begin and text[i] == SPACE:
        i -= 1
    return (i > begin and text[i] == _D and text[i - 1] == _I
            and (i - 2 < begin or text[i - 2] <= SPACE or text[i - 2] == SEMICOLON))


@inner(types.float64(bytes_type, types.int64, types.int64, row_type))
def _of_words(text, k, stop, name):
    """Parse quoted, bracketed and bare results in text[k:stop]; the places of the `id` and of the first `ce` or `dm` go to
    `name`.

    The operand of c9, brackets and bare words must agree; operands of other opcodes count only without those.
    """
    begin, stated, operand = k, UNKNOWN, UNKNOWN
    # at the first word of an operation; whether that was an opcode, and c9; whether a semicolon came before
    first, opcode, c9, behind = True, False, False, False
    decimal, whole = False, False  # kinds of bare numbers found
    while k < stop:
        letter = np.int64(text[k])
        if letter <= SPACE or letter == SEMICOLON:
            if letter == SEMICOLON:
                first, opcode, c9, behind = True, False, False, True
            k += 1
            continue
        if letter == QUOTE or letter == OPEN:
            close = find(text, k + 1, stop, QUOTE if letter == QUOTE else CLOSE)
            if letter == OPEN or c9:
                stated = _both(stated, _result(text, k + 1, close))
            elif _names_id(text, begin, k):
                name[0], name[1] = k + 1, close
            else:
                operand = _both(operand, _result(text, k + 1, close))
            first = False
            k = close + 1
            continue
        close = k + 1
        while close < stop and text[close] > SPACE and text[close] != SEMICOLON:
            close += 1
        kind = class_of(letter)
        if kind == DIGIT or kind == DOT_CLASS or kind == STAR or kind == OTHER:  # first characters of results
            found = _result(text, k, close)
            if found != UNKNOWN:
                number = _is_number(text, k, close)
                if number and not opcode and _is_whole(text, k, close):
                    whole = True
                elif number and opcode and not c9:
                    operand = _both(operand, found)
                else:
                    stated = _both(stated, found)
                    decimal = decimal or (number and not opcode)
        elif first:
            if behind and close == k + 1:
                stated = _both(stated, _winner(text, k, find(text, k, stop, SEMICOLON)))
            opcode = True
            c9 = close - k == 2 and letter == _C and text[k + 1] == _9
            if close - k == 2 and name[2] == 0 and (
                    (letter == _C and text[k + 1] == _E) or (letter == _D and text[k + 1] == _M)):
                name[2] = k
        first = False
        k = close
    if decimal and whole:
        return AMBIGUOUS
    return stated if stated != UNKNOWN else operand


@inner(types.float64(bytes_type, types.int64, types.int64, types.int64, row_type))
def outcome_of(text, i, stop, column, name):
    """Parse the rest of a line after its position: outcome in [-1, 1], OPEN_GAME, UNKNOWN or AMBIGUOUS.

    `column` is the result column named by the header, 0 without a header. Start and end of an `id`, and the start of the
    first operation `ce` or `dm`, go to `name` (3,) int64.
    """
    i = skip_blanks(text, i, stop)
    if i < stop and text[i] == BAR:
        return _of_bars(text, i, stop)
    if i < stop and text[i] == COMMA:
        return _of_columns(text, i, stop, column)
    return _of_words(text, i, stop, name)


@inner(types.uint64(bytes_type, types.int64, types.int64))
def hash_of(text, i, end):
    """Return a hash of text[i:end]."""
    found = FACTOR
    while i < end:
        found = mix(found ^ np.uint64(text[i]))
        i += 1
    return found
