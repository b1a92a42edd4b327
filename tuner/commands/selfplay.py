"""Learn the weights of a parameter file, or a network, from games of self-play.

Threads play batches of games; after each batch the learner moves the weights, with which later games are played. A network of
a game with dice learns by TD(lambda) after every ply, one roll deep, in one thread. All files are kept in a folder (default:
selfplay-1, selfplay-2, ...): params.yaml or net.yaml can be played at any time, history.jsonl has a line for each batch, and
--resume continues after any interruption.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tuner.commands.options import (
    Names,
    add_cluster_option,
    add_gradient_options,
    add_term_options,
    at_least_one,
    between,
    command_text,
    count,
    finish,
    given_options,
    gradient_named,
    plies_range,
    positive,
    require_nothing_else,
    share,
    unit,
)
from tuner.commands.selfplay_network import (
    add_network_options,
    learns_network,
    measuring,
    network_settings,
    require_one_learner,
)
from tuner.parallel import available_cpus

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
  tuner selfplay net.yaml --seed 2 --games 500000 -o better.yaml
"""
KEPT = ("resume", "workers", "cluster", "output", "games", "json", "command", "perform")  # may be given with --resume


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", nargs="?", default="material",
                        help="parameter file to start from, or a bundled one (default: material), or a network")
    parser.add_argument("--games", type=at_least_one, metavar="N", help="number of games (default: 1000, of networks 200,000)")
    parser.add_argument("-o", "--output", metavar="OUT", help="write the learned file here too")
    parser.add_argument("--run", metavar="DIR", help="folder of the run (default: selfplay-1, or the next free number)")
    parser.add_argument("--resume", metavar="DIR", help="continue the run in this folder; --games N sets a new total")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--depth", type=at_least_one, metavar="N", help="search each move N plies deep (default: 3; with dice 1)")
    only.add_argument("--nodes", type=at_least_one, metavar="N",
                      help="play the move of the deepest search completed within N nodes")
    parser.add_argument("--measure", metavar="PLAYER",
                        help="games with dice: measure the strength against pubeval, random, a parameter file or a network, 20 "
                             "times as it learns, one roll deep; this changes nothing that is learned")
    parser.add_argument("--measure-games", type=at_least_one, metavar="N",
                        help="games of each measurement, in pairs with the same dice (default: 1000)")
    add_term_options(parser)
    add_network_options(parser)
    group = parser.add_argument_group("games")
    group.add_argument("--openings", metavar="FILE|FEN", help="openings: a file of positions or of games, or one position")
    group.add_argument("--from-ply", type=plies_range, metavar="FIRST:LAST",
                       help="with a file of games as --openings: leave each game at a random ply from FIRST to LAST, or earlier "
                            "if it ends, and play on from there")
    group.add_argument("--random-plies", type=count, metavar="N",
                       help="begin with N random plies (default: 4; with --openings or dice 0)")
    group.add_argument("--balanced", action="store_true", help="keep only random openings that a search scores as balanced")
    group.add_argument("--explore", type=share, default=0.0, metavar="P", help="share of random moves (default: 0)")
    group.add_argument("--plies", type=at_least_one, metavar="N", help="stop games after N plies (default: 160; with dice 2000)")
    group.add_argument("--truncated", choices=("value", "draw"),
                       help="outcome of games that were stopped: their last value (default) or a draw")
    group.add_argument("--opponent", action="append", metavar="PLAYER",
                       help="self (default), past (earlier weights), a parameter file or uci:COMMAND (shogi: usi:COMMAND); may "
                            "be repeated: they take turns")
    group.add_argument("--no-blunders", action="store_true",
                       help="td and td-leaf: ignore errors after mistakes of the opponent that the search did not predict "
                            "(KnightCap's rule)")
    group = parser.add_argument_group("learning")
    group.add_argument("--method", choices=Names("tuner.selfplay.backups", "BACKUPS"),
                       help="rootstrap (default; with dice td-leaf): move the positions played towards the scores of later "
                            "searches; td: towards the values of later positions; td-leaf: the same between the leaves of "
                            "principal variations; treestrap: move all positions of the search tree towards their scores and "
                            "bounds")
    group.add_argument("--lambda", dest="lambda_", type=unit, metavar="L",
                       help="weight of later values, per ply: 0 for the next value alone, 1 for the result "
                            "alone; 0.7 for each move of one's own, as in KnightCap, is 0.837 (default: 0.7; "
                            "of networks 0)")
    group.add_argument("--wins", action="store_true",
                       help="games that win several points: every win counts as one point (default: points)")
    group.add_argument("--fixed", action="append", default=[], metavar="NAME",
                       help="keep parameters matching this name or glob constant; may be repeated")
    group.add_argument("--noisy", action="store_true",
                       help="rootstrap and treestrap: learn from positions that are not quiet too, as published")
    group.add_argument("--noise", type=between(0, 1e4, "2"), default=0.0, metavar="CP",
                       help="standard deviation of random noise added to the starting weights, in their unit (default: 0)")
    add_gradient_options(group)
    group = parser.add_argument_group("optimizer")
    group.add_argument("--learner", choices=Names("tuner.fit.learners.rules", "RULES"), default="adam", help="default: adam")
    group.add_argument("--learning-rate", type=positive, metavar="N",
                       help="in centipawns, or hundredths of a point (default: adam 3, with dice 1; sgd 1, adagrad 20, coherence "
                            "3); of networks: of the gradient of their output (default: 1, with --wins 0.3, without hidden "
                            "units 0.1)")
    group.add_argument("--largest-step", type=positive, metavar="CP",
                       help="change no weight by more than CP centipawns, or hundredths of a point, at a step (default: no "
                            "limit)")
    group.add_argument("--decay", type=positive, metavar="N",
                       help="halve the learning rate within N batches, of networks N games; it never falls below a tenth "
                            "(default: 200 batches, 20,000 games)")
    group.add_argument("--average", type=share, default=0.99, metavar="SHARE",
                       help="the weights that play are a moving average: share of the old average kept per batch (default: 0.99)")
    group.add_argument("--batch", type=at_least_one, default=8, metavar="N", help="games per step (default: 8)")
    group.add_argument("--lag", type=count, default=1, metavar="N",
                       help="batches played ahead of the learner, so that threads do not idle (default: 1)")
    group = parser.add_argument_group("machine")
    group.add_argument("--seed", type=count, default=1, metavar="N", help="seed of all random choices (default: 1)")
    group.add_argument("--workers", type=at_least_one, metavar="N",
                       help="threads that play; the result is the same for any number (default: one per CPU; a network has one)")
    add_cluster_option(group, "play")


