"""Read files of shogi into batches of positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b

import numpy as np

from games.faults import Faults
from games.record import PositionBatch, ReadOptions, ReadReport
from games.shogi import content, csa, kif, packed
from games.shogi.collect import Selector
from games.shogi.gamefile import DECIDED, ParsedGame
from games.shogi.position import KEY, SIDE, STATE, WORDS
from games.streams import InputError, beginning, pieces

OPENING_PLIES = 8  # skipped by default, and hashed as the opening
RECORDS = 1 << 14  # packed records read at a time


def parse(source: str, form: str) -> Iterator[ParsedGame]:
    """Yield the games of a text file, with their faults noted in them."""
    return games_of(content.lines_of(source), form)


def games_of(lines: list[str], form: str) -> Iterator[ParsedGame]:
    """Yield the games of the lines of a file, with their faults noted in them."""
    for begin, end in content.games_apart(lines, form):
        games = csa.read_games(lines[begin:end]) if form == content.CSA else [kif.read_game(lines[begin:end])]
        for game in games:
            game.begin += begin
            if game.fault:
                game.fault.line += begin
            yield game


def read(source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Yield the positions of a file; InputError if it cannot be read, and for the first bad game under `strict`.

    Default: the quiet positions of games from the ninth ply on, and all packed positions.
    """
    form = content.of_file(str(source))
    selector = Selector(options, "all" if form in content.PACKED else "quiet")
    if form in content.PACKED:
        yield from _read_packed(str(source), form, selector, options, report, note)
        return
    memory, faults = report.memory.setdefault("shogi", set()), Faults(str(source), "game", options.strict, report, note)
    for number, game in enumerate(parse(str(source), form), 1):
        report.games += 1
        if game.fault:
            faults.add(game.fault.line, game.fault.text, game.fault.kind)
        elif game.result is None:
            report.undecided += 1
        elif options.min_elo and min(game.elo.get("black", 0), game.elo.get("white", 0)) < options.min_elo:
            report.below_elo += 1
        elif (identity := _hash(game, len(game.moves))) in memory and options.duplicates != "keep":
            report.duplicate_games += 1
        else:
            memory.add(identity)
            yield _batch(game, number, identity, selector, options, report, memory)
    faults.end()


def _hash(game: ParsedGame, plies: int) -> np.uint64:
    content = game.line[0][KEY].tobytes() + np.array(game.moves[:plies], np.uint32).tobytes()
    return np.frombuffer(blake2b(content, digest_size=8).digest(), np.uint64)[0]


def _batch(game: ParsedGame, number: int, identity: np.uint64, selector: Selector, options: ReadOptions, report: ReadReport,
           memory: set) -> PositionBatch:
    """Return the wanted positions of one game."""
    first = OPENING_PLIES if options.skip_start is None else options.skip_start
    plies = np.arange(first, max(first, len(game.line) - options.skip_end))
    positions, keep = selector.take(np.array([game.line[ply] for ply in plies], np.uint64).reshape(-1, WORDS))
    positions, plies = positions[keep], plies[keep]
    if options.per_game and len(plies) > options.per_game:
        draw = np.random.default_rng([int(identity), options.seed])
        some = np.sort(draw.choice(len(plies), options.per_game, replace=False))
        positions, plies = positions[some], plies[some]
    if options.duplicates == "positions":
        new = np.array([_seen(words, memory) for words in positions], bool)
        report.duplicate_positions += int(np.count_nonzero(~new))
        positions, plies = positions[new], plies[new]
    report.used += 1
    report.positions += len(plies)
    scores = _decided(np.array([game.scores.get(int(ply), np.nan) for ply in plies], np.float32))
    return PositionBatch(positions, np.full(len(plies), game.result, np.float32), np.zeros(1, np.int64), np.array([identity]),
                         np.array([_hash(game, OPENING_PLIES)]), np.array([number]), scores if game.scores else None)


def _seen(words: np.ndarray, memory: set) -> bool:
    """Add a position to those seen, and return whether it is new."""
    before = len(memory)
    memory.add(words[KEY].tobytes())
    return len(memory) > before


