"""What `tuner uci`, `tuner usi` and `tuner ubgi` share: an engine that plays with the parameters of one game."""

from __future__ import annotations

import argparse

from tuner.commands.options import add_term_options


def add_serving_arguments(parser: argparse.ArgumentParser, default: str, weight: str = "") -> None:
    """Add the arguments of `serve`; `weight` is an example of a weight, for a protocol in which engines have options."""
    parser.add_argument("params", metavar="PARAMS", nargs="?", default=default,
                        help=f"parameter file, or a bundled one (default: {default})")
    if weight:
        parser.add_argument("--options", action="store_true",
                            help=f"offer every weight as an option of the engine, such as {weight}, in whole centipawns")
    add_term_options(parser)


def serve(arguments: argparse.Namespace, game: str, protocol: str, settable: bool = False, **more: int) -> dict:
    """Speak the protocol of this game on standard input and output, until its end; `settable`: weights are options of the
    engine; `more` is passed to the `serve` of the protocol."""
    import importlib
    import sys

    from tuner.engine.served import ServedEvaluation
    from tuner.version import __version__

    def read(name: str | None):
        from games.streams import InputError
        from tuner.engine.loading import load_parameters, parameter_path

        parameters = load_parameters(name or arguments.params, arguments.terms)
        if parameters.game != game:
            raise InputError(f"{parameter_path(name or arguments.params)}: parameters of {parameters.game}, expected {game}")
        return parameters

    def load(name: str | None):
        from tuner.engine.loading import load_engine

        read(name)  # another game is refused before anything is compiled
        return load_engine(name or arguments.params, arguments.terms)

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    server = importlib.import_module(f"games.{game}.{protocol}")  # loads heavy modules only when they are needed
    evaluation = ServedEvaluation(read, load, settable)
    searches = server.serve(evaluation, server.lines_of(sys.stdin.buffer), write, f"evaltune {__version__}", arguments.params,
                            **more)
    return {"searches": searches}
