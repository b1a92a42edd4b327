"""Play in any chess program: an engine that speaks UCI (Universal Chess Interface) with your parameters."""

from __future__ import annotations

import argparse

from tuner.commands.options import add_term_options

GAME = "chess"  # UCI is a protocol for chess alone
USAGE = "[PARAMS] [--terms FILE]"
EXAMPLE = """examples:
  tuner uci learned.yaml
  cutechess-cli -engine cmd=tuner arg=uci arg=learned.yaml \\
    -engine cmd=stockfish -each proto=uci tc=10+0.1 -games 2
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", nargs="?", default="classic",
                        help="parameter file, or a bundled one (default: classic)")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    import importlib
    import sys
    from functools import cache

    from tuner import __version__

    @cache
    def engine():
        from tuner.engine.loading import make_engine

        return make_engine(GAME, arguments.terms)

    def make_searcher(name: str | None):
        from games.streams import InputError
        from tuner.engine.loading import parameter_path
        from tuner.parameters.heading import game_of
        from tuner.parameters.reader import read_parameters

        path = parameter_path(name or arguments.params)
        if game_of(path) != GAME:
            raise InputError(f"{path}: parameters of {game_of(path)}, expected {GAME}")
        return engine().searcher(read_parameters(path, engine().layout, GAME))

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    uci = importlib.import_module(f"games.{GAME}.uci")  # loads heavy modules only when they are needed
    searches = uci.serve(make_searcher, uci.lines_of(sys.stdin.buffer), write, f"evaltune {__version__}", arguments.params)
    return {"searches": searches}
