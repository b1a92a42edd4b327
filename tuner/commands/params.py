"""Check and summarize a parameter file, add missing parameters, or create a new file.

tuner params PARAMS                       check and summarize a file
tuner params PARAMS --add-missing         add zeros for what its terms lack
tuner params --new NAME... -o OUT         zeros for these terms or parameters
tuner params --new --from SOURCE --map MAP [-o OUT]
                                          what a source defines, as a map; with
                                          -o what the map names, with numbers
tuner params --from-rows ROWS -o OUT      zeros for the parameters of rows
"""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from games.record import available, find
from tuner.core.records import InputError, PositiveCount
from tuner.evaluation.loading import load_parameters, make_layout, parameter_path
from tuner.io.files import LEARNED, require_writable
from tuner.options.option import (
    TERMS,
    Arguments,
    OneOf,
    Option,
    Table,
    flag,
    no_use,
    output,
    refuse,
)
from tuner.parameters.diff import line, summary, terms_line
from tuner.parameters.parameters import (
    PHASES,
    Layout,
    Parameters,
    Place,
    Spans,
    Stages,
    fault_of_spans,
    require_names,
    staged,
)
from tuner.parameters.reader import NAME, bundled, completing, heading_of, missing_parameters
from tuner.parameters.writer import STAGES, of_specs, stages_text, to_text, write_parameters, zeros
from tuner.parameters.yaml_tree import comments_of, read_source
from tuner.results.result import CommandResult

USAGE = "PARAMS|NAME... [--add-missing|--new|--from-rows] [-o OUT]"
EXAMPLE = """examples:
  tuner params my.yaml
  tuner params classic --terms my_terms.py --add-missing -o mine.yaml
  tuner params --new material mobility -o small.yaml
  tuner params --new 'material.pawn' 'mobility.knight[9]' -o engine.yaml
  tuner params --new --from src/eval.c --map names.yaml
  tuner params --new --from src/eval.c --map names.yaml -o start.yaml
  tuner params --from-rows rows.jsonl -o engine.yaml
"""


TABLE: Table = (
    Option(
        ("params",),
        "parameter file, or a bundled one (a file of the same name in the current folder is"
        " preferred); with --new terms or parameters, with --from-rows a file of rows",
        metavar="PARAMS",
        nargs="*",
    ),
    OneOf(
        (
            flag(
                "--add-missing",
                "write PARAMS, or -o OUT, with zeros for the parameters that its terms and those of"
                " --terms lack",
            ),
            flag(
                "--new",
                "write a file of zeros to -o OUT: of bundled terms and those of --terms, by their"
                " names, or of parameters that your engine counts, as term.name, term.name[9],"
                " term.name[8][8]",
            ),
            flag(
                "--from-rows",
                "write a file of zeros to -o OUT with the parameters that occur in a file of rows",
            ),
        )
    ),
    Option(
        ("--from",),
        "--new: a source whose numbers become parameters, as --map says; may be repeated",
        dest="sources",
        metavar="SOURCE",
        action="append",
        default=(),
    ),
    Option(
        ("--map",),
        "--new --from: the names of parameters, as `tuner export --map` reads them; without -o it"
        " is written, with all that the sources define",
        metavar="FILE",
    ),
    flag("--flip", "--new --from: the sources have tables with their last row first"),
    output("parameter file to write", "OUT"),
    Option(
        ("--game",),
        "--new, --from-rows: the game (default: chess); any name for the features of your engine",
        default="chess",
        metavar="NAME",
    ),
    Option(
        ("--stages",),
        "--new, --from-rows, or with -o OUT for a file: stages of the evaluation, one or two"
        " (default: mg eg, or the stages of the game), or several with the phases in which each is"
        " alone: opening=24 middle=10-14 ending=0",
        metavar="NAME",
        nargs="+",
    ),
    Option(
        ("--phases",),
        "--new, --from-rows: steps of your engine's phase, from 0, all last stage, to N, all first"
        " stage (default: 24)",
        PositiveCount,
        metavar="N",
    ),
    TERMS,
)


STAGE = re.compile(r"([^\W\d]\w*)(?:=(\d{1,5})(?:-(\d{1,5}))?)?")


