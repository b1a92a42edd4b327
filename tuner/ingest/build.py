"""Build a dataset from files of games."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from games.record import PositionBatch, ReadOptions, ReadReport
from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.format import ARRAYS, OPTIONAL, is_dataset
from tuner.datasets.reader import open_dataset
from tuner.datasets.writer import DatasetWriter
from tuner.engine.counter import Counter
from tuner.engine.engine import Engine
from tuner.engine.loading import Evaluator
from tuner.ingest.counted import CountedBatch, batches, counted, expand, prepared, sha256
from tuner.ingest.file_parts import counted_files
from tuner.parallel import Executor
from tuner.version import __version__


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
          scores: Callable[[PositionBatch], np.ndarray] = recorded_scores,
          executor: Executor | None = None) -> tuple[Dataset, BuildReport]:
    """Read games into a new dataset at `target`, with the `scores` of positions where there are any; return it with a report.

    `quiescence` is the evaluation for quiet and resolved positions, None if positions are not filtered by quiescence.
    `retarget` replaces outcomes or positions, or leaves some out. The files are read by this thread or, without `retarget` and
    with recorded scores, on an executor. NothingLeft if no position is left.
    """
    prepared_options, packed = prepared(options, quiescence)
    report, counter = ReadReport(), Counter(engine.composition)
    names = []

    def counted_here() -> Iterator[tuple[str, Iterator[CountedBatch]]]:
        for source, read in batches(engine.game, sources, prepared_options, report, note):
            found = (retarget(batch) if retarget else batch for batch in read)
            yield source, (replace(counted(counter, source, batch), scores=scores(batch)) for batch in found)

    with DatasetWriter(target, {**ARRAYS, "score": OPTIONAL["score"]}) as writer:
        last = None
        for source, read in counted_here() if executor is None else counted_files(
                executor, engine, sources, options, quiescence, report, note):
            for batch in read:
                # games without selected positions are left out
                some = np.flatnonzero(np.diff(batch.first, append=len(batch.outcomes)))
                first, identities, openings = batch.first[some] + writer.positions, batch.identities[some], batch.openings[some]
                writer.add_positions(batch.rows._replace(outcome=batch.outcomes))
                writer.add_optional("score", batch.scores, not np.isnan(batch.scores).all())
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
    reasons = [(count, f"{count:,} {what}", expected) for count, what, expected in (
        (report.bad, "bad", "games that can be read"), (report.undecided, "undecided", "games with a result"),
        (report.below_elo, "below the Elo wanted", "a lower --min-elo"),
        (report.duplicate_games, "duplicates", "")) if count]
    if (rest := report.games - sum(count for count, *_ in reasons)) > 0:
        reasons.append((rest, f"{rest:,} without a position that is wanted",
                        "fewer plies left out by --skip-start and --skip-end, or --positions all"))
    wanted = " or ".join(expected for *_, expected in reasons if expected)
    return (f"{where}: no position left of {report.games:,} games "
            f"({', '.join(text for _, text, _ in reasons)}); expected {wanted}")
