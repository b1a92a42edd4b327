"""Tune a parameter file or a network by self-play.

The weights are updated after each batch of games; networks of games with dice learn after every
ply. Everything is kept in a folder (default: selfplay-1, ...), and --resume continues after any
interruption."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from tuner.core.records import InputError
from tuner.options.option import (
    TERMS,
    Arguments,
    OneOf,
    Option,
    Table,
    Title,
    cluster,
    options_in,
    refuse,
    resume,
)
from tuner.options.selfplay import (
    LearningOptions,
    NetworkOptions,
    SelfplayOptions,
)

if TYPE_CHECKING:
    from tuner.play.selfplay.begin import MakeRun
    from tuner.results.result import Found
    from tuner.results.selfplay import RepeatedRuns

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
Repeats = Annotated[int, Meta(ge=2, le=1000, description="a whole number from 2 to 1000")]
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
    Option(
        ("--results",),
        "with --resume: learn the results of games that an engine played with --learn, from the"
        " file of games that its match runner wrote",
        metavar="FILE",
        resume=True,
        seldom=True,
    ),
    Option(
        ("--repeats",),
        "play N runs with the seeds from --seed on in --run DIR/SEED, and print the mean and the"
        " standard deviation of what they learned; the same command again continues them",
        Repeats,
        metavar="N",
        seldom=True,
    ),
    *options_in(LearningOptions, "as_"),
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
    *options_in(SelfplayOptions, "method lambda_ loss wins fixed gated noise gradient step"),
    Title("optimizer"),
    *options_in(
        SelfplayOptions,
        "learner learning_rate largest_step largest_error half_life floor average batch lag",
    ),
    Title("machine"),
    *options_in(LearningOptions, "seed workers"),
    cluster("play"),
)


def run(arguments: Arguments) -> Found:
    from tuner.commands.display import play
    from tuner.play.selfplay.begin import AnyOptions, require_one_thread, run_for
    from tuner.play.selfplay.engine import ToldRun
    from tuner.play.selfplay.network import NetworkRun, learns_online
    from tuner.play.selfplay.weights import WeightsRun

    make: MakeRun
    if arguments.repeats is not None:
        return _repeated(arguments)
    output = arguments.output and Path(arguments.output)
    refuse((("--results", arguments.results and not arguments.resume, "is for --resume RUN"),))
    if arguments.results is not None:
        arguments.require_resumable()
        others = (("-o", output, "--results writes the file of the engine"),)
        refuse((*others, ("--games", "games" in arguments.given, "--results plays none")))
        return play(arguments, ToldRun, dict, output, source=arguments.results)
    if arguments.resume is not None:
        arguments.require_resumable()
        make, settings = WeightsRun, None
        if learns_online(Path(arguments.resume)):
            require_one_thread(arguments.workers, arguments.cluster)
            make = NetworkRun
    else:
        given = arguments.given_for(AnyOptions)
        make, settings = run_for(arguments.params, given, arguments.terms, arguments.cluster)
    return play(arguments, make, lambda: settings, output)


def _repeated(arguments: Arguments) -> RepeatedRuns:
    """Play runs of several seeds, and go on with those that were begun; InputError for options that
    a single run has."""
    from tuner.commands.display import play
    from tuner.io.run_folder import kind_of
    from tuner.play.selfplay.begin import AnyOptions, repeats_of, resumable_kind, run_for

    several = "--repeats plays several runs"
    refuse(
        (f"--{name}", getattr(arguments, name), several) for name in ("resume", "results", "output")
    )
    if arguments.run is None:
        raise InputError(f"--repeats {arguments.repeats}: expected --run DIR, for their folders")
    folder, given, runs = Path(arguments.run), arguments.given_for(AnyOptions), []
    for seed in range(arguments.seed, arguments.seed + arguments.repeats):
        own = {**given, "seed": seed}
        make, settings = run_for(arguments.params, own, arguments.terms, arguments.cluster)
        place, new = folder / str(seed), functools.partial(replace, settings)
        if kind_of(place) is None:
            runs.append(play(arguments, make, new, folder=place))
        else:
            runs.append(play(arguments, resumable_kind(place, settings), new, resumed=place))
        if runs[-1].interrupted:
            raise KeyboardInterrupt
    return repeats_of(runs, arguments.terms)
