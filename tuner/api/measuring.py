"""What is left to gain for an evaluation, and which of several files is best."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from games.record import ReadOptions
from tuner.api.data import paths_of, require_known
from tuner.api.evaluation import Evaluation
from tuner.api.notes import Notes
from tuner.commands import headroom
from tuner.commands import rank as commands_rank
from tuner.headroom import rank, tables
from tuner.headroom.measure import measured
from tuner.headroom.sample import sampled
from tuner.parallel import available_cpus
from tuner.tuning.options import TuneOptions

READING = {field.name for field in fields(ReadOptions)} - {"evaluation", "seed"}
VALUES = {"targets", "teacher", "nodes", "depth", "lambda_", "per_game", "quiescence", "seed"}


@dataclass(frozen=True)
class Measured:
    """A measurement: `result`, what the command prints with --json; `lines`, what it prints for people; and the `notes` taken
    on the way."""

    result: dict[str, Any]
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<Measured on {self.result['positions']:,} positions>"


def measure_headroom(evaluation: Evaluation | str | Path, games: str | Path | Iterable[str | Path], *,
                     sample: int = headroom.SAMPLE, held_out: float = headroom.HELD_OUT, workers: int | None = None,
                     **options: Any) -> Measured:
    """Measure, on at most `sample` positions, how much better weights of the same terms agree with values of held-out positions,
    and how much other functions of the same counts do (scikit-learn).

    `options` are those of `tuner headroom`: targets, teacher, nodes, depth, lambda_, per_game, quiescence, seed, and those of
    `games.record.ReadOptions`. InputError names a mistake in one line.
    """
    given, notes = _options("measure_headroom", options, workers), Notes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        path, terms, name = _file(evaluation, Path(folder))
        found = measured(sampled(path, paths_of(games), replace(given, terms=terms), sample, Path(folder), notes), name, held_out,
                         notes)
    return Measured(found, tuple(tables.lines_of(found)), tuple(notes.lines))


def rank_files(files: Sequence[str | Path], games: str | Path | Iterable[str | Path], *, sample: int = commands_rank.SAMPLE,
               terms: Sequence[str | Path] = (), workers: int | None = None, **options: Any) -> Measured:
    """Order parameter files by how closely their evaluations agree with recorded scores or searches of a `teacher`, such as
    "uci:stockfish", on positions of games that none of them was learned from. `options` as for `measure_headroom`, without
    targets, depth and lambda_."""
    require_known("rank_files", options, READING | VALUES - {"targets", "depth", "lambda_"})
    names, sources, own = [str(file) for file in files], paths_of(games), tuple(map(str, terms))
    rank.require_comparable(names)
    rank.require_positions(sources)
    given = replace(_options("rank_files", options, workers), targets="scores", gradient="central-difference", terms=own)
    notes = Notes()
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        found = rank.ranked(names, rank.sample_to_rank(names, sources, given, sample, Path(folder), notes), own, notes)
    return Measured(found, tuple(rank.lines_of(found)), tuple(notes.lines))


def _options(function: str, options: dict[str, Any], workers: int | None) -> TuneOptions:
    require_known(function, options, READING | VALUES)
    reading = ReadOptions(**{name: value for name, value in options.items() if name in READING}, seed=options.get("seed", 1))
    values = {name: value for name, value in options.items() if name in VALUES}
    return TuneOptions(reading=reading, workers=workers or available_cpus(), **values)


def _file(evaluation: Evaluation | str | Path, folder: Path) -> tuple[str, tuple[str, ...], str]:
    """Return the parameter file of an evaluation, written if it is in none, its files of terms, and its name."""
    if not isinstance(evaluation, Evaluation):
        return str(evaluation), (), str(evaluation)
    path = evaluation.path or str(evaluation.save(folder / f"{evaluation.name}.yaml"))
    return path, evaluation.terms, evaluation.path or evaluation.name