def run(arguments: argparse.Namespace) -> dict:
    if arguments.resume is not None:
        require_nothing_else(arguments, add_arguments, KEPT)
        return _resumed_network(arguments) if _holds_network_run(arguments.resume) else _weights(arguments)
    return _new_network(arguments) if learns_network(arguments) else _weights(arguments)


def _weights(arguments: argparse.Namespace) -> dict:
    """Learn the weights of a parameter file."""
    from tuner.commands.display import TerminalDisplay
    from tuner.commands.where import executor_of
    from tuner.selfplay import run as selfplay

    output, settings = Path(arguments.output) if arguments.output else None, None
    if arguments.resume is None:
        settings, folder = _settings(arguments), Path(arguments.run) if arguments.run else None
    workers = arguments.workers or available_cpus()
    with TerminalDisplay() as display, executor_of(arguments.cluster, min(workers, 512), display) as executor:
        if settings is None:
            result = selfplay.resumed_run(Path(arguments.resume), executor, output, arguments.games, display)
        else:
            result = selfplay.new_run(settings, folder, executor, output, command_text(arguments), display)
    return finish(arguments, result.lines, result.plain, result.interrupted)


def _holds_network_run(folder: str) -> bool:
    """Return whether the run in a folder learns a network."""
    from tuner.io.run_folder import CONFIG, read_plain
    from tuner.selfplay.network_settings import SECTION

    try:
        plain = read_plain(Path(folder) / CONFIG)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return isinstance(plain, dict) and SECTION in plain


