"""Play in any backgammon program: an engine that speaks UBGI (Universal Backgammon Interface) with your parameters."""

from __future__ import annotations

import argparse

from tuner.commands.serving import add_serving_arguments, serve

USAGE = "[PARAMS] [--depth N] [--terms FILE]"
EXAMPLE = """examples:
  tuner ubgi learned.yaml --depth 2
  tuner match "ubgi:tuner ubgi learned.yaml" gnubg:0
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_serving_arguments(parser, "backgammon/classic")
    parser.add_argument("--depth", type=int, choices=(1, 2, 3), default=1, help="plies of each search (default: 1)")


def run(arguments: argparse.Namespace) -> dict:
    return serve(arguments, "backgammon", "ubgi", depth=arguments.depth)
