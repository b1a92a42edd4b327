"""Fit the probabilities of a win, draw and loss to search scores of games, by material.

The model is Stockfish's: a win at score x has the probability 1 / (1 + exp((a - x) / b)), where a
and b are polynomials in the material. The log loss of held-out games is compared with the published
coefficients; 95 % intervals are clustered by game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tuner.core.records import InputError, KeysOf
from tuner.core.text import plural
from tuner.options.option import (
    Arguments,
    Option,
    Reading,
    Table,
    held_out,
    options_in,
    output,
    refuse,
)

if TYPE_CHECKING:
    from tuner.export.text import WdlCode
    from tuner.results.wdl import Wdl

USAGE = "GAMES [GAMES ...] [--page FILE.html] [-o FILE] [options]"
EXAMPLE = """examples:
  tuner wdl games.pgn.zst
  tuner wdl match/games.pgn --page wdl.html
  tuner wdl games.pgn.zst --format c -o wdl.h
"""
TABLE: Table = (
    Option(("sources",), "files or folders of games with scores", metavar="GAMES", nargs="+"),
    Option(
        ("--game",),
        "the game (default: chess)",
        default="chess",
        metavar="NAME",
    ),
    held_out("share of the games to compare on", 0.2),
    Option(("--page",), "write curves and a table as a page", metavar="FILE.html"),
    Option(
        ("--format",),
        "code of -o: c (default), rust, yaml",
        choices=KeysOf("tuner.export.text", "WDL_FORMATS"),
    ),
    output("write a function for an engine"),
    *options_in(Reading, "min_elo skip_start skip_end per_game duplicates strict seed"),
)


def run(arguments: Arguments) -> Wdl:
    from dataclasses import replace

    from games.record import find
    from tuner.commands.display import TerminalDisplay
    from tuner.evaluation.loading import games_path
    from tuner.export.text import WDL_FORMATS
    from tuner.io.files import EXPORT, PAGE, replace_file, require_writable
    from tuner.learn.wdl import learn_wdl

    game = find(arguments.game)
    outputs = [
        (Path(name), kind)
        for name, kind in ((arguments.page, PAGE), (arguments.output, EXPORT))
        if name is not None
    ]
    for path, kind in outputs:
        require_writable(path, kind, arguments.sources)
    if arguments.page and Path(arguments.page).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{arguments.page}: expected the name of an HTML page, such as wdl.html")
    refuse(
        (
            (
                f"--format {arguments.format}",
                arguments.format is not None and arguments.output is None,
                "is the kind of the file that -o names",
            ),
        )
    )
    reading = replace(Reading(**arguments.given_for(Reading)).reading, positions="all")
    sources = [games_path(source, game.name) for source in arguments.sources]
    with TerminalDisplay() as display:
        found = learn_wdl(game, sources, reading, arguments.held_out, display)
    found = replace(found, files=tuple(str(path) for path, _ in outputs))
    if arguments.page:
        from tuner.report.page import render
        from tuner.report.wdl import wdl_page

        page = wdl_page(found, arguments.text, arguments.seed)
        replace_file(Path(arguments.page), render(page)[0])
    if arguments.output:
        text = WDL_FORMATS[arguments.format or "c"](code_of(found, arguments.text))
        replace_file(Path(arguments.output), text)
    return found


def code_of(found: Wdl, command: str) -> WdlCode:
    """Return the content of the code for an engine."""
    from tuner.export.text import WdlCode

    stock, model = found.game.stock, found.fit.model
    return WdlCode(
        [*map(float, model.a)],
        [*map(float, model.b)],
        (stock.low, stock.high, stock.anchor) if stock else None,
        stock.what if stock else "",
        [f"learned from {plural(found.games, 'game')} by: {command}"],
    )
