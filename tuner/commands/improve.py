"""Make an engine stronger: it plays itself, its numbers are learned from the scores of its
searches, written into a copy of its source, and kept if they win.

PLAN is a file of YAML (docs/improve.md): how the engine plays, prints rows and is built. A round
plays games, counts rows, learns, writes the numbers into a copy of the folder, builds it, checks
that its rows are its evaluation, and plays matches against a pool: the version before, the first
one, and others that are named. If it does not win, the round goes half of the way. At the end a
match between the version that is rated highest and the first one decides. Nothing in the engine's
own folder is changed: the result is a patch. Each step is a command of its own, shown as it begins
and kept in the folder of the run, where --resume goes on after any interruption."""

from __future__ import annotations

import functools
from pathlib import Path

from games.streams import InputError
from tuner.options.option import Arguments, Option, Table
from tuner.options.shared import cluster, resume

USAGE = "PLAN [--run DIR]"
EXAMPLE = """examples:
  tuner improve improve.yaml --run run
  tuner improve --resume run
  tuner report run

improve.yaml:
  plays: ./myengine
  rows: ./myengine-rows trace
  params: start.yaml
  source: {folder: ., files: [src/eval.c]}
  build: make
"""
TABLE: Table = (
    Option(("plan",), "what to play, build and learn: a file of YAML", metavar="PLAN", nargs="?"),
    Option(("--run",), "keep everything in this folder (default: improve-1, ...)", metavar="DIR"),
    resume("the loop"),
    Option(
        ("--write",),
        "write the patch even if the last match shows no gain",
        default=False,
        action="store_true",
        resume=True,
    ),
    cluster("play games and matches"),
)


def run(arguments: Arguments) -> dict:
    from tuner.commands.display import TerminalDisplay, finish
    from tuner.improve.plan import ImproveSettings, read_plan
    from tuner.improve.rounds import ImproveRun, begin_again
    from tuner.play.run import new_run, resumed_run

    make = functools.partial(
        ImproveRun, commands=arguments.commands, cluster=arguments.cluster, write=arguments.write
    )
    display = TerminalDisplay()
    if arguments.resume is not None:
        arguments.require_resumable()
        result = resumed_run(ImproveRun, Path(arguments.resume), None, None, display, make=make)
    else:
        if arguments.plan is None:
            raise InputError("improve: expected PLAN, or --resume DIR; see tuner improve --help")
        settings = ImproveSettings(plan=read_plan(Path(arguments.plan)))
        folder = arguments.run and Path(arguments.run)
        if folder is not None:
            begin_again(folder)
        result = new_run(make(settings, None, display), folder, None, arguments.text)
    return finish(arguments, result.lines, result.plain, result.interrupted)
