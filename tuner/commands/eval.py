"""Explain the evaluation of one position, term by term."""

from __future__ import annotations

import argparse

from tuner.options import add_term_options

EXAMPLE = """example:
  tuner eval classic "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file, or a bundled one")
    parser.add_argument("position", metavar="FEN", nargs="+", help="a position, in quotation marks or not")
    parser.add_argument("--all", action="store_true", help="show every parameter that applies, not only the terms")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.engine import load_engine
    from tuner.explain import explain, show

    engine, parameters = load_engine(arguments.params, arguments.terms)
    try:
        words = engine.game.position(" ".join(arguments.position))
    except ValueError as problem:
        raise InputError(str(problem)) from None
    result = explain(engine, parameters, words)
    if not arguments.json:
        print(engine.game.draw(words) + "\n")
        show(result, arguments.all)
    return result
