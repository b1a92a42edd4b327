"""Build datasets from the user's sources: files of games, folders of files, datasets, `-`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, TypeAlias

import numpy as np

from games.record import Game, PositionBatch, ReadOptions, ReadReport, points_of, wording_of
from games.streams import InputError
from tuner.core.text import plural
from tuner.datasets.dataset import BLOCK, Dataset, Rows
from tuner.datasets.files import ARRAYS, OPTIONAL, ArrayWriter, only
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import DatasetWriter, copy_positions, merge, writer_for
from tuner.evaluation.engine import CompiledTerms, Counter
from tuner.evaluation.evaluation import WeightsEvaluation, quiescence_of
from tuner.evaluation.loading import EngineSpec, EvaluationSpec, engine_of, evaluation_spec, spec_of
from tuner.io.files import file_entry
from tuner.io.terminal import Display
from tuner.learn.sources import STANDARD_INPUT, Source
from tuner.learn.targets import Targets
from tuner.options.option import Reading
from tuner.parallel import Executor, Job, JobState, run
from tuner.version import __version__

# entries of a manifest that the writer makes
OF_THE_FILE = ("format", "games", "positions", "nonzeros", "checks", "wide", "optional", "shares")


def selected(data: Dataset, keep: np.ndarray, target: Path) -> Dataset:
    """Return a new dataset at `target` with the positions that `keep` (n,) bool marks; games
    without any are left out."""
    with writer_for([data], target) as writer:
        for begin in range(0, data.positions, BLOCK):
            end = min(begin + BLOCK, data.positions)
            copy_positions(writer, data, begin, end, keep[begin:end])
            data.release()
        before = np.concatenate([[0], np.cumsum(keep)])[data.first]
        some = np.flatnonzero(np.diff(before))
        writer.add_games(before[some], data.game[some], data.opening[some])
        writer.finish(
            {key: value for key, value in data.manifest.items() if key not in OF_THE_FILE}
        )
    return open_dataset(target, check=False)


RESULTS, POSITIONS = "results.npy", "positions.npy"
# the scores (n,) of a batch: centipawns of the first player's view, infinite for forced wins, NaN
# if unknown
Scores: TypeAlias = Callable[[PositionBatch], np.ndarray]


class Kept:
    """Records results, and `positions` if they are wanted, of batches on their way from games to
    dataset, as targets make them.

    Use as a context manager. `results` (n,) float32 and `positions` (n, words) uint64 are memory
    maps of files in the folder, in the order of the dataset's positions."""

    def __init__(self, folder: Path, game: Game, targets: Targets, positions: bool) -> None:
        self._folder, self._game, self._targets = folder, game, targets
        self._results = ArrayWriter(folder / RESULTS, np.float32)
        self._positions = ArrayWriter(folder / POSITIONS, np.uint64) if positions else None

    def __call__(self, batch: PositionBatch) -> PositionBatch:
        batch, results = self._targets(batch)
        self._results.append(results)
        if self._positions:
            self._positions.append(batch.positions.ravel())
        return batch

    def __enter__(self) -> Kept:
        return self

    def __exit__(
        self, kind: type | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in filter(None, (self._results, self._positions)):
            writer.abandon() if kind else writer.close()

    @property
    def results(self) -> np.ndarray:
        return np.load(self._folder / RESULTS, mmap_mode="r")

    @property
    def positions(self) -> np.ndarray | None:
        return (
            np.load(self._folder / POSITIONS, mmap_mode="r").reshape(-1, self._game.words)
            if self._positions
            else None
        )


@dataclass(frozen=True)
class FilesSpec:
    """How files are read: the terms that are counted, which games and positions are taken, and the
    evaluation for quiescence."""

    engine: EngineSpec
    options: ReadOptions
    quiescence: EvaluationSpec | None


class FileTask(NamedTuple):
    """A file to read: its place among all, its path, and whether the user named it itself, so that
    no fault is passed over."""

    place: int
    path: str
    named: bool


@dataclass(frozen=True)
class FilePart:
    """A file that was read: its batches, what was noted, the fault that ended it, and its name and
    hash."""

    place: int
    batches: list[CountedBatch]
    report: ReadReport
    notes: list[str]
    fault: str | None
    entry: dict[str, str]


class FileReader(JobState):
    """One thread's terms to count, and the weights for quiescence."""

    def __init__(self, spec: FilesSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.engine = spec, engine_of(spec.engine)
        given = spec.quiescence
        quiescence = (
            None if given is None else WeightsEvaluation(engine_of(given.engine), given.parameters)
        )
        self.options = prepared(spec.options, quiescence)
        self.counter = Counter(self.engine.composition)


def build_file(reader: FileReader, task: FileTask) -> FilePart:
    """Read a file and count the terms of its positions."""
    report, fault = ReadReport(), None
    notes: list[str] = []
    batches: list[CountedBatch] = []
    try:
        if not os.path.isfile(task.path):
            raise InputError(
                f"{task.path}: no such file on the machine of a worker; put games where every"
                " machine sees them under the same name"
            )
        read = reader.engine.game.files.read(task.path, reader.options, report, notes.append)
        if not (task.named or reader.options.strict):
            read = as_far_as_it_goes(read, report, notes.append)
        for batch in read:
            batches.append(counted(reader.counter, task.path, batch).kept())
    except InputError as problem:
        fault = str(problem)
    return FilePart(task.place, batches, report, notes, fault, file_entry(task.path))


def file_text(task: FileTask) -> str:
    """Name a file."""
    return f"the file {task.path}"


def counted_files(
    executor: Executor,
    engine: CompiledTerms,
    sources: Sequence[Source],
    options: ReadOptions,
    quiescence: WeightsEvaluation | None,
    report: ReadReport,
    note: Callable[[str], None],
) -> Iterator[tuple[str, list[CountedBatch]]]:
    """Yield the files of the sources, in order, each with its batches, as if one process had read
    them one after another. InputError for files that the workers do not see as this machine
    does."""
    game = engine.game
    if options.duplicates == "positions":
        raise InputError(
            "--duplicates positions: compares all positions on one machine; leave out --cluster, or"
            " choose games"
        )
    files, named = _files_of(sources), {source.path for source in sources}
    if apart := [path for path in files if not os.path.isfile(path)]:
        raise InputError(
            f"{apart[0]}: can be read by this process alone; leave out --cluster, or name files"
        )
    spec = FilesSpec(
        spec_of(engine),
        replace(options, evaluation=None),
        None if quiescence is None else evaluation_spec(*quiescence),
    )
    tasks = (
        FileTask(place, os.path.abspath(path), path in named) for place, path in enumerate(files)
    )
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
                if part.entry["sha256"] != file_entry(path)["sha256"]:
                    raise InputError(
                        f"{path}: has another content on the machine of a worker; put games where"
                        " every machine sees the same files"
                    )
                batches = part.batches
                _add(report, part.report)
                if options.duplicates == "games" and game.files.of_games(path):
                    batches, seen = _without(batches, seen, report)
                yield path, batches


def _add(total: ReadReport, found: ReadReport) -> None:
    """Add the counts of a file; `bytes` belong to the last one."""
    for each in fields(ReadReport):
        if each.name not in ("faults", "bytes"):
            setattr(total, each.name, getattr(total, each.name) + getattr(found, each.name))
    total.bytes = found.bytes
    for kind, number in found.faults.items():
        total.faults[kind] = total.faults.get(kind, 0) + number


def _without(
    batches: list[CountedBatch], seen: np.ndarray, report: ReadReport
) -> tuple[list[CountedBatch], np.ndarray]:
    """Return a file's batches without the games that `seen` has the identities of, and all
    identities so far."""
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


@dataclass(frozen=True)
class CountedBatch:
    """The counts of the positions of g games: `rows`, valid until the next batch is counted,
    outcomes and recorded scores (n,), and of each game its first position, identity and opening
    (g,), see `games.record.PositionBatch`."""

    rows: Rows
    outcomes: np.ndarray
    scores: np.ndarray
    first: np.ndarray
    identities: np.ndarray
    openings: np.ndarray

    def kept(self) -> CountedBatch:
        """Return a copy that stays valid."""
        rows = self.rows._replace(index=self.rows.index.copy(), count=self.rows.count.copy())
        return replace(self, rows=rows)

    def only(self, games: np.ndarray) -> CountedBatch:
        """Return the games that `games` (g,) bool marks."""
        sizes = np.diff(self.first, append=len(self.outcomes))
        keep = np.repeat(games, sizes)
        return CountedBatch(
            only(self.rows, keep),
            self.outcomes[keep],
            self.scores[keep],
            np.concatenate([[0], np.cumsum(sizes[games])])[: int(games.sum())],
            self.identities[games],
            self.openings[games],
        )


def batches(
    game: Game,
    sources: Sequence[Source],
    options: ReadOptions,
    report: ReadReport,
    note: Callable[[str], None],
) -> Iterator[tuple[str, Iterator[PositionBatch]]]:
    """Yield the files of the sources, each with the batches read from it.

    A file of a folder that cannot be read to its end is noted and skipped from there, unless
    reading is strict. InputError for such a file if it was named itself."""
    for source in sources:
        for file in source.files:
            read = game.files.read(file, options, report, note)
            if not (options.strict or file == source.path):
                read = as_far_as_it_goes(read, report, note)
            yield file, read


def all_batches(
    game: Game,
    sources: Sequence[Source],
    options: ReadOptions,
    report: ReadReport,
    note: Callable[[str], None],
    names: list[dict],
) -> Iterator[PositionBatch]:
    """Yield the batches of all files; the name and hash of each file are added to `names`.
    NothingLeft if there is no position."""
    for source, read in batches(game, sources, options, report, note):
        yield from read
        names.append(file_entry(source))
    if report.positions == 0:
        raise NothingLeft(nothing_left(sources, report, game.files.suffixes))


def _files_of(sources: Sequence[Source]) -> list[str]:
    """Return the files of all sources."""
    return [file for source in sources for file in source.files]


def as_far_as_it_goes(
    read: Iterator[PositionBatch], report: ReadReport, note: Callable[[str], None]
) -> Iterator[PositionBatch]:
    before = report.games
    while True:
        try:
            batch = next(read, None)
        except InputError as problem:
            games = report.games - before
            note(
                f"{problem}; "
                + (
                    f"only the first {plural(games, 'game')} of this file were read"
                    if games
                    else "file skipped"
                )
            )
            return
        if batch is None:
            return
        yield batch


def prepared(options: ReadOptions, quiescence: WeightsEvaluation | None) -> ReadOptions:
    """Return options with the evaluation for quiescence."""
    return (
        options
        if quiescence is None
        else replace(options, evaluation=quiescence.engine.evaluation(quiescence.parameters))
    )


def counted(counter: Counter, source: str, batch: PositionBatch) -> CountedBatch:
    """Return the counts of a batch; InputError for counts that are too large."""
    try:
        rows = counter.count(batch.positions)
    except OverflowError as problem:
        raise InputError(f"{source}: {problem}") from None
    return CountedBatch(
        rows, batch.outcomes, batch.recorded, batch.first, batch.identities, batch.openings
    )


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


def count_positions(
    engine: CompiledTerms, sources: Sequence[Source], options: Reading, display: Display
) -> tuple[int | None, Callable[[str], None]]:
    """Read the games once without keeping them; return how many positions `build` will find, and
    where its notes go: nowhere, once they were shown here.

    None, and nothing is read, if a source can be read only once (standard input, pipes) or is a
    dataset."""
    files = _files_of(sources)
    once = STANDARD_INPUT in files or not all(map(os.path.isfile, files))
    if once or not all(source.files for source in sources):
        return None, display.note
    reading = prepared(options.reading, quiescence_of(engine.game, options.judge))
    report, positions = ReadReport(), 0
    for _, read in batches(engine.game, sources, reading, report, display.note):
        for batch in read:
            positions += len(batch.positions)
            display.reading(report)
    return positions, lambda text: None


def build(
    engine: CompiledTerms,
    sources: Sequence[Source],
    target: Path,
    options: ReadOptions,
    quiescence: WeightsEvaluation | None,
    note: Callable[[str], None],
    progress: Callable[[ReadReport], None] = lambda report: None,
    retarget: Callable[[PositionBatch], PositionBatch] | None = None,
    scores: Callable[[PositionBatch], np.ndarray] = recorded_scores,
    executor: Executor | None = None,
) -> tuple[Dataset, BuildReport]:
    """Read games into a new dataset at `target`, with the `scores` of positions where there are
    any; return it with a report.

    `quiescence` is the evaluation for quiet and resolved positions, None if positions are not
    filtered by quiescence. `retarget` replaces outcomes or positions, or leaves some out. The files
    are read by this thread or, without `retarget` and with recorded scores, on an executor.
    NothingLeft if no position is left."""
    prepared_options = prepared(options, quiescence)
    report, counter = ReadReport(), Counter(engine.composition)
    names = []

    def counted_here() -> Iterator[tuple[str, Iterator[CountedBatch]]]:
        for source, read in batches(engine.game, sources, prepared_options, report, note):
            retargeted = (retarget(batch) if retarget else batch for batch in read)
            yield (
                source,
                (
                    replace(counted(counter, source, batch), scores=scores(batch))
                    for batch in retargeted
                ),
            )

    with DatasetWriter(target, {**ARRAYS, "score": OPTIONAL["score"]}) as writer:
        last = None
        for source, read in (
            counted_here()
            if executor is None
            else counted_files(executor, engine, sources, options, quiescence, report, note)
        ):
            for batch in read:
                # games without selected positions are left out
                some = np.flatnonzero(np.diff(batch.first, append=len(batch.outcomes)))
                first, identities, openings = (
                    batch.first[some] + writer.positions,
                    batch.identities[some],
                    batch.openings[some],
                )
                writer.add_positions(batch.rows._replace(outcome=batch.outcomes))
                writer.add_optional("score", batch.scores, not np.isnan(batch.scores).all())
                # a game of labeled positions may continue in the next batch
                new = slice(1 if len(some) and last == identities[0] else 0, None)
                writer.add_games(first[new], identities[new], openings[new])
                if len(some):
                    last = identities[-1]
                progress(report)
            names.append(file_entry(source))
        if writer.positions == 0:
            raise NothingLeft(nothing_left(sources, report, engine.game.files.suffixes))
        writer.finish(
            {
                "program": f"evaltune {__version__}",
                "game": engine.game.name,
                "sources": names,
                "options": options.plain,
                "layout": engine.layout.describe(),
                "terms": engine.composition.name,
                "apart": engine.composition.curved,
                "phases": engine.phases,
                "stages": list(engine.game.stages),
                "read": asdict(report),
            }
        )
    return open_dataset(target, check=False), BuildReport(report, names)


def nothing_left(sources: Sequence[Source], report: ReadReport, suffixes: Sequence[str]) -> str:
    """Return the error that no position is left of the games that were read, with the reasons."""
    where = ", ".join(source.path for source in sources)
    if report.games == 0 and report.bad == 0:
        return f"{where}: no games found; expected files of the kinds {', '.join(suffixes)}"
    reasons = [
        (count, f"{count:,} {what}", expected)
        for count, what, expected in (
            (report.bad, "bad", "games that can be read"),
            (report.undecided, "undecided", "games with a result"),
            (report.below_elo, "below the Elo wanted", "a lower --min-elo"),
            (report.ended_otherwise, "ended otherwise than wanted", "another --ended"),
            (report.duplicate_games, "duplicates", ""),
        )
        if count
    ]
    if (rest := report.games - sum(count for count, *_ in reasons)) > 0:
        reasons.append(
            (
                rest,
                f"{rest:,} without a position that is wanted",
                "fewer plies left out by --skip-start and --skip-end, or --positions all",
            )
        )
    wanted = " or ".join(expected for *_, expected in reasons if expected)
    return (
        f"{where}: no position left of {plural(report.games, 'game')} "
        f"({', '.join(text for _, text, _ in reasons)}); expected {wanted}"
    )


def dataset_of(
    engine: CompiledTerms,
    sources: Sequence[Source],
    folder: Path,
    options: ReadOptions,
    quiescence: WeightsEvaluation | None,
    note: Callable[[str], None],
    progress: Callable[[ReadReport], None],
    retarget: Callable[[PositionBatch], PositionBatch] | None = None,
) -> tuple[Dataset, ReadReport | None]:
    """Return the dataset of these sources, built in `folder` unless it is one already, and the
    report of the games read.

    `retarget` replaces outcomes or positions, so it needs games, not datasets.
    """
    files = [source for source in sources if source.files]
    datasets = [
        checked(open_dataset(source.path), engine) for source in sources if not source.files
    ]
    report = None
    if files:
        built, whole = build(
            engine, files, folder / "games", options, quiescence, note, progress, retarget
        )
        datasets.append(built)
        report = whole.total
    if len(datasets) == 1:
        return datasets[0], report
    return merge(datasets, folder / "merged"), report


def checked(data: Dataset, engine: CompiledTerms) -> Dataset:
    """Return the same dataset; InputError if it was counted with terms that differ from the
    engine's."""
    name, expected = data.manifest["game"], engine.game.name
    if name != expected:
        raise InputError(f"{data.path}: a dataset of {name}, expected {expected}")
    if data.manifest["layout"] != engine.layout.describe():
        raise InputError(
            f"{data.path}: counted with different parameters ({data.columns} in place of"
            f" {engine.layout.size}); build the dataset again with these terms"
        )
    if data.manifest["terms"] != engine.composition.name:
        raise InputError(
            f"{data.path}: counted by another version of the terms; build the dataset again"
        )
    return data


def require_learnable(data: Dataset, what: str = "", results: set[float] | None = None) -> None:
    """InputError for data from which nothing can be learned. `what` is a line about the games read,
    for the error; `results` are the results that occur, if the data have targets of a different
    kind."""
    read = f" ({what})" if what else ""
    first = data.first[:-1][np.diff(data.first) > 0]  # of the games that have positions
    if len(first) < 2:
        raise InputError(
            f"only {len(first)} game to learn from{read}; expected at least 2, better thousands"
        )
    results = results or set(np.unique(data.outcome[first]).tolist())
    if len(results) == 1:
        result = next(iter(results))
        most, words = points_of(data.manifest["game"]), wording_of(data.manifest["game"])
        kind = (
            {
                0.0: "a draw",
                1.0: f"a win of {words.sides[0]}",
                -1.0: f"a loss of {words.sides[0]}",
            }.get(result, f"labeled {(1 + result) / 2:g}")
            if most == 1
            else f"worth {most * result:+.2f} points for {words.sides[0]}"
        )
        raise InputError(
            f"every one of the {plural(len(first), 'game')} is {kind}{read}: there is nothing to"
            " learn; expected games with different results"
        )
