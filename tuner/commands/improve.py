"""Make an engine stronger: play games with it, tune its weights on the search scores, write them
into a copy of its source, and keep them if they win.

PLAN is a YAML file (docs/improve.md). A final match decides, and the result is a patch; your folder
is not changed. Every step is a command that is printed and kept in the folder of the run, and
--resume continues after any interruption."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from games.streams import InputError
from tuner.options.option import Arguments, Option, Table, cluster, resume

if TYPE_CHECKING:
    from tuner.improve.plan import ImproveSettings
    from tuner.improve.rounds import ImproveRun
    from tuner.io.terminal import Display
    from tuner.results.improved import Improved

USAGE = "PLAN [--run DIR]\n       tuner improve [PLAN] --resume DIR"
EXAMPLE = """examples:
  tuner improve improve.yaml --run run
  tuner improve --resume run
  tuner report run

improve.yaml:
  plays: ./myengine
  evals: ./myengine evals
  source: {folder: ., files: [src/eval.c]}
  build: make
"""
TABLE: Table = (
    Option(
        ("plan",),
        "YAML file with the plan; with --resume, a corrected one",
        metavar="PLAN",
        nargs="?",
        resume=True,
    ),
    Option(("--run",), "keep everything in this folder (default: improve-1, ...)", metavar="DIR"),
    resume("the loop"),
    Option(
        ("--write",),
        "write the patch even if the final match shows no gain",
        default=False,
        action="store_true",
        resume=True,
    ),
    cluster("play games and matches"),
)


def run(arguments: Arguments) -> Improved:
    from tuner.commands.display import TerminalDisplay
    from tuner.improve.plan import ImproveSettings, read_plan
    from tuner.improve.rounds import ImproveRun, begin_again
    from tuner.play.run import new_run, resumed_run

    settings = arguments.plan and ImproveSettings(plan=read_plan(Path(arguments.plan)))

    def make(kept: ImproveSettings, output: Path | None, display: Display) -> ImproveRun:
        commands, cluster, write = arguments.commands, arguments.cluster, arguments.write
        again = replace(kept, plan=settings.plan) if settings else kept
        return ImproveRun(again, output, display, commands, cluster, write)

    display = TerminalDisplay()
    if arguments.resume is not None:
        arguments.require_resumable()
        return resumed_run(ImproveRun, Path(arguments.resume), None, None, display, make=make)
    if settings is None:
        raise InputError("improve: expected PLAN, or --resume DIR; see tuner improve --help")
    folder = arguments.run and Path(arguments.run)
    if folder is not None:
        begin_again(folder)
    return new_run(make(settings, None, display), folder, None, arguments.text)
