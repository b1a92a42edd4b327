"""Tuning parameters from games."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from games.record import ReadOptions
from games.streams import InputError
from tuner.api.data import paths_of, require_known
from tuner.api.evaluation import Evaluation, load
from tuner.api.notes import Notes
from tuner.device.choose import DEVICES
from tuner.engine.coefficients import STEPS
from tuner.fit.learners import LEARNERS
from tuner.fit.options import DRAWS
from tuner.objectives.table import OBJECTIVES
from tuner.parallel import available_cpus
from tuner.parameters.writer import write_parameters
from tuner.tuning import run as tuning
from tuner.tuning.methods import METHODS
from tuner.tuning.options import TuneOptions
from tuner.tuning.result import found_lines

READING = {field.name for field in fields(ReadOptions)} - {"evaluation", "seed"}
OPTIONS = {field.name for field in fields(TuneOptions)} - {
    "reading", "terms", "run", "workers", "no_gpu", "own_results", "own_scores"}
CHOICES: dict[str, tuple[str | None, ...]] = {
    "method": ("auto", *METHODS), "loss": (None, *OBJECTIVES, DRAWS), "learner": tuple(LEARNERS), "device": ("auto", *DEVICES),
    "gradient": ("analytic", *STEPS)}
NEXT = ("compare", "match")  # commands of a result, with the names of its files


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
    """Learn the numbers of an evaluation from games: files, folders or datasets; or from rows that another program counted.

    The learned file is written to `output`, if that is given, and everything for a report to the folder `run`. The report names
    the files that it is about, so `run` needs `output`, and a start that is in a file. `options` are those of `tuner tune`:
    method, depth, lambda_, loss, learner, prior, fixed, only, held_out, positions, min_elo, seed, ... (see
    `tuner.tuning.options.TuneOptions` and `games.record.ReadOptions`). InputError names a mistake in one line.
    """
    require_known("tune", options, READING | OPTIONS)
    for name, choices in CHOICES.items():
        if name in options and options[name] not in choices:
            raise InputError(f"tune: {name} is {options[name]!r}, expected one of {', '.join(filter(None, choices))}")
    prior = options.get("prior")
    if isinstance(prior, str) and prior not in ("auto", "cv", "play"):
        raise InputError(f"tune: prior is {prior!r}, expected centipawns, None, 'auto', 'cv' or 'play'")
    evaluation = start if isinstance(start, Evaluation) else load(start)
    if run is not None and (output is None or evaluation.path is None):
        missing = "output" if output is None else "a start that is in a file; write it with save"
        raise InputError(f"tune: run needs {missing}, because its report names the files to compare")
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
        learned = load(written, evaluation.terms).parameters
    if evaluation.path is None:  # neither a temporary name nor commands with it are left
        result["start"] = evaluation.name
        learned = learned.with_weights(learned.weights, learned={**learned.learned, "start": evaluation.name})
        if output is not None:
            write_parameters(written, learned)
    for key in NEXT if evaluation.path is None or output is None else ():
        result.pop(key, None)
    if output is None:
        del result["output"]
    path = None if output is None else str(written)
    found = Evaluation(evaluation.counted_by, learned, path or "learned", path, evaluation.terms)
    return Tuned(found, result, tuple(notes.lines))


def _as_tuple(name: str, value: Any) -> Any:
    """Names or globs of `fixed` and `only` may be one text."""
    if name in ("fixed", "only"):
        return (value,) if isinstance(value, str) else tuple(value)
    return value
