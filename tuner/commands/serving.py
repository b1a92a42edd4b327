"""The common part of `tuner uci`, `tuner usi` and `tuner ubgi`: an engine that plays with the
parameters of one game."""

from __future__ import annotations

from pathlib import Path

from games.streams import InputError
from tuner.options.option import TERMS, Arguments, Option, Table, flag


def serving_table(default: str, weight: str = "") -> Table:
    """Return the options of `serve`; `weight` is an example of a weight, for a protocol in which
    engines have options."""
    settable = flag(
        "--options",
        f"offer every weight as an option of the engine, such as {weight}, in whole centipawns",
    )
    return (
        Option(
            ("params",),
            f"parameter file or network, or a bundled one (default: {default})",
            default=default,
            metavar="PARAMS",
            nargs="?",
        ),
        *([settable] if weight else []),
        TERMS,
    )


def serve(
    arguments: Arguments, game: str, protocol: str, settable: bool = False, **more: int
) -> dict:
    """Speak the protocol of this game on standard input and output, until its end; `settable`:
    weights are options of the engine; `more` is passed to the `serve` of the protocol."""
    import importlib
    import sys

    from tuner.evaluation.served import ServedEvaluation
    from tuner.version import __version__

    def path_of(name: str | None) -> Path:
        from tuner.evaluation.loading import parameter_path
        from tuner.parameters.reader import game_of

        path = parameter_path(name or arguments.params)
        if game_of(path) != game:
            raise InputError(f"{path}: an evaluation of {game_of(path)}, expected {game}")
        return path

    def read(name: str | None):
        from games.record import find
        from tuner.evaluation.own_numbers import named_weights

        return find(game), named_weights(path_of(name), arguments.terms)

    def load(name: str | None):
        from tuner.evaluation.evaluation import load_evaluation
        from tuner.evaluation.own_numbers import require_linear

        require_linear(path_of(name), (f"--terms {file}" for file in arguments.terms))
        return load_evaluation(path_of(name), arguments.terms)

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    # loads heavy modules only when they are needed
    server = importlib.import_module(f"games.{game}.engines.{protocol}")
    evaluation = ServedEvaluation(read, load, settable)
    searches = server.serve(
        evaluation,
        server.lines_of(sys.stdin.buffer),
        write,
        f"evaltune {__version__}",
        arguments.params,
        **more,
    )
    return {"searches": searches}
