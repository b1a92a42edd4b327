"""Compare parameter files: what pieces are worth, the changes in centipawns and percent, their 95 %
intervals, and which of them the data support.

By default piece values and the largest supported changes are shown."""

from typing import Annotated, Literal

from msgspec import Meta

from games.streams import InputError, one_line
from tuner.core.records import Count
from tuner.options.option import TERMS, Arguments, Option, Table
from tuner.results.result import CommandResult

LARGEST, SUPPORTED, ALL = "largest", "supported", "all"
MIN_CHANGE = 1  # centipawns, of ALL
MOST_FILES = 26  # one letter each

USAGE = "INITIAL LEARNED [LEARNED ...] [options]"
EXAMPLE = """examples:
  tuner diff classic learned.yaml
  tuner diff classic learned.yaml --show all
  tuner diff classic learned.yaml --show supported
  tuner diff classic monday.yaml tuesday.yaml
"""


Shown = Annotated[
    Literal["largest", "supported", "all"] | Count,
    Meta(description="largest, supported, all or a whole number of centipawns"),
]


TABLE: Table = (
    Option(("initial",), "parameter file, or a bundled one", metavar="INITIAL"),
    Option(("learned",), "parameter files to compare with it", metavar="LEARNED", nargs="+"),
    Option(
        ("--show",),
        "largest (default): the largest changes that the data support, without standard errors the"
        " largest of all; supported: all that they support, at a false discovery rate of 5 %%"
        " (Benjamini-Hochberg); all: every number that moved, and the"
        " tables; N: numbers that moved by N centipawns or more, 0 for all numbers",
        Shown,
        LARGEST,
        metavar="WHAT",
    ),
    TERMS,
)


def run(arguments: Arguments) -> CommandResult:
    from tuner.commands.display import show_note
    from tuner.core.text import listed
    from tuner.evaluation.loading import load_parameters, parameter_path
    from tuner.parameters.diff import (
        View,
        aligned,
        compare,
        differences,
        errors_known,
        show,
        union_of,
    )
    from tuner.parameters.reader import heading_of, missing_parameters
    from tuner.parameters.writer import stages_text

    names = (arguments.initial, *arguments.learned)
    supported = arguments.show == SUPPORTED
    if len(names) > MOST_FILES:
        raise InputError(f"{len(names)} files named, expected at most {MOST_FILES}")
    read = [
        load_parameters(path, arguments.terms, add_missing=bool(arguments.terms)) for path in names
    ]
    for name, p in zip(names[1:], read[1:], strict=True):
        if p.game != read[0].game:
            raise InputError(f"{name} is for {p.game}, but {names[0]} is for {read[0].game}")
    try:
        layout = union_of([p.layout for p in read])
    except ValueError as problem:
        raise InputError(
            f"{problem} has different shapes in {' and '.join(names)}: expected files of one"
            " evaluation"
        ) from None
    for name, p in zip(names, read, strict=True):
        given = heading_of(path := parameter_path(name)).terms
        missing = [place.path for place in layout.places if place.term not in given]
        if missing := missing + (
            missing_parameters(path, p.layout, p.game) if arguments.terms else []
        ):
            show_note(f"{name} lacks {listed(missing)}, which count as 0")
    files = [aligned(p, layout) for p in read]
    for name, p in zip(names[1:], files[1:], strict=True):
        if (p.stages, p.spans) != (files[1].stages, files[1].spans):
            raise InputError(
                f"{name} has the stages {stages_text(p)}, but {names[1]} has"
                f" {stages_text(files[1])}; compare each with the first"
            )
        if supported and not errors_known(files[0], p):
            raise InputError(
                f"{name}: no standard_errors, so no change can be tested; expected a learned file,"
                " as `tuner tune` writes it"
            )
    comparison = compare(files)
    named = (
        {"initial": names[0], "learned": names[1]} if len(names) == 2 else {"files": list(names)}
    )
    result = {**named, **differences(comparison, supported)}
    view = View(
        tuple(one_line(name) for name in names),
        {LARGEST: MIN_CHANGE, SUPPORTED: 0, ALL: MIN_CHANGE}.get(arguments.show, arguments.show),
        supported,
        arguments.show == LARGEST,
    )
    return CommandResult(result, show=lambda console: show(console, comparison, view))
