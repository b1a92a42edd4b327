"""Play in any chess program: a UCI engine (Universal Chess Interface) with your parameters."""

from tuner.commands.serving import serve, serving_table
from tuner.options.option import Arguments

USAGE = "[PARAMS] [--options] [--learn [FILE]] [--terms FILE]"
EXAMPLE = """examples:
  tuner uci learned.yaml
  cutechess-cli -engine cmd=tuner arg=uci arg=learned.yaml \\
    -engine cmd=stockfish -each proto=uci tc=10+0.1 -games 2
  tuner uci learned.yaml --options    every weight is an option of the engine
"""
TABLE = serving_table("classic", weight="material.knight.mg", learns=True)


def run(arguments: Arguments) -> None:
    serve(arguments, "chess", "uci", settable=arguments.options)
