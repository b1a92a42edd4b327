"""The compiled parser of PGN: tags, scores in comments, moves."""

import numpy as np
from numba.core import types

from games.chess.files import faults
from games.chess.files.fen import bytes_type, parse_fen
from games.chess.files.san import read_san
from games.chess.files.tokens import (
    BEGIN,
    BEGUN,
    BLACK_ELO,
    BRACE,
    BRACKET,
    BRACKET_BYTE,
    BY_TAG,
    BYTE,
    CLOSE,
    DIGIT,
    DOLLAR,
    DOT,
    EVENT,
    FAULT,
    FIRST_MOVE,
    FIRST_SCORE,
    FORFEIT,
    GLYPH,
    HAS_EVENT,
    HAS_FEN,
    HAS_TAGS,
    NEWLINE,
    NO_TAG,
    OPEN,
    OTHER,
    PERCENT,
    PLIES,
    QUOTE,
    RESULT,
    RETURN,
    SEMICOLON,
    SPACE,
    SPACE_BYTE,
    STAR,
    TAG_RESULT,
    UNDECIDED,
    WHITE_ELO,
    WORD,
    class_of,
    line_end,
    moves_type,
    note,
    note_score,
    number_at,
    packed,
    packed_word,
    positions_type,
    result_of,
    row_type,
    rows_type,
    scores_type,
    tag_name_end,
    wide_space,
)
from games.chess.rules import entry, inner
from games.chess.rules.position import black_to_move, leaves_king_hanging, load, make, words_type

MORE = -1  # the text ends before the game does
_A, _Z, _E, _P, _M, _W, _0, _TAB = (ord(letter) for letter in "AZepMw0\t")
_DOT, _COMMA, _DASH, _PLUS, _SLASH, _HASH, _CLOSE_BRACKET, _OPEN_BRACE, _CLOSE_BRACE = (
    ord(letter) for letter in ".,-+/#]{}"
)
_HALF_LATIN1, _HALF_UTF8 = "½".encode("latin-1")[0], "½".encode()[0]
FEN, RESULT_NAME, VARIANT = packed_word("FEN"), packed_word("Result"), packed_word("Variant")
WHITE_ELO_NAME, BLACK_ELO_NAME = packed_word("WhiteElo"), packed_word("BlackElo")
TERMINATION = "Termination"
TERMINATION_START, TERMINATION_LENGTH = packed_word(TERMINATION), len(TERMINATION)
# the first two letters of a Termination that is none of the board: abandoned, death, emergency,
# illegal move, rules infraction, stalled connection, time forfeit
_FORFEITS = tuple(packed_word(letters) for letters in ("ab", "de", "em", "il", "ru", "st", "ti"))
_CAPITALS = packed_word("AB") ^ packed_word("ab")
_STANDARD, _CHESS, _NORMAL, _960, _FISCHER, _FISCHER_R, _FISHER, _FRC, _FROM, _FREE, _UNKNOWN = (
    packed_word(name)
    for name in (
        "standard",
        "chess",
        "normal",
        "chess960",
        "fischera",
        "fischerr",
        "fisheran",
        "frc",
        "fromposi",
        "freestyl",
        "?",
    )
)


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
    return (
        word == _STANDARD
        or word == _CHESS
        or word == _NORMAL
        or word == _960
        or word == _FISCHER
        or word == _FISCHER_R
        or word == _FISHER
        or word == _FRC
        or word == _FROM
        or word == _FREE
        or word == _UNKNOWN
        or word == np.uint64(0)
    )


AGAIN, NO_VALUE = -2, -3  # a tag that belongs to the next game; one that is not closed


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean))
def _value_end(text, i, end, final):
    """Return the index of the quote that closes the value of a tag at text[i]; NO_VALUE if its line
    has none, or MORE.

    Values may contain quotes. A quote before a bracket closes the value if the line ends there, or
    another tag, a comment or the number of a move follows; if none does, the first one."""
    found = NO_VALUE
    while i < end and text[i] != NEWLINE and text[i] != RETURN:
        if text[i] == QUOTE:
            k = i + 1
            while k < end and text[k] == SPACE_BYTE:
                k += 1
            if k < end and text[k] == _CLOSE_BRACKET:
                k += 1
                while k < end and (text[k] == SPACE_BYTE or text[k] == _TAB):
                    k += 1
                if k == end and not final:
                    return MORE
                follows = SPACE if k == end else class_of(np.int64(text[k]))
                if found == NO_VALUE:
                    found = i
                if (
                    follows == SPACE
                    or follows == BRACKET
                    or follows == BRACE
                    or follows == SEMICOLON
                    or follows == DIGIT
                    or follows == STAR
                ):
                    return i
        i += 1
    return MORE if i == end and not final else found


