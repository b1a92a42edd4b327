"""What `tuner tune` starts from: the parameters, the engine that counts their terms, and the
sources, read into one dataset with a report."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import USUAL_SCALE, Game, ReadReport, available, find, scale_of
from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.files import is_dataset
from tuner.datasets.rows.build import of_rows, rows_of_sources
from tuner.datasets.rows.formats import is_rows
from tuner.datasets.summary import summarise, summary_lines
from tuner.evaluation.engine import Engine
from tuner.evaluation.evaluation import quiescence_of
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.fit.device.base import Device
from tuner.fit.device.choose import device_named
from tuner.fit.device.cpu.device import RangedCpu
from tuner.fit.device.differences import Differences
from tuner.io.terminal import Display
from tuner.learn.build import Kept, dataset_of, require_learnable
from tuner.learn.method_table import METHODS
from tuner.learn.moves import Moves
from tuner.learn.scores import ScoreTargets, source_of, with_score_targets
from tuner.learn.targets import Retarget
from tuner.options.tune import TuneSettings
from tuner.parallel import Executor, OnThreads
from tuner.parameters.parameters import DEFAULT_GAME, Parameters, require_names, untapered

SEED = 1
COMPARED, FEWEST_COMPARED = 4096, 100  # positions, of evaluations compared with `classic`


class Read(NamedTuple):
    """A dataset, a line about the games read, and what was kept with it (see `tuner.learn.build`).
    If `results` is None, the outcomes of the dataset are the results. `centipawn`: how many
    centipawns of `classic` one of the evaluation is worth; None if that is not known."""

    data: Dataset
    line: str
    results: np.ndarray | None
    positions: np.ndarray | None
    scored: ScoreTargets | None = None  # for targets from scores
    centipawn: float | None = None


def report_line(report: ReadReport) -> str:
    """Return how many games were read, used and skipped, in one line."""
    parts = [f"read {report.games:,} games, used {report.used:,}"]
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
    engine: Engine | None,
    read: Read,
    options: TuneSettings,
    sources: Sequence[str],
    executor: Executor | None = None,
) -> Device:
    """Return the device that passes run on: separate processes, if the executor has some that may
    see the dataset."""
    if (
        executor is not None
        and executor.remote
        and why_here(engine, read, options, sources) is None
    ):
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


def why_here(
    engine: Engine | None, read: Read, options: TuneSettings, sources: Sequence[str]
) -> str | None:
    """Return why passes over the positions run on this machine even with a cluster; None if they
    need not."""
    if options.device != "cpu":
        return f"--device {options.device} is on this machine"
    if options.gradient != "analytic":
        return "finite differences are computed by one process"
    if len(sources) != 1 or sources[0] == "-" or not is_dataset(sources[0]):
        return (
            "their dataset was made here; to share the passes, name one dataset that every machine"
            " sees"
        )
    if engine is None or read.data.scaled:
        return "another program counted them"
    if read.data.apart:
        return f"term {read.data.apart[0]} is not linear in its weights"
    return None if options.method == "logistic" else "they have targets that are no results"


def read_games(
    engine: Engine,
    sources: Sequence[str],
    folder: Path,
    options: TuneSettings,
    retarget: Retarget | None,
    note: Callable[[str], None],
    display: Display,
    start: Parameters,
    positions: bool = False,
    executor: Executor | None = None,
) -> Read:
    """Return the dataset of the sources, with a line about the games read; with its `positions` if
    they are wanted. The display follows the games or, if positions are searched, the searches. A
    teacher runs on the executor; None: on the threads that the options name."""
    searches = options.depth is not None or options.teacher is not None
    progress = (lambda report: None) if searches else display.reading
    again = positions or options.gradient != "analytic"
    if options.method == "scores" and all(
        source != "-" and is_dataset(source) for source in sources
    ):
        data, _ = dataset_of(engine, sources, folder, options.reading, None, note, progress)
        read = _with_scores(data, sources, folder, options, start, engine.cpu(options.workers))
        return read._replace(centipawn=scale_of(engine.game.name) / USUAL_SCALE)
    lines: list[str] = []
    with source_of(
        engine.game, options, display.searched, executor or OnThreads(options.workers), lines
    ) as scores:
        kept = (
            Kept(folder, engine.game, retarget, again, scores, options.lambda_ == 1)
            if (retarget or again or scores) and not isinstance(retarget, Moves)
            else None
        )
        with kept or contextlib.nullcontext():
            data, report = dataset_of(
                engine,
                sources,
                folder,
                # moves are consecutive; those that are compared are chosen later
                replace(options.reading, per_game=0)
                if options.positions == "moves"
                else options.reading,
                quiescence_of(engine.game, options.judge),
                note,
                progress,
                kept or retarget,
            )
    read = Read(
        data,
        report_line(report) if report else "",
        retarget.results
        if isinstance(retarget, Moves)
        else kept.results
        if kept and METHODS[options.method].other_targets  # else the outcomes are the results
        else None,
        kept.positions if kept else None,
        centipawn=scale_of(engine.game.name) / USUAL_SCALE,
    )
    if scores and kept:
        read = _scored(read, kept, start, options, folder, engine.cpu(options.workers))
        read = read._replace(
            scored=read.scored and read.scored._replace(lines=[*lines, *read.scored.lines])
        )
    first = read.data.first[:-1][np.diff(read.data.first) > 0]
    require_learnable(
        data,
        read.line,
        None if read.results is None else set(np.unique(read.results[first]).tolist()),
    )
    return read


def _scored(
    read: Read, kept: Kept, start: Parameters, options: TuneSettings, folder: Path, device: Device
) -> Read:
    """Return what was read with targets from scores; `start` are the parameters for
    --max-difference."""
    scored = with_score_targets(
        read.data, kept.scores, kept.results, kept.unknown, start, options, folder, device
    )
    positions = (
        read.positions
        if scored.keep is None or read.positions is None
        else read.positions[scored.keep]
    )
    return read._replace(
        data=scored.data, results=scored.results, positions=positions, scored=scored
    )


def read_rows(
    sources: Sequence[str],
    folder: Path,
    options: TuneSettings,
    note: Callable[[str], None],
    start: Parameters,
) -> Read:
    """Return the dataset of rows that another program counted. InputError if they do not agree with
    its evaluation."""
    data = rows_of_sources(sources, folder, start, options.not_linear, note)
    centipawn = centipawns_of_classic(data)
    if options.method == "scores":
        return _with_scores(data, sources, folder, options, start)._replace(centipawn=centipawn)
    require_learnable(data)
    return Read(data, "", None, None, centipawn=centipawn)


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


def _with_scores(
    data: Dataset,
    sources: Sequence[str],
    folder: Path,
    options: TuneSettings,
    start: Parameters,
    device: Device | None = None,
) -> Read:
    """Return a dataset that has scores with targets from them; InputError if it has none."""
    if not len(data.score):
        raise InputError(
            f"{sources[0]}: has no scores; learn from results with --method logistic, or build the"
            " dataset again from games that record scores"
        )
    scored = with_score_targets(
        data, np.asarray(data.score), np.asarray(data.outcome), 0, start, options, folder, device
    )
    first = scored.data.first[:-1][np.diff(scored.data.first) > 0]
    require_learnable(scored.data, "", set(np.unique(scored.results[first]).tolist()))
    return Read(scored.data, "", scored.results, None, scored)


def report_reading(
    read: Read, device: Device, options: TuneSettings, display: Display, how: str | None
) -> dict:
    """Show what was read, `how` weights are learned from it and on which device; return the summary
    of the dataset, with the results of games as outcomes."""
    for line in filter(None, (read.line, *(read.scored.lines if read.scored else ()), how)):
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


class Start(NamedTuple):
    """The parameters to start from, and the engine that counts their terms; None if the sources are
    rows. `game` is None if the learned file cannot play."""

    engine: Engine | None
    game: Game | None
    parameters: Parameters


def started(start: str, sources: Sequence[str], options: TuneSettings) -> Start:
    """Return what a run starts from. InputError if the sources are not what the parameter file
    needs."""
    rows = [source for source in sources if _holds_rows(source)]
    parameters = load_parameters(start, options.terms)
    others = [source for source in sources if source not in rows]
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
    else:
        engine, parameters = load_engine(start, options.terms)
        game = engine.game
    if options.untapered:
        parameters = untapered(parameters)
        require_names(parameters, start, "--untapered there is one number for all stages")
    if options.scale is not None:
        parameters = parameters.with_weights(parameters.weights, scale=options.scale)
    _check_names(parameters, options)
    return Start(engine, game, parameters)


def _holds_rows(source: str) -> bool:
    """Return whether a source is a file or dataset of rows."""
    return source != "-" and (of_rows(source) if is_dataset(source) else is_rows(source))


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
