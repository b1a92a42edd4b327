"""Tune the weights of a parameter file on games and write them to a new file."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from games.streams import InputError
from tuner.options.option import (
    READING,
    TERMS,
    Arguments,
    Option,
    Table,
    Title,
    cluster,
    options_in,
    output,
    params,
    refuse,
    resume,
)
from tuner.options.tune import TuneOptions
from tuner.results.result import CommandResult, Found

if TYPE_CHECKING:
    from tuner.io.terminal import Display

USAGE = "PARAMS GAMES [GAMES ...] -o OUT [options]\n       tuner tune --resume DIR"
EXAMPLE = """examples:
  tuner tune classic games.pgn.zst -o learned.yaml
  tuner tune classic games.pgn.zst --dry-run
  tuner tune classic games.pgn.zst --method logistic --try 10 -o learned.yaml
  tuner tune classic --own-games 6000 -o learned.yaml
  tuner tune my.yaml games/ --method logistic --fixed 'material.pawn.eg' \\
    -o learned.yaml --run run
"""
TABLE: Table = (
    params("parameter file to start from, or a bundled one: classic, zero, ...", nargs="?"),
    Option(
        ("games",),
        "files of games or labeled positions (also .gz, .bz2, .zst), folders of them, datasets, -"
        " for standard input, or samples for the bundled games",
        default=[],
        metavar="GAMES",
        nargs="*",
    ),
    output("parameter file to write", "OUT"),
    Option(
        ("--dry-run",),
        "report what can be learned from these games, and fit nothing",
        default=False,
        action="store_true",
    ),
    *options_in(TuneOptions, "method fixed only"),
    Option(
        ("--run",),
        "keep the dataset, the history and the settings in this folder, for `tuner report`",
        metavar="DIR",
    ),
    resume("a run", " that was interrupted while it searched: its searches are kept"),
    *options_in(TuneOptions, "not_linear try_"),
    TERMS,
    Title("recorded scores"),
    *options_in(TuneOptions, "blend teacher nodes max_difference"),
    Title("searches and temporal differences"),
    *options_in(TuneOptions, "depth lambda_ rounds"),
    Title("own games"),
    *options_in(TuneOptions, "own_games own_rounds"),
    Title("model"),
    *options_in(TuneOptions, "loss prior held_out untapered scale intercept"),
    Title("optimizer"),
    *options_in(TuneOptions, "learner iterations learning_rate batch gradient step"),
    *READING,
    Title("machine"),
    *options_in(TuneOptions, "workers"),
    cluster("play own games, search positions, and pass over a dataset"),
    *options_in(TuneOptions, "device"),
)


def run(arguments: Arguments) -> Found:
    from tuner.commands.display import TerminalDisplay, executor_of
    from tuner.evaluation.loading import sources_for
    from tuner.findings.dry_run import dry_run_lines
    from tuner.learn.methods import tune_settings
    from tuner.learn.run import dry_run, tune

    if arguments.resume is not None:
        return _resumed(arguments)
    if arguments.params is None:
        raise InputError("tune: expected PARAMS and GAMES, or --resume DIR; see tuner tune --help")
    settings = tune_settings(arguments.given_for(TuneOptions), arguments.terms, arguments.run)
    if not arguments.games and settings.own_games is None:
        raise InputError(
            "tune: expected GAMES to learn from, or --own-games N; see tuner tune --help"
        )
    games = sources_for(arguments.params, arguments.games)
    refuse(
        (
            (
                f"--cluster {arguments.cluster}",
                arguments.dry_run and arguments.cluster is not None,
                "has no use with --dry-run, which searches nothing",
            ),
        )
    )
    if arguments.output is None and not arguments.dry_run:
        raise InputError("expected -o OUT, the parameter file to write, or --dry-run")
    with (
        TerminalDisplay() as display,
        executor_of(arguments.cluster, settings.workers, display) as executor,
        _kept_searches(settings.run, display),
    ):
        if arguments.dry_run:
            plain = dry_run(arguments.params, games, settings, display)
            return CommandResult(plain, dry_run_lines(plain))
        output = Path(arguments.output)
        return tune(arguments.params, games, output, settings, arguments.text, display, executor)


def _resumed(arguments: Arguments) -> Found:
    """Begin the run in a folder again, which was interrupted while it searched."""
    from tuner.commands.display import TerminalDisplay, executor_of
    from tuner.core.records import convert, make
    from tuner.io.run_folder import BEGUN, note_foreign, read_told
    from tuner.learn.run import GivenFit, tune
    from tuner.options.tune import TuneSettings

    arguments.require_resumable()
    folder = Path(arguments.resume).absolute()
    told = read_told(folder, BEGUN)
    if told is None:
        raise InputError(
            f"{folder}: holds no searches of an interrupted run; give its command again"
        )
    given: GivenFit = convert(told.settings, GivenFit, str(folder), BEGUN)
    settings = replace(make(TuneSettings, given.options), run=folder)
    try:
        os.chdir(given.folder)  # whose files it names
    except OSError as problem:
        raise InputError(
            f"{given.folder}: {problem.strerror}; the run began there, put it back"
        ) from None
    with (
        TerminalDisplay() as display,
        executor_of(arguments.cluster, settings.workers, display) as executor,
        _kept_searches(folder, display),
    ):
        note_foreign(told, display.note)
        return tune(
            given.start,
            given.sources,
            Path(given.output),
            settings,
            told.command,
            display,
            executor,
            told,
        )


@contextlib.contextmanager
def _kept_searches(folder: Path | None, display: Display) -> Iterator[None]:
    """Return the hint on how to continue a run that was interrupted within its searches."""
    from tuner.io.run_folder import BEGUN, read_told

    try:
        yield
    except KeyboardInterrupt:
        if folder and read_told(folder, BEGUN):
            display.note(f"continue with: tuner tune --resume {shlex.quote(str(folder))}")
        raise
