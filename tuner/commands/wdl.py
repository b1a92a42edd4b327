"""Fit the probabilities of a win, draw and loss to search scores of games, by material.

The model is Stockfish's: a win at score x has the probability 1 / (1 + exp((a - x) / b)), where a
and b are polynomials in the material. The log loss of held-out games is compared with the published
coefficients; 95 % intervals are clustered by game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tuner.core.records import InputError, KeysOf, to_json
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
    from tuner.learn.wdl import WdlResult

USAGE = "GAMES [GAMES ...] [--page FILE.html] [-o FILE] [options]"
EXAMPLE = """examples:
  tuner wdl games.pgn.zst
  tuner wdl match/games.pgn --page wdl.html
  tuner wdl games.pgn.zst --format c -o wdl.h
"""
SCORES = (0, 50, 100, 150, 200, 300, 500)  # of the table
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


def run(arguments: Arguments) -> dict:
    from dataclasses import replace

    from games.record import find
    from tuner.commands.display import TerminalDisplay, show_result
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
    rows = chances_rows(found)
    if arguments.page:
        from tuner.report.page import render
        from tuner.report.wdl import wdl_page

        page = wdl_page(found, arguments.text, rows, arguments.seed)
        replace_file(Path(arguments.page), render(page)[0])
    if arguments.output:
        text = WDL_FORMATS[arguments.format or "c"](code_of(found, arguments.text))
        replace_file(Path(arguments.output), text)
    if not arguments.json:
        show_result([*lines_of(found, rows), *(f"wrote {path}" for path, _ in outputs)])
    return plain_of(found, outputs)


def chances_rows(found: WdlResult) -> list[list[str]]:
    """Return wins, draws and losses in a thousand by score and material as rows of text, their
    heading first."""
    stock = found.game.stock
    rows = [["score", *(f"material {n}" if stock else "win / draw / loss" for n in found.counts)]]
    for score in SCORES:
        cells = []
        for count in found.counts:
            chances = found.fit.model.chances(score, found.share(count))
            win, loss = round(1000 * float(chances.win)), round(1000 * float(chances.loss))
            cells.append(f"{win} / {1000 - win - loss} / {loss}")
        rows.append([f"{score / 100:+.2f}" if score else "0.00", *cells])
    return rows


def lines_of(found: WdlResult, rows: list[list[str]]) -> list[str]:
    """Return a fit as lines of text."""
    stock, fit = found.game.stock, found.fit
    won, drawn, lost = (100 * share for share in found.outcomes)
    lines = [
        f"{plural(found.positions, 'position')} with scores within 10 pawns, of"
        f" {plural(found.games, 'game')}:"
        f" {won:.1f} % won, {drawn:.1f} % drawn, {lost:.1f} % lost",
        "win = 1 / (1 + exp((a - score) / b)), loss the same with -score, in centipawns"
        + (f"; m = material / {stock.anchor}, from {stock.low} to {stock.high}" if stock else ""),
    ]
    if stock:
        lines.append(stock.what)
    for name, values in zip("ab", fit.coefficients, strict=True):
        terms = ("", " * m", " * m^2", " * m^3")
        parts = [
            f"({value.leading_text()}){term}" for value, term in zip(values, terms, strict=False)
        ]
        lines.append(f"  {name} = {' + '.join(parts)}")
    for count in found.counts:
        a, where = fit.at(found.share(count))[0], f" at material {count}" if stock else ""
        lines.append(f"half of the games are won{where} at {a.text(0)} centipawns")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines += ["", "win / draw / loss in a thousand games"]
    lines += [
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    lines += ["", f"log loss of {found.held_out:,} held-out games of separate openings"]
    lines.append(f"  this model     {found.own.text(5)}")
    if found.published and found.difference and found.factor and stock:
        lines.append(
            f"  {stock.source:<13}  {found.published.text(5)}, its coefficients times"
            f" {found.factor:.3g}; difference {found.difference.text(5, '+')}"
        )
    lines.append(f"  without scores {found.constant.text(5)}")
    return lines


def code_of(found: WdlResult, command: str) -> WdlCode:
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


def plain_of(found: WdlResult, outputs: list[tuple[Path, str]]) -> dict:
    """Return the result as plain data."""
    fit, stock = found.fit, found.game.stock
    a, b = to_json(fit.coefficients)
    return {
        "game": found.game.name,
        "positions": found.positions,
        "games": found.games,
        "outcomes": dict(zip(("won", "drawn", "lost"), found.outcomes, strict=True)),
        "a": a,
        "b": b,
        "material": {"low": stock.low, "high": stock.high, "anchor": stock.anchor}
        if stock
        else None,
        "half_won": [
            {
                "material": count if stock else None,
                "score": fit.at(found.share(count))[0].plain,
            }
            for count in found.counts
        ],
        "held_out": {
            "games": found.held_out,
            "loss": found.own.plain,
            "without_scores": found.constant.plain,
            "published": to_json(found.published),
            "difference": to_json(found.difference),
            "factor": found.factor,
        },
        "files": [str(path) for path, _ in outputs],
    }
