"""Read labeled positions: EPD, FEN or CSV lines with a result and perhaps a score, or records of
Stockfish's tools.

Accepted forms of lines: the operand of c9 (`c9 "1-0"`), in brackets (`[0.5]`), after the second bar
(`FEN | score | result`), or the column that the header of a CSV file names. Numbers are White's
share, from 0 to 1; a file with others is refused, and a line with two different results.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba.core import types

from games.chess.files import faults
from games.chess.files.content import START, form_of
from games.chess.files.fen import bytes_type, parse_fen
from games.chess.files.movetext import decided
from games.chess.files.pgn import ALL, KINDS, MAX_GAME_BYTES, keep_new, keys_type, take, windows
from games.chess.files.tokens import (
    DIGIT,
    NEWLINE,
    NO_TAG,
    RETURN,
    UNDECIDED,
    class_of,
    line_end,
    packed,
    packed_word,
    positions_type,
    result_of,
    row_type,
    scores_type,
)
from games.chess.rules import entry, inner
from games.chess.rules.position import WORDS, black_to_move, load
from games.chess.search import SEARCH
from games.compile.hashset import FACTOR, HashSet, mix
from games.compile.jit import record
from games.reading import Faults, counted
from games.record import PositionBatch, ReadOptions, ReadReport
from games.search.context import Context
from games.streams import InputError, beginning
from games.streams import lines as lines_of

QUOTE, OPEN, CLOSE, SPACE, SEMICOLON, DOT, ZERO, BAR, COMMA, MINUS, PLUS = (
    ord(letter) for letter in '"[] ;.0|,-+'
)
_B, _C, _D, _E, _I, _M, _W, _9 = (ord(letter) for letter in "bcdeimw9")
UNKNOWN = 9.0  # no result found
OPEN_GAME = 8.0  # undecided, *
AMBIGUOUS = 7.0  # several results
OTHER_SCALE = 6.0  # a number outside 0 to 1
MOST_DIGITS = 9  # of results and scores


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


@inner(types.int64(bytes_type, types.int64, types.int64))
def _trimmed(text, i, end):
    """Return the end of text[i:end] without the white space at its end."""
    while end > i and text[end - 1] <= SPACE:
        end -= 1
    return end


@inner(types.float64(bytes_type, types.int64, types.int64, types.int64))
def _decimal(text, i, end, most):
    """Parse text[i:end] as a decimal number without a sign, of at most a number of digits; NaN if
    it is none."""
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
            return np.nan
    return value / unit if 0 < digits <= most and dots <= 1 else np.nan


@inner(types.int64(bytes_type, types.int64, types.int64))
def _unsigned(text, i, end):
    """Return the place of a number behind white space and its sign."""
    i = skip_blanks(text, i, end)
    return i + 1 if i < end and (text[i] == MINUS or text[i] == PLUS) else i


@inner(types.float64(bytes_type, types.int64, types.int64))
def _result(text, i, end):
    """Parse text[i:end] as a result: outcome in [-1, 1], OPEN_GAME for *, or UNKNOWN."""
    i = skip_blanks(text, i, end)
    end = _trimmed(text, i, end)
    result = result_of(packed(text, i, end))
    if result == UNDECIDED:
        return OPEN_GAME
    if result != NO_TAG:
        return float(result)
    digits = _unsigned(text, i, end)
    value = _decimal(text, digits, end, MOST_DIGITS)
    if np.isnan(value):
        return UNKNOWN
    return OTHER_SCALE if value > 1.0 or (digits > i and value > 0.0) else 2.0 * value - 1.0


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _is_number(text, i, end):
    """Whether text[i:end] is a signed decimal number."""
    i = _unsigned(text, i, end)
    return not np.isnan(_decimal(text, i, _trimmed(text, i, end), end))


@inner(types.float64(bytes_type, types.int64, types.int64))
def _field(text, i, end):
    """Parse a field that holds only the result, quoted, bracketed or bare."""
    i = skip_blanks(text, i, end)
    end = _trimmed(text, i, end)
    if end - i > 1 and (
        (text[i] == QUOTE and text[end - 1] == QUOTE)
        or (text[i] == OPEN and text[end - 1] == CLOSE)
    ):
        i, end = i + 1, end - 1
    return _result(text, i, end)


@inner(types.float64(types.float64, types.float64))
def _both(one, other):
    """Combine the results of two places: AMBIGUOUS if they differ."""
    if other == UNKNOWN or other == one or one == OTHER_SCALE:
        return one
    return other if one == UNKNOWN or other == OTHER_SCALE else AMBIGUOUS


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _names_id(text, begin, i):
    """Whether the word before text[i], not before `begin`, is `id`."""
    i -= 1
    while i > begin and text[i] == SPACE:
        i -= 1
    return (
        i > begin
        and text[i] == _D
        and text[i - 1] == _I
        and (i - 2 < begin or text[i - 2] <= SPACE or text[i - 2] == SEMICOLON)
    )


@inner(types.float64(bytes_type, types.int64, types.int64))
def _of_bars(text, i, stop):
    """Parse `| score | result` at i."""
    second = find(text, i + 1, stop, BAR)
    if find(text, second + 1, stop, BAR) < stop or not _is_number(text, i + 1, second):
        return UNKNOWN
    return _field(text, second + 1, stop)


@inner(types.float64(bytes_type, types.int64, types.int64, row_type))
def _of_words(text, k, stop, name):
    """Parse the operand of c9 and what is in brackets, in text[k:stop]; the places of the `id` and
    of the first `ce` or `dm` go to `name`."""
    begin, found = k, UNKNOWN
    first, c9 = True, False  # at the first word of an operation; in the operation c9
    while k < stop:
        letter = np.int64(text[k])
        if letter <= SPACE or letter == SEMICOLON:
            if letter == SEMICOLON:
                first, c9 = True, False
            k += 1
            continue
        if letter == QUOTE or letter == OPEN:
            close = find(text, k + 1, stop, QUOTE if letter == QUOTE else CLOSE)
            if letter == OPEN or c9:
                found = _both(found, _result(text, k + 1, close))
            elif _names_id(text, begin, k):
                name[0], name[1] = k + 1, close
            first = False
            k = close + 1
            continue
        close = k + 1
        while close < stop and text[close] > SPACE and text[close] != SEMICOLON:
            close += 1
        if first and close - k == 2:
            c9 = letter == _C and text[k + 1] == _9
            if name[2] == 0 and (
                (letter == _C and text[k + 1] == _E) or (letter == _D and text[k + 1] == _M)
            ):
                name[2] = k
        elif c9:
            found = _both(found, _result(text, k, close))
        first = False
        k = close
    return found


@inner(types.float64(bytes_type, types.int64, types.int64, row_type))
def outcome_of(text, i, stop, name):
    """Parse the rest of a line after its position: outcome in [-1, 1], or one of the codes.

    Start and end of an `id`, and the start of the first operation `ce` or `dm`, go to `name` (3,)
    int64."""
    i = skip_blanks(text, i, stop)
    if i < stop and text[i] == BAR:
        return _of_bars(text, i, stop)
    if i < stop and text[i] == COMMA:
        return UNKNOWN
    return _of_words(text, i, stop, name)


@inner(types.uint64(bytes_type, types.int64, types.int64))
def hash_of(text, i, end):
    """Return a hash of text[i:end]."""
    found = FACTOR
    while i < end:
        found = mix(found ^ np.uint64(text[i]))
        i += 1
    return found


CENTIPAWNS, MATE = packed_word("ce"), packed_word("dm")


@inner(types.float64(bytes_type, types.int64, types.int64))
def _whole(text, i, end):
    """Parse text[i:end] as a signed whole number; NaN if it is none."""
    i = _unsigned(text, i, end)
    if find(text, i, end, DOT) < end:
        return np.nan
    value = _decimal(text, i, _trimmed(text, i, end), MOST_DIGITS)
    return -value if i > 0 and text[i - 1] == MINUS else value


@inner(types.float64(bytes_type, types.int64, types.int64))
def _of_operations(text, i, stop):
    """Return the score of the operations ce and dm in text[i:stop], for the side to move; NaN if
    there is neither."""
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
            while (
                close < stop
                and text[close] > SPACE
                and text[close] != SEMICOLON
                and text[close] != QUOTE
            ):
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


@inner(types.float64(bytes_type, types.int64, types.int64, types.int64, types.boolean))
def score_of(text, i, stop, operation, black):
    """Return the score in the rest of a line after its position, centipawns for White; NaN if there
    is none.

    `operation` is the place of the first operation `ce` or `dm`, 0 if there is none; `black` is to
    move."""
    i = skip_blanks(text, i, stop)
    if i < stop and text[i] == BAR:
        second = find(text, i + 1, stop, BAR)
        return decided(_whole(text, i + 1, second)) if second < stop else np.nan
    if not operation:
        return np.nan
    score = _of_operations(text, operation, stop)
    return -score if black else score


ROOM = 1 << 15
HASH = ord("#")


class Lines(NamedTuple):
    """Room for the positions of lines with outcomes, scores and games, and for the code and line
    number of each fault."""

    positions: np.ndarray
    outcomes: np.ndarray
    scores: np.ndarray
    games: np.ndarray
    fault: np.ndarray
    number: np.ndarray


lines_type = record(
    Lines,
    *(positions_type, types.Array(types.float32, 1, "C"), scores_type, keys_type),
    *(row_type, row_type),
)


@entry(
    types.int64(
        bytes_type,
        types.boolean,
        lines_type,
        row_type,
        row_type,
        types.int64,
        SEARCH.contexts_type,
    )
)
def read_lines(text, final, lines, counts, name, kind, contexts):
    """Read lines while there is room; returns the index of the first unread byte.

    Positions without a score get NaN; their game is a hash of the id, or of the line number.
    `counts` holds the numbers of positions, faults, lines, undecided lines, lines before this text,
    and lines with a position. `name` (3,) is scratch space for the places of an id and a score."""
    positions, outcomes, scores, games, fault, number = lines
    i, n, bad, c = 0, 0, 0, contexts[0]
    end = len(text)
    while n < len(positions) and bad < len(fault):
        stop = line_end(text, i, end)
        if i == end or (stop + 1 >= end and not final):
            break
        begin = i
        i = min(stop + 1, end)
        if i < end and text[stop] == RETURN and text[i] == NEWLINE:
            i += 1
        begin = skip_blanks(text, begin, stop)
        counts[2] += 1
        if begin == stop or text[begin] == HASH:
            continue
        found = parse_fen(text, begin, stop, c.stack[0])
        if found < 0:
            fault[bad], number[bad] = -found, counts[2] + counts[4]
            bad += 1
            continue
        counts[5] += 1
        name[0], name[2] = 0, 0
        outcome = outcome_of(text, found, stop, name)
        if outcome == UNKNOWN or outcome == AMBIGUOUS or outcome == OTHER_SCALE:
            fault[bad], number[bad] = faults.EPD_RESULT, counts[2] + counts[4]
            if outcome != UNKNOWN:
                fault[bad] = faults.EPD_SCALE if outcome == OTHER_SCALE else faults.EPD_AMBIGUOUS
            bad += 1
        elif outcome == OPEN_GAME:
            counts[3] += 1
        else:
            black = black_to_move(load(c.stack[0]))  # before it may be replaced by its leaf
            kept = take(kind, c, positions, n)
            if kept > n:
                outcomes[n] = outcome
                scores[n] = score_of(text, found, stop, name[2], black)
                games[n] = (
                    hash_of(text, name[0], name[1])
                    if name[0]
                    else mix(np.uint64(counts[2] + counts[4]))
                )
                n = kept
    counts[0], counts[1] = n, bad
    return i


def read(
    source: str | Path,
    stream: Iterator[bytes],
    options: ReadOptions,
    report: ReadReport,
    note: Callable[[str], None],
) -> Iterator[PositionBatch]:
    """Yield the wanted labeled positions of a file, whose bytes come from `stream`.

    Raises InputError for an unreadable file, and for the first bad line under `strict`.
    """
    positions, outcomes, scores = (
        np.empty((ROOM, WORDS), np.uint64),
        *np.empty((2, ROOM), np.float32),
    )
    games, fault, number = np.empty(ROOM, np.uint64), *np.empty((2, ROOM), np.int64)
    parsed = Lines(positions, outcomes, scores, games, fault, number)
    counts, name, memory = (
        np.zeros(6, np.int64),
        np.zeros(3, np.int64),
        Context(SEARCH.dtype, *(options.evaluation or ())),
    )
    text_read, lines = np.zeros(0, np.uint8), 0
    kind = KINDS[options.positions]
    if kind != ALL and options.evaluation is None:
        raise ValueError(f"positions={options.positions!r} needs an evaluation")
    if options.ended != "any":
        raise InputError(f"{source}: labeled positions have no end; leave out --ended")
    _, seen = report.memory.setdefault("chess", (HashSet(), HashSet()))
    last, games_here, wrong = None, 0, Faults(str(source), "line", options.strict, report, note)
    known = 0  # end of the last window with a position
    start = beginning(stream, START)
    stream = counted(chain([start], stream), report)
    if form := form_of(start):
        stream = (line + b"\n" for line in form.as_lines(str(source), lines_of(source, stream)))

    def parse(text: np.ndarray, final: bool) -> int:
        nonlocal text_read
        counts[:4], counts[4], counts[5] = 0, lines, 0
        text_read = text
        return int(read_lines(text, final, parsed, counts, name, kind, memory.records))

    for at in windows(str(source), stream, parse):
        n, bad, read_here, undecided = (int(count) for count in counts[:4])
        for code in np.unique(fault[:bad]):
            report.faults.setdefault(faults.SENTENCES[int(code)], 0)
        for i in range(bad):
            sentence = faults.SENTENCES[int(fault[i])]
            if fault[i] == faults.EPD_SCALE:
                line = text_read.tobytes().splitlines()[number[i] - lines - 1]
                raise InputError(
                    f"{source}:{number[i]}: {sentence}: {line.decode('utf-8', 'replace')[:100]}"
                )
            wrong.add(number[i], sentence, sentence)
        lines += read_here
        report.undecided += undecided
        known = at + len(text_read) if counts[5] else known
        if at - known > MAX_GAME_BYTES:
            raise InputError(
                f"{source}: byte {known}: no position in {MAX_GAME_BYTES:,} bytes; expected lines"
                " of EPD"
                " or FEN"
            )
        if n == 0:
            continue
        keep = np.ones(n, np.bool_)
        if options.duplicates == "positions":
            new = keep_new(np.ascontiguousarray(positions[:n, -1]), seen.reserve(n), keep)
            seen.used(new)
            report.duplicate_positions += n - new
        names = games[:n][keep]
        if len(names) == 0:
            continue
        first = np.flatnonzero(np.concatenate([[True], names[1:] != names[:-1]]))
        new_games = len(first) - int(last == names[0])
        numbers = games_here + np.arange(len(first)) + (1 if new_games == len(first) else 0)
        games_here += new_games
        report.games += new_games
        report.used += new_games
        last = names[-1]
        report.positions += len(names)
        yield PositionBatch(
            positions[:n][keep],
            outcomes[:n][keep],
            first,
            names[first],
            names[first],
            numbers,
            scores[:n][keep],
        )
    wrong.end()
