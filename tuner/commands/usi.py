"""Play in any shogi program: an engine that speaks USI (Universal Shogi Interface) with your parameters."""

from __future__ import annotations

import argparse

from tuner.commands.serving import add_serving_arguments, serve

USAGE = "[PARAMS] [--options] [--terms FILE]"
EXAMPLE = """examples:
  tuner usi learned.yaml
  tuner match "usi:tuner usi learned.yaml" usi:fairy-stockfish --nodes 4000
  tuner usi learned.yaml --options    every weight is an option of the engine
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_serving_arguments(parser, "shogi/classic", weight="material.knight")


def run(arguments: argparse.Namespace) -> dict:
    return serve(arguments, "shogi", "usi", settable=arguments.options)
