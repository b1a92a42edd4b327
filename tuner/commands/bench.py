"""Measure the speed of the parts, in CPU time on one core or in time on a GPU; each value is a
median and is shown beside a reference, measured in the same run or as published."""

from __future__ import annotations

from games.streams import InputError
from tuner.options.option import Arguments, Option, Table

USAGE = "[ROW ...] [options]"
EXAMPLE = """examples:
  tuner bench
  tuner bench fit --games games.epd.zst --json
  tuner bench perft search network --params backgammon/classic
"""
ROWS = {
    "pgn": ("play", "games_to_moves"),
    "perft": ("play", "perft"),
    "coefficients": ("play", "positions_to_coefficients"),
    "pass": ("fits", "passes"),
    "fit": ("fits", "fits"),
    "search": ("play", "searches"),
    "selfplay": ("play", "self_play"),
    "learning": ("play", "learning"),
    "network": ("networks", "networks"),
    "start": ("starts", "starts"),
    "gpu": ("gpu", "passes_on_a_gpu"),
}
ORDINARY = [name for name in ROWS if name != "gpu"]


TABLE: Table = (
    Option(
        ("rows",),
        f"what to measure: {', '.join(ROWS)} (default: all except gpu)",
        default=(),
        metavar="ROW",
        choices=list(ROWS),
        nargs="*",
    ),
    Option(
        ("--games",),
        "file of games or labelled positions to measure with (default: the bundled ones of the"
        " game)",
        metavar="FILE",
    ),
    Option(
        ("--params",),
        "parameter file, whose game is measured (default: classic)",
        default="classic",
        metavar="PARAMS",
    ),
)


def run(arguments: Arguments) -> dict:
    import importlib
    import platform
    import tempfile
    from pathlib import Path

    from tuner.bench import NothingToMeasure, Workload, samples_of
    from tuner.commands.display import TerminalDisplay, output_console
    from tuner.io.terminal import show_table

    games = Path(arguments.games) if arguments.games else samples_of(arguments.params)
    if not games.exists():
        raise InputError(f"{games}: no such file")
    lines, left_out = [], []
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder, TerminalDisplay() as display:
        for name in arguments.rows or ORDINARY:
            display.begin(f"measuring {name}")
            module, function = ROWS[name]
            measure = getattr(importlib.import_module(f"tuner.bench.{module}"), function)
            try:
                lines += measure(Workload(arguments.params, games, Path(folder)))
            except NothingToMeasure as nothing:
                if arguments.rows:
                    raise
                left_out.append(str(nothing))
    rows = [line.to_json() for line in lines]
    result = {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "games": games.name,
        "rows": rows,
        "left_out": left_out,
    }
    if not arguments.json:
        show_table(
            output_console(),
            "speed",
            ["", "value", "unit", "target", "met", "reference", "its value", "ratio"],
            [_cells(line) for line in rows],
        )
        for reason in left_out:
            print(f"not measured: {reason}")
    return result


def _cells(line: dict) -> list[str]:
    target = (
        "" if line["target"] is None else f"{'<=' if line['at_most'] else '>='} {line['target']:,g}"
    )
    met = {None: "", True: "yes", False: "no"}[line["met"]]
    return [
        line["what"],
        _short(line["value"]),
        line["unit"],
        target,
        met,
        line["reference"] or "",
        "" if line["reference_value"] is None else _short(line["reference_value"]),
        "" if line["ratio"] is None else _short(line["ratio"]),
    ]


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