def run(arguments: Arguments) -> CommandResult:

    new = "--new" if arguments.new else "--from-rows" if arguments.from_rows else None
    refuse(
        (option, value, "only --new --from SOURCE uses it")
        for option, value in (("--map", arguments.map), ("--flip", arguments.flip))
        if not arguments.sources
    )
    if arguments.sources:
        return _of_sources(arguments)
    if not arguments.params:
        raise InputError(
            f"params{' ' + new if new else ''}: nothing named; expected "
            + (
                "terms or parameters, such as 'mobility.knight[9]'"
                if arguments.new
                else "a file of rows"
                if new
                else "a parameter file, such as classic"
            )
        )
    if new:
        return start(new, arguments)
    refuse(
        (
            each.names[-1],
            each.name in ("game", "phases"),
            "only --new and --from-rows use it",
        )
        for each in arguments.typed()
    )
    if len(arguments.params) > 1:
        raise InputError(
            f"{arguments.params[1]}: a second file, expected one; or --new before names"
        )
    return _checked(arguments)


def _checked(arguments: Arguments) -> CommandResult:
    """Check and summarize a file, and with --add-missing write it."""

    if arguments.output and not (arguments.add_missing or arguments.stages):
        raise InputError(
            f"-o {arguments.output}: only --add-missing, --stages, --new and --from-rows write a"
            " file; add one, or leave out -o"
        )
    if arguments.stages and not arguments.output:
        raise InputError("--stages: expected -o OUT, the file to write with these stages")
    path = parameter_path(arguments.params[0])
    heading = heading_of(path)
    if heading.of_rows and arguments.add_missing:
        raise InputError(
            f"{path}: another program counts its terms, so the file itself says which there are;"
            " leave out --add-missing"
        )
    known = None if heading.of_rows else make_layout(heading.game, arguments.terms)
    parameters = load_parameters(path, arguments.terms, arguments.add_missing)
    missing: list[str] = []
    output = arguments.output and Path(arguments.output)
    if arguments.add_missing and known is not None:
        lacking = missing_parameters(path, known, heading.game)
        missing = [
            place.path
            for place in parameters.layout.places
            if place.term not in heading.terms or place.path in lacking
        ]
    written = _with_stages(parameters, arguments) if arguments.stages else parameters
    if output is not None:
        require_writable(output, LEARNED, (str(path), *arguments.terms))
    elif missing and known is not None:
        parameters = written = replace(written, comments=comments_of(read_source(path)))
        _require_only_added(path, parameters, completing(path, known))
        output = path
    if output is not None:
        write_parameters(output, written)
    without = (
        []
        if known is None
        else list(
            dict.fromkeys(
                place.term
                for place in known.places
                if place.term not in {place.term for place in parameters.layout.places}
            )
        )
    )
    result = {
        "file": str(path),
        **summary(parameters),
        "added": missing,
        "without": without,
        "output": str(output) if output else None,
    }
    lines = [f"{path}: {line(parameters)}", f"  {terms_line(parameters)}"]
    if without:
        lines.append(f"  terms that take no part: {', '.join(without)}")
    if output is not None:
        added = f"added {', '.join(missing) if missing else 'nothing'}"
        staging = f"stages {stages_text(written)}, with interpolated weights at their centers"
        done = [added] * arguments.add_missing + [staging] * bool(arguments.stages)
        lines.append(f"wrote {shlex.quote(str(output))}: {'; '.join(done)}")
    return CommandResult(result, lines)


def _require_only_added(path: Path, parameters: Parameters, command: str) -> None:
    """InputError if a file that is written again would change beyond added lines, or is a bundled
    one that would name terms of somebody's file; `command` writes another file."""
    kept = iter(to_text(parameters, path.parent).split("\n"))
    # as bytes: line ends stay as they are, too
    for number, text in enumerate(path.read_bytes().decode("utf-8").split("\n"), 1):
        if text not in kept:
            raise InputError(
                f"{path}:{number}: this line would be written differently; `{command}` writes"
                " another file"
            )
    if parameters.layout.files and path in bundled().values():
        raise InputError(
            f"{path}: a bundled file has no terms of --terms; `{command}` writes another file"
        )


