"""Files of games as work for any process: each is read and counted by itself. What one file knows of another, games that occur
in both, is resolved where the files come together again, in their order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from games.record import ReadOptions, ReadReport
from games.streams import InputError
from tuner.engine.counter import Counter
from tuner.engine.engine import Engine
from tuner.engine.loading import Evaluator
from tuner.engine.spec import EngineSpec, EvaluationSpec, engine_of, evaluation_spec, spec_of
from tuner.ingest.counted import CountedBatch, as_far_as_it_goes, counted, expand, prepared, sha256
from tuner.parallel import Executor, Job, run


@dataclass(frozen=True)
class FilesSpec:
    """How files are read: the terms that are counted, which games and positions are taken, and the evaluation for quiescence."""

    engine: EngineSpec
    options: ReadOptions
    quiescence: EvaluationSpec | None


class FileTask(NamedTuple):
    """A file to read: its place among all, its path, and whether the user named it itself, so that no fault is passed over."""

    place: int
    path: str
    named: bool


@dataclass(frozen=True)
class FilePart:
    """A file that was read: its batches, what was noted, the fault that ended it, and the sha256 of its content."""

    place: int
    batches: list[CountedBatch]
    report: ReadReport
    notes: list[str]
    fault: str | None
    sha256: str


class FileReader:
    """One thread's terms to count, and the weights for quiescence."""

    def __init__(self, spec: FilesSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.engine = spec, engine_of(spec.engine)
        given = spec.quiescence
        quiescence = None if given is None else Evaluator(engine_of(given.engine), given.parameters)
        self.options, self._packed = prepared(spec.options, quiescence)  # the weights are kept alive
        self.counter = Counter(self.engine.composition)

    def ready(self) -> None:
        """Files are opened by their tasks."""

    def abort(self) -> None:
        """A file is read to its end."""

    def close(self) -> None:
        """There is nothing to release."""


def build_file(reader: FileReader, task: FileTask) -> FilePart:
    """Read a file and count the terms of its positions."""
    report, fault = ReadReport(), None
    notes: list[str] = []
    batches: list[CountedBatch] = []
    try:
        if not os.path.isfile(task.path):
            raise InputError(f"{task.path}: no such file on the machine of a worker; put games where every machine sees them "
                             "under the same name")
        read = reader.engine.game.read(task.path, reader.options, report, notes.append)
        if not (task.named or reader.options.strict):
            read = as_far_as_it_goes(read, report, notes.append)
        for batch in read:
            batches.append(counted(reader.counter, task.path, batch).kept())
    except InputError as problem:
        fault = str(problem)
    return FilePart(task.place, batches, report, notes, fault, sha256(task.path))


def file_text(task: FileTask) -> str:
    """Name a file."""
    return f"the file {task.path}"


def counted_files(executor: Executor, engine: Engine, sources: Sequence[str], options: ReadOptions, quiescence: Evaluator | None,
                  report: ReadReport, note: Callable[[str], None]) -> Iterator[tuple[str, list[CountedBatch]]]:
    """Yield the files of the sources, in order, each with its batches, as if one process had read them one after another.
    InputError for files that the workers do not see as this machine does."""
    game = engine.game
    if options.duplicates == "positions":
        raise InputError("--duplicates positions: compares all positions on one machine; leave out --cluster, or choose games")
    files = expand(sources, game.suffixes, game.holds_games)
    if apart := [path for path in files if not os.path.isfile(path)]:
        raise InputError(f"{apart[0]}: can be read by this process alone; leave out --cluster, or name files")
    spec = FilesSpec(spec_of(engine), replace(options, evaluation=None),
                     None if quiescence is None else evaluation_spec(*quiescence))
    tasks = (FileTask(place, os.path.abspath(path), path in sources) for place, path in enumerate(files))
    seen, wanted = np.zeros(0, np.uint64), 0
    waiting: dict[int, FilePart] = {}
    with executor.start(Job(FileReader, build_file, spec, file_text)) as running:
        for part in run(running, tasks):
            waiting[part.place] = part
            while wanted in waiting:
                part, path = waiting.pop(wanted), files[wanted]
                wanted += 1
                for text in part.notes:
                    note(text.replace(os.path.abspath(path), path))  # as the user named it
                if part.fault is not None:
                    raise InputError(part.fault.replace(os.path.abspath(path), path))
                if part.sha256 != sha256(path):
                    raise InputError(f"{path}: has another content on the machine of a worker; put games where every machine "
                                     "sees the same files")
                batches = part.batches
                _add(report, part.report)
                if options.duplicates == "games" and game.of_games(path):
                    batches, seen = _without(batches, seen, report)
                yield path, batches


def _add(total: ReadReport, found: ReadReport) -> None:
    """Add the counts of a file; `bytes` are those of the last one."""
    for field in fields(ReadReport):
        if field.name not in ("faults", "bytes"):
            setattr(total, field.name, getattr(total, field.name) + getattr(found, field.name))
    total.bytes = found.bytes
    for kind, number in found.faults.items():
        total.faults[kind] = total.faults.get(kind, 0) + number


def _without(batches: list[CountedBatch], seen: np.ndarray, report: ReadReport) -> tuple[list[CountedBatch], np.ndarray]:
    """Return a file's batches without the games that `seen` has the identities of, and all identities so far."""
    own = [batch.identities for batch in batches]
    kept = []
    for batch in batches:
        again = np.isin(batch.identities, seen)
        if again.any():
            few = batch.only(~again)
            report.duplicate_games += int(again.sum())
            report.used -= int(again.sum())
            report.positions -= len(batch.outcomes) - len(few.outcomes)
            batch = few
        kept.append(batch)
    return kept, np.union1d(seen, np.concatenate([np.zeros(0, np.uint64), *own]))
