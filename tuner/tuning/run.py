"""`tuner tune` from files to file: read, summarise, fit, write."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import ReadReport
from games.streams import InputError
from tuner import __version__
from tuner.datasets.dataset import Dataset
from tuner.datasets.format import is_dataset
from tuner.datasets.summary import summarise, summary_lines
from tuner.device.base import Device
from tuner.device.choose import device_named
from tuner.device.differences.device import by_differences
from tuner.diagnostics.bootstrap import checked_errors
from tuner.diagnostics.dry_run import dry_run_findings
from tuner.diagnostics.findings import findings, results_problems
from tuner.diagnostics.misjudged import misjudged
from tuner.engine.engine import Engine
from tuner.engine.loading import load_engine, quiescence_of
from tuner.fit.cross_validation import choose_prior
from tuner.fit.options import DRAWS, FitOptions
from tuner.fit.regression import best_fit
from tuner.fit.result import FitResult
from tuner.fit.temporal import fit_temporal
from tuner.ingest.build import count_positions
from tuner.ingest.kept import Kept
from tuner.ingest.search_targets import Leaves, Retarget, Searched
from tuner.ingest.sources import dataset_of, require_learnable
from tuner.io.files import LEARNED, replace_file, require_writable
from tuner.io.progress import Display
from tuner.io.run_folder import new_folder
from tuner.parameters.parameters import Parameters, untapered
from tuner.parameters.writer import write_parameters
from tuner.statistics.intervals import FEW_GAMES
from tuner.tuning.methods import resolved, retarget_of, value_change
from tuner.tuning.options import TuneOptions
from tuner.tuning.result import describe, method_line, report_line
from tuner.tuning.score_targets import ScoreTargets, source_of, with_score_targets

NEXT = ("advice", "compare", "match")  # what a result says of what to do next: nothing about the learned file
FAR = 0.02  # mean change of values above which leaves and search values are computed again


class Read(NamedTuple):
    """A dataset, a line about the games read, and what was kept with it (see `tuner.ingest.kept`). If `results` is None, the
    outcomes of the dataset are the results."""

    data: Dataset
    line: str
    results: np.ndarray | None
    positions: np.ndarray | None
    scored: ScoreTargets | None = None  # for targets from scores


class Fitted(NamedTuple):
    """The result of all rounds: the last dataset and fit, a summary of the first dataset, and the options, with the width of
    the prior if the data chose it."""

    read: Read
    summary: dict
    result: FitResult
    options: TuneOptions


def tune(start: str, sources: Sequence[str], output: Path, options: TuneOptions, command: str, display: Display) -> dict:
    """Fit and write; return the result as plain data. InputError for a user's mistake.

    `command` is recorded in the learned file and the run's folder.
    """
    with _folder(options.run) as folder:
        require_writable(output, LEARNED, (start, *sources, *options.terms, *filter(None, [options.quiescence])), options.run)
        display.begin("starting")
        engine, parameters = _started(start, options)
        options = resolved(options, engine.game, parameters, sources)
        require_linear(engine, options)
        read, summary, result, options = _rounds(engine, parameters, sources, folder, options, display)
        display.begin("computing losses and errors")
        on_results = results_problems(result, read.results)
        plain = describe(start, output, read.data, options, result, engine.game, on_results, command,
                         read.scored and read.scored.scale)
        if options.bootstrap:
            display.begin("bootstrapping", options.bootstrap)
            plain["bootstrap"] = checked_errors(result, options.bootstrap, options.seed, display.counting)
        learned = {key: value for key, value in plain.items() if key not in ("output", "run", *NEXT)}
        write_parameters(output, result.parameters.with_weights(result.parameters.weights, learned=learned))
        if options.run:
            display.begin("computing diagnostics")
            found = findings(result, plain, summary, engine.layout, on_results)
            found |= _misjudged(engine, parameters, result, found["summary"], sources, options, display)
            _write_run(options.run, plain, options, result, parameters, output, found)
    return plain


def dry_run(start: str, sources: Sequence[str], options: TuneOptions, display: Display) -> dict:
    """Return what the games identify, as plain data, without searching or fitting."""
    with _folder(options.run) as folder:
        display.begin("starting")
        engine, parameters = _started(start, options)
        method = resolved(options, engine.game, parameters, sources).method  # refuses what the run itself would refuse
        options = resolved(replace(options, method="logistic", targets=None, max_difference=None, teacher=None, nodes=None,
                                   depth=None, lambda_=None, rounds=None, bootstrap=0, gradient="analytic", step=None),
                           engine.game, parameters, sources)
        require_linear(engine, options)
        display.begin("reading")
        read = _read(engine, sources, folder, options, None, display.note, display.reading, display.searched, parameters)
        _report_reading(read, engine, options, display, None)
        display.begin("computing errors")
        return {"method": method, **dry_run_findings(read.data, parameters, options.fitting())}


def require_linear(engine: Engine, options: TuneOptions) -> None:
    """InputError for terms without counts to learn from, unless gradients are finite differences of the evaluation."""
    if engine.composition.curved and options.gradient == "analytic":
        raise InputError(f"term {engine.composition.curved[0]}: is not linear in its numbers, so counts do not give its "
                         "gradient; learn with --gradient finite-difference")


def _started(start: str, options: TuneOptions) -> tuple[Engine, Parameters]:
    """Return the engine and the parameters to start from."""
    engine, parameters = load_engine(start, options.terms)
    if options.untapered:
        parameters = untapered(parameters)
        for what, names in (("fixed", parameters.fixed), ("bounds", dict(parameters.bounds)), ("prior", dict(parameters.prior))):
            for name in names:
                if not parameters.mask((name,)).any():
                    raise InputError(f"{start}: {what} names {name}, but with --untapered there is one number for all stages; "
                                     "leave out the stage")
    if options.scale is not None:
        parameters = parameters.with_weights(parameters.weights, scale=options.scale)
    _check_names(parameters, options)
    return engine, parameters


def _misjudged(engine: Engine, start: Parameters, result: FitResult, summary: dict, sources: Sequence[str],
               options: TuneOptions, display: Display) -> dict:
    """Return the misjudged games and positions, if the games can be read again."""
    if any(source == "-" or is_dataset(source) for source in sources):
        return {}
    found = misjudged(engine, sources, options.reading, quiescence_of(engine, options.quiescence),
                      start.with_weights(start.weights, scale=result.parameters.scale), result.parameters, display.reading)
    return {"summary": {**summary, "files": found.pop("files")}, "misjudged": found}


def _rounds(engine: Engine, parameters: Parameters, sources: Sequence[str], folder: Path, options: TuneOptions,
            display: Display) -> Fitted:
    """Read and fit; with searches, repeat with the learned weights while values change much."""
    searching, note, searches = parameters, display.note, options.depth is not None or options.teacher is not None
    display.begin("reading")
    total = None
    if searches and (total := count_positions(engine, sources, options.reading, quiescence_of(engine, options.quiescence),
                                              note, display.reading)) is not None:
        note = _nothing  # notes were shown while the positions were counted
    for left in range((options.rounds or 1) - 1, -1, -1):
        first = searching is parameters
        if searches:
            display.begin("searching" if first else "searching again", total)
        retarget = retarget_of(engine, searching, options, display.searched)
        read = _read(engine, sources, folder, options, retarget, note, _nothing if searches else display.reading,
                     display.searched, searching)
        note = _nothing
        if first:
            summary = _report_reading(read, engine, options, display, method_line(options))
        fitting = replace(options.fitting(_device(engine, read, options)), progress=display.passing)
        if first:
            options = _with_width(read.data, parameters, engine, options, fitting, display)
            fitting = replace(fitting, prior=options.prior)
        display.begin("learning", options.iterations)
        if isinstance(retarget, Leaves):
            result = fit_temporal(read.data, retarget.data, parameters, fitting, display.learning)
        else:
            # the prior of each round is centred on the weights that searched
            start = searching if options.method == "rootstrap" else parameters
            result = best_fit(read.data, start, fitting, display.learning, display.note)
        moved = value_change(result, searching) if left else 0.0
        if moved <= FAR:
            break
        display.note(f"values of positions moved by {moved:.3f} on average: searching again with the learned weights")
        searching = result.parameters
    return Fitted(read, summary, result, options)


def _nothing(found: str | ReadReport) -> None:
    """Ignore a note or a report."""


def _device(engine: Engine, read: Read, options: TuneOptions) -> Device:
    """Return the device that passes run on."""
    if options.gradient == "analytic":
        return device_named(options.device, options.workers)
    return by_differences(engine, read.positions, options.step, options.gradient == "central-difference", options.workers)


def _read(engine: Engine, sources: Sequence[str], folder: Path, options: TuneOptions, retarget: Retarget | None,
          note: Callable[[str], None], progress: Callable[[ReadReport], None], searched: Searched, start: Parameters) -> Read:
    """Return the dataset of the sources, with a line about the games read."""
    again = options.gradient != "analytic"
    with source_of(engine.game, options, searched) as scores:
        kept = Kept(folder, retarget, engine.game.words if again else None, scores,
                    options.lambda_ == 1) if retarget or again or scores else None
        with kept or contextlib.nullcontext():
            data, report = dataset_of(engine, sources, folder, options.reading, quiescence_of(engine, options.quiescence), note,
                                      progress, kept)
    other_targets = options.method in ("rootstrap", "scores")  # otherwise the outcomes are the results
    read = Read(data, report_line(report) if report else "", kept.results if other_targets else None, kept and kept.positions)
    if scores and kept:
        read = _scored(read, kept, start, options, folder)
    first = read.data.first[:-1][np.diff(read.data.first) > 0]
    require_learnable(data, read.line, set(np.unique(read.results[first]).tolist()) if other_targets else None)
    return read


def _scored(read: Read, kept: Kept, start: Parameters, options: TuneOptions, folder: Path) -> Read:
    """Return what was read with targets from scores; `start` are the parameters for --max-difference."""
    scored = with_score_targets(read.data, kept.scores, kept.results, kept.unknown, start, options, folder)
    positions = read.positions if scored.keep is None or read.positions is None else read.positions[scored.keep]
    return Read(scored.data, read.line, scored.results, positions, scored)


def _with_width(data: Dataset, start: Parameters, engine: Engine, options: TuneOptions, fitting: FitOptions,
                display: Display) -> TuneOptions:
    """Return the options; --prior cv is replaced by the width that cross-validation chooses."""
    if options.prior != "cv":
        return options
    # the width hardly depends on the model of draws
    fitting = replace(fitting, loss="cross-entropy" if fitting.loss == DRAWS else fitting.loss)
    width, losses = choose_prior(data, start, fitting, display.begin)
    display.note("mean held-out loss by width of the prior: "
                 + ", ".join(f"{width:g}: {loss:.5f}" for width, loss in losses.items()) + f"; chosen: {width:g} centipawns")
    return replace(options, prior=width)


def _report_reading(read: Read, engine: Engine, options: TuneOptions, display: Display, how: str | None) -> dict:
    """Show what was read and `how` weights are learned from it; return the summary of the dataset, with the results of games
    as outcomes."""
    for line in filter(None, (read.line, *(read.scored.lines if read.scored else ()), how)):
        display.note(line)
    results = read.data if read.results is None else replace(read.data, outcome=read.results)
    summary = summarise(results, engine.layout)
    for line in summary_lines(summary):
        display.note("  " + line)
    why = f"; no GPU: {options.no_gpu}" if options.no_gpu else ""
    display.note(f"passes run on {_device(engine, read, options).name}{why}")
    if read.data.games < FEW_GAMES:
        display.note(f"only {read.data.games} games: the standard errors are rough")
    return summary


def _check_names(parameters: Parameters, options: TuneOptions) -> None:
    for option, names in (("--fixed", options.fixed), ("--only", options.only)):
        for name in names:
            if not parameters.mask((name,)).any():
                raise InputError(f"{option} {name}: names no parameter; try a glob such as 'material.*'")
    free = ~parameters.mask((*parameters.fixed, *options.fixed))
    if options.only:
        free &= parameters.mask(options.only)
    if not free.any():
        raise InputError("every parameter is fixed, by --fixed, --only or `fixed` in the file: nothing to learn; free some")


@contextlib.contextmanager
def _folder(run: Path | None) -> Iterator[Path]:
    if run is None:
        with tempfile.TemporaryDirectory(prefix="evaltune-") as name:
            yield Path(name)
    else:
        with new_folder(run) as folder:
            yield folder


def _write_run(run: Path, plain: dict, options: TuneOptions, result: FitResult, start: Parameters, output: Path,
               found: dict) -> None:
    import yaml

    settings = {"trace" if key == "lambda_" else key:  # the key that readers of runs know
                str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
                for key, value in asdict(options).items()}
    settings["reading"].pop("evaluation")
    config = {"command": plain["command"], "version": __version__, "start": plain["start"], "data": plain["data"],
              "options": settings}
    replace_file(run / "config.yaml", yaml.safe_dump(config, sort_keys=False))
    replace_file(run / "history.jsonl", "".join(json.dumps(line) + "\n" for line in result.history))
    replace_file(run / "findings.json", json.dumps(found, indent=1, allow_nan=False) + "\n")
    write_parameters(run / "start.yaml", start)
    replace_file(run / "params.yaml", output.read_bytes())
