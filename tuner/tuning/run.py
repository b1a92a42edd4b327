"""`tuner tune` from files to file: read, summarise, fit, write."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from games.record import ReadReport, points_of
from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.format import is_dataset
from tuner.datasets.split import split_games
from tuner.datasets.summary import is_labelled
from tuner.diagnostics.bootstrap import checked_errors
from tuner.diagnostics.dry_run import dry_run_findings
from tuner.diagnostics.findings import findings, results_problems
from tuner.diagnostics.misjudged import misjudged
from tuner.diagnostics.misjudged_rows import misjudged_rows
from tuner.engine.loading import quiescence_of
from tuner.fit.cross_validation import choose_prior
from tuner.fit.noise import FEWEST
from tuner.fit.options import DRAWS, FitOptions
from tuner.fit.play_prior import PLAY
from tuner.fit.regression import best_fit
from tuner.fit.result import FitResult
from tuner.fit.temporal import fit_temporal
from tuner.ingest.build import count_positions
from tuner.ingest.search_targets import Leaves
from tuner.io.files import LEARNED, replace_file, require_writable
from tuner.io.progress import Display
from tuner.io.run_folder import new_folder
from tuner.parallel import Executor, OnThreads
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters
from tuner.tuning.fitted import FAR, Fitted
from tuner.tuning.methods import resolved, retarget_of, value_change
from tuner.tuning.options import TuneOptions
from tuner.tuning.own_games import learn_from_own_games
from tuner.tuning.reading import Read, device_of, read_games, read_rows, report_reading, why_here
from tuner.tuning.result import describe, method_line
from tuner.tuning.start import Start, started
from tuner.version import __version__

NEXT = ("advice", "compare", "match")  # what a result says of what to do next: nothing about the learned file


def tune(start: str, sources: Sequence[str], output: Path, options: TuneOptions, command: str, display: Display,
         executor: Executor | None = None) -> dict:
    """Fit and write; return the result as plain data. InputError for a user's mistake.

    `command` is recorded in the learned file and the run's folder. Games are played and positions searched on the executor; None:
    on the threads that the options name.
    """
    executor = executor or OnThreads(options.workers)
    with _folder(options.run) as folder:
        require_writable(output, LEARNED, (start, *sources, *options.terms, *filter(None, [options.quiescence])), options.run)
        display.begin("starting")
        begun = started(start, sources, options)
        rounds = None
        if options.own_games:
            given = options
            rounds = learn_from_own_games(begun, start, sources, folder, given, command, lambda begun, sources, folder: _rounds(
                begun, sources, folder, given, executor, display), executor, display)
            sources = rounds.sources
        read, summary, result, options = rounds.fitted if rounds else _rounds(begun, sources, folder, options, executor, display)
        parameters = begun.parameters
        display.begin("computing losses and errors")
        on_results = results_problems(result, read.results)
        plain = describe(start, output, read, options, result, begun, on_results, command)
        if rounds:
            plain["own_games"], plain["own_rounds"] = options.own_games, rounds.rounds
            plain["own_matches"] = rounds.matches
        if options.bootstrap:
            display.begin("bootstrapping", options.bootstrap)
            plain["bootstrap"] = checked_errors(result, options.bootstrap, options.seed, display.counting)
        learned = {key: value for key, value in plain.items() if key not in ("output", "run", *NEXT)}
        write_parameters(output, result.parameters.with_weights(result.parameters.weights, learned=learned))
        if options.run:
            display.begin("computing diagnostics")
            found = findings(result, plain, summary, read.data.layout, on_results)
            found |= _misjudged(begun, result, found["summary"], sources, options, read, display)
            _write_run(options.run, plain, options, result, parameters, output, found)
    return plain


def dry_run(start: str, sources: Sequence[str], options: TuneOptions, display: Display) -> dict:
    """Return what the games identify, as plain data, without searching or fitting."""
    if options.own_games:
        raise InputError(f"--own-games {options.own_games}: has no use with --dry-run, which reads games that are there; leave "
                         "it out")
    with _folder(options.run) as folder:
        display.begin("starting")
        begun = started(start, sources, options)
        engine, game, parameters = begun
        method = resolved(options, game, parameters, sources, engine is None).method  # refuses what the run itself would refuse
        auto = options.device == "auto"
        options = resolved(replace(options, method="logistic", targets=None, max_difference=None, teacher=None, nodes=None,
                                   depth=None, lambda_=None, rounds=None, bootstrap=0, gradient="analytic", step=None),
                           game, parameters, sources, engine is None)
        display.begin("reading")
        if engine is None:
            read = read_rows(sources, folder, options, display.note, parameters)
        else:
            read = read_games(engine, sources, folder, options, None, display.note, display.reading, display.searched, parameters)
        options = _without_gpu(options, read) if auto else options
        device = device_of(engine, read, options, sources)
        report_reading(read, device, options, display, None)
        display.begin("computing errors")
        return {"method": method, **dry_run_findings(read.data, parameters, options.fitting(device))}


def _misjudged(begun: Start, result: FitResult, summary: dict, sources: Sequence[str], options: TuneOptions, read: Read,
               display: Display) -> dict:
    """Return the misjudged games and positions, if the games can be read again or the rows have texts."""
    start = begun.parameters
    if begun.engine is None:
        return {"misjudged": misjudged_rows(result, read.results)} if len(read.data.text) else {}
    if any(source == "-" or is_dataset(source) for source in sources):
        return {}
    found = misjudged(begun.engine, sources, options.reading, quiescence_of(begun.engine, options.quiescence),
                      start.with_weights(start.weights, scale=result.parameters.scale), result.parameters, display.reading)
    return {"summary": {**summary, "files": found.pop("files")}, "misjudged": found}


def _rounds(begun: Start, sources: Sequence[str], folder: Path, given: TuneOptions, executor: Executor,
            display: Display) -> Fitted:
    """Read and fit; with searches, repeat with the learned weights while values change much."""
    engine, game, parameters = begun
    options = resolved(given, game, parameters, sources, engine is None)
    searching, note, searches = parameters, display.note, options.depth is not None or options.teacher is not None
    display.begin("reading")
    total = None
    if engine and searches and (total := count_positions(
            engine, sources, options.reading, quiescence_of(engine, options.quiescence), note, display.reading)) is not None:
        note = _nothing  # notes were shown while the positions were counted
    for left in range((options.rounds or 1) - 1, -1, -1):
        first = searching is parameters
        if searches:
            display.begin("searching" if first else "searching again", total)
        retarget = None
        if engine is None:
            read = read_rows(sources, folder, options, note, parameters)
        else:
            retarget = retarget_of(engine, searching, options, display.searched, executor)
            read = read_games(engine, sources, folder, options, retarget, note, _nothing if searches else display.reading,
                              display.searched, searching, executor=executor)
        note = _nothing
        if given.device == "auto":
            options = _without_gpu(options, read)
        device = device_of(engine, read, options, sources, executor)
        if first:
            how = method_line(options, engine is None, len(read.data.score) > 0, is_labelled(read.data))
            summary = report_reading(read, device, options, display, how)
            if executor.remote and (why := why_here(engine, read, options, sources)):
                display.note(f"passes over the positions run on this machine: {why}")
        fitting = replace(options.fitting(device), progress=display.passing,
                          centipawn=read.centipawn)
        if first:
            options = _with_prior(read.data, parameters, options, fitting, display)
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


def _without_gpu(options: TuneOptions, read: Read) -> TuneOptions:
    """Return the options with the CPU in place of a GPU that was chosen by itself, for positions that GPUs have no passes for."""
    if options.device != "gpu" or not (read.data.wide or read.data.apart):
        return options
    why = f"term {read.data.apart[0]} is not linear in its weights" if read.data.apart else (
        "the counts of these rows are not whole numbers from -128 to 127, or there are more than 256 pairs of phase and scale")
    return replace(options, device="cpu", no_gpu=why)


def _with_prior(data: Dataset, start: Parameters, options: TuneOptions, fitting: FitOptions,
                display: Display) -> TuneOptions:
    """Return the options; the width that cross-validation chooses replaces --prior cv, and play replaces auto where it can be
    used: for results of games with several positions that are won or drawn, and an evaluation to start from."""
    if options.prior == "auto" and options.method == "logistic" and options.gradient == "analytic":
        lengths = np.diff(data.first)[split_games(data, options.held_out, options.seed)[0]]
        pairs = (lengths - 1).clip(0).sum()  # of neighbouring positions
        usable = start.weights.any() and data.positions > 2 * data.games and (
            points_of(start.game) == 1 and pairs >= FEWEST)
        return replace(options, prior=PLAY) if usable else options
    if options.prior != "cv":
        return options
    # the width hardly depends on the model of draws
    fitting = replace(fitting, loss="cross-entropy" if fitting.loss == DRAWS else fitting.loss)
    width, losses = choose_prior(data, start, fitting, display.begin)
    display.note("mean held-out loss by width of the prior: "
                 + ", ".join(f"{width:g}: {loss:.5f}" for width, loss in losses.items())
                 + f"; chosen: {width:g} {start.wording.unit}")
    return replace(options, prior=width)


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
