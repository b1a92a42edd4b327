"""Learn the weights of a parameter file from games that the search plays.

Threads play batches of games; after each the learner moves the weights, and later games are played with them. PARAMS is a
parameter file or a bundled one. Everything lies in a folder (default: selfplay-1, -2, ...): params.yaml is always
playable, history.jsonl has a line for each batch, and --resume goes on after any interruption.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tuner.commands.options import (
    add_gradient_options,
    add_term_options,
    at_least_one,
    between,
    command_text,
    count,
    gradient_named,
    positive,
    require_nothing_else,
    share,
    tell,
    unit,
)
from tuner.parallel import processors

EXAMPLE = """example:
  tuner selfplay --lambda 0.7                                  from bare piece values, 1,000 games
  tuner selfplay my.yaml --games 14000 --lambda 0.7 -o learned.yaml
  tuner selfplay --openings '1k6/8/2K5/3R4/8/8/8/8 w - - 0 1' --games 60 --depth 2 --plies 12 --truncated draw \
      --explore 0.3 --batch 1 --lag 0 --learning-rate 10 --method td-leaf       mate with a rook
  tuner selfplay my.yaml --opponent self --opponent past --opponent uci:stockfish
  tuner selfplay --resume selfplay-1 --games 20000
"""
KEPT = ("resume", "workers", "output", "games", "json", "command", "perform")  # what may be said of a run that goes on


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", nargs="?", default="material", help="where to start (default: material)")
    parser.add_argument("-o", "--output", metavar="OUT", help="write the learned file here too")
    parser.add_argument("--games", type=at_least_one, metavar="N", help="to play (default: 1000)")
    group = parser.add_argument_group("games")
    only = group.add_mutually_exclusive_group()
    only.add_argument("--depth", type=at_least_one, metavar="N", help="plies of a search (default: 3)")
    only.add_argument("--nodes", type=at_least_one, metavar="N", help="nodes of a search, in whole depths")
    group.add_argument("--random-plies", type=count, metavar="N",
                       help="random moves at the beginning (default: 4; with --openings 0)")
    group.add_argument("--openings", metavar="FILE|FEN", help="where games begin: EPD or PGN, or one position")
    group.add_argument("--balanced", action="store_true", help="only random openings that a search finds balanced")
    group.add_argument("--explore", type=share, default=0.0, metavar="P", help="share of moves made at random (default: 0)")
    group.add_argument("--plies", type=at_least_one, default=160, metavar="N", help="break games off there (default: 160)")
    group.add_argument("--truncated", choices=("value", "draw"),
                       help="games broken off: value (default): their last value was right; draw: they are drawn")
    group.add_argument("--opponent", action="append", metavar="PLAYER",
                       help="self (default), past (earlier selves), a parameter file, uci:COMMAND; repeated: in turn")
    group.add_argument("--no-blunders", action="store_true",
                       help="learn nothing from moves of an opponent that were mistakes not foreseen (KnightCap's rule)")
    group = parser.add_argument_group("learning")
    group.add_argument("--method", choices=("rootstrap", "td-leaf", "td", "treestrap"), default="rootstrap",
                       help="what is learned: that the positions played are worth what searches from there on found (rootstrap, "
                            "the default), that leaves of principal variations agree (td-leaf), that positions agree (td), or "
                            "that all positions in the search trees keep their bounds (treestrap)")
    group.add_argument("--lambda", dest="trace", type=unit, metavar="L",
                       help="weight of later values, per ply: 0 the next value alone, 1 the result alone (default: 0.7)")
    add_gradient_options(group)
    group.add_argument("--noisy", action="store_true",
                       help="rootstrap and treestrap: learn of positions that are not quiet too, as published")
    group.add_argument("--learner", choices=("adam", "sgd", "adagrad", "coherence"), default="adam", help="default: adam")
    group.add_argument("--learning-rate", type=positive, metavar="N",
                       help="centipawns (default: adam 3 a step, sgd 1 a unit of error; KnightCap 0.1, Homan 0.255)")
    group.add_argument("--decay", type=positive, default=200.0, metavar="N",
                       help="batches after which the rate has halved; it falls on to a tenth (default: 200)")
    group.add_argument("--average", type=share, default=0.99, metavar="B",
                       help="memory of the average of the weights that plays (default: 0.99 a batch)")
    group.add_argument("--batch", type=at_least_one, default=8, metavar="N", help="games between two steps (default: 8)")
    group.add_argument("--lag", type=count, default=1, metavar="N",
                       help="batches that play on while one is learnt, so that nobody waits (default: 1)")
    group.add_argument("--fixed", action="append", default=[], metavar="NAME", help="hold this name or glob; may be repeated")
    group.add_argument("--noise", type=between(0, 1e4, "2"), default=0.0, metavar="CP", help="start with weights off by so much")
    add_term_options(parser)
    group = parser.add_argument_group("work")
    group.add_argument("--seed", type=count, default=1, metavar="N", help="of everything random (default: 1)")
    group.add_argument("--workers", type=at_least_one, default=processors(), metavar="N",
                       help="threads that play; changes nothing about the result (default: the processors that there are)")
    group.add_argument("--run", metavar="DIR", help="the folder (default: selfplay-1, or the next that is free)")
    group.add_argument("--resume", metavar="DIR", help="go on with the run in this folder; --games N sets a new end")


def run(arguments: argparse.Namespace) -> dict:
    from tuner.commands.display import TerminalDisplay
    from tuner.selfplay import run as selfplay

    output = Path(arguments.output) if arguments.output else None
    workers = min(arguments.workers, 512)
    if arguments.resume is not None:
        require_nothing_else(arguments, add_arguments, KEPT)
        with TerminalDisplay() as display:
            result = selfplay.resumed_run(Path(arguments.resume), workers, output, arguments.games, display)
    else:
        settings, folder = _settings(arguments), Path(arguments.run) if arguments.run else selfplay.free_folder()
        with TerminalDisplay() as display:
            result = selfplay.new_run(settings, folder, workers, output, command_text(arguments), display)
    return tell(arguments, result.lines, result.plain, result.interrupted)


def _settings(arguments: argparse.Namespace):
    from games.streams import InputError
    from tuner.engine.coefficients import STEPS
    from tuner.selfplay.backups import BACKUPS
    from tuner.selfplay.settings import Settings

    depth, method = None if arguments.nodes else arguments.depth or 3, arguments.method
    if method == "treestrap" and depth is None:
        raise InputError("--method treestrap: needs searches of one depth; use --depth in place of --nodes")
    opponents = tuple(arguments.opponent or ["self"])
    searched, gradient = BACKUPS[method].harvest is not None, gradient_named(arguments.gradient)
    for option, given, why in (
            ("--no-blunders", arguments.no_blunders and searched, f"a rule for td and td-leaf, not for {method}"),
            ("--noisy", arguments.noisy and not searched, f"for rootstrap and treestrap; {method} learns from every position"),
            ("--lambda", arguments.trace is not None and method == "treestrap", "treestrap learns from searches, not from games"),
            ("--truncated", arguments.truncated is not None and method == "treestrap", "treestrap learns nothing from results"),
            ("--balanced", arguments.balanced and arguments.openings is not None, "chooses among random openings, not of a file"),
            ("--step", arguments.step is not None and gradient == "analytic", "of finite differences; the gradient is analytic")):
        if given:
            raise InputError(f"{option}: {why}; leave it out")
    random_plies = arguments.random_plies
    if random_plies is None:
        random_plies = 0 if arguments.openings else 4
    return Settings(
        start=arguments.params, games=arguments.games or 1000, depth=depth, nodes=arguments.nodes, random_plies=random_plies,
        openings=os.path.abspath(arguments.openings) if arguments.openings and os.path.exists(arguments.openings)
        else arguments.openings, balanced=arguments.balanced, explore=arguments.explore, plies=arguments.plies,
        opponents=opponents, method=method,
        trace=None if method == "treestrap" else 0.7 if arguments.trace is None else arguments.trace, gradient=gradient,
        step=STEPS.get(gradient) if arguments.step is None else arguments.step, gated=not arguments.noisy,
        blunders=not arguments.no_blunders, truncated=arguments.truncated or "value", rule=arguments.learner,
        rate=arguments.learning_rate, decay=arguments.decay, average=arguments.average, batch=arguments.batch,
        lag=arguments.lag, fixed=tuple(arguments.fixed), noise=arguments.noise, seed=arguments.seed,
        terms=tuple(os.path.abspath(path) for path in arguments.terms))
