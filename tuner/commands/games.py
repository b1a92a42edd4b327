"""Play fast games of an evaluation against slightly noisy copies of itself, to learn from.

Openings are random and balanced. Games end when the scores of both sides are clear, so that a shallow search does not draw
what it has won; a share of them is played on, which shows how far these rules can be relied on. The folder holds files of
games with the scores of searches in comments, and --resume continues after any interruption, to the same games.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tuner.commands.options import (
    add_cluster_option,
    add_term_options,
    at_least_one,
    command_text,
    count,
    finish,
    require_nothing_else,
    unit,
)
from tuner.parallel import available_cpus

USAGE = "PARAMS -o DIR [--games N] [options]"
EXAMPLE = """examples:
  tuner games classic -o games --games 6000
  tuner tune classic games -o learned.yaml
  tuner games --resume games --games 60000
  tuner games my.yaml -o games --nodes 800 --noise 15 --resign 800:6 --draw off
  tuner games my.yaml -o games --syzygy ~/tables --openings book.epd.zip
"""
KEPT = ("resume", "threads", "cluster", "games", "json", "command", "perform")  # may be given with --resume


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", nargs="?", help="parameter file that plays, or a bundled one: classic, ...")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder to write the games to; new or empty")
    parser.add_argument("--resume", metavar="DIR", help="continue the games in this folder; --games N sets a new total")
    parser.add_argument("--games", type=at_least_one, metavar="N", help="number of games (default: 6000)")
    parser.add_argument("--depth", type=at_least_one, metavar="N",
                        help="plies per search (default: 3; with --nodes no limit)")
    parser.add_argument("--nodes", type=at_least_one, metavar="N",
                        help="nodes per search; with --depth, whichever is reached first")
    parser.add_argument("--noise", type=_noise, default=10.0, metavar="CP",
                        help="by how many centipawns the evaluations of a copy differ, root mean square (default: 10); every "
                             "two games have a new copy")
    add_term_options(parser)
    group = parser.add_argument_group("games")
    group.add_argument("--random-plies", type=count, metavar="N",
                       help="begin with N random plies that lead to a balanced position (default: 8)")
    group.add_argument("--openings", metavar="FILE",
                       help="openings of this file of positions or games, also .gz, .bz2, .zst, .zip")
    group.add_argument("--plies", type=at_least_one, default=300, metavar="N",
                       help="end games as draws after N plies (default: 300)")
    group.add_argument("--seed", type=count, default=1, metavar="N", help="seed of all random choices (default: 1)")
    group = parser.add_argument_group("adjudication")
    group.add_argument("--resign", type=_resign, metavar="CP:PLIES",
                       help="a side wins if the last PLIES scores, of both sides, are CP or more in its favour (default: 600:4, "
                            "in shogi 3000:4; off: never)")
    group.add_argument("--draw", type=_draw, metavar="CP:PLIES:FROM",
                       help="a draw, from ply FROM on, if the last PLIES scores are within CP of 0 (default: 10:16:80, in shogi "
                            "off; off: never)")
    group.add_argument("--syzygy", metavar="DIR",
                       help="end games by the Syzygy tables in this folder, at captures and moves of pawns")
    group.add_argument("--play-on", type=unit, default=0.02, metavar="SHARE",
                       help="play this share of the games to their end, to check the adjudication by scores; what comes after "
                            "it is not written (default: 0.02)")
    group = parser.add_argument_group("machine")
    group.add_argument("--threads", type=at_least_one, default=available_cpus(), metavar="N",
                       help="games played at once; they are the same for any number (default: one per CPU)")
    add_cluster_option(group, "play")


def _noise(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1e4:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of centipawns from 0 to 10,000, such as 10")
    return value


def _numbers(text: str, form: str, example: str) -> list[float]:
    words = text.split(":")
    try:
        found = [float(words[0]), *map(int, words[1:])]
    except ValueError:
        found = []
    if len(found) != len(form.split(":")) or not all(0 <= number <= 1e4 for number in found) or found[1] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not {form}, such as {example}, nor off")
    return found


def _resign(text: str) -> tuple[float, int] | tuple[()]:
    if text == "off":
        return ()
    score, plies = _numbers(text, "CP:PLIES", "600:4")
    return score, int(plies)


def _draw(text: str) -> tuple[float, int, int] | tuple[()]:
    if text == "off":
        return ()
    score, plies, first = _numbers(text, "CP:PLIES:FROM", "10:16:80")
    return score, int(plies), int(first)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.commands.display import TerminalDisplay
    from tuner.commands.where import executor_of
    from tuner.datagen import run as datagen

    settings = None
    if arguments.resume is not None:
        require_nothing_else(arguments, add_arguments, KEPT)
    else:
        if arguments.params is None or arguments.output is None:
            raise InputError("games: expected PARAMS, the file that plays, and -o DIR, or --resume DIR; see tuner games --help")
        if arguments.openings is not None and arguments.random_plies is not None:
            raise InputError("--random-plies and --openings: both choose openings; leave one out")
        settings = _settings(arguments)
    with TerminalDisplay() as display, executor_of(arguments.cluster, min(arguments.threads, 512), display) as executor:
        if settings is None:
            result = datagen.resumed_games(Path(arguments.resume), executor, arguments.games, display)
        else:
            result = datagen.new_games(settings, Path(arguments.output), executor, command_text(arguments), display)
    return finish(arguments, result.lines, result.plain, result.interrupted)


def _settings(arguments: argparse.Namespace):
    from games.record import find
    from tuner.datagen.settings import DRAW, RESIGN, Settings, default_rules
    from tuner.engine.loading import games_path, parameter_path
    from tuner.parameters.heading import heading_of

    heading = heading_of(parameter_path(arguments.params))
    usual = (RESIGN, DRAW) if heading.of_rows else default_rules(find(heading.game))
    resign = usual[0] if arguments.resign is None else arguments.resign or None
    draw = usual[1] if arguments.draw is None else arguments.draw or None
    depth = arguments.depth or (None if arguments.nodes else 3)
    return Settings(
        start=arguments.params, games=arguments.games or 6000, depth=depth, nodes=arguments.nodes,
        noise=arguments.noise, random_plies=0 if arguments.openings else
        8 if arguments.random_plies is None else arguments.random_plies,
        openings=arguments.openings and os.path.abspath(games_path(arguments.openings, heading.game)),
        plies=arguments.plies,
        resign=resign, draw=draw, play_on=arguments.play_on,
        syzygy=os.path.abspath(os.path.expanduser(arguments.syzygy)) if arguments.syzygy else None, seed=arguments.seed,
        terms=tuple(os.path.abspath(path) for path in arguments.terms))