def _read_packed(source: str, form: str, selector: Selector, options: ReadOptions, report: ReadReport,
                 note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Yield packed positions; each is a game of its own. What is left of a record at the end is an error."""
    dtype = packed.PSV_DTYPE if form == content.PSV else packed.HCPE_DTYPE
    faults = Faults(source, "record", options.strict, report, note)
    stream, number, left = pieces(source, text=False), 0, b""
    while chunk := left + beginning(stream, RECORDS * dtype.itemsize):
        size = len(chunk) - len(chunk) % dtype.itemsize
        if not size:
            raise InputError(f"{source}: record {number + 1} has {len(chunk)} bytes, expected {dtype.itemsize} of a {form}; the "
                             "file is cut off or has another format")
        left = chunk[size:]
        rows = np.frombuffer(chunk[:size], dtype)
        yield from _packed_batch(rows, number, form, selector, options, report, faults)
        number += len(rows)
        report.bytes += size
    faults.end()


def _packed_batch(rows: np.ndarray, before: int, form: str, selector: Selector, options: ReadOptions, report: ReadReport,
                  faults: Faults) -> Iterator[PositionBatch]:
    positions, wrong = unpacked(rows)
    results, known = outcomes_of(rows, positions, form)
    report.games += len(rows)
    for i in np.flatnonzero((wrong != packed.NONE) | ~known):
        kind = packed.SENTENCES[wrong[i]] if wrong[i] else f"unknown result {int(rows['result'][i])}"
        faults.add(f" record {before + i + 1}", kind, kind)
    keep = (wrong == packed.NONE) & known
    if options.min_elo:  # records have no ratings
        report.below_elo += int(np.count_nonzero(keep))
        return
    if options.duplicates == "positions":
        memory = report.memory.setdefault("shogi", set())
        new = np.array([bool(kept) and _seen(words, memory) for words, kept in zip(positions, keep, strict=True)], bool)
        report.duplicate_games += int(np.count_nonzero(keep & ~new))
        keep = new
    chosen = np.flatnonzero(keep)
    taken, wanted = selector.take(positions[chosen])  # a resolved position keeps the score of the one that it replaces
    positions[chosen] = taken
    chosen = chosen[wanted]
    report.used += len(chosen)
    report.positions += len(chosen)
    if len(chosen):
        keys = positions[chosen, KEY]
        yield PositionBatch(positions[chosen], results[chosen], np.arange(len(chosen)), keys, keys.copy(), before + 1 + chosen,
                            scores_of(rows, positions)[chosen])


def unpacked(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions (n, 15) of packed records and their faults (n,); the moves of PackedSfenValue are numbered."""
    positions, faults = np.zeros((len(rows), WORDS), np.uint64), np.zeros(len(rows), np.int64)
    packed.unpack_all(np.array(rows["position"]), rows.dtype == packed.HCPE_DTYPE, positions, faults)
    if rows.dtype == packed.PSV_DTYPE:
        positions[:, STATE] &= np.uint64(0xFFFF)
        positions[:, STATE] |= rows["ply"].astype(np.uint64) << np.uint64(16)
    return positions, faults


def _signs(positions: np.ndarray) -> np.ndarray:
    return np.where(positions[:, STATE] & SIDE, -1, 1)


def outcomes_of(rows: np.ndarray, positions: np.ndarray, form: str) -> tuple[np.ndarray, np.ndarray]:
    """Return Black's results (n,) float32 of packed records, and whether they are known."""
    found = rows["result"].astype(np.int64)
    if form == content.PSV:
        return (found * _signs(positions)).astype(np.float32), np.abs(found) <= 1
    return np.where(found == 2, -1, found).astype(np.float32), (found >= 0) & (found <= 2)


def scores_of(rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the scores (n,) float32 of packed records for Black, in centipawns; infinite for forced wins."""
    return (_decided(rows["score"].astype(np.float32)) * _signs(positions)).astype(np.float32)


def _decided(scores: np.ndarray) -> np.ndarray:
    """Return scores with those of forced wins as infinite."""
    return np.where(np.abs(scores) >= DECIDED, np.copysign(np.float32(np.inf), scores), scores).astype(np.float32)
