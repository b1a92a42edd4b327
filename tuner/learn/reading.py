"""What `tuner tune` starts from: the parameters, the engine that counts their terms, and the
sources, read into one dataset with a report."""

import contextlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from games.record import USUAL_SCALE, ReadReport, available, find, scale_of
from games.streams import InputError
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.datasets.rows.build import rows_of_sources
from tuner.datasets.summary import summarise, summary_lines
from tuner.evaluation.engine import CompiledTerms
from tuner.evaluation.evaluation import quiescence_of
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.fit.device.base import Device
from tuner.fit.device.choose import device_named
from tuner.fit.device.cpu.device import RangedCpu
from tuner.fit.device.differences import Differences
from tuner.io.terminal import Display
from tuner.learn.build import Kept, dataset_of, require_learnable
from tuner.learn.sources import Source, holds_rows, sources_of, sources_of_rows
from tuner.learn.targets import Read, Start, Targets
from tuner.options.tune import TuneSettings
from tuner.parallel import Executor
from tuner.parameters.parameters import (
    DEFAULT_GAME,
    Parameters,
    require_names,
    require_within_bounds,
    untapered,
)

SEED = 1
COMPARED, FEWEST_COMPARED = 4096, 100  # positions, of evaluations compared with `classic`


def report_line(report: ReadReport) -> str:
    """Return how many games were read, used and skipped, in one line."""
    parts = [f"read {plural(report.games, 'game')}, used {report.used:,}"]
    for number, what in (
        (report.bad, "bad and skipped"),
        (report.undecided, "without a result"),
        (report.by_tag, "with the result of the tag alone"),
        (report.below_elo, "below the Elo wanted"),
        (report.ended_otherwise, "ended otherwise than wanted"),
        (report.duplicate_games, "duplicates"),
        (report.duplicate_positions, "duplicate positions left out"),
    ):
        if number:
            parts.append(f"{number:,} {what}")
    text = "; ".join(
        [
            ", ".join(parts),
            *(
                f"{count:,} x {kind}"
                for kind, count in sorted(report.faults.items(), key=lambda item: -item[1])
            ),
        ]
    )
    return text


def device_of(
    begun: Start, read: Read, options: TuneSettings, executor: Executor | None = None
) -> Device:
    """Return the device that passes run on: separate processes, if the executor has some that may
    see the dataset."""
    engine = begun.engine
    if executor is not None and executor.remote and why_here(begun, read, options) is None:
        return RangedCpu(options.workers, executor=executor, data=read.data)
    if options.gradient != "analytic" and engine is not None:
        assert read.positions is not None and options.step is not None, (
            "kept for differences; see `resolved`"
        )
        return Differences(
            options.workers,
            evaluator=engine,
            positions=read.positions,
            step=options.step,
            central=options.gradient == "finite-difference",
            unit=engine.game.wording.unit,
        )
    if options.device == "cpu" and engine is not None:
        return engine.cpu(options.workers)
    return device_named(options.device, options.workers)


def why_here(begun: Start, read: Read, options: TuneSettings) -> str | None:
    """Return why passes over the positions run on this machine even with a cluster; None if they
    need not."""
    if options.device != "cpu":
        return f"--device {options.device} is on this machine"
    if options.gradient != "analytic":
        return "finite differences are computed by one process"
    if len(begun.sources) != 1 or begun.sources[0].files:
        return (
            "their dataset was made here; to share the passes, name one dataset that every machine"
            " sees"
        )
    if begun.engine is None or read.data.scaled:
        return "another program counted them"
    if read.data.apart:
        return f"term {read.data.apart[0]} is not linear in its weights"
    return None if options.method == "logistic" else "they have targets that are no results"


def read_sources(
    begun: Start,
    folder: Path,
    options: TuneSettings,
    targets: Targets,
    note: Callable[[str], None],
    display: Display,
    positions: bool = False,
) -> Read:
    """Return the dataset of the sources as targets make it, with its `positions` if they are
    wanted, for resolved options; files go to the folder. The display follows the games unless
    positions are searched. InputError for rows that do not agree with the evaluation of their
    engine, and for sources that nothing can be learned from."""
    engine = begun.engine
    with targets:
        if engine is None:
            paths = [source.path for source in begun.sources]
            data = rows_of_sources(paths, folder, begun.parameters, options.not_linear, note)
            read = Read(data, centipawn=centipawns_of_classic(data))
        else:
            read = _read_games(
                engine, begun.sources, folder, options, targets, note, display, positions
            )
        read = targets.finish(read)
    results = None
    if read.results is not None:
        first = read.data.first[:-1][np.diff(read.data.first) > 0]
        results = set(np.unique(read.results[first]).tolist())
    require_learnable(read.data, read.lines[0] if read.games else "", results)
    return read


