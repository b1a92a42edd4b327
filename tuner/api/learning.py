"""Tuning parameters from games."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from games.streams import InputError
from tuner.api.arguments import require_choice, typed
from tuner.api.data import reading_of, sources_of
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
from tuner.tuning.methods import METHODS, TARGETS
from tuner.tuning.options import TuneOptions
from tuner.tuning.result import found_lines

CHOICES = {"method": ("auto", *METHODS), "targets": tuple(TARGETS), "loss": (*OBJECTIVES, DRAWS),
           "learner": tuple(LEARNERS), "device": ("auto", *DEVICES), "gradient": ("analytic", *STEPS)}
# options that go on as they are
SAME = {field.name for field in fields(TuneOptions)} - {
    "reading", "per_game", "terms", "run", "workers", "fixed", "only", "no_gpu", "own_results", "own_scores"}
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


@typed
def tune(start: Evaluation | str | Path, games: str | Path | Iterable[str | Path], *,
         output: str | Path | None = None, run: str | Path | None = None, method: str = "auto",
         targets: str | None = None, fixed: str | Iterable[str] = (), only: str | Iterable[str] = (),
         not_linear: str | None = None, teacher: str | None = None, nodes: int | None = None,
         max_difference: float | None = None, depth: int | None = None, lambda_: float | None = None,
         rounds: int | None = None, own_games: int | None = None, own_rounds: int | None = None,
         loss: str | None = None, prior: float | str | None = "auto", held_out: float = 0.1,
         bootstrap: int = 0, untapered: bool = False, scale: float | None = None,
         intercept: bool = True, learner: str = "newton", iterations: int | None = None,
         learning_rate: float | None = None, batch: int | None = None, gradient: str = "analytic",
         step: float | None = None, positions: str = "auto", quiescence: str | None = None,
         min_elo: int = 0, skip_start: int | None = None, skip_end: int = 0, per_game: int = 0,
         duplicates: str = "games", strict: bool = False, seed: int = 1, workers: int | None = None,
         device: str = "auto") -> Tuned:
    """Learn the numbers of an evaluation from games: files, folders, datasets or "samples", the
    bundled ones; or from rows that another program counted.

    The learned file is written to `output`, if that is given, and everything for a report to the
    folder `run`. The report names the files that it is about, so `run` needs `output`, and a start
    that is in a file. The options are those of `tuner tune`, which `tuner tune --help` explains;
    `prior` None is --prior none. InputError names a mistake in one line.
    """
    options = dict(locals())
    for name, choices in CHOICES.items():
        require_choice("tune", name, options[name], choices)
    if isinstance(prior, str) and prior not in ("auto", "cv", "play"):
        raise InputError(f"tune: prior is {prior!r}, expected centipawns, None, 'auto', 'cv' or 'play'")
    reading = reading_of("tune", positions, min_elo, skip_start, skip_end, per_game, duplicates,
                         strict, seed)
    sources = sources_of(start, games)
    evaluation = start if isinstance(start, Evaluation) else load(start)
    if run is not None and (output is None or evaluation.path is None):
        missing = "output" if output is None else "a start that is in a file; write it with save"
        raise InputError(f"tune: run needs {missing}, because its report names the files to compare")
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        begun = evaluation.path or str(evaluation.save(Path(folder) / "start.yaml"))
        written = Path(output) if output is not None else Path(folder) / "learned.yaml"
        given = TuneOptions(
            reading=reading, terms=evaluation.terms, run=None if run is None else Path(run),
            workers=workers or available_cpus(), fixed=_names(fixed), only=_names(only),
            **{name: options[name] for name in SAME})
        notes = Notes()
        result = tuning.tune(begun, sources, written, given, "tuner.tune", notes)
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


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names or globs, which may be one text."""
    return (given,) if isinstance(given, str) else tuple(given)