@inner(
    types.int64(
        *(bytes_type, types.int64, types.int64, types.boolean, types.boolean),
        *(row_type, words_type),
    )
)
def _read_tag(text, i, end, final, apart, game, words):
    """Read the tag at text[i] == '['; returns the index after it, or MORE. A malformed tag takes
    its line. AGAIN for a tag that starts the next game: a second Event, or behind an empty line,
    which sets it `apart`, another one that the game has, or Event if the game is faulty."""
    name = i + 1
    while name < end and text[name] == SPACE_BYTE:
        name += 1
    name_end = name
    while name_end < end and class_of(np.int64(text[name_end])) >= WORD:
        name_end += 1
    if name_end == end and not final:
        return MORE
    what = packed(text, name, name_end)
    if (what == EVENT and game[HAS_EVENT]) or (
        apart
        and (
            (what == EVENT and game[FAULT])
            or (what == FEN and game[HAS_FEN])
            or (what == RESULT_NAME and game[TAG_RESULT] != NO_TAG)
            or (what == WHITE_ELO_NAME and game[WHITE_ELO])
            or (what == BLACK_ELO_NAME and game[BLACK_ELO])
        )
    ):
        return AGAIN
    if what == EVENT:
        game[HAS_EVENT] = 1
    value = name_end
    while value < end and (text[value] == SPACE_BYTE or text[value] == _TAB):
        value += 1
    value += 1
    close = np.int64(NO_VALUE)
    if name_end > name and value <= end and text[value - 1] == QUOTE:
        close = _value_end(text, value, end, final)
    if close == MORE:
        return MORE
    if close == NO_VALUE:
        stop = line_end(text, i, end)
        if stop == end and not final:
            return MORE
        note(game, faults.TAG, i, min(stop, i + 60), 0)
        return stop
    if what == RESULT_NAME:
        game[TAG_RESULT] = result_of(packed(text, value, close))
    elif what == WHITE_ELO_NAME:
        game[WHITE_ELO] = number_at(text, value, close)
    elif what == BLACK_ELO_NAME:
        game[BLACK_ELO] = number_at(text, value, close)
    elif (
        name_end - name == TERMINATION_LENGTH
        and packed(text, name, name + 8) == TERMINATION_START
        and close - value > 1
    ):
        letters = packed(text, value, value + 2) | _CAPITALS
        for start in _FORFEITS:
            if letters == start:
                game[FORFEIT] = 1
    elif what == FEN:
        found = parse_fen(text, value, close, words)
        game[HAS_FEN] = 1
        if found < 0:
            note(game, -found, value, close, 0)
    elif what == VARIANT and not _is_chess(text, value, close):
        note(game, faults.VARIANT, value, close, 0)
    close += 1
    while text[close] != _CLOSE_BRACKET:
        close += 1
    return close + 1


DECIDED = 20000.0  # centipawns: engines write mates and wins in tablebases as large numbers too
EVAL, VALUE = packed_word("%eval"), packed_word("wv=")
NOTHING = -1


@inner(types.float64(types.float64))
def decided(score):
    """Return a score in centipawns, infinite if it is DECIDED or more."""
    if score >= DECIDED:
        return np.inf
    return -np.inf if score <= -DECIDED else score


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _digit_at(text, i, end):
    return i < end and class_of(np.int64(text[i])) == DIGIT


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _blank_at(text, i, end):
    return i < end and class_of(np.int64(text[i])) == SPACE


@inner(types.int64(bytes_type, types.int64, types.int64))
def _score_end(text, i, end):
    """Return the index after the score at i: signed digits with or without a point, or moves to
    mate (M5, -M5, #5, #-5); NOTHING if there is none."""
    signed = i < end and (text[i] == _DASH or text[i] == _PLUS)
    if signed:
        i += 1
    mate = i < end and (text[i] == _M or text[i] == _HASH)
    if mate:
        i += 1
        if not signed and i < end and (text[i] == _DASH or text[i] == _PLUS):
            i += 1
    begin, dots = i, 0
    while _digit_at(text, i, end) or (not mate and dots == 0 and i < end and text[i] == _DOT):
        dots += text[i] == _DOT
        i += 1
    return i if i - begin > dots else NOTHING


