"""`tuner tune` from files to file: read, summarize, fit, write."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tuner.core.records import InputError, to_json
from tuner.core.store import Store
from tuner.findings.dry_run import dry_run_findings
from tuner.findings.findings import findings, results_problems
from tuner.fit.datafit import Datafit
from tuner.fit.result import Undiagnosed
from tuner.io.files import LEARNED, require_writable
from tuner.io.now import NowDisplay
from tuner.io.run_folder import (
    SEARCHES,
    Told,
    begin_or_remove,
    make_files,
    this_place,
    write_settings,
)
from tuner.io.terminal import Display
from tuner.learn.methods import fitting_of, resolved
from tuner.learn.own_games import OwnRounds, learn_with_own_games, try_steps
from tuner.learn.reading import device_of, read_sources, report_reading, started
from tuner.learn.result import describe
from tuner.learn.rounds import Fitted, fitted_in_rounds, without_gpu
from tuner.learn.searches import SearchLog
from tuner.learn.targets import Targets
from tuner.options.option import refuse
from tuner.options.tune import TuneSettings
from tuner.parallel import Executor, OnThreads
from tuner.parameters.writer import write_parameters
from tuner.play.game import games_under_way
from tuner.results.fit import FINDINGS, Result, Tried
from tuner.version import __version__


def tune(
    start: str,
    sources: Sequence[str],
    output: Path,
    options: TuneSettings,
    command: str,
    display: Display,
    executor: Executor | None = None,
    told: Told | None = None,
) -> Result:
    """Fit and write; return the result. InputError for a user's mistake.

    `command` is recorded in the learned file and the run's folder. Games are played and positions
    searched on the executor; None: on the threads that the options name. `told` is what a run that
    was interrupted was told, by `tell_fit`."""
    executor, run = executor or OnThreads(options.workers), options.run
    told = told or tell_fit(start, sources, output, options, command)
    with _store(run, told, display) as (store, display):
        with _files(store) as folder:
            reads = (start, *sources, *options.terms, *filter(None, [options.quiescence]))
            require_writable(output, LEARNED, reads, run)
            display.begin("starting")
            begun = started(start, sources, options)
            log = SearchLog(store, told.content) if store else None
            learn = partial(
                fitted_in_rounds, given=options, executor=executor, display=display, log=log
            )
            with _writing_undiagnosed(output, command):
                fitted, rounds = learn_with_own_games(
                    begun, start, folder, options, command, learn, executor, display
                )
            fitted, tried = try_steps(begun, fitted, executor, command, display)
            display.begin("computing losses and errors")
            on_results = results_problems(fitted.result, fitted.results)
            result = describe(start, output, fitted, begun, on_results, command)
            result = with_matches(result, rounds, tried)
            learned = replace(fitted.result.parameters, learned=result.learned)
            if not result.nothing_written:
                write_parameters(output, learned)
            if store:
                display.begin("computing diagnostics")
                keep_findings(store, fitted, result, on_results)
                write_parameters(folder / "start.yaml", begun.parameters)
                write_parameters(folder / "params.yaml", learned)
        if store:  # its files are there
            write_settings(store, "options", fitted.options, command, result.start or "")
    return result


def with_matches(result: Result, rounds: OwnRounds | None, tried: Tried | None) -> Result:
    """Return the result with the matches of rounds of own games, and of steps that were tried."""
    if rounds:
        games = rounds.fitted.options.own_games
        result = replace(
            result, own_games=games, own_rounds=rounds.rounds, own_matches=rounds.matches
        )
    result = replace(result, tried=tried)
    if result.nothing_written:
        result = replace(result, output=None, compare=None, match=None, into=None)
    return result


def keep_findings(
    store: Store, fitted: Fitted, result: Result, on_results: tuple[Datafit, Datafit | None] | None
) -> None:
    """Write the history of a fit and its findings into the store of its run."""
    layout = fitted.read.data.layout
    record = findings(fitted.result, result, fitted.summary, layout, on_results)
    for line in fitted.result.history:
        store.append(line)
    store.put(FINDINGS, json.dumps(to_json(record), allow_nan=False).encode())


@contextlib.contextmanager
def _writing_undiagnosed(output: Path, command: str) -> Iterator[None]:
    """Write what a fit in the block learned if there is too little memory for its errors."""
    try:
        yield
    except Undiagnosed as problem:
        known = {"command": command, "version": __version__, "diagnostics": "out of memory"}
        write_parameters(output, replace(problem.parameters, learned=known))
        raise MemoryError(
            f"{problem}; {output} has the learned weights, without errors and diagnostics"
        ) from None


def dry_run(start: str, sources: Sequence[str], options: TuneSettings, display: Display) -> dict:
    """Return what the games identify, as plain data, without searching or fitting."""
    refuse(
        (
            (
                f"--own-games {options.own_games}",
                options.own_games,
                "has no use with --dry-run, which reads games that are there",
            ),
            (f"--run {options.run}", options.run, "has no use with --dry-run, which fits nothing"),
            (
                f"--try {options.try_}",
                options.try_,
                "has no use with --dry-run, which plays nothing",
            ),
        )
    )
    with _files(None) as folder:
        display.begin("starting")
        begun = started(start, sources, options)
        parameters = begun.parameters
        method = resolved(options, begun).method  # refuses what the run itself would refuse
        if method == "moves":
            raise InputError(
                "--dry-run: says what results identify, which --method moves does not learn from;"
                " leave it out"
            )
        auto = options.device == "auto"
        options = resolved(
            replace(
                options,
                method="logistic",
                targets=None,
                max_difference=None,
                teacher=None,
                nodes=None,
                depth=None,
                lambda_=None,
                rounds=None,
                gradient="analytic",
                step=None,
            ),
            begun,
        )
        display.begin("reading")
        read = read_sources(begun, folder, options, Targets(), display.note, display)
        options = without_gpu(options, read) if auto else options
        device = device_of(begun, read, options)
        report_reading(read, device, options, display, None)
        display.begin("computing errors")
        return {
            "method": method,
            **dry_run_findings(read.data, parameters, fitting_of(options, device)),
        }


@dataclass(frozen=True)
class GivenFit:
    """What a fit is given, and the folder in which its command was typed, whose files it names."""

    start: str
    sources: list[str]
    output: str
    options: dict[str, Any]
    folder: str


def tell_fit(
    start: str, sources: Sequence[str], output: Path, options: TuneSettings, command: str
) -> Told:
    """Return what a fit is told."""
    plain = replace(options, run=None).plain
    given = GivenFit(start, list(sources), str(output), plain, os.getcwd())
    return Told("options", asdict(given), command, place=this_place())


@contextlib.contextmanager
def _store(
    run: Path | None, told: Told, display: Display
) -> Iterator[tuple[Store | None, Display]]:
    """Yield the store of a run, and the display, which keeps the state of the run in it."""
    if run is None:
        yield None, display
    else:
        with (
            begin_or_remove(run, told.content) as store,
            NowDisplay(store, display, games_under_way) as kept,
        ):
            yield store, kept
            store.remove(f"{SEARCHES}*")


@contextlib.contextmanager
def _files(store: Store | None) -> Iterator[Path]:
    """Yield a folder for files, which are those of a run if there is a store."""
    with make_files(store) if store else tempfile.TemporaryDirectory(prefix="evaltune-") as name:
        yield Path(name)
