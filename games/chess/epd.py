"""Read labelled positions: EPD or FEN lines with a result, see `games.chess.labels`.

Consecutive lines with the same `id` form one game; a line without `id` is a game of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numba.core import types

from games.chess import faults
from games.chess.collect import ALL, keep_new, keys_type, take
from games.chess.content import START, columns_of
from games.chess.fen import bytes_type, parse_fen
from games.chess.game_row import positions_type, row_type, scores_type
from games.chess.label_scores import score_of
from games.chess.labels import AMBIGUOUS, OPEN_GAME, UNKNOWN, hash_of, outcome_of, skip_blanks
from games.chess.pgn import KINDS
from games.chess.position import WORDS, black_to_move, load
from games.chess.search import SEARCH
from games.chess.tokens import NEWLINE, RETURN, line_end
from games.chess.unit import entry
from games.chess.windows import LONGEST, windows
from games.hashset import HashSet, mix
from games.record import PositionBatch, ReadOptions, ReadReport
from games.search.context import Context
from games.streams import InputError, beginning

ROOM = 1 << 15
HASH = ord("#")


@entry(types.int64(bytes_type, types.boolean, positions_type, types.Array(types.float32, 1, "C"), scores_type, keys_type,
                   row_type, row_type, row_type, row_type, row_type, types.int64, SEARCH.contexts_type))
def read_lines(text, final, positions, outcomes, scores, games, fault, place, number, counts, name, kind, contexts):
    """Read lines while there is room; returns the index of the first unread byte.

    Good positions go to `positions`, `outcomes`, `scores` (NaN where there is none) and `games` (a hash of the id, or of the line
    number); codes of faults to `fault`, with their `place` (byte) and line `number`. `counts` holds the numbers of positions,
    faults, lines, undecided lines, lines before this text, and lines with a position; then the result column, 1 while the header
    line is still to come, and the score column.
    `name` (3,) is scratch space for the places of an id and of a score.
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
        begin = skip_blanks(text, begin, stop)
        counts[2] += 1
        if begin == stop or text[begin] == HASH:
            continue
        if counts[7]:
            counts[7] = 0
            continue
        found = parse_fen(text, begin, stop, c.stack[0])
        if found < 0:
            fault[bad], place[bad], number[bad] = -found, begin, counts[2] + counts[4]
            bad += 1
            continue
        counts[5] += 1
        name[0], name[2] = 0, 0
        outcome = outcome_of(text, found, stop, counts[6], name)
        if outcome == UNKNOWN or outcome == AMBIGUOUS:
            fault[bad] = faults.EPD_RESULT if outcome == UNKNOWN else faults.EPD_AMBIGUOUS
            place[bad], number[bad] = begin, counts[2] + counts[4]
            bad += 1
        elif outcome == OPEN_GAME:
            counts[3] += 1
        else:
            black = black_to_move(load(c.stack[0]))  # before it may be replaced by its leaf
            kept = take(kind, c, positions, n)
            if kept > n:
                outcomes[n] = outcome
                scores[n] = score_of(text, found, stop, name[2], counts[8], black)
                games[n] = hash_of(text, name[0], name[1]) if name[0] else mix(np.uint64(counts[2] + counts[4]))
                n = kept
    counts[0], counts[1] = n, bad
    return i


def read(source: str | Path, stream: Iterator[bytes], options: ReadOptions, report: ReadReport,
         note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Yield the wanted labelled positions of a file, whose bytes come from `stream`.

    Raises InputError for an unreadable file, and for the first bad line under `strict`.
    """
    positions, outcomes, scores = np.empty((ROOM, WORDS), np.uint64), *np.empty((2, ROOM), np.float32)
    games, fault, place, number = np.empty(ROOM, np.uint64), *np.empty((3, ROOM), np.int64)
    counts, name, memory = np.zeros(9, np.int64), np.zeros(3, np.int64), Context(SEARCH.dtype, *(options.evaluation or ()))
    text_read, lines = np.zeros(0, np.uint8), 0
    kind = KINDS[options.positions]
    if kind != ALL and options.evaluation is None:
        raise ValueError(f"positions={options.positions!r} needs an evaluation")
    _, seen = report.memory.setdefault("chess", (HashSet(), HashSet()))
    last, games_here, wrong = None, 0, faults.Faults(report.faults, note)
    known = 0  # end of the last window with a position
    start = beginning(stream, START)
    stream, columns = chain([start], stream), columns_of(str(source), start)
    if columns is not None:
        counts[6:] = columns[0], 1, columns[1]

    def parse(text: np.ndarray, final: bool) -> int:
        nonlocal text_read
        counts[:4], counts[4], counts[5] = 0, lines, 0
        text_read = text
        return int(read_lines(text, final, positions, outcomes, scores, games, fault, place, number, counts, name,
                              kind, memory.records))

    for at in windows(str(source), stream, parse):
        n, bad, read_here, undecided = (int(count) for count in counts[:4])
        texts = (f"{source}: line {number[i]} (byte {at + place[i]}): {faults.SENTENCES[int(fault[i])]}" for i in range(bad))
        if options.strict and bad:
            raise InputError(f"{next(texts)}; fix it, or leave out --strict to skip such lines")
        wrong.add(fault[:bad], (f"{text}; line skipped" for text in texts))
        lines += read_here
        report.bad += bad
        report.undecided += undecided
        report.bytes = at + len(text_read)
        known = report.bytes if counts[5] else known
        if at - known > LONGEST:
            raise InputError(f"{source}: byte {known}: no position in {LONGEST:,} bytes; expected lines of EPD or FEN")
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
        yield PositionBatch(positions[:n][keep], outcomes[:n][keep], first, names[first], names[first], numbers, scores[:n][keep])
    wrong.end(str(source), "more bad lines skipped")
