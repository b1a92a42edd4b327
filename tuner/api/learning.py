"""Tuning parameters from games."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

from games.streams import InputError
from tuner.api.arguments import KeptNotes, paths_of, takes, typed
from tuner.api.evaluation import Evaluation, load
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset as _open
from tuner.datasets.writing import require_replaceable
from tuner.evaluation.loading import games_path, quiescence_of, sources_for
from tuner.findings.records import Result
from tuner.headroom import measure as tables
from tuner.headroom import rank
from tuner.headroom.measure import measure_sample
from tuner.headroom.sample import read_sample
from tuner.io.records import record
from tuner.learn import run as tuning
from tuner.learn.build import build
from tuner.learn.methods import settings_for as settings_for_tuning
from tuner.learn.result import found_lines
from tuner.options.games import GamesOptions
from tuner.options.shared import Reading
from tuner.options.tune import HeadroomOptions, RankOptions, TuneOptions
from tuner.parallel import OnThreads, available_cpus
from tuner.parameters.writer import write_parameters
from tuner.play.own_games.play import settings_for
from tuner.play.own_games.run import OwnGamesRun
from tuner.play.run import new_run

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
NEXT = ("compare", "match")  # commands of a result, with the names of its files
Start: TypeAlias = Evaluation | str | Path
Games: TypeAlias = str | Path | Iterable[str | Path]


@dataclass(frozen=True)
class Tuned:
    """What `tune` learned: the `evaluation`; `result`, what `tuner tune --json` prints; and the
    `notes` taken on the way."""

    evaluation: Evaluation
    result: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def run(self) -> Path | None:
        """The folder of the run, for `tuner.write_report`, if it was kept."""
        return Path(self.result["run"]) if self.result.get("run") else None

    def save(self, path: str | Path) -> Path:
        """Write the learned parameter file."""
        return self.evaluation.save(path)

    def __str__(self) -> str:
        return "\n".join(found_lines(record(Result, self.result, "the result")))

    def __repr__(self) -> str:
        return (
            f"<Tuned {self.evaluation.game} by {self.result['method']}: {self.result['games']:,}"
            f" games, {self.result['positions']:,} positions>"
        )


class Tune(Protocol[P, R]):
    """The type of `tune`."""

    def __call__(
        self,
        start: Start,
        games: Games,
        output: str | Path | None = None,
        run: str | Path | None = None,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Learn the numbers of an evaluation from games."""


def _tunes(record: Callable[P, Any]) -> Callable[[Callable[..., R]], Tune[P, R]]:
    return takes(record)


@_tunes(TuneOptions)
def tune(
    start: Start,
    games: Games,
    output: str | Path | None = None,
    run: str | Path | None = None,
    **options: Any,
) -> Tuned:
    """Learn the numbers of an evaluation from games: files, folders, datasets or "samples", the
    bundled ones; or from rows that another program counted.

    The learned file is written to `output`, if that is given, and everything for a report to the
    folder `run`. The report names the files that it is about, so `run` needs `output`, and a start
    that is in a file. The options are those of `tuner tune`, which `tuner tune --help` explains;
    `prior` None is --prior none. InputError names a mistake in one line.
    """
    settings_for_tuning(options, (), what="tune: ")
    sources = sources_of(start, games)
    evaluation = start if isinstance(start, Evaluation) else load(start)
    if run is not None and (output is None or evaluation.path is None):
        missing = "output" if output is None else "a start that is in a file; write it with save"
        raise InputError(
            f"tune: run needs {missing}, because its report names the files to compare"
        )
    settings, notes = settings_for_tuning(options, evaluation.terms, run), KeptNotes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        begun = evaluation.path or str(evaluation.save(Path(folder) / "start.yaml"))
        written = Path(output) if output is not None else Path(folder) / "learned.yaml"
        result = tuning.tune(begun, sources, written, settings, "tuner.tune", notes)
        learned = load(written, evaluation.terms).parameters
    if evaluation.path is None:  # neither a temporary name nor commands with it are left
        result["start"] = evaluation.name
        learned = learned.with_weights(
            learned.weights, learned={**learned.learned, "start": evaluation.name}
        )
        if output is not None:
            write_parameters(written, learned)
    for key in NEXT if evaluation.path is None or output is None else ():
        result.pop(key, None)
    if output is None:
        del result["output"]
    path = None if output is None else str(written)
    found = Evaluation(evaluation.counted_by, learned, path or "learned", path, evaluation.terms)
    return Tuned(found, result, tuple(notes.lines))


@dataclass(frozen=True)
class OwnGames:
    """Games that were played: their `folder`, which `tuner.tune` reads; `result`, what `tuner games
    --json` prints; and `lines`, what it prints for people."""

    folder: Path
    result: dict[str, Any]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<OwnGames {self.folder}: {self.result['games']:,} games>"


