"""Write a parameter file as text for engines, or its numbers into an engine's source, or read them from there.

--format writes C, Rust, JSON, UCI options, or settings for SPSA. --into finds the definitions of the parameters in sources of C,
C++, Rust, C#, Java or Go, by their names, and replaces the numbers there; nothing else changes, and nothing is written if a
parameter is not found. --check only compares, with exit status 1 if numbers differ. --from reads the numbers of the source into
a copy of PARAMS. A network is written with --format c.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tuner.commands.options import Names, add_term_options, between, command_text

if TYPE_CHECKING:
    from pathlib import Path

    from tuner.export.numbers import Rounded
    from tuner.parameters.parameters import Parameters

MOST_DECIMALS = 6

USAGE = "PARAMS --format FORMAT|--into SOURCE|--from SOURCE [options]"
EXAMPLE = """examples:
  tuner export learned.yaml --format c -o weights.h
  tuner export learned.yaml --format rust --scale-to 100 --flip
  tuner export learned.yaml --format spsa > spsa.txt
  tuner export learned.yaml --into src/eval.h
  tuner export learned.yaml --into src/eval.h --into src/psqt.h --map names.yaml
  tuner export learned.yaml --into src/eval.h --check
  tuner export my.yaml --from src/eval.h -o start.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file, a bundled one, or a network")
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--format", choices=Names("tuner.export.formats", "FORMATS"),
                       help="c, rust: constant arrays; json: nested names; uci: spin options, and the commands that set them; "
                            "spsa: lines `name, int, default, min, max, c_end, r_end`, the format of OpenBench")
    kinds.add_argument("--into", metavar="SOURCE", action="append", default=[],
                       help="replace the numbers in this source file; may be repeated if they are in several")
    kinds.add_argument("--from", metavar="SOURCE", dest="sources", action="append", default=[],
                       help="write PARAMS with the numbers of this source file to -o FILE; may be repeated")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file (default: standard output)")
    parser.add_argument("--scale-to", type=between(0, 1e6, "100"), metavar="N",
                        help="multiply all numbers so that the first one has the mean N over its stages")
    parser.add_argument("--decimals", type=int, choices=range(MOST_DECIMALS + 1), default=0, metavar="N",
                        help=f"round to N decimals, 0 to {MOST_DECIMALS} (default: 0)")
    parser.add_argument("--flip", action="store_true",
                        help="write tables with their last row first (default: the row nearest to their owner)")
    group = parser.add_argument_group("with --into and --from")
    group.add_argument("--map", metavar="FILE",
                       help="YAML file with the names of definitions that differ from those of their parameters, "
                            "`mobility.knight: KnightMob`, and null for parameters that the source does not keep")
    group.add_argument("--only", metavar="NAME", action="append", default=[],
                       help="only the parameters that this name or glob matches; may be repeated")
    group.add_argument("--check", action="store_true",
                       help="write nothing; list the numbers that differ and exit with status 1 if there are any")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.engine.loading import load_parameters, parameter_path
    from tuner.export.numbers import rounded
    from tuner.networks.files import holds_network

    if arguments.into and arguments.output is not None:
        raise InputError(f"-o {arguments.output}: --into writes into the source itself; leave out -o")
    if arguments.sources and arguments.output is None:
        raise InputError("--from: expected -o FILE, the parameter file to write")
    for option, value, used in (
            ("--map", arguments.map, arguments.into or arguments.sources), ("--check", arguments.check, arguments.into),
            ("--only", arguments.only, arguments.into or arguments.sources)):
        if value and not used:
            raise InputError(f"{option}: only --into SOURCE uses it; leave it out")
    for option, value in (("--scale-to", arguments.scale_to), ("--decimals", arguments.decimals)):
        if value and arguments.sources:
            raise InputError(f"{option}: --from reads the numbers of the source unchanged; leave it out")
    path = parameter_path(arguments.params)
    if holds_network(path):
        return _network(arguments, path)
    parameters = load_parameters(path, arguments.terms)
    if not (arguments.sources or arguments.into):
        return _as_text(arguments, str(path), parameters)
    r = rounded(parameters, arguments.scale_to, arguments.decimals, arguments.flip)
    return _from_sources(arguments, str(path), r) if arguments.sources else _into_sources(arguments, str(path), r)


