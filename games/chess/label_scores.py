"""Find the recorded score in a line with a labelled position.

    FEN | score | result     bullet's text form: whole centipawns for White
    ce 23; dm 5;             EPD: centipawns, or moves to mate, for the side to move
    fen,score,result         a CSV column that the header names `score`: whole centipawns for White

Other numbers, and numbers with a decimal point, are of unknown unit and view: not scores. Results are in `games.chess.labels`.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.chess.comment_scores import decided
from games.chess.fen import bytes_type
from games.chess.labels import BAR, COMMA, MINUS, PLUS, QUOTE, SEMICOLON, SPACE, ZERO, find, skip_blanks
from games.chess.tokens import DIGIT, class_of, packed, packed_word
from games.chess.unit import inner

CENTIPAWNS, MATE = packed_word("ce"), packed_word("dm")
MOST_DIGITS = 9


@inner(types.float64(bytes_type, types.int64, types.int64))
def _whole(text, i, end):
    """Parse text[i:end] as a signed whole number; NaN if it is none."""
    i = skip_blanks(text, i, end)
    while end > i and text[end - 1] <= SPACE:
        end -= 1
    negative = i < end and text[i] == MINUS
    if i < end and (text[i] == MINUS or text[i] == PLUS):
        i += 1
    if i == end or end - i > MOST_DIGITS:
        return np.nan
    value = 0.0
    while i < end:
        if class_of(np.int64(text[i])) != DIGIT:
            return np.nan
        value = value * 10.0 + (np.int64(text[i]) - ZERO)
        i += 1
    return -value if negative else value


@inner(types.float64(bytes_type, types.int64, types.int64))
def _of_operations(text, i, stop):
    """Return the score of the operations ce and dm in text[i:stop], for the side to move; NaN if there is neither."""
    first = True  # at the first word of an operation
    score = np.nan
    while i < stop:
        letter = text[i]
        if letter == QUOTE:
            i = min(find(text, i + 1, stop, QUOTE) + 1, stop)
            first = False
        elif letter == SEMICOLON:
            first = True
            i += 1
        elif letter <= SPACE:
            i += 1
        else:
            close = i + 1
            while close < stop and text[close] > SPACE and text[close] != SEMICOLON and text[close] != QUOTE:
                close += 1
            opcode = packed(text, i, close)
            i = close
            if first and (opcode == CENTIPAWNS or opcode == MATE):
                i = find(text, close, stop, SEMICOLON)
                value = _whole(text, close, i)
                if opcode == CENTIPAWNS and np.isnan(score):
                    score = decided(value)
                elif opcode == MATE and value != 0.0 and not np.isnan(value):
                    score = np.inf if value > 0.0 else -np.inf
            first = False
    return score


@inner(types.float64(bytes_type, types.int64, types.int64, types.int64, types.int64, types.boolean))
def score_of(text, i, stop, operation, column, black):
    """Return the score in the rest of a line after its position, centipawns for White; NaN if there is none.

    `operation` is the place of the first operation `ce` or `dm`, 0 if there is none; `column` is the score column named by the
    header, 0 without one; `black` is to move.
    """
    i = skip_blanks(text, i, stop)
    if i < stop and text[i] == BAR:
        second = find(text, i + 1, stop, BAR)
        return decided(_whole(text, i + 1, second)) if second < stop else np.nan
    if i < stop and text[i] == COMMA:
        number = 1
        while column and i < stop:
            end = find(text, i + 1, stop, COMMA)
            if number == column:
                return decided(_whole(text, i + 1, end))
            number, i = number + 1, end
        return np.nan
    if not operation:
        return np.nan
    score = _of_operations(text, operation, stop)
    return -score if black else score