def start(new: str, arguments: Arguments) -> CommandResult:
    """Write a new file to -o OUT; `new` is the option that asks for it."""
    if arguments.output is None:
        raise InputError(f"{new}: expected -o OUT, the file to write")
    output = Path(arguments.output)
    require_writable(
        output, LEARNED, (*(arguments.params if arguments.from_rows else ()), *arguments.terms)
    )
    if os.path.lexists(output):
        raise InputError(f"{output}: exists; {new} overwrites no file, choose another name")
    parameters = _of_names(arguments) if arguments.new else _of_rows(arguments)
    write_parameters(output, parameters)
    name = shlex.quote(str(output))
    advice = (
        f"read those of your engine with `tuner export {name} --from SOURCE -o start.yaml`, or"
        " learn them from results"
        if parameters.of_rows
        else f"learn them with `tuner tune {name} GAMES -o learned.yaml`"
    )
    return CommandResult(
        {"output": str(output), **summary(parameters)},
        (*_written_lines(output, parameters), f"every number is 0: {advice}"),
    )


def _written_lines(output: Path, parameters: Parameters) -> list[str]:
    """Return what a file that was written has, as lines of text."""
    return [f"wrote {shlex.quote(str(output))}: {line(parameters)}", f"  {terms_line(parameters)}"]


def _of_sources(arguments: Arguments) -> CommandResult:
    """Write a map of what sources define, or with -o OUT the parameters that a map names, with
    their numbers."""
    from tuner.core.text import listed, plural
    from tuner.export.into.plan import plan
    from tuner.export.into.propose import definitions_in, proposals, shapes_of
    from tuner.export.into.write import with_numbers, with_symmetry
    from tuner.export.numbers import rounded
    from tuner.io.files import EXPORT, replace_file
    from tuner.parameters.yaml_tree import read_tree

    if not arguments.new or arguments.params or arguments.terms or not arguments.map:
        raise InputError(
            "params --from: expected --new --from SOURCE --map MAP [-o OUT], and no names or terms"
        )
    names, (stages, _) = Path(arguments.map), _stages(arguments)
    sources = [Path(name) for name in arguments.sources]
    definitions = definitions_in(sources)
    if not arguments.output:
        require_writable(names, EXPORT, arguments.sources)
        proposed, left_out = proposals(definitions, stages)
        if not proposed:
            reasons = f"; left out: {listed(left_out, 3)}" if left_out else ""
            raise InputError(
                f"{', '.join(arguments.sources)}: no definition with numbers; expected the sources"
                f" of an evaluation{reasons}"
            )
        lines = [each.line() for each in proposed]
        lines += ["", "# left out:", *(f"#   {text}" for text in left_out)] if left_out else []
        replace_file(names, "".join(f"{line}\n" for line in lines))
        empty = [str(path) for path in sources if str(path) not in {p.path for p in proposed}]
        if empty:
            print(f"{', '.join(empty)}: no definition with numbers", file=sys.stderr)
        return CommandResult(
            {"map": str(names), "definitions": len(proposed), "left_out": left_out},
            (
                f"wrote {shlex.quote(str(names))}: {plural(len(proposed), 'definition')}"
                f"{f', {len(left_out)} left out with their reasons' if left_out else ''}",
                "next: delete the lines that are no parameters of the evaluation, change names as"
                " you like, and run the command again with -o start.yaml",
            ),
        )
    output = Path(arguments.output)
    require_writable(output, LEARNED, (*arguments.sources, arguments.map))
    root = read_tree(names).value
    chosen = list(root) if isinstance(root, dict) else []
    specs = shapes_of(names, chosen, stages, definitions)
    start = _zeros_of_rows(arguments, of_specs(specs))
    targets = plan(rounded(start, flipped=bool(arguments.flip)), sources, names)
    parameters = with_symmetry(with_numbers(start, targets))
    write_parameters(output, parameters)
    return CommandResult(
        {"output": str(output), "map": str(names), **summary(parameters)},
        _written_lines(output, parameters),
    )


