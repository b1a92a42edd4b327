"""Read PGN files in pieces of bounded size: games to batches of positions. Faulty games are reported and skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from games.chess import faults
from games.chess.collect import ALL, QUIET, RESOLVE, collect, identify, keep_new
from games.chess.game_row import BLACK_ELO, FAULT, FAULT_AT, FAULT_END, FAULT_PLY, FIELDS, HAS_TAGS, PLIES, RESULT, WHITE_ELO
from games.chess.movetext import read_games
from games.chess.position import START, WORDS
from games.chess.search import SEARCH
from games.chess.tokens import UNDECIDED
from games.chess.windows import LONGEST, windows
from games.hashset import HashSet
from games.record import PositionBatch, ReadOptions, ReadReport
from games.search.context import Context
from games.streams import UTF8_MARK, InputError, pieces

ROOM = 4096  # games parsed at a time
KINDS = {"all": ALL, "quiet": QUIET, "resolve": RESOLVE}


class ParsedGames:
    """The games of one window of text: rows of FIELDS, starts (n, 10), and all their moves and recorded scores."""

    mark = UTF8_MARK  # of the start of a file, skipped

    def __init__(self) -> None:
        self.rows = np.zeros((ROOM, len(FIELDS)), np.int64)
        self.starts = np.zeros((ROOM, WORDS), np.uint64)
        self.moves, self.scores = np.zeros(0, np.uint32), np.zeros(0, np.float32)
        self.text = np.zeros(0, np.uint8)
        self.count = 0

    def reserve(self, size: int) -> None:
        """Reserve room for the moves and scores of a text of so many bytes."""
        if len(self.moves) < size // 2 + 1:
            self.moves = np.zeros(size // 2 + 1, np.uint32)
            self.scores = np.empty(len(self.moves) + ROOM, np.float32)

    def parse(self, text: np.ndarray, final: bool) -> int:
        """Parse games from the start of a text; returns the number of bytes used."""
        self.reserve(len(text))
        counts = np.zeros(2, np.int64)
        used = read_games(text, 0, len(text), final, START, self.rows, self.starts, self.moves, self.scores,
                          counts)
        self.count, self.text = int(counts[0]), text
        return int(used)

    def any_like_games(self) -> bool:
        """Whether any of the games has tags or legal moves, and is not just text that ends like a game."""
        rows = self.rows[:self.count]
        fault, tags = rows[:, FAULT], rows[:, HAS_TAGS] == 1
        return bool((tags & (fault != faults.TAG) | (rows[:, PLIES] > 0) & (fault == faults.OK)).any())


def parsed(source: str | Path, stream: Iterator[bytes] | None = None,
           found: ParsedGames | None = None) -> Iterator[tuple[ParsedGames, int]]:
    """Yield the games of a file, window by window, with the byte offset of the window; always the same object.

    `stream`: the bytes of a file that is open already; `found`: the object, for another format than PGN. InputError after LONGEST
    bytes without a game.
    """
    found, last = found or ParsedGames(), 0  # end of the last window with a game
    for place in windows(str(source), pieces(source) if stream is None else stream, found.parse, found.mark):
        if found.count:
            if found.any_like_games():
                last = place + len(found.text)
            yield found, place
        if place - last > LONGEST:
            raise InputError(f"{source}: byte {last}: no game in {LONGEST:,} bytes; expected PGN")


def fault_text(found: ParsedGames, row: np.ndarray) -> str:
    """Return the fault of a game as a sentence."""
    token = bytes(found.text[row[FAULT_AT]:row[FAULT_END]]).decode("utf-8", "replace")
    token = token if len(token) <= 40 else token[:37] + "..."
    return faults.SENTENCES[int(row[FAULT])].format(token=token, ply=int(row[FAULT_PLY]))


def read(source: str | Path, stream: Iterator[bytes], options: ReadOptions, report: ReadReport,
         note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Yield the wanted positions of a PGN file, whose bytes come from `stream`.

    Raises InputError for an unreadable file, and for the first bad game under `strict`.
    """
    collector, before, wrong = Collector(options, report), 0, faults.Faults(report.faults, note)
    for found, place in parsed(source, stream):
        rows = found.rows[:found.count]
        bad = np.flatnonzero(rows[:, FAULT])
        texts = (f"{source}: game {before + i + 1} (byte {place + rows[i, FAULT_AT]}): {fault_text(found, rows[i])}" for i in bad)
        if options.strict and len(bad):
            raise InputError(f"{next(texts)}; fix it, or leave out --strict to skip such games")
        wrong.add(rows[bad, FAULT], (f"{text}; game skipped" for text in texts))
        report.games += found.count
        report.bytes = place + len(found.text)
        yield from collector.positions(found, before)
        before += found.count
    wrong.end(str(source), "more bad games skipped")