def _read_games(
    engine: CompiledTerms,
    sources: Sequence[Source],
    folder: Path,
    options: TuneSettings,
    targets: Targets,
    note: Callable[[str], None],
    display: Display,
    positions: bool,
) -> Read:
    """Return the dataset of games, labeled positions and datasets."""
    searches = options.depth is not None or options.teacher is not None
    progress = (lambda report: None) if searches else display.reading
    # moves are consecutive; those that are compared are chosen later
    reading = options.reading
    reading = replace(reading, per_game=0) if options.positions == "moves" else reading
    judge = quiescence_of(engine.game, options.judge)
    centipawn = scale_of(engine.game.name) / USUAL_SCALE
    again = positions or options.gradient != "analytic"
    ready = not any(source.files for source in sources)
    if ready or type(targets) is Targets and not again:
        data, report = dataset_of(engine, sources, folder, reading, judge, note, progress)
        lines = (report_line(report),) if report else ()
        return Read(data, lines, centipawn=centipawn, games=report is not None)
    with Kept(folder, engine.game, targets, again) as kept:
        data, report = dataset_of(engine, sources, folder, reading, judge, note, progress, kept)
    assert report is not None, "games were read, see `require_sources`"
    return Read(
        data,
        (report_line(report),),
        kept.results if targets.replaces else None,
        kept.positions,
        centipawn=centipawn,
        games=True,
    )


def centipawns_of_classic(data: Dataset) -> float | None:
    """Return how many centipawns of `classic` one of the evaluation of rows is worth: the ratio of
    the medians of both, over sampled positions. None if the rows are of another game, or hardly any
    say what their position and evaluation is."""
    if data.manifest["game"] != DEFAULT_GAME or not len(data.text) or not len(data.evaluation):
        return None
    random, n = np.random.default_rng(SEED), min(COMPARED, data.positions)
    places = np.sort(random.choice(data.positions, n, replace=False))
    engine, classic = load_engine("classic")
    theirs, positions = [], []
    sizes = np.abs(data.evaluation[places]).tolist()
    for evaluation, text in zip(sizes, data.texts(places), strict=True):
        with contextlib.suppress(ValueError):
            if not np.isnan(evaluation):
                positions.append(engine.game.position(text))
                theirs.append(evaluation)
    if len(theirs) < FEWEST_COMPARED or not (median := float(np.median(theirs))):
        return None
    return float(np.median(np.abs(engine.evaluate(np.array(positions), classic)))) / median


def report_reading(
    read: Read, device: Device, options: TuneSettings, display: Display, how: str | None
) -> dict:
    """Show what was read, `how` weights are learned from it and on which device; return the summary
    of the dataset, with the results of games as outcomes."""
    for line in filter(None, (*read.lines, how)):
        display.note(line)
    results = read.data if read.results is None else replace(read.data, outcome=read.results)
    summary = summarise(results, read.data.layout)
    for line in summary_lines(summary):
        display.note("  " + line)
    if options.no_gpu:
        display.note(f"running on {device.name}; no GPU: {options.no_gpu}")
    elif options.device != "cpu":
        display.note(f"running on {device.name}")
    return summary


def started(start: str, paths: Sequence[str], options: TuneSettings) -> Start:
    """Return what a run starts from. InputError if the sources are not what the parameter file
    needs."""
    rows = [path for path in paths if holds_rows(path)]
    parameters = load_parameters(start, options.terms)
    others = [path for path in paths if path not in rows]
    if others and parameters.of_rows:
        raise InputError(
            f"{others[0]}: not rows, but another program counts the terms of {start}; name rows, or"
            f" let it count: tuner dataset {shlex.quote(others[0])} --engine COMMAND --params"
            f" {shlex.quote(str(start))} -o rows.ds"
        )
    if others and rows:
        raise InputError(f"{rows[0]}: rows, beside {others[0]}, which is not; name one kind only")
    if rows:
        playable = not parameters.of_rows and parameters.game in available()
        engine, game = None, find(parameters.game) if playable else None
        sources = sources_of_rows(rows)
    else:
        engine, parameters = load_engine(start, options.terms)
        game = engine.game
        sources = sources_of(paths, game)
    if options.untapered:
        parameters = untapered(parameters)
        require_names(parameters, start, "--untapered there is one number for all stages")
    if options.scale is not None:
        parameters = parameters.with_weights(parameters.weights, scale=options.scale)
    _check_names(parameters, options)
    require_within_bounds(parameters, start)
    return Start(engine, game, parameters, sources)


def _check_names(parameters: Parameters, options: TuneSettings) -> None:
    for option, names in (("--fixed", options.fixed), ("--only", options.only)):
        for name in names:
            if not parameters.mask((name,)).any():
                raise InputError(
                    f"{option} {name}: names no parameter; try a glob such as 'material.*'"
                )
    free = ~parameters.mask((*parameters.fixed, *options.fixed))
    if options.only:
        free &= parameters.mask(options.only)
    if not free.any():
        raise InputError(
            "every parameter is fixed, by --fixed, --only or `fixed` in the file: nothing to learn;"
            " free some"
        )