def _new_network(arguments: argparse.Namespace) -> dict:
    """Learn a network."""
    from tuner.commands.display import TerminalDisplay
    from tuner.selfplay import network_run

    settings, start = network_settings(arguments, given_options(arguments, add_arguments))
    folder, output = (Path(name) if name else None for name in (arguments.run, arguments.output))
    with TerminalDisplay() as display:
        result = network_run.new_run(settings, start, folder, output, command_text(arguments), display)
    return finish(arguments, result.lines, result.plain, result.interrupted)


def _resumed_network(arguments: argparse.Namespace) -> dict:
    """Continue learning a network."""
    from tuner.commands.display import TerminalDisplay
    from tuner.selfplay import network_run

    require_one_learner(arguments)
    with TerminalDisplay() as display:
        result = network_run.resumed_run(Path(arguments.resume), Path(arguments.output) if arguments.output else None,
                                         arguments.games, display)
    return finish(arguments, result.lines, result.plain, result.interrupted)


def _settings(arguments: argparse.Namespace):
    from games.streams import InputError
    from tuner.engine.coefficients import STEPS
    from tuner.engine.loading import games_path, parameter_path
    from tuner.parameters.heading import game_of
    from tuner.selfplay.backups import BACKUPS
    from tuner.selfplay.settings import Settings
    from tuner.selfplay.setup import usual_for

    usual = usual_for(arguments.params)
    openings = arguments.openings and games_path(arguments.openings, game_of(parameter_path(arguments.params)))
    depth, method = None if arguments.nodes else arguments.depth or usual.depth, arguments.method or usual.method
    if method == "treestrap" and depth is None:
        raise InputError("--method treestrap: needs searches of fixed depth; use --depth instead of --nodes")
    if arguments.from_ply is not None and arguments.openings is None:
        raise InputError("--from-ply: leaves given games at a random ply; name their file with --openings")
    opponents = tuple(arguments.opponent or ["self"])
    searched, gradient = BACKUPS[method].harvest is not None, gradient_named(arguments.gradient)
    treestrap, stepped = method == "treestrap", gradient != "analytic"
    for option, given, why in (
            ("--no-blunders", arguments.no_blunders and searched, f"applies to td and td-leaf, not to {method}"),
            ("--noisy", arguments.noisy and not searched,
             f"applies to rootstrap and treestrap; {method} learns from every position"),
            ("--lambda", treestrap and arguments.lambda_ is not None, "treestrap learns from searches, not from games"),
            ("--truncated", treestrap and arguments.truncated is not None, "treestrap does not learn from results"),
            ("--balanced", arguments.balanced and arguments.openings is not None, "chooses random openings, not those of a file"),
            ("--step", arguments.step is not None and not stepped, "is for finite differences; the gradient is analytic")):
        if given:
            raise InputError(f"{option}: {why}; leave it out")
    random_plies = arguments.random_plies
    if random_plies is None:
        random_plies = 0 if arguments.openings else usual.random_plies
    measure_games, measure_every = measuring(arguments, arguments.games or 1000)
    return Settings(
        start=arguments.params, games=arguments.games or 1000, depth=depth, nodes=arguments.nodes, random_plies=random_plies,
        openings=os.path.abspath(openings) if openings and os.path.exists(openings) else openings,
        from_ply=arguments.from_ply, balanced=arguments.balanced, explore=arguments.explore,
        plies=arguments.plies or usual.plies, opponents=opponents, method=method,
        trace=None if method == "treestrap" else 0.7 if arguments.lambda_ is None else arguments.lambda_, gradient=gradient,
        step=STEPS.get(gradient) if arguments.step is None else arguments.step, gated=not arguments.noisy,
        blunders=not arguments.no_blunders, truncated=arguments.truncated or "value", rule=arguments.learner,
        rate=arguments.learning_rate or usual.rates.get(arguments.learner), largest_step=arguments.largest_step,
        decay=200.0 if arguments.decay is None else arguments.decay, average=arguments.average, batch=arguments.batch,
        lag=arguments.lag, fixed=tuple(arguments.fixed), noise=arguments.noise, seed=arguments.seed,
        terms=tuple(os.path.abspath(path) for path in arguments.terms), wins=arguments.wins, measure=arguments.measure,
        measure_games=measure_games, measure_every=measure_every)