def _of_names(arguments: Arguments) -> Parameters:
    if any("." in name for name in arguments.params):
        if arguments.terms:
            raise InputError(
                "--terms: parameters are named, which your engine counts; name terms, or leave out"
                " --terms"
            )
        return _zeros_of_rows(arguments, of_specs(arguments.params))
    if arguments.game not in available():
        raise InputError(
            f"--game {arguments.game}: its terms are not known; name parameters, such as"
            f" 'mobility.knight[9]', or one of the games {', '.join(available())}"
        )
    refuse(
        ((f"--phases {arguments.phases}", arguments.phases, f"{arguments.game} has its own phase"),)
    )
    whole = make_layout(arguments.game, arguments.terms)
    names = list(dict.fromkeys(place.term for place in whole.places))
    for name in arguments.params:
        if name not in names:
            raise InputError(
                f"{name}: no term of {arguments.game}, which has {', '.join(names)}; a parameter"
                " that your engine counts is named term.name"
            )
    places: list[Place] = []
    for place in whole.places:
        if place.term in arguments.params:
            places.append(replace(place, first=places[-1].columns.stop if places else 0))
    layout = replace(whole, places=tuple(places))
    return _with_stages(zeros(arguments.game, layout, find(arguments.game).stages), arguments)


def _with_stages(parameters: Parameters, arguments: Arguments) -> Parameters:
    """Return the parameters of a game with the stages that are asked for."""
    names, spans = _stages(arguments, parameters.stages)
    usual = find(parameters.game).stages
    if not spans and len(names) > 1 and names != usual and not parameters.of_rows:
        raise InputError(
            no_use(
                f"--stages {' '.join(names)}",
                f"{parameters.game} has {' and '.join(usual)}",
                "give one name for all, or the phases in which each is alone, such as"
                f" {names[0]}={parameters.steps}",
            )
        )
    if fault := fault_of_spans(Stages(names, parameters.steps, spans)):
        raise InputError(f"--stages: {fault}")
    with_stages = staged(parameters, names, spans)
    require_names(with_stages, " ".join(arguments.params), f"--stages there are {', '.join(names)}")
    return with_stages


def _of_rows(arguments: Arguments) -> Parameters:
    from tuner.datasets.rows.formats import scan

    if len(arguments.params) > 1:
        raise InputError(f"{arguments.params[1]}: a second file, expected one file of rows")
    refuse(
        (f"--terms {path}", True, "another program counts the terms of rows")
        for path in arguments.terms
    )
    rows = scan(arguments.params[0])
    stages, spans = _stages(arguments) if arguments.stages else (None, ())
    phases = arguments.phases or max((high for _, high in spans), default=None)
    return _spanned(rows.parameters(_named_game(arguments), stages, phases), spans)


def _zeros_of_rows(arguments: Arguments, layout: Layout) -> Parameters:
    """Return zeros for parameters that another program counts."""
    stages, spans = _stages(arguments)
    phases = arguments.phases or max((high for _, high in spans), default=PHASES)
    return _spanned(zeros(_named_game(arguments), layout, stages, phases), spans)


def _spanned(parameters: Parameters, spans: Spans) -> Parameters:
    """Return parameters whose stages have these phases; InputError for phases that cannot be."""
    with_spans = replace(parameters, spans=spans)
    if fault := fault_of_spans(with_spans.staging):
        raise InputError(f"--stages: {fault}")
    return with_spans


def _stages(arguments: Arguments, usual: Sequence[str] = STAGES) -> tuple[tuple[str, ...], Spans]:
    """Return the stages that are asked for, and the phases in which each is alone if any has
    some."""
    given = [
        match.groups() for text in arguments.stages or usual if (match := STAGE.fullmatch(text))
    ]
    names = tuple(name for name, _, _ in given)
    spans = tuple((int(low), int(high or low)) for _, low, high in given if low)
    wanted = arguments.stages or usual
    if (
        len(given) < len(wanted)
        or len(set(names)) < len(names)
        or (len(spans) != len(names) if spans else len(names) > 2)
    ):
        raise InputError(
            f"--stages {' '.join(wanted)}: expected one or two different names, such as mg eg, or"
            " all with the phases in which each is alone, such as opening=24 middle=10-14 ending=0"
        )
    return names, spans


def _named_game(arguments: Arguments) -> str:
    """Return the game of parameters that another program counts."""
    if not NAME.fullmatch(arguments.game):
        raise InputError(
            f"--game {arguments.game}: not a name, expected a letter, then letters, digits, blanks,"
            " _ or -"
        )
    return arguments.game
