"""Compare two parameter files: what changed, in centipawns and percent, and how sure the learned number is."""

from __future__ import annotations

import argparse

from tuner.options import add_term_options, count

EXAMPLE = """example:
  tuner diff classic learned.yaml
  tuner diff classic learned.yaml --format markdown > changes.md
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("initial", metavar="INITIAL", help="parameter file, or a bundled one")
    parser.add_argument("learned", metavar="LEARNED", help="parameter file")
    parser.add_argument("--format", choices=("table", "markdown", "json"), default="table")
    parser.add_argument("--least", type=count, default=1, metavar="N",
                        help="leave out numbers that moved by less, in centipawns (default: 1)")
    parser.add_argument("--all", action="store_true", help="show all numbers, moved or not")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.diff import differences
    from tuner.engine import load_parameters

    initial, learned = (load_parameters(path, arguments.terms) for path in (arguments.initial, arguments.learned))
    if initial.game != learned.game:
        raise InputError(f"{arguments.learned} is for {learned.game}, but {arguments.initial} is for {initial.game}")
    result = {"initial": arguments.initial, "learned": arguments.learned, **differences(initial, learned)}
    if arguments.format == "json" and not arguments.json:
        import json

        print(json.dumps(result, indent=1, allow_nan=False))
    elif not arguments.json:
        _show(result, 0 if arguments.all else arguments.least, arguments.format == "markdown")
    return result


def _show(result: dict, least: float, markdown: bool) -> None:
    from tuner.diff import moved
    from tuner.tables import number, show_table, side_by_side, signed

    stages = result["stages"]
    columns = ["centipawns"]
    for stage in stages:
        columns += [stage, "learned", "change", "%", "+/-"]
    rows = [row for row in result["rows"] if moved(row, stages, least)]
    cells = []
    for row in rows:
        line = [row["parameter"]]
        for stage in stages:
            entry = row[stage]
            error = entry["standard_error"]
            percent = "" if not signed(entry["change"]) else signed(entry["percent"], 0) or "0"
            line += [number(entry["initial"]), number(entry["learned"]), signed(entry["change"]),
                     percent, "" if error is None else number(1.96 * error)]
        cells.append(line)
    title = f"{result['initial']} -> {result['learned']}"
    if cells:
        show_table(title, columns, cells, markdown)
    else:
        print(f"{title}: no single number moved by {least} centipawns or more\n")
    for grid in result["grids"]:
        if least and not any(abs(change) >= least for row in grid["change"] for change in row):
            continue
        print(f"**{grid['parameter']} {grid['stage']}**\n" if markdown else f"{grid['parameter']} {grid['stage']}")
        blocks = [(name, [[f"{value:+.0f}" if name == "change" and round(value) else f"{value:.0f}".replace("-0", "0")
                           if round(value) == 0 else f"{value:.0f}" for value in row] for row in grid[name]])
                  for name in ("initial", "learned", "change")]
        print(side_by_side(blocks, markdown) + "\n")
    hidden = len(result["rows"]) - len(rows)
    if hidden and not markdown:
        print(f"{hidden} numbers that moved by less than {least} cp are not shown; +/- is a 95 % interval; --all shows all")
