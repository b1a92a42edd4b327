"""Tuning parameters from games."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from tuner.api.arguments import KeptNotes, takes, typed
from tuner.api.evaluation import Evaluation, Games, Start, load, sources_of
from tuner.core.records import InputError
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset as _open
from tuner.datasets.writing import require_replaceable
from tuner.evaluation.evaluation import quiescence_of
from tuner.learn import run as tuning
from tuner.learn.build import build
from tuner.learn.methods import tune_settings
from tuner.learn.sources import games_named
from tuner.options.option import Reading
from tuner.options.tune import TuneOptions
from tuner.parameters.writer import write_parameters
from tuner.results.fit import Result, found_lines
from tuner.results.result import Found

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


@dataclass(frozen=True)
class Tuned(Found):
    """The result of `tune`: the `evaluation`, the `fit`, and the `notes` of the run."""

    evaluation: Evaluation
    fit: Result
    notes: tuple[str, ...]

    @property
    def result(self) -> dict[str, Any]:
        """The dictionary that `tuner tune --json` prints."""
        return self.fit.result

    def save(self, path: str | Path) -> Path:
        """Write the learned parameter file."""
        return self.evaluation.save(path)

    @property
    def run(self) -> Path | None:  # type: ignore[override]
        """The folder of the run, for `tuner.write_report`, if it was kept."""
        return Path(self.fit.run) if self.fit.run else None

    @property
    def lines(self) -> list[str]:
        """What was found, without the next commands."""
        return found_lines(self.fit)

    def __repr__(self) -> str:
        return (
            f"<Tuned {self.evaluation.game} by {self.fit.method}: {plural(self.fit.games, 'game')},"
            f" {plural(self.fit.positions, 'position')}>"
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
    `prior` None is --prior none. Where `try_` (--try) writes nothing, the numbers are those of the
    start. InputError names a mistake in one line.
    """
    tune_settings(options, (), what="tune: ")
    sources = sources_of(start, games)
    evaluation = start if isinstance(start, Evaluation) else load(start)
    if run is not None and (output is None or evaluation.path is None):
        missing = "output" if output is None else "a start that is in a file; write it with save"
        raise InputError(
            f"tune: run needs {missing}, because its report names the files to compare"
        )
    settings, notes = tune_settings(options, evaluation.terms, run), KeptNotes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        begun = evaluation.path or str(evaluation.save(Path(folder) / "start.yaml"))
        written = Path(output) if output is not None else Path(folder) / "learned.yaml"
        result = tuning.tune(begun, sources, written, settings, "tuner.tune", notes)
        kept = begun if result.nothing_written else written
        learned = load(kept, evaluation.terms).parameters
    if evaluation.path is None:  # neither a temporary name nor commands with it are left
        result = replace(result, start=evaluation.name)
        learned = replace(learned, learned={**learned.learned, "start": evaluation.name})
        if output is not None and not result.nothing_written:
            write_parameters(written, learned)
    if evaluation.path is None or output is None:
        result = replace(result, compare=None, match=None)
    if output is None:
        result = replace(result, output=None)
    path = None if output is None else str(written)
    improved = Evaluation(evaluation.counted_by, learned, path or "learned", path, evaluation.terms)
    return Tuned(improved, result, tuple(notes.lines))


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
    quiescence = quiescence_of(counted.engine.game, given.judge)
    named = games_named(sources, counted.engine.game, "build_dataset")
    data, _ = build(counted.engine, named, target, given.reading, quiescence, lambda text: None)
    return data


@typed
def open_dataset(path: str | Path) -> Dataset:
    """Open a dataset; InputError if it is damaged."""
    return _open(path)
