"""Play in any backgammon program: a UBGI engine (Universal Backgammon Interface) with your
parameters."""

from tuner.commands.serving import serve, serving_table
from tuner.options.option import Arguments, Option

USAGE = "[PARAMS] [--depth N] [--terms FILE]"
EXAMPLE = """examples:
  tuner ubgi learned.yaml --depth 2
  tuner match "ubgi:tuner ubgi learned.yaml" gnubg:0
"""
DEPTH = Option(("--depth",), "plies of each search (default: 1)", int, 1, choices=(1, 2, 3))
TABLE = (*serving_table("backgammon/classic"), DEPTH)


def run(arguments: Arguments) -> None:
    serve(arguments, "backgammon", "ubgi", depth=arguments.depth)
