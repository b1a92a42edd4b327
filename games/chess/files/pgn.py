"""Read PGN files in pieces of bounded size: parsed games are replayed, the wanted positions
collected into batches. Faulty games are reported and skipped."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba.core import types

from games.bits import EMPTY
from games.chess.files import faults
from games.chess.files.movetext import read_games
from games.chess.files.tokens import (
    BLACK_ELO,
    BY_TAG,
    FAULT,
    FAULT_AT,
    FAULT_END,
    FAULT_PLY,
    FIELDS,
    FIRST_MOVE,
    FORFEIT,
    HAS_TAGS,
    PLIES,
    RESULT,
    UNDECIDED,
    WHITE_ELO,
    moves_type,
    positions_type,
    row_type,
    rows_type,
    score_at,
    scores_type,
)
from games.chess.rules import entry, inner
from games.chess.rules.movegen import MAX_MOVES, generate
from games.chess.rules.position import START, WORDS, checkers, load, make, store
from games.chess.search import SEARCH
from games.compile.hashset import FACTOR, HashSet, insert, mix, table_type
from games.compile.jit import record
from games.reading import Faults
from games.record import PositionBatch, ReadOptions, ReadReport
from games.search.context import Context
from games.streams import UTF8_MARK, InputError, pieces

ALL, QUIET, RESOLVE = 0, 1, 2
OPENING_PLIES = 8
S31, S11 = np.uint64(31), np.uint64(11)
keys_type = types.Array(types.uint64, 1, "C")
is_quiet, resolve = SEARCH.quiescence.is_quiet, SEARCH.quiescence.resolve


@inner(types.int64(types.int64, SEARCH.context_type, positions_type, types.int64))
def take(kind, c, out, n):
    """Store the position of a search context, or its leaf, in out[n] if it is of the wanted kind;
    returns the new n."""
    if kind == QUIET and not is_quiet(c):
        return n
    if kind == RESOLVE and not resolve(c):
        return n
    store(out[n], load(c.stack[0]))
    return n + 1


@entry(types.void(rows_type, positions_type, moves_type, types.int64, keys_type))
def identify(games, starts, moves, n, identities):
    """Write a hash of the start and the moves of each of n games to `identities`."""
    for g in range(n):
        h = starts[g, 9]
        first = games[g, FIRST_MOVE]
        for i in range(first, first + games[g, PLIES]):
            h = (h ^ np.uint64(moves[i])) * FACTOR
            h ^= h >> S31
        identities[g] = mix(h)


@entry(
    types.void(
        rows_type, positions_type, moves_type, types.Array(types.boolean, 1, "C"), moves_type
    )
)
def only_mated(games, starts, moves, keep, room):
    """Clear keep[i] where game i does not end in mate; `room` is for the moves of a position."""
    for g in range(len(keep)):
        if keep[g]:
            p, first = load(starts[g]), games[g, FIRST_MOVE]
            for i in range(first, first + games[g, PLIES]):
                p = make(p, np.int64(moves[i]))
            keep[g] = checkers(p) != EMPTY and generate(p, False, room) == 0


@entry(types.void(rows_type, positions_type, moves_type, types.int64, positions_type, row_type))
def write_ends(games, starts, moves, n, ends, times):
    """Write the last position of each of n games to `ends`, and how often its key occurred in
    `times`."""
    for g in range(n):
        p, first = load(starts[g]), games[g, FIRST_MOVE]
        for i in range(first, first + games[g, PLIES]):
            p = make(p, np.int64(moves[i]))
        store(ends[g], p)
        key = p.key
        p = load(starts[g])
        times[g] = 1
        for i in range(first, first + games[g, PLIES]):
            times[g] += p.key == key
            p = make(p, np.int64(moves[i]))


@entry(types.int64(keys_type, table_type, types.Array(types.boolean, 1, "C")))
def keep_new(keys, table, keep):
    """Clear keep[i] where keys[i] is in the hash table already, and add the new keys; returns the
    number of new keys."""
    new = 0
    for i in range(len(keys)):
        if keep[i]:
            keep[i] = insert(table, keys[i])
            new += keep[i]
    return new


@inner(
    types.int64(positions_type, scores_type, types.int64, types.int64, types.int64, types.uint64)
)
def _sample(out, scores, begin, end, wanted, seed):
    """Keep a random sample of `wanted` of out[begin:end] and their scores, in order; returns the
    new end."""
    kept = begin
    for i in range(begin, end):
        seed = mix(seed)
        draw = np.float64(seed >> S11) * (1.0 / (1 << 53))
        if draw * (end - i) < wanted - (kept - begin):
            store(out[kept], load(out[i]))
            scores[kept] = scores[i]
            kept += 1
    return kept


class Parsed(NamedTuple):
    """Games of the parser: rows, starts, all their moves and recorded scores, and hashes."""

    rows: np.ndarray
    starts: np.ndarray
    moves: np.ndarray
    scores: np.ndarray
    identities: np.ndarray


class Wanted(NamedTuple):
    """Which positions of a game are wanted: their kind, how many plies of the game, and which share
    of them, are skipped at its start, how many at its end, and how many positions at most, 0 for
    all, sampled by a seed."""

    kind: int
    skip_start: int
    from_share: float
    skip_end: int
    per_game: int
    seed: np.uint64


class Collected(NamedTuple):
    """Room for positions with outcomes and scores, and for the end and the opening of each game."""

    positions: np.ndarray
    outcomes: np.ndarray
    scores: np.ndarray
    ends: np.ndarray
    openings: np.ndarray


I64 = types.int64
parsed_type = record(Parsed, rows_type, positions_type, moves_type, scores_type, keys_type)
wanted_type = record(Wanted, I64, I64, types.float64, I64, I64, types.uint64)
collected_type = record(Collected, positions_type, scores_type, scores_type, row_type, keys_type)


@entry(I64(parsed_type, row_type, I64, wanted_type, SEARCH.contexts_type, collected_type))
def collect(parsed, chosen, begin, wanted, contexts, collected):
    """Write the wanted positions of the games chosen[begin:] while a whole game fits.

    A resolved position keeps the score of the position that it replaces. The positions of the k-th
    game taken end at ends[k]; openings[k] is the key of its position after eight plies. Returns the
    index in `chosen` to continue with."""
    games, starts, moves, recorded, identities = parsed
    kind, skip_start, from_share, skip_end, per_game, seed = wanted
    out, outcomes, scores, ends, openings = collected
    n, c = 0, contexts[0]
    for k in range(begin, len(chosen)):
        g = chosen[k]
        game = games[g]
        plies, first = game[PLIES], game[FIRST_MOVE]
        if n + plies + 1 > len(out):
            return k
        p = load(starts[g])
        opening = p.key
        game_begin = n
        begin_at = max(skip_start, np.int64(math.ceil(from_share * plies)))
        for ply in range(plies + 1):
            if ply <= OPENING_PLIES:
                opening = p.key
            if begin_at <= ply <= plies - skip_end:
                store(c.stack[0], p)
                scores[n] = score_at(game, recorded, ply)
                n = take(kind, c, out, n)
            if ply < plies:
                p = make(p, np.int64(moves[first + ply]))
        if per_game and n - game_begin > per_game:
            n = _sample(out, scores, game_begin, n, per_game, mix(identities[g] ^ seed))
        for i in range(game_begin, n):
            outcomes[i] = games[g, RESULT]
        ends[k - begin] = n
        openings[k - begin] = opening
    return len(chosen)


WINDOW = 1 << 20
# the longest game or line; a file is refused after this number of bytes without any
MAX_GAME_BYTES = 1 << 24


def windows(
    name: str,
    stream: Iterator[bytes],
    parse: Callable[[np.ndarray, bool], int],
) -> Iterator[int]:
    """Feed a stream of bytes to `parse(text, final)`, which returns the number of bytes used. The
    mark of UTF-8 at the start of the stream is skipped.

    Yields the byte offset of each window after it was parsed. A window begins with the unused bytes
    of its predecessor and is at least twice as long, so that no byte is parsed more than a few
    times, however long a game is. If the stream fails, the bytes read so far are parsed before the
    InputError is raised. InputError for a game or line of more than MAX_GAME_BYTES."""
    held, place, ended, begun, problem = b"", 0, False, False, None
    while not ended:
        parts, size = [held], len(held)
        wanted = max(WINDOW, 2 * len(held))
        while size < wanted and not ended:
            try:
                piece = next(stream, None)
            except InputError as failed:
                piece, problem = None, failed
            if piece is None:
                ended = True
            else:
                parts.append(piece)
                size += len(piece)
        held = b"".join(parts)
        if not begun and held:
            begun = True
            if held.startswith(UTF8_MARK):
                held, place = held[len(UTF8_MARK) :], place + len(UTF8_MARK)
        done = 0
        while True:
            used = parse(np.frombuffer(held, np.uint8)[done:], ended and problem is None)
            yield place + done
            done += used
            if used == 0 or done >= len(held):
                break
        held, place = held[done:], place + done
        if len(held) > MAX_GAME_BYTES and problem is None:
            raise InputError(
                f"{name}: byte {place}: more than {MAX_GAME_BYTES:,} bytes without the end of a"
                " game or"
                " line; expected games in PGN, or lines of labeled positions"
            )
    if problem:
        raise problem


ROOM = 4096  # games parsed at a time
KINDS = {"all": ALL, "moves": ALL, "quiet": QUIET, "resolve": RESOLVE}


class ParsedGames:
    """The games of one window of text: rows of FIELDS, starts (n, 10), and all their moves and
    recorded scores."""

    def __init__(self) -> None:
        self.rows = np.zeros((ROOM, len(FIELDS)), np.int64)
        self.starts = np.zeros((ROOM, WORDS), np.uint64)
        self.moves, self.scores = np.zeros(0, np.uint32), np.zeros(0, np.float32)
        self.text = np.zeros(0, np.uint8)
        self.count = 0

    def parse(self, text: np.ndarray, final: bool) -> int:
        """Parse games from the start of a text; returns the number of bytes used."""
        if len(self.moves) < len(text) // 2 + 1:
            self.moves = np.zeros(len(text) // 2 + 1, np.uint32)
            self.scores = np.empty(len(self.moves) + ROOM, np.float32)
        counts = np.zeros(2, np.int64)
        used = read_games(
            text,
            0,
            len(text),
            final,
            START,
            self.rows,
            self.starts,
            self.moves,
            self.scores,
            counts,
        )
        self.count, self.text = int(counts[0]), text
        return int(used)

    def any_like_games(self) -> bool:
        """Whether any of the games has tags or legal moves, and is not just text that ends like a
        game."""
        rows = self.rows[: self.count]
        fault, tags = rows[:, FAULT], rows[:, HAS_TAGS] == 1
        return bool(
            (tags & (fault != faults.TAG) | (rows[:, PLIES] > 0) & (fault == faults.OK)).any()
        )


def parsed(
    source: str | Path, stream: Iterator[bytes] | None = None
) -> Iterator[tuple[ParsedGames, int]]:
    """Yield the games of a file, window by window, with the byte offset of the window; always the
    same object.

    `stream`: the bytes of a file that is open already. InputError after MAX_GAME_BYTES without a
    game."""
    games, last = ParsedGames(), 0  # end of the last window with a game
    for place in windows(str(source), pieces(source) if stream is None else stream, games.parse):
        if games.count:
            if games.any_like_games():
                last = place + len(games.text)
            yield games, place
        if place - last > MAX_GAME_BYTES:
            raise InputError(
                f"{source}: byte {last}: no game in {MAX_GAME_BYTES:,} bytes; expected PGN"
            )


def fault_text(found: ParsedGames, row: np.ndarray) -> str:
    """Return the fault of a game as a sentence."""
    token = bytes(found.text[row[FAULT_AT] : row[FAULT_END]]).decode("utf-8", "replace")
    token = token if len(token) <= 40 else token[:37] + "..."
    return faults.SENTENCES[int(row[FAULT])].format(token=token, ply=int(row[FAULT_PLY]))


def read(
    source: str | Path,
    stream: Iterator[bytes],
    options: ReadOptions,
    report: ReadReport,
    note: Callable[[str], None],
) -> Iterator[PositionBatch]:
    """Yield the wanted positions of a file, whose bytes come from `stream`.

    Raises InputError for an unreadable file, and for the first bad game under `strict`."""
    collector, before, wrong = (
        Collector(options, report),
        0,
        Faults(str(source), "game", options.strict, report, note),
    )
    for games, place in parsed(source, stream):
        rows = games.rows[: games.count]
        bad = np.flatnonzero(rows[:, FAULT])
        for code in np.unique(rows[bad, FAULT]):
            report.faults.setdefault(faults.kind_of_fault(int(code)), 0)
        for i in bad:
            wrong.add(
                f" game {before + i + 1} (byte {place + rows[i, FAULT_AT]})",
                fault_text(games, rows[i]),
                faults.kind_of_fault(int(rows[i, FAULT])),
            )
        report.games += games.count
        report.bytes = place + len(games.text)
        yield from collector.positions(games, before)
        before += games.count
    wrong.end()


class Collector:
    """Turns parsed games into batches of positions, without duplicates."""

    def __init__(self, options: ReadOptions, report: ReadReport) -> None:
        self.options, self.report = options, report
        self._seen_games, self._seen_positions = report.memory.setdefault(
            "chess", (HashSet(), HashSet())
        )
        self._memory = Context(SEARCH.dtype, *(options.evaluation or ()))
        if options.positions != "all" and options.evaluation is None:
            raise ValueError(f"positions={options.positions!r} needs an evaluation")

    def _chosen(self, found: ParsedGames, identities: np.ndarray) -> np.ndarray:
        rows, report, options = found.rows[: found.count], self.report, self.options
        good = rows[:, FAULT] == faults.OK
        decided = good & (rows[:, RESULT] != UNDECIDED)
        report.by_tag += int((rows[:, BY_TAG] * decided).sum())
        keep = decided & (np.minimum(rows[:, WHITE_ELO], rows[:, BLACK_ELO]) >= options.min_elo)
        report.undecided += int((good & ~decided).sum())
        report.below_elo += int((decided & ~keep).sum())
        if options.ended != "any":
            before = int(keep.sum())
            keep &= rows[:, RESULT] != 0
            if options.ended == "mate":
                room = np.empty(MAX_MOVES, np.uint32)
                only_mated(found.rows, found.starts, found.moves, keep, room)
            report.ended_otherwise += before - int(keep.sum())
        if options.duplicates != "keep":
            before = int(keep.sum())
            new = keep_new(identities, self._seen_games.reserve(found.count), keep)
            self._seen_games.used(new)
            report.duplicate_games += before - new
        return np.flatnonzero(keep)

    def positions(self, found: ParsedGames, before: int) -> Iterator[PositionBatch]:
        """Yield the wanted positions of games after the first `before` of their file."""
        options, report = self.options, self.report
        identities = np.zeros(found.count, np.uint64)
        identify(found.rows, found.starts, found.moves, found.count, identities)
        chosen = self._chosen(found, identities)
        room = max(1 << 15, int(found.rows[: found.count, PLIES].max(initial=0)) + 1)
        begin = 0
        while begin < len(chosen):
            outcomes, scores = np.empty((2, room), np.float32)
            ends, openings = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.uint64)
            out = np.empty((room, WORDS), np.uint64)
            after = collect(
                Parsed(found.rows, found.starts, found.moves, found.scores, identities),
                chosen,
                begin,
                Wanted(
                    KINDS[options.positions],
                    options.skip_start or 0,
                    options.from_share,
                    options.skip_end,
                    options.per_game,
                    np.uint64(options.seed),
                ),
                self._memory.records,
                Collected(out, outcomes, scores, ends, openings),
            )
            taken = after - begin
            ends, openings = ends[:taken], openings[:taken]
            n = int(ends[-1])
            batch = PositionBatch(
                out[:n],
                outcomes[:n],
                np.concatenate([[0], ends[:-1]]),
                identities[chosen[begin:after]],
                openings,
                before + chosen[begin:after] + 1,
                scores[:n],
                (found.rows[chosen[begin:after]][:, [FORFEIT, RESULT]] != 0).all(axis=1),
            )
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