def _network(arguments: argparse.Namespace, path: Path) -> dict:
    """Write a network as C."""
    import sys
    from pathlib import Path

    from evalterms.encoding import encoding_named
    from games.streams import InputError
    from tuner.io.files import EXPORT, replace_file, require_writable
    from tuner.io.text import one_line
    from tuner.networks.files import read_network, weights_path
    from tuner.networks.source import c_text

    for option, given in (
            (f"--format {arguments.format}", arguments.format not in (None, "c")), ("--into", arguments.into),
            ("--from", arguments.sources), ("--scale-to", arguments.scale_to), ("--decimals", arguments.decimals),
            ("--flip", arguments.flip), ("--terms", arguments.terms)):
        if given:
            raise InputError(f"{option}: {path} is a network, which is written with --format c alone; leave it out")
    output = arguments.output
    if output is not None:
        require_writable(Path(output), EXPORT, (str(path), str(weights_path(path))))
    network = read_network(path, lambda game, encoding: encoding_named(game, encoding).size)
    text = c_text(network, encoding_named(network.game, network.encoding), str(arguments.params))
    if output is not None:
        replace_file(Path(output), text)
    if not arguments.json:
        if output is None:
            sys.stdout.write(text)
        else:
            print(f"wrote {one_line(output)}: {network.network.size:,} weights for c")
    return {"file": str(path), "format": "c", "output": output, "numbers": network.network.size,
            **({"text": text} if output is None else {})}


def _as_text(arguments: argparse.Namespace, path: str, parameters: Parameters) -> dict:
    """Write an export of a format."""
    import sys
    from pathlib import Path

    from tuner.commands.display import show_note
    from tuner.export.formats import exported
    from tuner.export.numbers import heading, rounding_line
    from tuner.io.files import EXPORT, replace_file, require_writable
    from tuner.io.text import one_line

    form, output = arguments.format, arguments.output
    text, r = exported(parameters, str(arguments.params), form, arguments.scale_to, arguments.decimals, arguments.flip)
    if output is not None:
        require_writable(Path(output), EXPORT, (path, *arguments.terms))
    if output is not None:
        replace_file(Path(output), text)
    result = {"file": path, "format": form, "output": output, "numbers": int(r.weights.size), **_rounding(r),
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


def _into_sources(arguments: argparse.Namespace, path: str, r: Rounded) -> dict:
    """Replace the numbers in sources, or compare them."""
    import json
    from pathlib import Path

    from tuner.commands.display import show_result
    from tuner.export.into.plan import plan
    from tuner.export.into.report import difference_lines, plain_differences, written_lines
    from tuner.export.into.write import differences, new_texts, require_sources, write_sources
    from tuner.export.numbers import heading, rounding_line

    sources = [Path(name) for name in arguments.into]
    require_sources(sources, (path, arguments.map, *arguments.terms), arguments.check)
    targets = plan(r, sources, Path(arguments.map) if arguments.map else None, arguments.only)
    different = differences(targets, r)
    if arguments.check:
        result = {"file": path, "into": arguments.into, "numbers": len(targets), **_rounding(r),
                  "differences": plain_differences(different)}
        if not different:
            if not arguments.json:
                show_result([f"{', '.join(arguments.into)}: all {len(targets):,} numbers are those of {arguments.params}"])
            return result
        if arguments.json:
            print(json.dumps(result, indent=1, allow_nan=False))
        else:
            show_result([*difference_lines(different, r, str(arguments.params)),
                         f"{len(different):,} of {len(targets):,} numbers differ; {rounding_line(r)}"])
        raise SystemExit(1)
    written = new_texts(targets, r)
    write_sources(written)
    if not arguments.json:
        scaled = [line for line in heading(r, path, tables=False) if line.startswith("multiplied by")]
        lines = [line for one in written for line in written_lines(one, different, r)] + [rounding_line(r), *scaled]
        if different:
            lines += ["next: compile the engine, and play a match against the version before",
                      f"to test that the source keeps these numbers: {command_text(arguments)} --check"]
        show_result(lines)
    return {"file": path, "into": arguments.into, "numbers": len(targets), **_rounding(r), "changed": len(different),
            "lines": {one.source.path: list(one.lines) for one in written}}


def _from_sources(arguments: argparse.Namespace, path: str, r: Rounded) -> dict:
    """Write the parameters with the numbers of sources."""
    import shlex
    from pathlib import Path

    from tuner.commands.display import show_result
    from tuner.export.into.plan import plan
    from tuner.export.into.read import has_other_numbers_alone, with_numbers
    from tuner.export.into.write import differences
    from tuner.io.files import LEARNED, require_writable
    from tuner.parameters.writer import write_parameters

    output = Path(arguments.output)
    require_writable(output, LEARNED, (path, arguments.map, *arguments.sources, *arguments.terms),
                     ours=lambda place: has_other_numbers_alone(place, r.parameters))
    targets = plan(r, [Path(name) for name in arguments.sources], Path(arguments.map) if arguments.map else None, arguments.only)
    write_parameters(output, with_numbers(r.parameters, targets))
    changed = len(differences(targets, r))
    if not arguments.json:
        show_result([f"wrote {shlex.quote(arguments.output)}: {len(targets):,} of {r.weights.size:,} numbers from "
                     f"{', '.join(arguments.sources)}; {changed:,} differ from {arguments.params}"])
    return {"file": path, "from": arguments.sources, "output": arguments.output, "numbers": len(targets), "changed": changed}


def _rounding(r: Rounded) -> dict:
    """Scale and rounding as plain data."""
    return {"factor": r.factor, "scale": r.scale, "decimals": r.decimals, "largest_rounding": r.largest,
            "mean_rounding": r.mean}
