"""Play in any shogi program: a USI engine (Universal Shogi Interface) with your parameters."""

from tuner.commands.serving import serve, serving_table
from tuner.options.option import Arguments

USAGE = "[PARAMS] [--options] [--learn [FILE]] [--terms FILE]"
EXAMPLE = """examples:
  tuner usi learned.yaml
  tuner match "usi:tuner usi learned.yaml" usi:fairy-stockfish --nodes 4000
  tuner usi learned.yaml --options    every weight is an option of the engine
"""
TABLE = serving_table("shogi/classic", weight="material.knight", learns=True)


def run(arguments: Arguments) -> None:
    serve(arguments, "shogi", "usi", settable=arguments.options)
