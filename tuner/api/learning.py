"""Tuning parameters from games."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from games.record import ReadOptions
from games.streams import InputError
from tuner.api.data import paths_of
from tuner.api.evaluation import Evaluation, load
from tuner.api.notes import Notes
from tuner.parallel import available_cpus
from tuner.tuning import run as tuning
from tuner.tuning.options import TuneOptions
from tuner.tuning.result import found_lines

READING = {field.name for field in fields(ReadOptions)} - {"evaluation", "seed"}
OPTIONS = {field.name for field in fields(TuneOptions)} - {"reading", "terms", "run", "workers", "no_gpu"}


@dataclass(frozen=True)
class Tuned:
    """What `tune` learned: the `evaluation`; `result`, what `tuner tune --json` prints; and the `notes` taken on the way."""

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
        return "\n".join(found_lines(self.result))

    def __repr__(self) -> str:
        return (f"<Tuned {self.evaluation.game} by {self.result['method']}: {self.result['games']:,} games, "
                f"{self.result['positions']:,} positions>")


def tune(start: Evaluation | str | Path, games: str | Path | Iterable[str | Path], *, output: str | Path | None = None,
         run: str | Path | None = None, workers: int | None = None, **options: Any) -> Tuned:
    """Learn the numbers of an evaluation from games: files, folders or datasets.

    The learned file is written to `output`, and everything for a report to the folder `run`, if they are given. `options` are
    those of `tuner tune`: method, depth, lambda_, loss, learner, prior, fixed, only, held_out, positions, min_elo,
    seed, ... (see `tuner.tuning.options.TuneOptions` and `games.record.ReadOptions`). InputError names a mistake in one line.
    """
    unknown = sorted(options.keys() - READING - OPTIONS)
    if unknown:
        raise InputError(f"tune: unknown option {unknown[0]!r}; known: {', '.join(sorted(READING | OPTIONS))}")
    evaluation = start if isinstance(start, Evaluation) else load(start)
    reading = {name: options.pop(name) for name in READING & options.keys()}
    reading["seed"] = options.get("seed", 1)
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        begun = evaluation.path or str(evaluation.save(Path(folder) / "start.yaml"))
        written = Path(output) if output is not None else Path(folder) / "learned.yaml"
        options = {name: _as_tuple(name, value) for name, value in options.items()}
        given = TuneOptions(reading=ReadOptions(**reading), terms=evaluation.terms, run=None if run is None else Path(run),
                            workers=workers or available_cpus(), **options)
        notes = Notes()
        result = tuning.tune(begun, paths_of(games), written, given, "tuner.tune", notes)
        learned = load(written, evaluation.terms)
    name = str(written) if output is not None else "learned"
    return Tuned(Evaluation(learned.engine, learned.parameters, name, name if output is not None else None, learned.terms),
                 result, tuple(notes.lines))


def _as_tuple(name: str, value: Any) -> Any:
    """Names or globs of `fixed` and `only` may be one text."""
    if name in ("fixed", "only"):
        return (value,) if isinstance(value, str) else tuple(value)
    return value
