"""Play in any chess program: an engine that speaks UCI (Universal Chess Interface) with your parameters."""

from __future__ import annotations

import argparse

from tuner.commands.options import add_term_options

GAME = "chess"  # UCI is a protocol for chess alone
USAGE = "[PARAMS] [--options] [--terms FILE]"
EXAMPLE = """examples:
  tuner uci learned.yaml
  cutechess-cli -engine cmd=tuner arg=uci arg=learned.yaml \\
    -engine cmd=stockfish -each proto=uci tc=10+0.1 -games 2
  tuner uci learned.yaml --options    every weight is an option of the engine
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", nargs="?", default="classic",
                        help="parameter file, or a bundled one (default: classic)")
    parser.add_argument("--options", action="store_true",
                        help="offer every weight as an option of the engine, such as material.knight.mg, in whole centipawns")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    import importlib
    import sys

    from tuner import __version__
    from tuner.engine.served import ServedEvaluation

    def read(name: str | None):
        from games.streams import InputError
        from tuner.engine.loading import load_parameters, parameter_path

        parameters = load_parameters(name or arguments.params, arguments.terms)
        if parameters.game != GAME:
            raise InputError(f"{parameter_path(name or arguments.params)}: parameters of {parameters.game}, expected {GAME}")
        return parameters

    def load(name: str | None):
        from tuner.engine.loading import load_engine

        read(name)  # another game is refused before anything is compiled
        return load_engine(name or arguments.params, arguments.terms)

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    uci = importlib.import_module(f"games.{GAME}.uci")  # loads heavy modules only when they are needed
    evaluation = ServedEvaluation(read, load, arguments.options)
    searches = uci.serve(evaluation, uci.lines_of(sys.stdin.buffer), write, f"evaltune {__version__}", arguments.params)
    return {"searches": searches}