@inner(types.float64(bytes_type, types.int64, types.int64, types.boolean))
def _score(text, i, end, whole_is_centipawns):
    """Return the score text[i:end], which `_score_end` delimits, in centipawns; NaN for a mate in
    zero, which has no side.

    `whole_is_centipawns`: a number without a point is in centipawns, not in pawns.
    """
    sign, value, unit, mate, dot = 1.0, 0.0, 1.0, False, False
    for k in range(i, end):
        if text[k] == _DASH:
            sign = -1.0
        elif text[k] == _M or text[k] == _HASH:
            mate = True
        elif text[k] == _DOT:
            dot = True
        elif text[k] != _PLUS:
            value = value * 10.0 + (np.int64(text[k]) - _0)
            if dot:
                unit *= 10.0
    if mate:
        return sign * np.inf if value > 0.0 else np.nan
    if dot or not whole_is_centipawns:
        value *= 100.0
    return decided(sign * value / unit)


@inner(
    types.void(
        bytes_type, types.int64, types.int64, types.int64, types.boolean, row_type, scores_type
    )
)
def read_comment(text, i, end, ply, black, game, scores):
    """Note the scores of the comment text[i:end] after `ply` plies of a game; `black` is to move
    there."""
    while _blank_at(text, i, end):
        i += 1
    if ply:
        stop = _score_end(text, i, end)
        if (
            stop != NOTHING
            and stop < end
            and text[stop] == _SLASH
            and _digit_at(text, stop + 1, end)
        ):
            mate, dot = False, stop
            for k in range(i, stop):
                mate = mate or text[k] == _M or text[k] == _HASH
                dot = k if text[k] == _DOT else dot
            signed = text[i] == _DASH or text[i] == _PLUS
            if mate or stop - dot > 2 or (signed and dot < stop):  # not 1/2 or 2.5/5 in prose
                score = _score(text, i, stop, False)
                if not np.isnan(score):
                    note_score(game, scores, ply - 1, score if black else -score)
                return
    k = i
    while True:
        while k < end and text[k] != BRACKET_BYTE and text[k] != _W:
            k += 1
        if k == end:
            return
        if (
            text[k] == BRACKET_BYTE
            and k + 7 < end
            and packed(text, k + 1, k + 6) == EVAL
            and _blank_at(text, k + 6, end)
        ):
            k += 7
            while _blank_at(text, k, end):
                k += 1
            stop = _score_end(text, k, end)
            if (
                stop != NOTHING
                and stop < end
                and (text[stop] == _CLOSE_BRACKET or text[stop] == _COMMA)
            ):
                score = _score(text, k, stop, True)
                if not np.isnan(score):
                    note_score(game, scores, ply, score)
                return
        elif (
            ply
            and text[k] == _W
            and k + 3 < end
            and packed(text, k, k + 3) == VALUE
            and (k == i or text[k - 1] == _COMMA or _blank_at(text, k - 1, end))
        ):
            k += 3
            stop = _score_end(text, k, end)
            if stop != NOTHING and (
                stop == end or text[stop] == _COMMA or _blank_at(text, stop, end)
            ):
                score = _score(text, k, stop, False)
                if not np.isnan(score):
                    note_score(game, scores, ply - 1, score)
                return
        k += 1


MAX_QUOTED = 20  # bytes of an invalid token that messages quote
LONGEST_COMMENT = 1 << 20  # bytes that a comment may continue after a line in it that is a tag


@inner(types.int64(bytes_type, types.int64, types.int64, types.boolean, row_type, types.int64))
def _skip_comment(text, i, end, final, game, ply):
    """Return the index after the comment that opens at text[i] == '{', or MORE.

    A line inside it that begins with a tag makes the comment suspect. If then another comment
    opens, the text ends, or LONGEST_COMMENT bytes pass before it is closed, the comment counts as
    never closed and reading continues at that line."""
    begin, suspect = i, np.int64(-1)
    i += 1
    while i < end:
        letter = text[i]
        if letter == _CLOSE_BRACE:
            return i + 1
        if (
            letter == BRACKET_BYTE
            and suspect < 0
            and (text[i - 1] == NEWLINE or text[i - 1] == RETURN)
            and tag_name_end(text, i, end)
        ):
            suspect = i
        if suspect >= 0 and (letter == _OPEN_BRACE or i - suspect > LONGEST_COMMENT):
            break
        i += 1
    if i >= end and not final:
        return MORE
    note(game, faults.COMMENT, begin, begin, ply)
    return suspect if suspect >= 0 else end


