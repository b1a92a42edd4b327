"""Explain the evaluation of one position, term by term; or evaluate all positions of a file, one score per line."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from tuner.commands.options import add_device_option, add_term_options
from tuner.parallel import available_cpus

if TYPE_CHECKING:
    from tuner.engine.engine import Engine
    from tuner.parameters.parameters import Parameters

USAGE = "PARAMS POSITION|FILE [options]"
EXAMPLE = """examples:
  tuner eval classic "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
  tuner eval my.yaml positions.epd.zst > scores.txt
  tuner eval backgammon/classic 4HPwATDgc/ABMA
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file, or a bundled one")
    parser.add_argument("position", metavar="POSITION|FILE", nargs="+",
                        help="a position, quoted or not; or a file with one position per line (also .gz, .bz2, .zst), or - for "
                             "standard input; scores are in the unit of the weights, centipawns for chess, first player's view")
    parser.add_argument("--all", action="store_true", help="show each parameter that applies, not only the terms")
    add_device_option(parser, "cpu", "where the positions of a file are evaluated")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.commands.display import output_console
    from tuner.engine.explain import explain, show
    from tuner.engine.loading import load_engine

    engine, parameters = load_engine(arguments.params, arguments.terms)
    if len(arguments.position) == 1 and (arguments.position[0] == "-" or os.path.isfile(arguments.position[0])):
        return _scores(engine, parameters, arguments.position[0], arguments)
    try:
        words = engine.game.position(" ".join(arguments.position))
    except ValueError as problem:
        raise InputError(str(problem)) from None
    result = explain(engine, parameters, words)
    if not arguments.json:
        print(engine.game.draw(words) + "\n")
        show(output_console(), result, arguments.all, engine.game.wording)
    return result


def _scores(engine: Engine, parameters: Parameters, source: str, arguments: argparse.Namespace) -> dict:
    """Print one score per line; with --json return them all."""
    from games.streams import InputError
    from tuner.device.choose import device_named
    from tuner.engine.evaluate_file import scores_of

    if arguments.device == "gpu" and engine.composition.curved:
        raise InputError(f"--device gpu: term {engine.composition.curved[0]} is not linear in its weights, which GPUs have no "
                         "passes for; choose --device cpu")
    found, workers = [], available_cpus()
    for scores in scores_of(engine, parameters, source, workers, device_named(arguments.device, workers)):
        if arguments.json:
            found += [round(score, 2) for score in scores.tolist()]
        else:
            print("\n".join(f"{score:.2f}" for score in scores.tolist()))
    return {"file": source, "scores": found}