class PlayGames(Protocol[P, R]):
    """The type of `play_games`."""

    def __call__(
        self, evaluation: Start, output: str | Path, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Play games of an evaluation into the folder `output`."""


def _plays(record: Callable[P, Any]) -> Callable[[Callable[..., R]], PlayGames[P, R]]:
    return takes(record)


@_plays(GamesOptions)
def play_games(evaluation: Start, output: str | Path, **options: Any) -> OwnGames:
    """Play games of an evaluation against slightly noisy copies of itself, into the new folder
    `output`.

    The options are those of `tuner games`: `resign` is (centipawns, plies), `draw` (centipawns,
    plies, first ply). InputError names a mistake in one line."""
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        start, terms, _ = _file(evaluation, Path(folder))
        settings = settings_for(start, options, terms)
        games = new_run(
            OwnGamesRun(settings, None, KeptNotes()),
            Path(output),
            OnThreads(settings.threads or available_cpus()),
            "tuner.play_games",
        )
    # the last line is a command for people
    return OwnGames(
        Path(output),
        {key: value for key, value in games.plain.items() if key != "tune"},
        tuple(games.lines[:-1]),
    )


@dataclass(frozen=True)
class Measured:
    """A measurement: `result`, what the command prints with --json; `lines`, what it prints for
    people; and the `notes` taken on the way."""

    result: dict[str, Any]
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<Measured on {self.result['positions']:,} positions>"


class Measure(Protocol[P, R]):
    """The type of `measure_headroom`."""

    def __call__(self, evaluation: Start, games: Games, *args: P.args, **kwargs: P.kwargs) -> R:
        """Measure an evaluation on games."""


def _measures(record: Callable[P, Any]) -> Callable[[Callable[..., R]], Measure[P, R]]:
    return takes(record)


@_measures(HeadroomOptions)
def measure_headroom(evaluation: Start, games: Games, **options: Any) -> Measured:
    """Measure, on at most `sample` positions, how much better weights of the same terms agree with
    values of held-out positions, and how much other functions of the same counts do (scikit-learn).
    The options are those of `tuner headroom`. InputError names a mistake in one line.
    """
    given = HeadroomOptions(**options)
    sources, notes = sources_of(evaluation, games), KeptNotes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        path, terms, name = _file(evaluation, Path(folder))
        drawn = read_sample(path, sources, given.tuning(terms), given.sample, Path(folder), notes)
        found = measure_sample(drawn, name, given.held_out, notes)
    return Measured(found, tuple(tables.lines_of(found)), tuple(notes.lines))


class Rank(Protocol[P, R]):
    """The type of `rank_files`."""

    def __call__(
        self, files: Sequence[str | Path], games: Games, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Order files by their agreement with values of positions of games."""


def _ranks(record: Callable[P, Any]) -> Callable[[Callable[..., R]], Rank[P, R]]:
    return takes(record)


@_ranks(RankOptions)
def rank_files(files: Sequence[str | Path], games: Games, **options: Any) -> Measured:
    """Order parameter files by how closely their evaluations agree with recorded scores or searches
    of a `teacher`, such as "uci:stockfish", on positions of games that none of them was learned
    from. The options are those of `tuner rank`."""
    given, names, notes = RankOptions(**options), [str(file) for file in files], KeptNotes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        found = rank.ranking(names, paths_of(games), given, Path(folder), notes)
    return Measured(found, tuple(rank.lines_of(found)), tuple(notes.lines))


def _file(evaluation: Start, folder: Path) -> tuple[str, tuple[str, ...], str]:
    """Return the parameter file of an evaluation, written if it is in none, its files of terms, and
    its name."""
    if not isinstance(evaluation, Evaluation):
        return str(evaluation), (), str(evaluation)
    path = evaluation.path or str(evaluation.save(folder / f"{evaluation.name}.yaml"))
    return path, evaluation.terms, evaluation.path or evaluation.name


class Build(Protocol[P, R]):
    """The type of `build_dataset`."""

    def __call__(
        self,
        games: Games,
        output: str | Path,
        evaluation: Start = "classic",
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Read games into a dataset."""


def _builds(record: Callable[P, Any]) -> Callable[[Callable[..., R]], Build[P, R]]:
    return takes(record)


@_builds(Reading)
def build_dataset(
    games: Games, output: str | Path, evaluation: Start = "classic", **options: Any
) -> Dataset:
    """Read games into a dataset in the folder `output`, which has the counts of the evaluation's
    terms.

    The options are those of `tuner dataset`: `positions` are "auto", "all", "quiet" or "resolve",
    `duplicates` "games", "positions" or "keep"; without `per_game` all positions are kept.
    """
    given = Reading(**options)
    counted = evaluation if isinstance(evaluation, Evaluation) else load(evaluation)
    sources, target = sources_of(counted, games), Path(output)
    require_replaceable(target, sources)
    quiescence = quiescence_of(counted.engine, given.judge)
    data, _ = build(counted.engine, sources, target, given.reading, quiescence, lambda text: None)
    return data


@typed
def open_dataset(path: str | Path) -> Dataset:
    """Open a dataset; InputError if it is damaged."""
    return _open(path)


def sources_of(start: Start, games: Games) -> list[str]:
    """The paths of games for an evaluation, with the name of bundled ones replaced."""
    if isinstance(start, Evaluation):
        return [games_path(path, start.game) for path in paths_of(games)]
    return sources_for(start, paths_of(games))
