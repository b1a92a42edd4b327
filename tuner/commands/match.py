"""Play a match between two players in pairs of games, and estimate the difference in Elo, or in points a game.

A and B are parameter files, names of bundled ones, networks, `random`, players of a game (pubeval, gnubg:PLIES), or engines, as
"uci:COMMAND", "xboard:COMMAND", "usi:COMMAND" for shogi, "ubgi:COMMAND" for backgammon, or the name of an engine on the PATH.
Every opening is played twice, with colours swapped; in a game with dice, with the same dice.
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
    positive,
    require_nothing_else,
)
from tuner.parallel import available_cpus

USAGE = "A B [--games N] [options]"
EXAMPLE = """examples:
  tuner match learned.yaml classic --depth 4 --games 400 --pgn games.pgn
  tuner match learned.yaml classic --nodes 5000 --sprt 0 5 \\
    --openings book.epd.zip --run match
  tuner match --resume match
  tuner match learned.yaml "uci:stockfish" --option-b "Skill Level=3" --tc 5+0.05
  tuner match "uci:toga2" "uci:toga2" --with learned.yaml --depth 6
  tuner match learned.yaml random --plies 80 --depth 2
                                      the ladder: `zero` and `material` play too
"""
KEPT = ("resume", "concurrency", "cluster", "pgn", "json", "command", "perform")  # may be given with --resume


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", nargs="?", help="the player whose result is reported")
    parser.add_argument("b", metavar="B", nargs="?", help="its opponent")
    parser.add_argument("--games", type=count, metavar="N",
                        help="number of games, even (default: 100); with --sprt the largest number (default: no limit)")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--depth", type=at_least_one, metavar="N",
                      help="plies per search of both players (default: 4; with dice 1)")
    only.add_argument("--nodes", type=at_least_one, metavar="N", help="nodes per move of both players")
    only.add_argument("--movetime", type=positive, metavar="S", help="seconds per move of both players")
    only.add_argument("--tc", type=_time_control, metavar="BASE+INC",
                      help="time control of both players: seconds per game + seconds added after each move")
    parser.add_argument("--openings", metavar="FILE",
                        help="openings: EPD or PGN, for shogi SFEN or CSA, also .gz, .bz2, .zst, .zip")
    parser.add_argument("--pgn", metavar="OUT",
                        help="write the games to this file as they end, in the usual format of their game; at the end in order")
    parser.add_argument("--run", metavar="DIR", help="keep the match in this folder, so that it can be resumed")
    parser.add_argument("--resume", metavar="DIR", help="continue the match in this folder")
    add_term_options(parser)
    group = parser.add_argument_group("players")
    for side in "ab":
        group.add_argument(f"--depth-{side}", type=at_least_one, metavar="N", help=f"plies per search of {side.upper()} alone")
        group.add_argument(f"--nodes-{side}", type=at_least_one, metavar="N", help=f"nodes per move of {side.upper()} alone")
    group.add_argument("--hash", type=at_least_one, metavar="MB", help="size of the transposition table (default: 16)")
    for side in "ab":
        group.add_argument(f"--option-{side}", action="append", default=[], metavar="NAME=VALUE",
                           help=f"option of the engine {side.upper()}; may be repeated")
    group.add_argument("--with", "--with-a", dest="with_a", metavar="FILE",
                       help="set options of the engine A from a file: weights learned from `tuner probe`, or lines NAME=VALUE; "
                            "--option-a takes precedence")
    group.add_argument("--with-b", metavar="FILE", help="the same for the engine B")
    group = parser.add_argument_group("sequential test")
    group.add_argument("--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"),
                       help="play until the SPRT accepts one of two differences in Elo; in points a game where games win "
                            "several points")
    group.add_argument("--model", choices=("normalized", "logistic"),
                       help="Elo model of --sprt (default: normalized); games that win several points have another")
    group.add_argument("--alpha", type=float, default=0.05, metavar="P",
                       help="probability of accepting ELO1 if ELO0 is true (default: 0.05)")
    group.add_argument("--beta", type=float, default=0.05, metavar="P",
                       help="probability of accepting ELO0 if ELO1 is true (default: 0.05)")
    group = parser.add_argument_group("games")
    group.add_argument("--order", choices=("random", "sequential"), default="random",
                       help="order of the openings (default: random)")
    group.add_argument("--random-plies", type=count, metavar="N",
                       help="without --openings: balanced positions after N random plies (default: 8; in the ladder and with "
                            "dice 0)")
    group.add_argument("--plies", type=count, default=0, metavar="N",
                       help="adjudicate a draw after N plies (default: never); with `random` as a player: the ladder")
    group.add_argument("--resign", nargs="+", metavar="NAME=N",
                       help="movecount=3 score=400: a player resigns after 3 moves in a row with scores of -400 centipawns or "
                            "less (default: off)")
    group.add_argument("--draw", nargs="+", metavar="NAME=N",
                       help="movenumber=40 movecount=8 score=20: from move 40 on, a draw after 8 moves in a row on which both "
                            "scores are within 20 centipawns (default: off)")
    group.add_argument("--luck", metavar="FILE",
                       help="with dice: the parameter file or network that measures luck (default: the best bundled one)")
    group.add_argument("--seed", type=count, default=1, metavar="N", help="seed of all random choices (default: 1)")
    group = parser.add_argument_group("machine")
    group.add_argument("--concurrency", type=at_least_one, default=available_cpus(), metavar="N",
                       help="games played at once (default: one per CPU)")
    add_cluster_option(group, "play")


def _time_control(text: str) -> tuple[float, float]:
    base, _, increment = text.partition("+")
    try:
        found = float(base), float(increment or 0)
    except ValueError:
        found = (0.0, 0.0)
    if not (0 < found[0] < 1e6 and 0 <= found[1] < 1e6):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time control in seconds, such as 10+0.1")
    return found


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.commands.display import TerminalDisplay
    from tuner.commands.where import executor_of
    from tuner.match import match

    pgn, settings = Path(arguments.pgn) if arguments.pgn else None, None
    if arguments.resume is not None:
        require_nothing_else(arguments, add_arguments, KEPT)
    else:
        if arguments.a is None or arguments.b is None:
            raise InputError("match: expected two players, A and B, or --resume DIR; see tuner match --help")
        settings, folder = _settings(arguments), Path(arguments.run) if arguments.run else None
    with TerminalDisplay() as display, executor_of(arguments.cluster, min(arguments.concurrency, 512), display) as executor:
        ways = match.Ways(executor, pgn)
        if settings is None:
            outcome = match.resumed_match(Path(arguments.resume), ways, display)
        else:
            outcome = match.new_match(settings, folder, ways, command_text(arguments), display)
    return finish(arguments, outcome.lines, outcome.plain, outcome.interrupted)


def _settings(arguments: argparse.Namespace):
    from games.streams import InputError
    from tuner.engine.loading import games_path
    from tuner.io.files import require_other
    from tuner.match.defaults import require_suitable, usual_of
    from tuner.match.entrants import understood
    from tuner.match.match import with_files
    from tuner.match.option_file import options_of_file
    from tuner.match.settings import DEFAULT_GAMES, settings_of
    from tuner.match.setup import game_of_match, test_of

    games = arguments.games
    if games is None and arguments.sprt is None:
        games = DEFAULT_GAMES
    if games is not None and (games % 2 or games == 0):
        raise InputError(f"--games {games}: expected an even number, because games are played in pairs")
    if arguments.openings is not None and arguments.random_plies is not None:
        raise InputError("--random-plies and --openings: both choose openings; leave one out")
    game = game_of_match(understood(arguments.a), understood(arguments.b))
    defaults = usual_of(game)
    usual = {"depth": arguments.depth, "nodes": arguments.nodes, "movetime": arguments.movetime}
    if arguments.tc is not None:
        usual |= {"base": arguments.tc[0], "increment": arguments.tc[1]}
    elif not any(usual.values()):
        usual["depth"] = defaults.depth
    controls = []
    for side in "ab":
        own = {name: getattr(arguments, f"{name}_{side}") for name in ("depth", "nodes")}
        if all(own.values()):
            raise InputError(f"--depth-{side} and --nodes-{side}: both limit a search; leave one out")
        controls.append(own if any(own.values()) else usual)
    ladder = arguments.plies > 0 and any(player.rpartition("/")[2] == "random" for player in (arguments.a, arguments.b))
    random_plies = arguments.random_plies
    if random_plies is None:
        random_plies = 0 if ladder else defaults.random_plies
    options = []
    for side, player in zip("ab", (arguments.a, arguments.b), strict=True):
        path = getattr(arguments, f"with_{side}")
        if path is not None and arguments.pgn is not None:
            require_other(Path(arguments.pgn), [path])
        of_file = options_of_file(player, Path(path), "--with" if side == "a" else "--with-b") if path is not None else ()
        options.append((*of_file, *getattr(arguments, f"option_{side}")))
    settings = settings_of(
        arguments.a, arguments.b, games=games, sprt=tuple(arguments.sprt) if arguments.sprt else None,
        model=arguments.model or defaults.model, alpha=arguments.alpha, beta=arguments.beta, controls=tuple(controls),
        openings=arguments.openings and games_path(arguments.openings, game.name), order=arguments.order,
        random_plies=random_plies, seed=arguments.seed, plies=arguments.plies,
        resign=tuple(arguments.resign) if arguments.resign else None, draw=tuple(arguments.draw) if arguments.draw else None,
        hash=arguments.hash, option_a=options[0], option_b=options[1],
        terms=tuple(os.path.abspath(path) for path in arguments.terms), luck=arguments.luck or defaults.luck)
    require_suitable(settings, game)
    test_of(settings, game)
    return with_files(settings)
