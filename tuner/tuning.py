"""`tuner tune` from files to file: read, summarise, fit, write."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from games.record import ReadReport
from games.streams import InputError
from tuner import __version__
from tuner.bootstrap import Leaves
from tuner.dataset import Dataset
from tuner.engine import Engine, load_engine, quiescence_of
from tuner.files import replace_file, temporary_name
from tuner.fit import FitResult, best_fit
from tuner.methods import method_for, noting, number_of_rounds, reading_of, require_method, teacher_of, value_change
from tuner.parameters import Parameters, untapered, write_parameters
from tuner.progress import Display
from tuner.sources import dataset_of, require_learnable
from tuner.summary import summarise, summary_lines
from tuner.temporal_fit import fit_temporal
from tuner.tune_options import TuneOptions
from tuner.uncertainty import FEW_GAMES

FAR = 0.02  # mean change of values after which leaves and searches are those of another evaluation


def tune(start: str, sources: Sequence[str], output: Path, options: TuneOptions) -> dict:
    """Fit and write; returns the result as plain data. InputError for what the user has to mend."""
    require_writable(output, sources)
    with Display() as display, _folder(options.run) as folder:
        display.begin("starting")
        engine, parameters = load_engine(start, options.terms)
        if options.untapered:
            parameters = untapered(parameters)
        if options.scale is not None:
            parameters = parameters.with_weights(parameters.weights, scale=options.scale)
        _check_names(parameters, options)
        if options.method == "auto":
            options = replace(options, method=method_for(options, engine.game, parameters, sources))
        require_method(options, engine.game, sources)
        data, result = _rounds(engine, parameters, sources, folder, options, display)
        plain = describe(start, output, data, options, result)
        learned = {key: value for key, value in plain.items() if key != "output"}
        write_parameters(output, result.parameters.with_weights(result.parameters.weights, learned=learned))
        if options.run:
            _write_run(options.run, plain, options, result, output)
    return plain


def _rounds(engine: Engine, parameters: Parameters, sources: Sequence[str], folder: Path, options: TuneOptions,
            display: Display) -> tuple[Dataset, FitResult]:
    """Read and fit; where searches teach, again with what was learned, while that changes much."""
    searching = parameters
    for left in range(number_of_rounds(options) - 1, -1, -1):
        first = searching is parameters
        display.begin("reading" if first else "searching again")
        teach, results = teacher_of(engine, searching, options), set()
        data, report = dataset_of(engine, sources, folder, reading_of(options), quiescence_of(engine, options.quiescence),
                                  display.note if first else lambda text: None, display.reading,
                                  noting(teach, results) if teach else None)
        read = report_line(report) if report else ""
        require_learnable(data, read, results)
        if first:
            _tell(data, engine, read, options, display)
        display.begin("learning", options.iterations)
        if isinstance(teach, Leaves):
            result = fit_temporal(data, teach.data, parameters, engine.layout, engine.phases, options.fitting(), display.learning)
        else:
            # each round of searching is trusted so far round the values that it was made with
            start = searching if options.method == "rootstrap" else parameters
            result = best_fit(data, start, engine.layout, engine.phases, options.fitting(), display.learning, display.note)
        moved = value_change(engine, data, searching, result.parameters) if left else 0.0
        if moved <= FAR:
            break
        display.note(f"values of positions moved by {moved:.3f} on average: searched again with what was learned")
        searching = result.parameters
    return data, result


def _tell(data: Dataset, engine: Engine, read: str, options: TuneOptions, display: Display) -> None:
    if read:
        display.note(read)
    if options.method == "rootstrap":
        display.note(f"each position was searched {options.depth} plies deep, to learn what that found; --method logistic "
                     "learns from the results alone")
    for line in summary_lines(summarise(data, engine.layout), options.method != "rootstrap"):
        display.note("  " + line)
    if data.games < FEW_GAMES:
        display.note(f"only {data.games} games: the standard errors are rough")


def require_writable(output: Path, sources: Sequence[str]) -> None:
    """InputError now rather than after a long computation, or for a file that must not be replaced."""
    folder = output.parent
    if os.path.isdir(output):
        raise InputError(f"{output}: is a folder, expected the name of a file to write")
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: no such folder to write {output.name} in; make it first")
    if os.path.exists(output):
        if not os.path.isfile(output):
            raise InputError(f"{output}: is a device or a pipe, expected the name of a file to write")
        if any(os.path.exists(source) and os.path.samefile(output, source) for source in sources):
            raise InputError(f"{output}: holds the games to learn from and would be replaced; choose another name")
    probe = temporary_name(output)
    try:
        probe.touch()
        probe.unlink()
    except OSError as problem:
        raise InputError(f"{output}: cannot be written: {problem.strerror}; choose another place") from None


def _check_names(parameters: Parameters, options: TuneOptions) -> None:
    for option, names in (("--fixed", options.fixed), ("--only", options.only)):
        for name in names:
            if not parameters.mask((name,)).any():
                raise InputError(f"{option} {name}: names no parameter; try a glob such as 'material.*'")
    free = ~parameters.mask((*parameters.fixed, *options.fixed))
    if options.only:
        free &= parameters.mask(options.only)
    if not free.any():
        raise InputError("every number is held, by --fixed, --only or `fixed` in the file: nothing to learn; free some")


@contextlib.contextmanager
def _folder(run: Path | None) -> Iterator[Path]:
    if run is None:
        with tempfile.TemporaryDirectory(prefix="evaltune-") as name:
            yield Path(name)
    else:
        try:
            run.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"{run}: cannot be made a folder: {problem.strerror}") from None
        yield run


def report_line(report: ReadReport) -> str:
    """What became of the games, in one line."""
    parts = [f"read {report.games:,} games, used {report.used:,}"]
    for number, what in ((report.bad, "bad and skipped"), (report.undecided, "without a result"),
                         (report.below_elo, "below the Elo wanted"), (report.duplicate_games, "duplicates"),
                         (report.duplicate_positions, "duplicate positions left out")):
        if number:
            parts.append(f"{number:,} {what}")
    text = "; ".join([", ".join(parts), *(f"{count:,} x {kind}" for kind, count in sorted(
        report.faults.items(), key=lambda item: -item[1]))])
    return text


def describe(start: str, output: Path, data: Dataset, options: TuneOptions, result: FitResult) -> dict:
    """A fit as plain data, for the parameter file and for --json."""

    def known(value: float) -> float | None:
        return None if math.isnan(value) else round(value, 7)

    return {
        "command": "tuner " + shlex.join(sys.argv[1:]), "version": __version__, "seed": options.seed, "start": str(start),
        "output": str(output), "data": data.manifest["sources"], "method": options.method,
        **({"depth": options.depth, "lambda": options.trace or 0.0} if options.method != "logistic" else {}),
        "loss": result.problem.objective, "learner": options.learner, "iterations": len(result.history) - 1,
        "games": result.games, "positions": result.positions,
        "loss_before": known(result.loss_before), "loss_after": known(result.loss_after),
        "held_out_games": result.held_out_games, "held_out_positions": result.held_out_positions,
        "held_out_before": known(result.held_out_before), "held_out_after": known(result.held_out_after),
        "scale": round(result.parameters.scale, 8), "intercept": [round(float(v), 2) for v in result.intercept],
        "prior": options.trust or "none", "design_effect": round(result.design_effect, 3),
        "null_directions": result.null_directions, "never_applied": result.never_applied}


def result_lines(result: dict) -> list[str]:
    """A result for people."""
    lines = [f"wrote {result['output']}: {result['games']:,} games, {result['positions']:,} positions, "
             f"{result['iterations']} iterations of {result['learner']}",
             f"loss      {result['loss_before']:.5f} -> {result['loss_after']:.5f}  ({result['loss']})"]
    if result["held_out_games"]:
        lines.append(f"held out  {result['held_out_before']:.5f} -> {result['held_out_after']:.5f}  "
                     f"({result['held_out_games']:,} games of other openings)")
        if result["held_out_after"] > result["held_out_before"]:
            lines.append("the held-out games are predicted worse than before: too few games for so many free weights?")
    lines.append(f"see what changed: tuner diff {shlex.quote(result['start'])} {shlex.quote(result['output'])}")
    return lines


def _write_run(run: Path, plain: dict, options: TuneOptions, result: FitResult, output: Path) -> None:
    import yaml

    settings = {key: str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
                for key, value in asdict(options).items()}
    settings["reading"].pop("evaluation")
    config = {"command": plain["command"], "version": __version__, "start": plain["start"], "data": plain["data"],
              "options": settings}
    replace_file(run / "config.yaml", yaml.safe_dump(config, sort_keys=False))
    replace_file(run / "history.jsonl", "".join(json.dumps(line) + "\n" for line in result.history))
    replace_file(run / "params.yaml", output.read_text(encoding="utf-8"))
