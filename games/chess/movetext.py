"""The compiled PGN parser: bytes to games.

A game is its tags and its movetext up to a result. Where a game is at fault the parser notes the first fault, goes on
to where the game ends, and reads the next. It never looks past `end`; a game that is not whole yet is left for the next
call, with more text.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games import jit
from games.chess import faults
from games.chess.fen import bytes_type, parse_fen
from games.chess.moves import make
from games.chess.position import leaves_king_hanging, load, words_type
from games.chess.san import read_san
from games.chess.unit import entry, inner

# what a game's row of numbers holds
FIELDS = (FAULT, FAULT_AT, FAULT_END, FAULT_PLY, RESULT, TAG_RESULT, PLIES, FIRST_MOVE, WHITE_ELO, BLACK_ELO, BEGIN,
          HAS_TAGS, HAS_FEN) = range(13)
NO_TAG, UNDECIDED = 3, 2
MORE = -1  # the text ends before the game does

row_type = types.Array(types.int64, 1, "C")
rows_type = types.Array(types.int64, 2, "C")
positions_type = types.Array(types.uint64, 2, "C")
moves_type = types.Array(types.uint32, 1, "C")

# classes of bytes in movetext; a token goes on while the class is at least WORD
OTHER, SPACE, DOT, BRACE, SEMICOLON, OPEN, CLOSE, DOLLAR, GLYPH, STAR, BRACKET, PERCENT, WORD, MOVE, DIGIT = range(15)


def _classes() -> np.ndarray:
    classes = np.full(256, OTHER, np.int64)
    for letters, kind in ((" \t\r\n\v\f", SPACE), (".", DOT), ("{", BRACE), (";", SEMICOLON), ("(", OPEN), (")", CLOSE),
                          ("$", DOLLAR), ("!?", GLYPH), ("*", STAR), ("[", BRACKET), ("%", PERCENT)):
        classes[list(letters.encode())] = kind
    classes[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+#=-/:@_")] = WORD
    classes[list(b"KQRBNPOabcdefgh")] = MOVE
    classes[list(b"0123456789")] = DIGIT
    return classes


class_of = jit.table("chess_movetext_classes", _classes())
NEWLINE, RETURN, QUOTE, SPACE_BYTE, BRACKET_BYTE = ord("\n"), ord("\r"), ord('"'), ord(" "), ord("[")
_A, _Z, _E, _P, _DOT, _0, _9, _DASH, _CLOSE_BRACE, _OPEN_BRACE, _CLOSE_BRACKET = (ord(c) for c in "AZep.09-}{]")
_HALF_LATIN1, _HALF_UTF8 = "½".encode("latin-1")[0], "½".encode()[0]


def _packed(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(text.encode()[:8], "little"))


EVENT, FEN, RESULT_NAME, VARIANT = _packed("Event"), _packed("FEN"), _packed("Result"), _packed("Variant")
WHITE_ELO_NAME, BLACK_ELO_NAME = _packed("WhiteElo"), _packed("BlackElo")
WHITE_WINS, BLACK_WINS, DRAWN, DRAWN_SHORT, DRAWN_UTF8, OPEN_RESULT = (
    _packed(text) for text in ("1-0", "0-1", "1/2-1/2", "1/2", "½-½", "*"))
DRAWN_LATIN1 = np.uint64(int.from_bytes("½-½".encode("latin-1"), "little"))
_STANDARD, _CHESS, _NORMAL, _960, _FISCHER, _FISCHER_R, _FISHER, _FRC, _FROM, _FREE, _UNKNOWN = (
    _packed(name) for name in ("standard", "chess", "normal", "chess960", "fischera", "fischerr", "fisheran", "frc",
                               "fromposi", "freestyl", "?"))
BYTE = np.uint64(8)
SHOWN = 20  # bytes of what is no token, for people
LONGEST_COMMENT = 1 << 20  # bytes that a comment may go on behind a line in it that starts a game


@inner(types.uint64(bytes_type, types.int64, types.int64))
def packed(text, i, end):
    """Up to eight bytes of text[i:end] in one integer, the first lowest; 0 if there are more."""
    if end - i > 8:
        return np.uint64(0)
    word = np.uint64(0)
    for k in range(end - 1, i - 1, -1):
        word = word << BYTE | np.uint64(text[k])
    return word


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _is_chess(text, i, end):
    """Whether a Variant tag's value names chess or Chess960."""
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


@inner(types.int64(types.uint64))
def result_of(word):
    """Result of a packed token for White: 1, 0, -1; UNDECIDED for *, NO_TAG for anything else. Many write draws as 1/2."""
    if word == WHITE_WINS:
        return 1
    if word == BLACK_WINS:
        return -1
    if word == DRAWN or word == DRAWN_SHORT or word == DRAWN_UTF8 or word == DRAWN_LATIN1:
        return 0
    return UNDECIDED if word == OPEN_RESULT else NO_TAG