class Collector:
    """Turns parsed games into batches of positions, without duplicates."""

    def __init__(self, options: ReadOptions, report: ReadReport) -> None:
        self.options, self.report = options, report
        self._seen_games, self._seen_positions = report.memory.setdefault("chess", (HashSet(), HashSet()))
        self._memory = Context(SEARCH.dtype, *(options.evaluation or ()))
        if options.positions != "all" and options.evaluation is None:
            raise ValueError(f"positions={options.positions!r} needs an evaluation")

    def _chosen(self, found: ParsedGames, identities: np.ndarray) -> np.ndarray:
        rows, report, options = found.rows[:found.count], self.report, self.options
        good = rows[:, FAULT] == faults.OK
        decided = good & (rows[:, RESULT] != UNDECIDED)
        keep = decided & (np.minimum(rows[:, WHITE_ELO], rows[:, BLACK_ELO]) >= options.min_elo)
        report.bad += int((~good).sum())
        report.undecided += int((good & ~decided).sum())
        report.below_elo += int((decided & ~keep).sum())
        if options.duplicates != "keep":
            before = int(keep.sum())
            new = keep_new(identities, self._seen_games.reserve(found.count), keep)
            self._seen_games.used(new)
            report.duplicate_games += before - new
        return np.flatnonzero(keep)

    def positions(self, found: ParsedGames, before: int) -> Iterator[PositionBatch]:
        """Yield the wanted positions of games that come after `before` others in their file."""
        options, report = self.options, self.report
        identities = np.zeros(found.count, np.uint64)
        identify(found.rows, found.starts, found.moves, found.count, identities)
        chosen = self._chosen(found, identities)
        room = max(1 << 15, int(found.rows[:found.count, PLIES].max(initial=0)) + 1)
        begin = 0
        while begin < len(chosen):
            out = np.empty((room, WORDS), np.uint64)
            outcomes, scores = np.empty((2, room), np.float32)
            ends, openings = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.uint64)
            after = collect(found.rows, found.starts, found.moves, found.scores, chosen, begin, KINDS[options.positions],
                            self._memory.records, options.skip_start, options.skip_end, options.per_game, identities,
                            np.uint64(options.seed), out, outcomes, scores, ends, openings)
            taken = after - begin
            ends, openings = ends[:taken], openings[:taken]
            n = int(ends[-1])
            batch = PositionBatch(out[:n], outcomes[:n], np.concatenate([[0], ends[:-1]]), identities[chosen[begin:after]],
                                  openings, before + chosen[begin:after] + 1, scores[:n])
            if options.duplicates == "positions":
                batch = self._without_seen(batch)
            report.used += taken
            report.positions += len(batch.positions)
            yield batch
            begin = after

    def _without_seen(self, batch: PositionBatch) -> PositionBatch:
        keep = np.ones(len(batch.positions), np.bool_)
        keys = np.ascontiguousarray(batch.positions[:, -1])
        new = keep_new(keys, self._seen_positions.reserve(len(keys)), keep)
        self._seen_positions.used(new)
        self.report.duplicate_positions += len(keys) - new
        return batch.only(keep)
