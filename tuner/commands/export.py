"""Write weights as text for an engine, or into its source, or read them from the source.

--into replaces the numbers in sources of C, C++, Rust, C#, Java or Go; nothing is written if a
parameter is not found. --check compares only; --from copies the numbers of the source into a new
parameter file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from games.streams import InputError, one_line
from tuner.core.records import KeysOf, between
from tuner.core.text import plural
from tuner.options.option import (
    TERMS,
    Arguments,
    OneOf,
    Option,
    Table,
    Title,
    flag,
    output,
    params,
    refuse,
)
from tuner.results.result import CommandResult

if TYPE_CHECKING:
    from tuner.export.numbers import Rounded

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


TABLE: Table = (
    params("parameter file, a bundled one, or a network"),
    OneOf(
        (
            Option(
                ("--format",),
                "c, rust: constant arrays; json: nested names; uci: spin options, and the commands"
                " that set them; spsa: lines `name, int, default, min, max, c_end, r_end`, the"
                " format of OpenBench",
                choices=KeysOf("tuner.export.text", "FORMATS"),
            ),
            Option(
                ("--into",),
                "replace the numbers in this source file; may be repeated",
                default=(),
                metavar="SOURCE",
                action="append",
            ),
            Option(
                ("--from",),
                "read the numbers of this source file and write PARAMS with them to -o FILE; may be"
                " repeated",
                default=(),
                dest="sources",
                metavar="SOURCE",
                action="append",
            ),
        ),
        required=True,
    ),
    output("write to this file (default: standard output)"),
    Option(
        ("--scale-to",),
        "multiply all numbers so that the first one has the mean N over its stages",
        between(0, 1e6, "100"),
        metavar="N",
    ),
    Option(
        ("--decimals",),
        "round to N decimals, 0 to 6 (default: 0)",
        int,
        default=0,
        metavar="N",
        choices=range(MOST_DECIMALS + 1),
    ),
    flag(
        "--flip", "write tables with their last row first (default: the row nearest to their owner)"
    ),
    TERMS,
    Title("with --into and --from"),
    Option(
        ("--map",),
        "YAML file with the names of definitions that differ from their parameters,"
        " `mobility.knight: KnightMob`, and null for parameters that the source does not keep",
        metavar="FILE",
    ),
    Option(
        ("--only",),
        "only the parameters that this name or glob matches; may be repeated",
        default=(),
        metavar="NAME",
        action="append",
    ),
    flag(
        "--check",
        "write nothing; list the numbers that differ and exit with status 1 if there are any",
    ),
)


def run(arguments: Arguments) -> CommandResult:
    from tuner.evaluation.loading import load_parameters, parameter_path
    from tuner.evaluation.own_numbers import require_linear
    from tuner.export.numbers import rounded

    if arguments.into and arguments.output is not None:
        raise InputError(
            f"-o {arguments.output}: --into writes into the source itself; leave out -o"
        )
    if arguments.sources and arguments.output is None:
        raise InputError("--from: expected -o FILE, the parameter file to write")
    named, alone = arguments.into or arguments.sources, "only --into SOURCE uses it"
    unchanged = "--from reads the numbers of the source unchanged"
    refuse(
        (
            ("--map", arguments.map and not named, alone),
            ("--check", arguments.check and not arguments.into, alone),
            ("--only", arguments.only and not named, alone),
            ("--scale-to", arguments.scale_to and arguments.sources, unchanged),
            ("--decimals", arguments.decimals and arguments.sources, unchanged),
        )
    )
    path = parameter_path(arguments.params)
    used = {"params", "output"} | ({"format"} if arguments.format == "c" else set())
    typed = (
        f"--format {arguments.format}" if each.name == "format" else each.names[-1]
        for each in arguments.typed(used)
    )
    require_linear(path, typed, ", which is written with --format c alone")
    if not (arguments.sources or arguments.into):
        return _as_text(arguments, path)
    parameters = load_parameters(path, arguments.terms)
    r = rounded(parameters, arguments.scale_to, arguments.decimals, arguments.flip)
    return (
        _from_sources(arguments, str(path), r)
        if arguments.sources
        else _into_sources(arguments, str(path), r)
    )


def _as_text(arguments: Arguments, path: Path) -> CommandResult:
    """Write an export of a format."""
    import sys

    from tuner.commands.display import show_note
    from tuner.evaluation.own_numbers import exported_file
    from tuner.io.files import EXPORT, replace_file, require_writable

    form, output = arguments.format, arguments.output
    name, numbers = str(arguments.params), (arguments.scale_to, arguments.decimals, arguments.flip)
    exported = exported_file(path, name, form, *numbers, arguments.terms)
    if output is not None:
        require_writable(Path(output), EXPORT, exported.files)
        replace_file(Path(output), exported.text)
    # what the text itself does not say
    for note in exported.notes or [exported.rounding] * (
        output is None and bool(exported.rounding)
    ):
        show_note(note)
    result = {"file": str(path), "format": form, "output": output, **exported.plain}
    if output is not None:
        return CommandResult(result, (f"wrote {one_line(output)}: {exported.holds}",))
    result["text"] = exported.text
    return CommandResult(result, show=lambda console: sys.stdout.write(exported.text))


def _into_sources(arguments: Arguments, path: str, r: Rounded) -> CommandResult:
    """Replace the numbers in sources, or compare them."""
    from tuner.export.into.plan import plan
    from tuner.export.into.write import (
        difference_lines,
        differences,
        new_texts,
        plain_differences,
        require_places,
        require_sources,
        width_remarks,
        write_sources,
        written_lines,
    )
    from tuner.export.numbers import heading, rounding_errors, rounding_line

    sources = [Path(name) for name in arguments.into]
    require_sources(sources, (path, arguments.map, *arguments.terms), arguments.check)
    targets = plan(r, sources, arguments.map and Path(arguments.map), arguments.only)
    require_places(targets, r)
    different = differences(targets, r)
    result = {
        "file": path,
        "into": arguments.into,
        "numbers": len(targets),
        **rounding_errors(r),
    }
    number = plural(len(targets), "number")
    if arguments.check:
        same = f"{', '.join(arguments.into)}: all {number} are those of {arguments.params}"
        differ = f"{len(different):,} of {number} differ; {rounding_line(r)}"
        shown = [*difference_lines(different, r, str(arguments.params)), differ]
        return CommandResult(
            {**result, "differences": plain_differences(different)},
            shown if different else [same],
            status=1 if different else 0,
        )
    written = new_texts(targets, r)
    write_sources(written)
    remarks = width_remarks(targets, r)
    scaled = [line for line in heading(r, path, tables=False) if line.startswith("multiplied by")]
    lines = [line for one in written for line in written_lines(one, different, r)]
    lines += [rounding_line(r), *scaled, *remarks]
    if different:
        lines.append("next: compile the engine, and play a match against the previous version")
        if arguments.text.startswith("tuner "):  # a function of Python tests it with check=True
            lines.append(f"to test that the source keeps these numbers: {arguments.text} --check")
    result |= {
        "changed": len(different),
        "remarks": remarks,
        "lines": {one.source.path: list(one.lines) for one in written},
    }
    return CommandResult(result, lines)


def _from_sources(arguments: Arguments, path: str, r: Rounded) -> CommandResult:
    """Write the parameters with the numbers of sources."""
    import shlex

    from tuner.export.into.plan import plan
    from tuner.export.into.write import differences, has_other_numbers_alone, with_numbers
    from tuner.io.files import LEARNED, require_writable
    from tuner.parameters.writer import write_parameters

    output = Path(arguments.output)
    require_writable(
        output,
        LEARNED,
        (path, arguments.map, *arguments.sources, *arguments.terms),
        ours=lambda place: has_other_numbers_alone(place, r.parameters),
    )
    targets = plan(
        r,
        [Path(name) for name in arguments.sources],
        arguments.map and Path(arguments.map),
        arguments.only,
    )
    write_parameters(output, with_numbers(r.parameters, targets))
    changed = len(differences(targets, r))
    result = {
        "file": path,
        "from": arguments.sources,
        "output": arguments.output,
        "numbers": len(targets),
        "changed": changed,
    }
    wrote = (
        f"wrote {shlex.quote(arguments.output)}: {len(targets):,} of {r.weights.size:,} numbers"
        f" from {', '.join(arguments.sources)}; {changed:,} differ from {arguments.params}"
    )
    return CommandResult(result, (wrote,))