@inner(types.void(row_type, types.int64, types.int64, types.int64, types.int64))
def _note(game, fault, i, end, ply):
    """Keep the first fault of a game."""
    if game[FAULT] == faults.OK:
        game[FAULT] = fault
        game[FAULT_AT] = i
        game[FAULT_END] = end
        game[FAULT_PLY] = ply


@inner(types.int64(bytes_type, types.int64, types.int64))
def line_end(text, i, end):
    """Index of the end of the line that holds i."""
    while i < end and text[i] != NEWLINE and text[i] != RETURN:
        i += 1
    return i


@inner(types.int64(bytes_type, types.int64, types.int64))
def _number(text, i, end):
    value = np.int64(0)
    while i < end and _0 <= text[i] <= _9 and value < 100000:
        value = value * 10 + np.int64(text[i]) - _0
        i += 1
    return value


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _starts_game(text, i, end):
    """Whether `[Event "` stands at i."""
    return i + 8 <= end and packed(text, i + 1, i + 6) == EVENT and text[i + 6] == SPACE_BYTE and text[i + 7] == QUOTE


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
        _note(game, faults.TAG, i, min(last, i + 60), 0)
        return stop
    value += 1
    what = packed(text, name, name_end)
    if what == RESULT_NAME:
        game[TAG_RESULT] = result_of(packed(text, value, close))
    elif what == WHITE_ELO_NAME:
        game[WHITE_ELO] = _number(text, value, close)
    elif what == BLACK_ELO_NAME:
        game[BLACK_ELO] = _number(text, value, close)
    elif what == FEN:
        found = parse_fen(text, value, close, words)
        game[HAS_FEN] = 1
        if found < 0:
            _note(game, -found, value, close, 0)
    elif what == VARIANT and not _is_chess(text, value, close):
        _note(game, faults.VARIANT, value, close, 0)
    return stop


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean, row_type, words_type))
def _read_tags(text, i, end, final, game, words):
    """Read the tags from i on; returns the start of the movetext, or MORE."""
    fresh = True  # at the start of a line, but for white space
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
                if _starts_game(text, i, end):
                    return i
            i = _read_tag(text, i, end, final, game, words)
            if i == MORE:
                return MORE
            game[HAS_TAGS] = 1
        else:
            return i


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean, row_type, types.int64))
def _skip_comment(text, i, end, final, game, ply):
    """Index after the comment that opens at text[i] == '{', or MORE.

    A line inside it that starts a game makes the comment suspect: if another one opens, or the text ends, or a long stretch
    of it goes by before it is closed, then it never was, and reading goes on at that line.
    """
    begin, suspect = i, np.int64(-1)
    i += 1
    while i < end:
        letter = text[i]
        if letter == _CLOSE_BRACE:
            return i + 1
        if letter == BRACKET_BYTE and suspect < 0 and (text[i - 1] == NEWLINE or text[i - 1] == RETURN):
            if i + 8 > end and not final:
                return MORE
            if _starts_game(text, i, end):
                suspect = i
        if suspect >= 0 and (letter == _OPEN_BRACE or i - suspect > LONGEST_COMMENT):
            break
        i += 1
    if i >= end and not final:
        return MORE
    _note(game, faults.COMMENT, begin, begin, ply)
    return suspect if suspect >= 0 else end


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean, moves_type, row_type, words_type))
def _read_movetext(text, i, end, final, moves, game, words):
    """Read moves up to the result; returns where the next game starts, or MORE."""
    p = load(words)
    m = game[FIRST_MOVE]
    ply, depth = np.int64(0), np.int64(0)
    fresh, finished = True, False
    while True:
        if i >= end:
            if not final:
                return MORE
            break
        letter = np.int64(text[i])
        kind = class_of(letter)
        if kind == SPACE:
            if letter == NEWLINE or letter == RETURN:
                if finished:
                    break
                fresh = True
            i += 1
            continue
        if kind >= WORD:
            stop = i + 1
            while stop < end and class_of(np.int64(text[stop])) >= WORD:
                stop += 1
            if stop == end and not final:
                return MORE
            fresh = False
            if depth:
                i = stop
                continue
            if finished:
                _note(game, faults.AFTER_RESULT, i, stop, ply)
                i = stop
                continue
            if kind == DIGIT:
                k = i
                while k < stop and class_of(np.int64(text[k])) == DIGIT:
                    k += 1
                if k == stop and not (stop - i >= 4 and _number(text, i, stop) == 0):
                    i = stop  # the number of a move
                    continue
                result = result_of(packed(text, i, stop))
                if result != NO_TAG:
                    game[RESULT] = result
                    if game[TAG_RESULT] < UNDECIDED and game[TAG_RESULT] != result:
                        _note(game, faults.RESULTS, i, stop, ply)
                    finished = True
                    i = stop
                    continue
            shown = stop
            if (text[stop - 1] == _E and stop + 3 <= end and text[stop] == _DOT and text[stop + 1] == _P
                    and text[stop + 2] == _DOT):
                stop += 3  # e.p., as a word of its own or behind the move
                shown -= 1
                if shown == i:
                    i = stop
                    continue
            elif stop - i > 4 and text[stop - 2] == _E and text[stop - 1] == _P:
                shown -= 2
            if game[FAULT] == faults.OK:
                move = read_san(p, text, i, shown)
                if move < 0:
                    null = (letter == _DASH and stop - i == 2) or (letter == _0 and kind == DIGIT and stop - i == 4)
                    _note(game, faults.NULL_MOVE if null and move == -faults.NOT_A_MOVE else -move, i, stop, ply + 1)
                else:
                    after = make(p, move)
                    if leaves_king_hanging(after):
                        _note(game, faults.ILLEGAL, i, stop, ply + 1)
                    moves[m + ply] = np.uint32(move)
                    ply += 1
                    p = after
            i = stop
            continue
        if kind == BRACE:
            i = _skip_comment(text, i, end, final, game, ply)
            if i == MORE:
                return MORE
            fresh = text[i - 1] != _CLOSE_BRACE
            continue
        if kind == SEMICOLON or (kind == PERCENT and fresh):
            i = line_end(text, i, end)
            if i == end and not final:
                return MORE
            continue
        if kind == BRACKET and fresh:
            if finished or ply or game[FAULT] == faults.OK or not game[HAS_TAGS]:
                break
            # among its tags is a line that is none: those behind it belong to the same game
            if i + 8 > end and not final:
                return MORE
            if _starts_game(text, i, end):
                break
            i = line_end(text, i, end)
            if i == end and not final:
                return MORE
            continue
        fresh = False
        i += 1
        if kind == OPEN:
            depth += 1
        elif kind == CLOSE:
            if depth == 0:
                _note(game, faults.CLOSING, i - 1, i, ply)
            else:
                depth -= 1
        elif depth or kind == DOT or kind == GLYPH:
            pass
        elif kind == DOLLAR:
            while i < end and class_of(np.int64(text[i])) == DIGIT:
                i += 1
            if i == end and not final:
                return MORE
        elif finished:
            _note(game, faults.AFTER_RESULT, i - 1, i, ply)
        elif kind == STAR:
            game[RESULT] = UNDECIDED
            finished = True
        else:
            if letter == _HALF_UTF8 or letter == _HALF_LATIN1:
                stop = i + (4 if letter == _HALF_UTF8 else 2)
                if stop >= end and not final:
                    return MORE
                if stop <= end and result_of(packed(text, i - 1, stop)) == 0:
                    if game[TAG_RESULT] < UNDECIDED and game[TAG_RESULT] != 0:
                        _note(game, faults.RESULTS, i - 1, stop, ply)
                    game[RESULT] = 0
                    finished = True
                    i = stop
                    continue
            if game[FAULT] == faults.OK:  # a look at the rest of the line for every such byte would take forever
                _note(game, faults.NOT_A_MOVE, i - 1, line_end(text, i, min(end, i + SHOWN)), ply + 1)
    if depth:
        _note(game, faults.VARIATION, i, i, ply)
    if not finished:
        _note(game, faults.NO_RESULT, i, i, ply)
    game[PLIES] = ply
    return i


