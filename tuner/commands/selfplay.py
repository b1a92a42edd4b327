"""Tune a parameter file or a network by self-play.

The weights are updated after each batch of games; networks of games with dice learn after every
ply. Everything is kept in a folder (default: selfplay-1, ...), and --resume continues after any
interruption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tuner.options.option import (
    TERMS,
    Arguments,
    OneOf,
    Option,
    Table,
    Title,
    all_in,
    cluster,
    options_in,
    refuse,
    resume,
)
from tuner.options.selfplay import (
    LearningOptions,
    NetworkOptions,
    SelfplayOptions,
    SelfplaySettings,
)

USAGE = "[PARAMS] [--games N] [-o OUT] [options]"
EXAMPLE = """examples:
  tuner selfplay                                from bare piece values, 1,000 games
  tuner selfplay my.yaml --games 14000 -o learned.yaml
  tuner selfplay --resume selfplay-1 --games 20000
  tuner selfplay my.yaml --openings games.pgn --from-ply 10:50 --largest-step 20
  tuner selfplay my.yaml --opponent self --opponent past --opponent uci:stockfish
  tuner selfplay --openings '1k6/8/2K5/3R4/8/8/8/8 w - - 0 1' --games 60 \\
    --depth 2 --plies 12 --truncated draw --explore 0.3 --batch 1 --lag 0 \\
    --learning-rate 10 --method td-leaf         mate with a rook
  tuner selfplay backgammon --hidden 40 --games 200000 --measure pubeval -o net.yaml
                                                a network, and its strength by games
  tuner selfplay chess --hidden 64 --method td-leaf --depth 2 -o net.yaml
  tuner selfplay net.yaml --seed 2 --games 500000 -o better.yaml
"""
TABLE: Table = (
    Option(
        ("params",),
        "parameter file to start from, or a bundled one (default: material), or a network",
        default="material",
        metavar="PARAMS",
        nargs="?",
    ),
    *options_in(LearningOptions, "games output run"),
    resume("the run", "; --games N sets a new total"),
    OneOf(options_in(SelfplayOptions, "depth nodes")),
    *options_in(LearningOptions, "measure measure_games measure_every measure_plies"),
    TERMS,
    Title(
        "networks",
        "PARAMS is a network file (net.yaml) to continue from; or, for a new network, the name of a"
        " game with one of the first three options.",
    ),
    *options_in(NetworkOptions, "encoding inputs hidden activation"),
    Title("games"),
    *options_in(
        SelfplayOptions,
        "openings from_ply random_plies balanced explore plies truncated opponents blunders",
    ),
    Title("learning"),
    *options_in(SelfplayOptions, "method trace loss wins fixed gated noise gradient step"),
    Title("optimizer"),
    *options_in(SelfplayOptions, "rule rate largest_step half_life floor average batch lag"),
    Title("machine"),
    *options_in(LearningOptions, "seed workers"),
    cluster("play"),
)
OF_NETWORKS = {"params", "cluster", *(each.name for each in options_in(NetworkOptions))}


def run(arguments: Arguments) -> dict:
    from tuner.play.selfplay.network import learns_online, start_of

    if arguments.resume is not None:
        arguments.require_resumable()
        return (_network if learns_online(Path(arguments.resume)) else _weights)(arguments)
    start = start_of(arguments.params, arguments.given_for(NetworkOptions), arguments.terms)
    return (_network if start.online else _weights)(arguments, start)


def _weights(arguments: Arguments, start: Any = None) -> dict:
    """Learn the weights of an evaluation from batches of games, or continue."""
    from tuner.commands.display import play
    from tuner.evaluation.networks.evaluation import usual_of_new
    from tuner.play.selfplay.network import describes_new
    from tuner.play.selfplay.setup import settings_for
    from tuner.play.selfplay.weights import WeightsRun

    def new() -> SelfplaySettings:
        given = arguments.given_for(SelfplayOptions)
        if describes_new(arguments.given):
            given = {**usual_of_new(given), **given}
        return settings_for(arguments.params, given, arguments.terms)

    output = arguments.output and Path(arguments.output)
    return play(arguments, WeightsRun, new, output, start=start)


def _network(arguments: Arguments, start: Any = None) -> dict:
    """Learn a network of a game with dice from its `start`, or continue."""
    from tuner.commands.display import TerminalDisplay, finish
    from tuner.play.run import new_run, resumed_run
    from tuner.play.selfplay.network import NetworkRun, settings_for

    one = "a network learns after every ply, in one thread"
    refuse(
        (
            (f"--workers {arguments.workers}", (arguments.workers or 1) > 1, one),
            (f"--cluster {arguments.cluster}", arguments.cluster, one),
        )
    )
    if arguments.resume is None:
        refuse(
            (
                each.names[-1],
                each.name in arguments.given and each.name not in OF_NETWORKS,
                "has no meaning for networks of games with dice, which learn one roll deep",
            )
            for each in all_in(TABLE)
        )
    output = arguments.output and Path(arguments.output)
    with TerminalDisplay() as display:
        if arguments.resume is not None:
            result = resumed_run(
                NetworkRun, Path(arguments.resume), None, output, display, arguments.games
            )
        else:
            settings, file = settings_for(
                arguments.params, arguments.given_for(NetworkOptions), start.spec()
            )
            folder = arguments.run and Path(arguments.run)
            result = new_run(
                NetworkRun(settings, output, display, file), folder, None, arguments.text
            )
    return finish(arguments, result.lines, result.plain, result.interrupted)
