"""Print the lines with which your engine prints its evaluations, or, with PARAMS, generate the
header that lets it print its feature counts.

With evaluations, counts are measured. With the header, add a macro wherever a weight is used, such
as `EVALTUNE_ROW(mobility_knight, squares, us);`, and the engine prints a line of JSON for each
position; see docs/your-own-engine.md."""

from tuner.core.records import KeysOf
from tuner.core.text import plural
from tuner.options.option import TERMS, Arguments, Option, Table, output, params
from tuner.results.result import CommandResult

USAGE = "[PARAMS] --language LANGUAGE [-o FILE]"
EXAMPLE = """examples:
  tuner trace --language go
  tuner trace my.yaml --language c -o tracerows.h
  tuner trace my.yaml --language rust -o src/tracerows.rs
"""


TABLE: Table = (
    params("parameter file, or a bundled one, with the names that are counted", nargs="?"),
    Option(
        ("--language",),
        "of evaluations: any; with PARAMS: c, a header for C99 and C++11, or rust, a module",
        choices=KeysOf("tuner.trace.languages", "EVALS"),
        required=True,
    ),
    output("write to this file (default: standard output)"),
    TERMS,
)


def run(arguments: Arguments) -> CommandResult:
    import sys
    from pathlib import Path

    from games.streams import InputError, one_line
    from tuner.evaluation.loading import load_parameters, parameter_path
    from tuner.io.files import EXPORT, replace_file, require_writable
    from tuner.trace.languages import LANGUAGES, evals

    if arguments.params is None:
        text = evals(arguments.language)
        if arguments.output is not None:
            require_writable(Path(arguments.output), EXPORT, ())
            replace_file(Path(arguments.output), text)
            return CommandResult({"output": arguments.output}, (f"wrote {arguments.output}",))
        traced = {"language": arguments.language, "text": text}
        return CommandResult(traced, show=lambda console: sys.stdout.write(text))
    if arguments.language not in LANGUAGES:
        raise InputError(
            f"--language {arguments.language}: with PARAMS expected {' or '.join(LANGUAGES)};"
            " without, the lines that print evaluations"
        )
    path, output = parameter_path(arguments.params), arguments.output
    layout = load_parameters(path, arguments.terms).layout
    if output is not None:
        require_writable(Path(output), EXPORT, (str(path), *arguments.terms))
    text = LANGUAGES[arguments.language](layout, str(arguments.params))
    if output is not None:
        replace_file(Path(output), text)
    result = {
        "file": str(path),
        "language": arguments.language,
        "output": output,
        "parameters": len(layout.places),
        "numbers": layout.size,
    }
    if output is None:
        return CommandResult({**result, "text": text}, show=lambda console: sys.stdout.write(text))
    flag = "-DEVALTUNE_TRACE" if arguments.language == "c" else "--features evaltune_trace"
    return CommandResult(
        result,
        (
            f"wrote {one_line(output)}: the names of {plural(len(layout.places), 'parameter')}"
            f" ({plural(layout.size, 'number')})",
            f"next: add a macro wherever a weight is used, and compile with {flag}",
        ),
    )