@entry(types.int64(bytes_type, types.int64, types.int64, types.boolean, words_type, rows_type, positions_type, moves_type,
                   row_type))
def read_games(text, i, end, final, start, games, positions, moves, counts):
    """Read games from text[i:end] until the text or the room for games ends.

    `games` (n, 13) int64 gets a row of FIELDS per game, `positions` (n, 10) its start, `moves` all moves; counts[0] is
    the number of games, counts[1] that of moves. `start` is the usual initial position. `final` says that nothing comes
    after `end`. Returns where to go on.
    """
    n = counts[0]
    while n < len(games):
        game, words = games[n], positions[n]
        game[:] = 0
        game[RESULT], game[TAG_RESULT], game[FIRST_MOVE] = UNDECIDED, NO_TAG, counts[1]
        for k in range(len(start)):  # assigning a slice would compile what formats the error of unlike lengths
            words[k] = start[k]
        at = _read_tags(text, i, end, final, game, words)
        if at == MORE or (at >= end and not game[HAS_TAGS]):
            return i if at == MORE else at
        game[BEGIN] = i
        at = _read_movetext(text, at, end, final, moves, game, words)
        if at == MORE:
            return i
        counts[1] += game[PLIES]
        i = at
        n += 1
        counts[0] = n
    return i
