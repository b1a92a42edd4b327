"""Reading labelled positions: EPD or FEN lines with a result.

The result stands in quotes (`c9 "1-0"`), in brackets (`[0.5]`) or by itself; numbers are White's score. Lines with the
same `id` belong to one game; a line without is a game of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.chess import faults
from games.chess.collect import ALL, keep_new, keys_type, take
from games.chess.fen import bytes_type, parse_fen
from games.chess.movetext import (
    DIGIT,
    NEWLINE,
    NO_TAG,
    RETURN,
    UNDECIDED,
    class_of,
    line_end,
    packed,
    positions_type,
    result_of,
    row_type,
)
from games.chess.pgn import KINDS
from games.chess.position import WORDS
from games.chess.search import SEARCH
from games.chess.unit import entry, inner
from games.chess.windows import windows
from games.hashset import FACTOR, HashSet, mix
from games.record import PositionBatch, ReadOptions, ReadReport
from games.search.context import Context
from games.streams import InputError

ROOM = 1 << 15
QUOTE, OPEN, CLOSE, SPACE, SEMICOLON, DOT, HASH, ZERO = (ord(letter) for letter in '"[] ;.#0')
_I, _D = ord("i"), ord("d")
UNKNOWN = 9.0  # no result found yet
OPEN_GAME = 8.0  # a result that is not decided


@inner(types.float64(bytes_type, types.int64, types.int64))
def _label(text, i, end):
    """Outcome in [-1, 1] that text[i:end] means, OPEN_GAME for *, or UNKNOWN."""
    while i < end and text[i] == SPACE:
        i += 1
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
def _names_id(text, begin, i):
    """Whether the word before text[i], back to begin, is `id`."""
    i -= 1
    while i > begin and text[i] == SPACE:
        i -= 1
    return (i > begin and text[i] == _D and text[i - 1] == _I
            and (i - 2 < begin or text[i - 2] <= SPACE or text[i - 2] == SEMICOLON))


@entry(types.int64(bytes_type, types.boolean, positions_type, types.Array(types.float32, 1, "C"), keys_type, row_type,
                   row_type, row_type, row_type, types.int64, SEARCH.contexts_type))
def read_lines(text, final, positions, outcomes, games, fault, place, number, counts, kind, contexts):
    """Read lines while there is room; returns how far it got.

    Good positions go to `positions`, `outcomes` and `games` (a hash of the id, or of the line's number); faults to
    `fault`, with their `place` and line `number`. counts: positions, faults, lines, undecided, lines of the text before.
    """
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
        while begin < stop and text[begin] <= SPACE:
            begin += 1
        counts[2] += 1
        if begin == stop or text[begin] == HASH:
            continue
        found = parse_fen(text, begin, stop, c.stack[0])
        if found < 0:
            fault[bad], place[bad], number[bad] = -found, begin, counts[2] + counts[4]
            bad += 1
            continue
        outcome, game = UNKNOWN, EMPTY
        k = found
        while k < stop:
            letter = text[k]
            if letter == QUOTE or letter == OPEN:
                close = k + 1
                wanted = QUOTE if letter == QUOTE else CLOSE
                while close < stop and text[close] != wanted:
                    close += 1
                if letter == QUOTE and _names_id(text, found, k):
                    game = FACTOR
                    for j in range(k + 1, close):
                        game = mix(game ^ np.uint64(text[j]))
                elif outcome == UNKNOWN:
                    outcome = _label(text, k + 1, close)
                k = close + 1
            elif letter > SPACE and letter != SEMICOLON:
                close = k
                while close < stop and text[close] > SPACE and text[close] != SEMICOLON:
                    close += 1
                if outcome == UNKNOWN:
                    label = _label(text, k, close)
                    dotted = False
                    for j in range(k, close):
                        dotted = dotted or text[j] == DOT or class_of(np.int64(text[j])) != DIGIT
                    outcome = label if dotted else outcome
                k = close
            else:
                k += 1
        if outcome == UNKNOWN:
            fault[bad], place[bad], number[bad] = faults.EPD_RESULT, begin, counts[2] + counts[4]
            bad += 1
        elif outcome == OPEN_GAME:
            counts[3] += 1
        else:
            kept = take(kind, c, positions, n)
            if kept > n:
                outcomes[n] = outcome
                games[n] = game if game != EMPTY else mix(np.uint64(counts[2] + counts[4]))
                n = kept
    counts[0], counts[1] = n, bad
    return i


def read(source: str | Path, options: ReadOptions, report: ReadReport, note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Yield the labelled positions of a file that the options ask for (games are told by `id`).

    Raises InputError for a file that cannot be read, and for the first bad line under `strict`.
    """
    positions, outcomes = np.empty((ROOM, WORDS), np.uint64), np.empty(ROOM, np.float32)
    games, fault, place, number = np.empty(ROOM, np.uint64), *np.empty((3, ROOM), np.int64)
    counts, memory = np.zeros(5, np.int64), Context(SEARCH.dtype, *(options.evaluation or ()))
    text_read, lines = np.zeros(0, np.uint8), 0
    kind = KINDS[options.positions]
    if kind != ALL and options.evaluation is None:
        raise ValueError(f"positions={options.positions!r} needs an evaluation")
    _, seen = report.memory.setdefault("chess", (HashSet(), HashSet()))
    last, games_here = None, 0

    def parse(text: np.ndarray, final: bool) -> int:
        nonlocal text_read
        counts[:4] = 0
        counts[4] = lines
        text_read = text
        return int(read_lines(text, final, positions, outcomes, games, fault, place, number, counts, kind,
                              memory.records))

    for at in windows(source, parse):
        n, bad, read_here, undecided = (int(count) for count in counts[:4])
        for i in range(bad):
            where = f"{source}: line {number[i]} (byte {at + place[i]})"
            reason = faults.SENTENCES[int(fault[i])]
            if options.strict:
                raise InputError(f"{where}: {reason}; mend it, or leave out --strict to skip such lines")
            note(f"{where}: {reason}; line skipped")
            report.faults[reason] = report.faults.get(reason, 0) + 1
        lines += read_here
        report.bad += bad
        report.undecided += undecided
        report.bytes = at + len(text_read)
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
        yield PositionBatch(positions[:n][keep], outcomes[:n][keep], first, names[first], names[first], numbers)
