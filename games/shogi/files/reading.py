"""Read files of shogi into batches of positions: games as CSA or KIF, and packed positions, by the
name of a file or its first lines."""

import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numba.core import types

from games.reading import (
    Faults,
    FileGame,
    Policy,
    format_by_name,
    hash_of,
    refuse_foreign,
    start_of,
)
from games.record import PositionBatch, ReadOptions, ReadReport
from games.search.context import Context
from games.shogi.files import csa, kif, packed
from games.shogi.files.gamefile import DECIDED, ParsedGame
from games.shogi.rules import entry
from games.shogi.rules.position import KEY, SIDE, STATE, WORDS, load, store
from games.shogi.search import SEARCH
from games.streams import InputError, beginning, lines, pieces

CSA, KIF, PSV, HCPE = "CSA", "KIF", "PackedSfenValue", "hcpe"
SUFFIXES = {".csa": CSA, ".kif": KIF, ".kifu": KIF, ".psv": PSV, ".bin": PSV, ".hcpe": HCPE}
PACKED = (PSV, HCPE)
START = 1 << 14  # bytes at the start of a file that are examined
_NEW_KIF = re.compile(r"#\s*KIF|# ----|開始日時|手合割|手数--|[先下後上]手：")
FILE_END = "\0"  # a line between the files of an archive
_KIF_MOVE = re.compile(r"\s*[0-9]+\s", re.ASCII)
_NEW_CSA = re.compile(r"V[1-3]|N[+-]|\$[A-Z_+-]+:|P[I1-9+-]", re.ASCII)
_CSA_MOVE = re.compile(r"([^'].*,)?([+-][0-9]{4}[A-Z]{2}|%)", re.ASCII)


def by_name(name: str) -> str | None:
    """Return the format that a file name says, or None."""
    return format_by_name(name, SUFFIXES)


def form_of(name: str) -> str | None:
    """Return the format of a file: by its suffix, otherwise by its first lines; None if neither
    decides."""
    return by_name(name) or of_lines(decoded(start_of(name, START)).splitlines())


def of_file(name: str) -> str:
    """Return the format of a file; InputError if nothing decides."""
    if form := form_of(name):
        return form
    raise InputError(
        f"{name}: neither the name nor the first lines say the format, expected a file of games of"
        f" shogi with the suffix {', '.join(SUFFIXES)}"
    )


def of_lines(lines: Iterable[str]) -> str | None:
    """Return the format that lines of text say, or None."""
    return next(
        (
            form
            for line in lines
            for form, begins in ((CSA, csa.begins), (KIF, kif.begins))
            if begins(line)
        ),
        None,
    )


def decoded(content: bytes) -> str:
    """Return the text of a file in UTF-8 or cp932, with marks for what is neither: in UTF-8 if most
    lines outside ASCII are, which those of cp932 hardly ever are."""
    foreign = [line for line in content.splitlines() if not line.isascii()]
    marked = sum("\ufffd" in line.decode("utf-8", "replace") for line in foreign)
    return content.decode("cp932" if 2 * marked > len(foreign) else "utf-8-sig", "replace")


def lines_of(source: str) -> list[str]:
    """Return the lines of a text file, or of all files of an archive with FILE_END between them."""
    files: list[list[bytes]] = []
    for line in lines(source, pieces(source, begins=lambda: files.append([]))):
        files[-1].append(line)
    texts = [re.split("\r\n|\n|\r", decoded(b"\n".join(file))) for file in files]
    return [line for text in texts for line in (*text, FILE_END)][:-1]


def games_apart(lines: list[str], form: str) -> list[tuple[int, int]]:
    """Return where the games of a file begin and end: a new one begins with its first header behind
    moves."""
    ranges, begin, moved = [], 0, False
    header, move = (_NEW_CSA, _CSA_MOVE) if form == CSA else (_NEW_KIF, _KIF_MOVE)
    for number, line in enumerate(lines):
        begins = header.match(line.lstrip("\ufeff"))
        ends = line == FILE_END or form == CSA and line.rstrip() == "/"
        if begins and moved or ends:
            ranges.append((begin, number))
            begin, moved = number + ends, False
        moved = moved or bool(move.match(line))
    ranges.append((begin, len(lines)))
    return [
        (begin, end)
        for begin, end in ranges
        if any(line.strip(" 　\ufeff") for line in lines[begin:end])
    ]


