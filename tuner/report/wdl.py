"""The page of `tuner wdl`: curves, tables and coefficients."""

from pathlib import Path

import numpy as np

from tuner.report.charts import Chart, Series, line_chart, series_of, shown, whole
from tuner.report.run import ShownRun
from tuner.report.sections import Page, Section, Tile, options_section
from tuner.results.wdl import SCORES, Wdl
from tuner.version import __version__

HIGHEST = SCORES[-1]  # centipawns, of the curves
KINDS = ("line", "zero", "contrast")  # of lines: wins, draws and losses


def wdl_page(found: Wdl, command: str, seed: int) -> Page:
    """Return the page."""
    run = ShownRun(Path(), "wdl", command, __version__, {}, [], [])
    charts = Section(
        "chances",
        "Chances by score",
        "charts",
        {
            "charts": [_chances(found, count) for count in found.counts] + _half(found),
            "key": [("", "win"), ("initial", "draw"), ("contrast", "loss")],
        },
    )
    head, *rows = found.rows
    table = Section("table", "In a thousand games", "wdl", {"head": head, "rows": rows})
    name = f"Win, draw and loss at a score, {found.game.name}"
    return Page(run, name, [charts, table, options_section(run, [("seed", seed)])], _tiles(found))


def _tiles(found: Wdl) -> list[Tile]:
    tiles = [
        Tile(
            "Half of the games are won at",
            f"{shown(found.fit.at(found.share(count))[0], 0)} cp",
            f"material {count}" if found.game.stock else "",
        )
        for count in (found.counts[0], found.counts[-1])[: len(found.counts)]
    ]
    losses = f"of {whole(found.held_out)} held-out games"
    return [*tiles, Tile("Log loss", shown(found.own, 4), losses)]


def _chances(found: Wdl, count: int) -> Chart:
    x = np.linspace(-HIGHEST, HIGHEST, 101)
    chances = found.fit.model.chances(x, found.share(count))
    curves = (chances.win, chances.draw, chances.loss)
    return line_chart(
        f"Material {count}" if found.game.stock else "All positions",
        "score, centipawns",
        "share of games",
        [Series(kind, x, y) for kind, y in zip(KINDS, curves, strict=True)],
        percent=True,
        limits=(0, 1),
    )


def _half(found: Wdl) -> list[Chart]:
    stock = found.game.stock
    if stock is None:
        return []
    counts = np.arange(stock.low, stock.high + 1)
    half = [found.fit.at(stock.share(int(count)))[0] for count in counts]
    chart = line_chart(
        "Score at which half of the games are won",
        "material",
        "centipawns",
        [series_of("line", counts, half)],
    )
    return [chart]
