"""Measure the speed of the parts, in CPU time on one core or in time on a GPU, beside a reference
that was measured in the same run or published."""

import argparse
import importlib
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from games.streams import InputError
from tests.benchmarks.speed import NothingToMeasure, Workload, samples_of
from tuner.commands.display import output_console
from tuner.io.terminal import show_table

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


def measured(rows: Sequence[str], params: str, games: Path | None) -> dict:
    """Return the result as plain data. What the game does not have is left out, unless it is all
    that was asked for: InputError then."""
    games = samples_of(params) if games is None else games
    if not games.exists():
        raise InputError(f"{games}: no such file")
    lines, left_out = [], []
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        for name in rows or ORDINARY:
            print(f"measuring {name}", file=sys.stderr)
            module, function = ROWS[name]
            measure = getattr(importlib.import_module(f"tests.benchmarks.speed.{module}"), function)
            try:
                lines += measure(Workload(params, games, Path(folder)))
            except NothingToMeasure as nothing:
                if rows:
                    raise
                left_out.append(str(nothing))
    return {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "games": games.name,
        "rows": [line.to_json() for line in lines],
        "left_out": left_out,
    }


def cells(line: dict) -> list[str]:
    """Return a row of the table."""
    target = (
        "" if line["target"] is None else f"{'<=' if line['at_most'] else '>='} {line['target']:,g}"
    )
    return [
        line["what"],
        _short(line["value"]),
        line["unit"],
        target,
        {None: "", True: "yes", False: "no"}[line["met"]],
        line["reference"] or "",
        "" if line["reference_value"] is None else _short(line["reference_value"]),
        "" if line["ratio"] is None else _short(line["ratio"]),
    ]


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{', '.join(ROWS)}")
    parser.add_argument("--games", type=Path, help="games to measure with (default: bundled)")
    parser.add_argument("--params", default="classic", help="parameter file (default: classic)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.rows if name not in ROWS]:
        parser.error(f"no row {unknown[0]!r}; expected {', '.join(ROWS)}")
    try:
        result = measured(given.rows, given.params, given.games)
    except InputError as problem:
        parser.error(str(problem))
    if given.json:
        print(json.dumps(result, indent=1, allow_nan=False))
        return 0
    headings = ["", "value", "unit", "target", "met", "reference", "its value", "ratio"]
    show_table(output_console(), "speed", headings, [cells(line) for line in result["rows"]])
    for reason in result["left_out"]:
        print(f"not measured: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