ALL, QUIET, RESOLVE = 0, 1, 2
KINDS = {"all": ALL, "moves": ALL, "quiet": QUIET, "resolve": RESOLVE}
positions_type = types.Array(types.uint64, 2, "C")
_is_quiet, _resolve = SEARCH.quiescence.is_quiet, SEARCH.quiescence.resolve


@entry(
    types.void(
        positions_type, SEARCH.contexts_type, types.int64, types.Array(types.boolean, 1, "C")
    )
)
def take_all(positions, contexts, kind, keep):
    """Set keep[i] for the quiet positions; or replace each by the leaf of its quiescence, and keep
    those whose value is no win or loss."""
    c = contexts[0]
    for i in range(len(positions)):
        store(c.stack[0], load(positions[i]))
        keep[i] = _is_quiet(c) if kind == QUIET else _resolve(c)
        if kind == RESOLVE:
            store(positions[i], load(c.stack[0]))


def selector(
    options: ReadOptions, usual: str
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return the function that selects the positions that options ask for: from positions (n, 15)
    to them, resolved if that is asked for, and which of them to keep. ValueError if it needs an
    evaluation and there is none."""
    name = usual if options.positions == "auto" else options.positions
    kind = KINDS[name]
    if kind != ALL and options.evaluation is None:
        raise ValueError(f"positions={name!r} needs an evaluation")
    memory = Context(SEARCH.dtype, *(options.evaluation or ()))

    def select(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        keep = np.ones(len(positions), np.bool_)
        if kind != ALL and len(positions):
            positions = np.ascontiguousarray(positions).copy()
            take_all(positions, memory.records, kind, keep)
        return positions, keep

    return select


OPENING_PLIES = 8  # skipped by default, and hashed as the opening
RECORDS = 1 << 14  # packed records read at a time


def parse(source: str, form: str) -> Iterator[ParsedGame]:
    """Yield the games of a text file, with their faults noted in them."""
    return games_of(lines_of(source), form)


def games_of(lines: list[str], form: str) -> Iterator[ParsedGame]:
    """Yield the games of the lines of a file, with their faults noted in them."""
    for begin, end in games_apart(lines, form):
        games = (
            csa.read_games(lines[begin:end]) if form == CSA else [kif.read_game(lines[begin:end])]
        )
        for game in games:
            game.begin += begin
            if game.fault:
                game.fault.line += begin
            yield game


def read(
    source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]
) -> Iterator[PositionBatch]:
    """Yield the positions of a file; InputError if it cannot be read, and for the first bad game
    under `strict`.

    Default: the quiet positions of games from the ninth ply on, and all packed positions.
    """
    refuse_foreign(str(source))
    form = of_file(str(source))
    select = selector(options, "all" if form in PACKED else "quiet")
    faults = Faults(
        str(source), "record" if form in PACKED else "game", options.strict, report, note
    )
    policy = Policy(
        "shogi", options, report, faults, lambda words: words[KEY].tobytes(), OPENING_PLIES, select
    )
    if form in PACKED:
        yield from _read_packed(str(source), form, policy)
    else:
        yield from policy.batches(map(_file_game, parse(str(source), form)))


def _file_game(game: ParsedGame) -> FileGame:
    if game.fault:
        return FileGame(game.fault.line, game.fault)
    scores = np.array([game.scores.get(ply, np.nan) for ply in range(len(game.line))], np.float32)
    return FileGame(
        game.begin,
        None,
        np.array(game.line, np.uint64),
        game.result,
        _hash(game, len(game.moves)),
        _hash(game, OPENING_PLIES),
        rating=min(game.elo.get("black", 0), game.elo.get("white", 0)),
        scores=_decided(scores) if game.scores else None,
    )


def _hash(game: ParsedGame, plies: int) -> np.uint64:
    return hash_of(game.line[0][KEY].tobytes() + np.array(game.moves[:plies], np.uint32).tobytes())


def _read_packed(source: str, form: str, policy: Policy) -> Iterator[PositionBatch]:
    """Yield packed positions; each is a game of its own. What is left of a record at the end is an
    error."""
    dtype = packed.PSV_DTYPE if form == PSV else packed.HCPE_DTYPE
    stream, number, left = pieces(source, text=False), 0, b""
    while chunk := left + beginning(stream, RECORDS * dtype.itemsize):
        size = len(chunk) - len(chunk) % dtype.itemsize
        if not size:
            raise InputError(
                f"{source}: record {number + 1} has {len(chunk)} bytes, expected {dtype.itemsize}"
                f" of a {form}; the file is cut off or has another format"
            )
        left = chunk[size:]
        rows = np.frombuffer(chunk[:size], dtype)
        yield from _packed_batch(rows, number, form, policy)
        number += len(rows)
        policy.report.bytes += size
    policy.faults.end()


def _packed_batch(
    rows: np.ndarray, before: int, form: str, policy: Policy
) -> Iterator[PositionBatch]:
    positions, wrong = unpacked(rows)
    results, known = outcomes_of(rows, positions, form)
    policy.report.games += len(rows)
    good = (wrong == packed.NONE) & known
    for i in np.flatnonzero(~good):
        kind = (
            packed.SENTENCES[wrong[i]] if wrong[i] else f"unknown result {int(rows['result'][i])}"
        )
        policy.faults.add(f" record {before + i + 1}", kind, kind)
    chosen = np.flatnonzero(good)
    chosen = chosen[policy.lone(positions[chosen])]
    assert policy.select is not None, "the reader selects"
    # a resolved position keeps the score of the one that it replaces
    taken, wanted = policy.select(positions[chosen])
    taken, chosen = taken[wanted], chosen[wanted]
    yield from policy.lone_batch(
        taken,
        results[chosen],
        taken[:, KEY].copy(),
        before + 1 + chosen,
        scores_of(rows, positions)[chosen],
    )


def unpacked(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions (n, 15) of packed records and their faults (n,); the moves of
    PackedSfenValue are numbered."""
    positions, faults = np.zeros((len(rows), WORDS), np.uint64), np.zeros(len(rows), np.int64)
    packed.unpack_all(
        np.array(rows["position"]), rows.dtype == packed.HCPE_DTYPE, positions, faults
    )
    if rows.dtype == packed.PSV_DTYPE:
        positions[:, STATE] &= np.uint64(0xFFFF)
        positions[:, STATE] |= rows["ply"].astype(np.uint64) << np.uint64(16)
    return positions, faults


def _signs(positions: np.ndarray) -> np.ndarray:
    return np.where(positions[:, STATE] & SIDE, -1, 1)


def outcomes_of(
    rows: np.ndarray, positions: np.ndarray, form: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return Black's results (n,) float32 of packed records, and whether they are known."""
    outcomes = rows["result"].astype(np.int64)
    if form == PSV:
        return (outcomes * _signs(positions)).astype(np.float32), np.abs(outcomes) <= 1
    return np.where(outcomes == 2, -1, outcomes).astype(np.float32), (outcomes >= 0) & (
        outcomes <= 2
    )


def scores_of(rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the scores (n,) float32 of packed records for Black, in centipawns; infinite for
    forced wins."""
    return (_decided(rows["score"].astype(np.float32)) * _signs(positions)).astype(np.float32)


def _decided(scores: np.ndarray) -> np.ndarray:
    """Return scores with those of forced wins as infinite."""
    return np.where(
        np.abs(scores) >= DECIDED, np.copysign(np.float32(np.inf), scores), scores
    ).astype(np.float32)
