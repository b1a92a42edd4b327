"""The compiled PGN parser: bytes to games.

A game consists of tags and movetext up to a result. The parser notes the first fault of a game, skips to its end and reads the
next. It never reads past `end`; an incomplete game is left for the next call, with more text.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.chess import faults
from games.chess.comment_scores import read_comment
from games.chess.fen import bytes_type
from games.chess.game_row import (
    BEGIN,
    FAULT,
    FIRST_MOVE,
    FIRST_SCORE,
    HAS_TAGS,
    PLIES,
    RESULT,
    TAG_RESULT,
    moves_type,
    note,
    positions_type,
    row_type,
    rows_type,
    scores_type,
)
from games.chess.moves import make
from games.chess.position import black_to_move, leaves_king_hanging, load, words_type
from games.chess.san import read_san
from games.chess.tags import MORE, read_tags
from games.chess.tokens import (
    BRACE,
    BRACKET,
    BRACKET_BYTE,
    CLOSE,
    DIGIT,
    DOLLAR,
    DOT,
    GLYPH,
    NEWLINE,
    NO_TAG,
    OPEN,
    PERCENT,
    RETURN,
    SEMICOLON,
    SPACE,
    STAR,
    UNDECIDED,
    WORD,
    class_of,
    line_end,
    number_at,
    packed,
    result_of,
    starts_game,
)
from games.chess.unit import entry, inner

_E, _P, _DOT, _0, _DASH, _CLOSE_BRACE, _OPEN_BRACE = (ord(c) for c in "ep.0-}{")
_HALF_LATIN1, _HALF_UTF8 = "½".encode("latin-1")[0], "½".encode()[0]
SHOWN = 20  # bytes of an invalid token that messages quote
LONGEST_COMMENT = 1 << 20  # bytes that a comment may continue after a line in it that starts a game


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean, row_type, types.int64))
def _skip_comment(text, i, end, final, game, ply):
    """Return the index after the comment that opens at text[i] == '{', or MORE.

    A line inside it that starts a game makes the comment suspect. If then another comment opens, the text ends, or
    LONGEST_COMMENT bytes pass before it is closed, the comment counts as never closed and reading continues at that line.
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
            if starts_game(text, i, end):
                suspect = i
        if suspect >= 0 and (letter == _OPEN_BRACE or i - suspect > LONGEST_COMMENT):
            break
        i += 1
    if i >= end and not final:
        return MORE
    note(game, faults.COMMENT, begin, begin, ply)
    return suspect if suspect >= 0 else end


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean, moves_type, scores_type, row_type, words_type))
def _read_movetext(text, i, end, final, moves, scores, game, words):
    """Read moves up to the result; returns the start of the next game, or MORE."""
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
                note(game, faults.AFTER_RESULT, i, stop, ply)
                i = stop
                continue
            if kind == DIGIT:
                k = i
                while k < stop and class_of(np.int64(text[k])) == DIGIT:
                    k += 1
                if k == stop and not (stop - i >= 4 and number_at(text, i, stop) == 0):
                    i = stop  # the number of a move
                    continue
                result = result_of(packed(text, i, stop))
                if result != NO_TAG:
                    game[RESULT] = result
                    if game[TAG_RESULT] < UNDECIDED and game[TAG_RESULT] != result:
                        note(game, faults.RESULTS, i, stop, ply)
                    finished = True
                    i = stop
                    continue
            shown = stop
            if (text[stop - 1] == _E and stop + 3 <= end and text[stop] == _DOT and text[stop + 1] == _P
                    and text[stop + 2] == _DOT):
                stop += 3  # e.p., as a word of its own or after the move
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
                    note(game, faults.NULL_MOVE if null and move == -faults.NOT_A_MOVE else -move, i, stop, ply + 1)
                else:
                    after = make(p, move)
                    if leaves_king_hanging(after):
                        note(game, faults.ILLEGAL, i, stop, ply + 1)
                    moves[m + ply] = np.uint32(move)
                    ply += 1
                    p = after
            i = stop
            continue
        if kind == BRACE:
            begin = i + 1
            i = _skip_comment(text, i, end, final, game, ply)
            if i == MORE:
                return MORE
            if depth == 0 and not finished and game[FAULT] == faults.OK:
                read_comment(text, begin, i - 1, ply, black_to_move(p), game, scores)
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
            # after a malformed tag: the tags after it belong to the same game
            if i + 8 > end and not final:
                return MORE
            if starts_game(text, i, end):
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
                note(game, faults.CLOSING, i - 1, i, ply)
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
            note(game, faults.AFTER_RESULT, i - 1, i, ply)
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
                        note(game, faults.RESULTS, i - 1, stop, ply)
                    game[RESULT] = 0
                    finished = True
                    i = stop
                    continue
            if game[FAULT] == faults.OK:  # only for the first fault: quadratic time otherwise
                note(game, faults.NOT_A_MOVE, i - 1, line_end(text, i, min(end, i + SHOWN)), ply + 1)
    if depth:
        note(game, faults.VARIATION, i, i, ply)
    if not finished:
        note(game, faults.NO_RESULT, i, i, ply)
    game[PLIES] = ply
    return i


@entry(types.int64(bytes_type, types.int64, types.int64, types.boolean, words_type, rows_type, positions_type, moves_type,
                   scores_type, row_type))
def read_games(text, i, end, final, start, games, positions, moves, scores, counts):
    """Read games from text[i:end] until the end of the text or of the room for games.

    Writes a row of FIELDS per game to `games` (n, 15) int64, its start to `positions` (n, 10), all moves to `moves`, and scores
    in comments to `scores` (see `note_score`), which has room for one more per game than there are moves. counts[0] is the
    number of games, counts[1] of moves. `start` is the initial position of chess. `final`: no text follows
    `end`. Returns the index to continue at.
    """
    n = counts[0]
    while n < len(games):
        game, words = games[n], positions[n]
        game[:] = 0
        game[RESULT], game[TAG_RESULT], game[FIRST_MOVE], game[FIRST_SCORE] = UNDECIDED, NO_TAG, counts[1], counts[1] + n
        for k in range(len(start)):  # assigning a slice would compile the formatting of its error message
            words[k] = start[k]
        at = read_tags(text, i, end, final, game, words)
        if at == MORE or (at >= end and not game[HAS_TAGS]):
            return i if at == MORE else at
        game[BEGIN] = i
        at = _read_movetext(text, at, end, final, moves, scores, game, words)
        if at == MORE:
            return i
        counts[1] += game[PLIES]
        i = at
        n += 1
        counts[0] = n
    return i
