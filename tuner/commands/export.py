"""Write a parameter file as text for engines: C, Rust, JSON, UCI options, or settings for SPSA."""

from __future__ import annotations

import argparse

from tuner.commands.options import Names, add_term_options, between

MOST_DECIMALS = 6
NUMBERED = ("uci", "spsa")  # formats that name every number

USAGE = "PARAMS --format FORMAT [-o FILE] [options]"
EXAMPLE = """examples:
  tuner export learned.yaml --format c -o weights.h
  tuner export learned.yaml --format rust --scale-to 100 --flip
  tuner export learned.yaml --format spsa > spsa.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file, or a bundled one")
    parser.add_argument("--format", choices=Names("tuner.export.formats", "FORMATS"), required=True,
                        help="c, rust: constant arrays; json: nested names; uci: spin options, and the commands that set them; "
                             "spsa: lines `name, int, default, min, max, c_end, r_end`, the format of OpenBench")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file (default: standard output)")
    parser.add_argument("--scale-to", type=between(0, 1e6, "100"), metavar="N",
                        help="multiply all numbers so that the first one has the mean N over its stages")
    parser.add_argument("--decimals", type=int, choices=range(MOST_DECIMALS + 1), default=0, metavar="N",
                        help=f"round to N decimals, 0 to {MOST_DECIMALS} (default: 0)")
    parser.add_argument("--flip", action="store_true",
                        help="write tables with their last row first (default: the row nearest to their owner)")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    import sys
    from pathlib import Path

    from games.streams import InputError
    from tuner.commands.display import show_note
    from tuner.engine.loading import load_parameters, parameter_path
    from tuner.export.formats import FORMATS
    from tuner.export.numbers import heading, rounded, rounding_line
    from tuner.io.files import EXPORT, replace_file, require_writable
    from tuner.io.text import one_line

    form, output = arguments.format, arguments.output
    if form in NUMBERED and arguments.flip:
        raise InputError(f"--flip: --format {form} names every number, so there is no order of rows; leave it out")
    if form == "uci" and arguments.decimals:
        raise InputError(f"--decimals {arguments.decimals}: UCI options are whole numbers; use --scale-to N for finer steps")
    path = parameter_path(arguments.params)
    parameters = load_parameters(path, arguments.terms)
    if output is not None:
        require_writable(Path(output), EXPORT, (str(path), *arguments.terms))
    r = rounded(parameters, arguments.scale_to, arguments.decimals, arguments.flip)
    text = FORMATS[form](r, str(arguments.params))
    if output is not None:
        replace_file(Path(output), text)
    result = {"file": str(path), "format": form, "output": output, "numbers": int(r.weights.size), "factor": r.factor,
              "scale": r.scale, "decimals": r.decimals, "largest_rounding": r.largest, "mean_rounding": r.mean,
              **({"text": text} if output is None else {})}
    if not arguments.json:
        if output is None:
            sys.stdout.write(text)
        else:
            print(f"wrote {one_line(output)}: {r.weights.size:,} numbers for {form}, {rounding_line(r)}")
    # what the text itself does not say
    notes = heading(r, str(arguments.params), tables=False) if form == "spsa" else [rounding_line(r)] if output is None else []
    for note in notes:
        show_note(note)
    return result
