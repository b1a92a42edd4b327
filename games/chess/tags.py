"""The compiled parser of PGN tags: result, ratings, start and variant of a game."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.chess import faults
from games.chess.fen import bytes_type, parse_fen
from games.chess.game_row import BLACK_ELO, HAS_FEN, HAS_TAGS, TAG_RESULT, WHITE_ELO, note, row_type
from games.chess.position import words_type
from games.chess.tokens import (
    BRACKET,
    BYTE,
    NEWLINE,
    PERCENT,
    QUOTE,
    RETURN,
    SEMICOLON,
    SPACE,
    SPACE_BYTE,
    WORD,
    class_of,
    line_end,
    number_at,
    packed,
    packed_word,
    result_of,
    starts_game,
)
from games.chess.unit import inner

MORE = -1  # the text ends before the game does
_A, _Z, _DASH, _CLOSE_BRACKET = (ord(c) for c in "AZ-]")
FEN, RESULT_NAME, VARIANT = packed_word("FEN"), packed_word("Result"), packed_word("Variant")
WHITE_ELO_NAME, BLACK_ELO_NAME = packed_word("WhiteElo"), packed_word("BlackElo")
_STANDARD, _CHESS, _NORMAL, _960, _FISCHER, _FISCHER_R, _FISHER, _FRC, _FROM, _FREE, _UNKNOWN = (
    packed_word(name) for name in ("standard", "chess", "normal", "chess960", "fischera", "fischerr", "fisheran", "frc",
                               "fromposi", "freestyl", "?"))


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _is_chess(text, i, end):
    """Whether the value of a Variant tag names chess or Chess960."""
    word, shift = np.uint64(0), np.uint64(0)
    while i < end and shift < np.uint64(64):
        letter = np.int64(text[i])
        if _A <= letter <= _Z:
            letter += 32
        if letter != SPACE_BYTE and letter != _DASH:
            word |= np.uint64(letter) << shift
            shift += BYTE
        i += 1
    return (word == _STANDARD or word == _CHESS or word == _NORMAL or word == _960 or word == _FISCHER
            or word == _FISCHER_R or word == _FISHER or word == _FRC or word == _FROM or word == _FREE or word == _UNKNOWN
            or word == np.uint64(0))


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean, row_type, words_type))
def _read_tag(text, i, end, final, game, words):
    """Read the tag at text[i] == '['; returns the end of its line, or MORE."""
    stop = line_end(text, i, end)
    if stop == end and not final:
        return MORE
    last = stop
    while last > i and class_of(np.int64(text[last - 1])) == SPACE:
        last -= 1
    name = i + 1
    while name < last and text[name] == SPACE_BYTE:
        name += 1
    name_end = name
    while name_end < last and class_of(np.int64(text[name_end])) >= WORD:
        name_end += 1
    value = name_end
    while value < last and class_of(np.int64(text[value])) == SPACE:
        value += 1
    close = last - 2
    while close > value and text[close] == SPACE_BYTE:
        close -= 1
    if name_end == name or close <= value or text[last - 1] != _CLOSE_BRACKET or text[value] != QUOTE or text[close] != QUOTE:
        note(game, faults.TAG, i, min(last, i + 60), 0)
        return stop
    value += 1
    what = packed(text, name, name_end)
    if what == RESULT_NAME:
        game[TAG_RESULT] = result_of(packed(text, value, close))
    elif what == WHITE_ELO_NAME:
        game[WHITE_ELO] = number_at(text, value, close)
    elif what == BLACK_ELO_NAME:
        game[BLACK_ELO] = number_at(text, value, close)
    elif what == FEN:
        found = parse_fen(text, value, close, words)
        game[HAS_FEN] = 1
        if found < 0:
            note(game, -found, value, close, 0)
    elif what == VARIANT and not _is_chess(text, value, close):
        note(game, faults.VARIANT, value, close, 0)
    return stop


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean, row_type, words_type))
def read_tags(text, i, end, final, game, words):
    """Read the tags from i on; returns the start of the movetext, or MORE."""
    fresh = True  # only white space since the start of the line
    while True:
        if i >= end:
            return i if final else MORE
        letter = np.int64(text[i])
        kind = class_of(letter)
        if kind == SPACE:
            fresh = fresh or letter == NEWLINE or letter == RETURN
            i += 1
        elif fresh and (kind == PERCENT or kind == SEMICOLON):
            i = line_end(text, i, end)
            if i == end and not final:
                return MORE
        elif kind == BRACKET:
            if game[HAS_TAGS]:
                if i + 8 > end and not final:
                    return MORE
                if starts_game(text, i, end):
                    return i
            i = _read_tag(text, i, end, final, game, words)
            if i == MORE:
                return MORE
            game[HAS_TAGS] = 1
        else:
            return i
