"""Build a dataset from files of games."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from games.record import Game, PositionBatch, ReadOptions, ReadReport
from games.streams import InputError, plain_name
from tuner import __version__
from tuner.datasets.dataset import Dataset
from tuner.datasets.format import ARRAYS, OPTIONAL, is_dataset
from tuner.datasets.reader import open_dataset
from tuner.datasets.writer import DatasetWriter
from tuner.engine.counter import Counter
from tuner.engine.engine import Engine
from tuner.engine.loading import Evaluator
from tuner.io.files import sha256_of


class NothingLeft(InputError):
    """No position is left of the games that were read."""


def recorded_scores(batch: PositionBatch) -> np.ndarray:
    """Return the scores (n,) that the file of games records."""
    return batch.recorded


@dataclass(frozen=True)
class BuildReport:
    """Totals over all files read, and the files with their hashes."""

    total: ReadReport
    sources: list[dict] = field(default_factory=list)


def sha256(path: str | Path) -> str:
    """Return the hash of a file, or "-" if it cannot be read again, such as standard input and pipes, or not at all."""
    return sha256_of(path) if os.path.isfile(path) and os.access(path, os.R_OK) else "-"


def expand(sources: Sequence[str], suffixes: Sequence[str],
           holds_games: Callable[[str], bool] = lambda name: False) -> list[str]:
    """Return the files to read: of a folder, its game files, recognised by name or, with `holds_games`, by content."""
    files = []
    for source in sources:
        if source != "-" and os.path.isdir(source):
            inside = sorted(str(file) for file in Path(source).iterdir()
                            if not file.name.startswith(".") and not file.is_dir()
                            and (plain_name(file.name.lower()).endswith(tuple(suffixes)) or holds_games(str(file))))
            if not inside:
                raise InputError(f"{source}: holds no {' or '.join(suffixes)} file and is not a dataset")
            files.extend(inside)
        elif source != "-" and not os.path.exists(source):  # reported before reading the files before it
            raise InputError(f"{source}: no such file")
        else:
            files.append(source)
    return files


def batches(game: Game, sources: Sequence[str], options: ReadOptions, report: ReadReport,
            note: Callable[[str], None]) -> Iterator[tuple[str, Iterator[PositionBatch]]]:
    """Yield the files of the sources, each with the batches read from it.

    A file of a folder that cannot be read to its end is noted and skipped from there, unless reading is strict. InputError
    for such a file if it was named itself.
    """
    for source in expand(sources, game.suffixes, game.holds_games):
        read = game.read(source, options, report, note)
        yield source, read if options.strict or source in sources else _as_far_as_it_goes(read, report, note)


def _as_far_as_it_goes(read: Iterator[PositionBatch], report: ReadReport, note: Callable[[str], None]) -> Iterator[PositionBatch]:
    before = report.games
    while True:
        try:
            batch = next(read, None)
        except InputError as problem:
            games = report.games - before
            note(f"{problem}; " + (f"only the first {games:,} games of this file were read" if games else "file skipped"))
            return
        if batch is None:
            return
        yield batch


def prepared(options: ReadOptions, quiescence: Evaluator | None) -> tuple[ReadOptions, np.ndarray | None]:
    """Return options with the evaluation for quiescence, and its weights, which the caller keeps alive while options are used."""
    if quiescence is None:
        return options, None
    engine, parameters = quiescence
    packed = engine.packed(parameters)
    return replace(options, evaluation=engine.evaluation(packed)), packed


def count_positions(engine: Engine, sources: Sequence[str], options: ReadOptions, quiescence: Evaluator | None,
                    note: Callable[[str], None], progress: Callable[[ReadReport], None]) -> int | None:
    """Read the games once without keeping them; return how many positions `build` will find.

    None, and nothing is read, if a source can be read only once (standard input, pipes) or is a dataset.
    """
    if any(source == "-" or is_dataset(source) for source in sources):
        return None
    if not all(map(os.path.isfile, expand(sources, engine.game.suffixes, engine.game.holds_games))):
        return None
    options, packed = prepared(options, quiescence)
    report, positions = ReadReport(), 0
    for _, read in batches(engine.game, sources, options, report, note):
        for batch in read:
            positions += len(batch.positions)
            progress(report)
    del packed
    return positions


def build(engine: Engine, sources: Sequence[str], target: Path, options: ReadOptions, quiescence: Evaluator | None,
          note: Callable[[str], None], progress: Callable[[ReadReport], None] = lambda report: None,
          retarget: Callable[[PositionBatch], PositionBatch] | None = None,
          scores: Callable[[PositionBatch], np.ndarray] = recorded_scores) -> tuple[Dataset, BuildReport]:
    """Read games into a new dataset at `target`, with the `scores` of positions where there are any; return it with a report.

    `quiescence` is the evaluation for quiet and resolved positions, None if positions are not filtered by quiescence.
    `retarget` replaces outcomes or positions, or leaves some out. NothingLeft if no position is left.
    """
    options, packed = prepared(options, quiescence)
    report, counter = ReadReport(), Counter(engine.composition)
    names = []
    with DatasetWriter(target, {**ARRAYS, "score": OPTIONAL["score"]}) as writer:
        last = None
        for source, read in batches(engine.game, sources, options, report, note):
            for batch in read:
                batch = retarget(batch) if retarget else batch
                try:
                    rows = counter.count(batch.positions)
                except OverflowError as problem:
                    raise InputError(f"{source}: {problem}") from None
                # games without selected positions are left out
                some = np.flatnonzero(np.diff(batch.first, append=len(batch.positions)))
                first, identities, openings = batch.first[some] + writer.positions, batch.identities[some], batch.openings[some]
                writer.add_positions(rows._replace(outcome=batch.outcomes))
                found = scores(batch)
                writer.add_optional("score", found, not np.isnan(found).all())
                # a game of labelled positions may continue in the next batch
                new = slice(1 if len(some) and last == identities[0] else 0, None)
                writer.add_games(first[new], identities[new], openings[new])
                if len(some):
                    last = identities[-1]
                progress(report)
            names.append({"file": Path(source).name, "sha256": sha256(source)})
        if writer.positions == 0:
            raise NothingLeft(nothing_left(sources, report, engine.game.suffixes))
        del packed
        writer.finish({
            "program": f"evaltune {__version__}", "game": engine.game.name, "sources": names,
            "options": {name: value for name, value in asdict(options).items() if name != "evaluation"},
            "layout": engine.layout.describe(), "terms": engine.composition.name, "apart": engine.composition.curved,
            "phases": engine.phases, "stages": list(engine.game.stages), "read": asdict(report)})
    return open_dataset(target, check=False), BuildReport(report, names)


def nothing_left(sources: Sequence[str], report: ReadReport, suffixes: Sequence[str]) -> str:
    """Say that no position is left of the games that were read, and why."""
    where = ", ".join(str(source) for source in sources)
    if report.games == 0 and report.bad == 0:
        return f"{where}: no games found; expected files of the kinds {', '.join(suffixes)}"
    parts = [f"{count:,} {what}" for count, what in (
        (report.bad, "bad"), (report.undecided, "undecided"), (report.below_elo, "below the Elo wanted"),
        (report.duplicate_games, "duplicates")) if count]
    return (f"{where}: no position left of {report.games:,} games ({', '.join(parts) or 'all positions were filtered out'}); "
            "expected decided games, or choose other filters")
