"""Tune values that only games can judge: engine options, search constants, weights.

The two sides of a game pair play with different values from the same opening (or dice); a method
learns from the pairs. Tables show the best values with intervals, and a final match decides whether
they are better. PLAYER is an engine, as "uci:COMMAND" or "usi:COMMAND", a parameter file, a bundled
one, or a network; FILE has lines of OpenBench, or the JSON of weather-factory
(docs/optimize.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from games.streams import InputError
from tuner.options.match import OptimizeOptions
from tuner.options.option import (
    TERMS,
    Arguments,
    OneOf,
    Option,
    Table,
    Title,
    cluster,
    flag,
    options_in,
    resume,
)
from tuner.results.result import CommandResult, Found

if TYPE_CHECKING:
    from tuner.results.optimized import Optimized

USAGE = "PLAYER --options FILE [--games N] [options]"
EXAMPLE = """examples:
  tuner optimize uci:./myengine --list > numbers.txt
  tuner optimize uci:./myengine --options numbers.txt --tc 5+0.05 --games 40000
  tuner optimize classic --options numbers.txt --nodes 2000 --run margins
  tuner optimize --resume margins --games 60000
  tuner optimize uci:./myengine --options numbers.json --nodes 5000
  tuner report margins
"""
TABLE: Table = (
    Option(("player",), "player whose values are tuned", metavar="PLAYER", nargs="?"),
    *options_in(OptimizeOptions, "options games"),
    OneOf(options_in(OptimizeOptions, "depth nodes movetime tc")),
    *options_in(OptimizeOptions, "openings run"),
    resume("the run", "; --games N sets a new total"),
    flag("--list", "list every tunable number of PLAYER, as a starting point for FILE"),
    TERMS,
    Title("the match at the end"),
    *options_in(OptimizeOptions, "match_games gain"),
    Option(
        ("--into",),
        "if the best values win, write their weights into this source file, as tuner export does;"
        " may be repeated",
        default=(),
        metavar="SOURCE",
        action="append",
        resume=True,
    ),
    Title("games"),
    *options_in(
        OptimizeOptions,
        "opponent byoyomi timemargin book_plies order random_plies plies resign draw syzygy hash"
        " restart seed",
    ),
    Title("machine"),
    *options_in(OptimizeOptions, "workers"),
    cluster("play"),
)


def run(arguments: Arguments) -> Found:
    from tuner.commands.display import TerminalDisplay, executor_of
    from tuner.optimize.best import decided
    from tuner.optimize.numbers import list_text, optimize_settings
    from tuner.optimize.run import OptimizeRun
    from tuner.play.run import new_run, resumed_run

    settings = None
    if arguments.resume is not None:
        arguments.require_resumable()
    elif arguments.player is None:
        raise InputError(
            "optimize: expected PLAYER and --options FILE, or --resume DIR; see tuner optimize"
            " --help"
        )
    elif arguments.list:
        text = list_text(arguments.player, arguments.terms)
        lines = text.splitlines()
        return CommandResult({"lines": lines}, show=lambda console: print(text, end=""))
    else:
        given = arguments.given_for(OptimizeOptions)
        settings = optimize_settings(arguments.player, given, arguments.terms)
    into = _into(arguments) if arguments.into else {}
    with (
        TerminalDisplay() as display,
        executor_of(arguments.cluster, arguments.workers, display) as executor,
    ):
        if settings is None:
            folder = Path(arguments.resume)
            result = resumed_run(OptimizeRun, folder, executor, None, display, arguments.games)
        else:
            make = OptimizeRun(settings, None, display, Path(arguments.options))
            place = arguments.run and Path(arguments.run)
            result = new_run(make, place, executor, arguments.text)
        result = decided(result, executor, display)
    if into and not result.interrupted:
        result = _written(arguments, result, into)
    return result


def _into(arguments: Arguments) -> dict[str, Any]:
    """Return the options of `tuner export` that write the weights into sources. InputError if they
    cannot be written there."""
    from tuner.optimize.best import COPY
    from tuner.optimize.numbers import NUMBERS, read_numbers, weight_names

    folder = Path(arguments.resume) if arguments.resume is not None else None
    player = str(folder / COPY) if folder else arguments.player
    file = folder / NUMBERS if folder else Path(arguments.options)
    names = weight_names(read_numbers(file), player, arguments.terms)
    if not names:
        raise InputError(
            f"--into {arguments.into[0]}: no number in {file} is a weight of a parameter file,"
            " which sources could have; leave it out"
        )
    into = {"into": arguments.into, "only": names, "terms": arguments.terms}
    _export(arguments, player, {**into, "check": True})
    return into


def _export(arguments: Arguments, params: str, given: dict[str, Any]) -> CommandResult:
    """Perform `tuner export` for numbers of this run."""
    from tuner.commands import export

    return export.run(Arguments.by_name(export.TABLE, {"params": params, **given}, arguments.text))


def _written(arguments: Arguments, result: Optimized, into: dict[str, Any]) -> Optimized:
    """Write the best weights into the sources if they won; the result says which was done."""
    from dataclasses import replace

    from tuner.optimize.best import PARAMETERS

    written = None
    if result.better:
        best = str(Path(str(result.run)) / PARAMETERS)
        written = _export(arguments, best, into).result
    return replace(result, sources=tuple(arguments.into), into=written)
