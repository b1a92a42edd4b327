"""Check a parameter file and say what it holds; add the parameters that it lacks."""

from __future__ import annotations

import argparse

from tuner.options import add_term_options

EXAMPLE = """example:
  tuner params my.yaml
  tuner params my.yaml --terms my_terms.py --add-missing
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file, or a bundled one")
    parser.add_argument("--add-missing", action="store_true", help="write the file with zeros for the parameters it lacks")
    parser.add_argument("-o", "--output", metavar="OUT", help="write there instead of over the file itself")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    from pathlib import Path

    from games.streams import InputError
    from tuner.engine import BUNDLED, make_layout, parameter_path
    from tuner.parameters import game_of, missing_parameters, read_parameters, write_parameters

    if arguments.output and not arguments.add_missing:
        raise InputError(f"-o {arguments.output}: nothing is written without --add-missing")
    path = parameter_path(arguments.params)
    game = game_of(path)
    layout = make_layout(game, arguments.terms)
    missing = missing_parameters(path, layout, game) if arguments.add_missing else []
    parameters = read_parameters(path, layout, game, arguments.add_missing)
    output = Path(arguments.output) if arguments.output else path
    if arguments.add_missing:
        if output.resolve().is_relative_to(BUNDLED):
            raise InputError(f"{output}: is a bundled file; name another with -o OUT")
        write_parameters(output, parameters)
    terms: dict[str, int] = {}
    for place in layout.places:
        terms[place.term] = terms.get(place.term, 0) + place.size
    result = {"file": str(path), "game": game, "stages": list(parameters.stages), "scale": parameters.scale,
              "parameters": layout.size, "terms": terms, "fixed": list(parameters.fixed), "added": missing,
              "output": str(output) if arguments.add_missing else None}
    if not arguments.json:
        print(f"{path}: {game}, {layout.size} parameters x {len(parameters.stages)} stages, scale {parameters.scale:g}")
        print("  " + ", ".join(f"{name} {size}" for name, size in terms.items()))
        if arguments.add_missing:
            print(f"wrote {output}: added {', '.join(missing) if missing else 'nothing'}")
    return result