@inner(
    types.int64(
        bytes_type,
        types.int64,
        types.int64,
        types.boolean,
        moves_type,
        scores_type,
        row_type,
        words_type,
    )
)
def _read_game(text, i, end, final, moves, scores, game, words):
    """Read tags, and moves up to the result; returns the start of the next game, or MORE.

    Tags in front of the first move belong to the game, unless they start the next one (see
    `_read_tag`)."""
    p = load(words)
    m = game[FIRST_MOVE]
    ply, depth = np.int64(0), np.int64(0)
    heading, finished = True, False  # nothing but tags so far; behind the result
    fresh, empty = True, False  # only white space since the start of the line, and before it
    apart = np.int64(-1)  # the first tag behind an empty line
    while True:
        if i >= end:
            if not final:
                return MORE
            break
        letter = np.int64(text[i])
        kind = class_of(letter)
        if kind == SPACE:
            if finished and (letter == NEWLINE or letter == RETURN):
                break
            if letter == NEWLINE or (letter == RETURN and (i + 1 == end or text[i + 1] != NEWLINE)):
                empty, fresh = fresh, True
                if empty:
                    apart = np.int64(-1)
            i += 1
            continue
        if kind >= WORD:
            stop = i + 1
            while stop < end and class_of(np.int64(text[stop])) >= WORD:
                stop += 1
            if stop == end and not final:
                return MORE
            fresh, heading = False, False
            if depth:
                i = stop
                continue
            if finished:
                if result_of(packed(text, i, stop)) != game[RESULT]:
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
            if (
                text[stop - 1] == _E
                and stop + 3 <= end
                and text[stop] == _DOT
                and text[stop + 1] == _P
                and text[stop + 2] == _DOT
            ):
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
                    null = (letter == _DASH and stop - i == 2) or (
                        letter == _0 and kind == DIGIT and stop - i == 4
                    )
                    note(
                        game,
                        faults.NULL_MOVE if null and move == -faults.NOT_A_MOVE else -move,
                        i,
                        stop,
                        ply + 1,
                    )
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
            begin, heading = i + 1, False
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
        if kind == OTHER and wide_space(text, i, end):
            i += wide_space(text, i, end)
            if i > end and not final:
                return MORE
            continue
        if kind == BRACKET and (fresh or heading):
            if finished or ply or depth or not (heading or game[HAS_TAGS]):
                break
            if game[HAS_TAGS] and empty and apart < 0:
                apart = i
            stop = _read_tag(text, i, end, final, apart >= 0, game, words)
            if stop == MORE:
                return MORE
            if stop == AGAIN:
                i = apart if apart >= 0 else i
                break
            p = load(words)
            i, fresh = stop, False
            game[HAS_TAGS] = 1
            continue
        fresh, heading = False, False
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
            # an apostrophe or the like is no text
            if kind != OTHER and not (kind == STAR and game[RESULT] == UNDECIDED):
                note(game, faults.AFTER_RESULT, i - 1, i, ply)
        elif kind == STAR:
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
                note(
                    game,
                    faults.NOT_A_MOVE,
                    i - 1,
                    line_end(text, i, min(end, i + MAX_QUOTED)),
                    ply + 1,
                )
    game[BEGUN] = game[HAS_TAGS] or not heading
    if depth:
        note(game, faults.VARIATION, i, i, ply)
    if game[RESULT] == UNDECIDED and game[TAG_RESULT] < UNDECIDED:
        game[RESULT], game[BY_TAG] = game[TAG_RESULT], 1
    elif not finished:
        note(game, faults.NO_RESULT, i, i, ply)
    game[PLIES] = ply
    return i


@entry(
    types.int64(
        bytes_type,
        types.int64,
        types.int64,
        types.boolean,
        words_type,
        rows_type,
        positions_type,
        moves_type,
        scores_type,
        row_type,
    )
)
def read_games(text, i, end, final, start, games, positions, moves, scores, counts):
    """Read games from text[i:end] until the end of the text or of the room for games.

    Writes a row of FIELDS per game to `games` (n, 19) int64, its start to `positions` (n, 10), all
    moves to `moves`, and scores in comments to `scores` (see `note_score`), which has room for one
    more per game than there are moves. counts[0] is the number of games, counts[1] of moves.
    `start` is the initial position of chess. `final`: no text follows `end`. Returns the index to
    continue at."""
    n = counts[0]
    while n < len(games):
        game, words = games[n], positions[n]
        game[:] = 0
        game[RESULT], game[TAG_RESULT], game[FIRST_MOVE], game[FIRST_SCORE] = (
            UNDECIDED,
            NO_TAG,
            counts[1],
            counts[1] + n,
        )
        for k in range(
            len(start)
        ):  # assigning a slice would compile the formatting of its error message
            words[k] = start[k]
        game[BEGIN] = i
        at = _read_game(text, i, end, final, moves, scores, game, words)
        if at == MORE or not game[BEGUN]:
            return i if at == MORE else at
        counts[1] += game[PLIES]
        i = at
        n += 1
        counts[0] = n
    return i
