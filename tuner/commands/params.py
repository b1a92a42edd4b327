"""Check a parameter file and summarise it, or add the parameters that it lacks."""

from __future__ import annotations

import argparse

from tuner.commands.options import add_term_options

USAGE = "PARAMS [--add-missing -o OUT] [--terms FILE]"
EXAMPLE = """examples:
  tuner params my.yaml
  tuner params classic --terms my_terms.py --add-missing -o mine.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS",
                        help="parameter file, or a bundled one (a file of the same name in the current folder is preferred)")
    parser.add_argument("--add-missing", action="store_true",
                        help="write PARAMS to -o OUT with zeros for the parameters that it lacks")
    parser.add_argument("-o", "--output", metavar="OUT", help="parameter file to write")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    import shlex
    from pathlib import Path

    from games.streams import InputError
    from tuner.engine.loading import make_layout, parameter_path
    from tuner.io.files import LEARNED, require_writable
    from tuner.parameters.reader import game_of, missing_parameters, read_parameters
    from tuner.parameters.suggested import completing
    from tuner.parameters.writer import write_parameters

    if arguments.output and not arguments.add_missing:
        raise InputError(f"-o {arguments.output}: only --add-missing writes a file; add it, or leave out -o")
    path = parameter_path(arguments.params)
    game = game_of(path)
    layout = make_layout(game, arguments.terms)
    if arguments.add_missing and not arguments.output:
        raise InputError(f"--add-missing: expected -o OUT, the file to write, such as `{completing(path, layout)}`")
    missing = missing_parameters(path, layout, game) if arguments.add_missing else []
    parameters = read_parameters(path, layout, game, arguments.add_missing)
    output = Path(arguments.output) if arguments.add_missing else None
    if output is not None:
        require_writable(output, LEARNED, (str(path), *arguments.terms))
        write_parameters(output, parameters)
    terms: dict[str, int] = {}
    for place in layout.places:
        terms[place.term] = terms.get(place.term, 0) + place.size
    result = {"file": str(path), "game": game, "stages": list(parameters.stages), "scale": parameters.scale,
              "parameters": layout.size, "terms": terms, "fixed": list(parameters.fixed), "added": missing,
              "output": str(output) if output else None}
    if not arguments.json:
        print(f"{path}: {game}, {layout.size} parameters x {len(parameters.stages)} stages, scale {parameters.scale:g}")
        print("  " + ", ".join(f"{name} {size}" for name, size in terms.items()))
        if arguments.add_missing:
            print(f"wrote {shlex.quote(str(output))}: added {', '.join(missing) if missing else 'nothing'}")
    return result
