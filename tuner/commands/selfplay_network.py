"""`tuner selfplay` of networks: their options, and the settings that these make."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from games.record import Game
    from tuner.networks.files import NetworkFile
    from tuner.selfplay.network_settings import NetworkSettings

MOST_HIDDEN, WIDEST = 7, 4096  # layers, units
ACTIVATIONS = ("relu", "tanh", "sigmoid")
GAMES, HIDDEN = 200_000, (40,)  # unless given
USED = frozenset(("params", "games", "output", "run", "lambda_", "learning_rate", "decay", "seed", "wins", "encoding", "hidden",
                  "activation", "measure", "measure_games", "workers", "cluster"))  # names of their values


def add_network_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of new networks."""
    group = parser.add_argument_group("networks", "PARAMS is a network file (net.yaml) to go on from, or with one of the first "
                                      "two options the name of a game, such as backgammon, for a new network.")
    group.add_argument("--encoding", metavar="NAME", help="what the network sees of a position (default: perspective196 for "
                                                          "backgammon; docs/networks.md lists them)")
    group.add_argument("--hidden", type=widths, metavar="N[,N...]",
                       help="units of each hidden layer, 0 for a single neuron (default: 40)")
    group.add_argument("--activation", choices=ACTIVATIONS, help="of hidden layers (default: sigmoid)")


def widths(text: str) -> tuple[int, ...]:
    """Parse the widths of hidden layers."""
    if text == "0":
        return ()
    parts = text.split(",")
    if len(parts) > MOST_HIDDEN or not all(part.isdecimal() and 1 <= int(part) <= WIDEST for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of 1 to {MOST_HIDDEN} whole numbers from 1 to {WIDEST} such as "
                                         "64 or 256,32, or 0 for none")
    return tuple(map(int, parts))


def learns_network(arguments: argparse.Namespace) -> bool:
    """Return whether a new run learns a network: a new one or one in a file. InputError if PARAMS is neither that nor a parameter
    file."""
    from games.record import available
    from games.streams import InputError
    from tuner.engine.loading import parameter_path
    from tuner.networks.files import holds_network

    if arguments.encoding is not None or arguments.hidden is not None:
        return True
    try:
        path = parameter_path(arguments.params)
    except InputError:
        if arguments.params in available():
            raise InputError(f"{arguments.params}: a game; for a new network add --encoding or --hidden, for weights name a "
                             f"parameter file such as {arguments.params}/zero") from None
        raise
    return holds_network(path)


def network_settings(arguments: argparse.Namespace, given: Mapping[str, str]) -> tuple[NetworkSettings, NetworkFile]:
    """Return the settings of a new run and the network that it begins with; `given` are the options of the command line, by the
    names of their values. InputError for options that networks do not have."""
    from games.streams import InputError
    from tuner.networks.td import program
    from tuner.selfplay import network_run
    from tuner.selfplay.network_settings import (
        BATCHES,
        DECAY,
        FLOOR,
        LARGEST_BATCH,
        RATES,
        SINGLE_RATE,
        SMALLEST_BATCH,
        NetworkSettings,
    )

    require_one_learner(arguments)
    for name, option in given.items():
        if name not in USED:
            raise InputError(f"{option}: has no meaning for networks, which learn by TD(lambda) one roll deep; leave it out")
    start = _new(arguments) if arguments.encoding is not None or arguments.hidden is not None else _from_file(arguments)
    game = _game_of(start)
    network_run.require_learnable(game)
    wins = arguments.wins or start.points < game.points
    start = replace(start, points=1 if wins else game.points)
    games = arguments.games or GAMES
    measure_games, measure_every = measuring(arguments, games)
    hidden = tuple(len(layer.biases) for layer in start.network.layers[:-1])
    return NetworkSettings(
        start=arguments.params, games=games, encoding=start.encoding, hidden=hidden, wins=wins,
        activation=start.network.layers[0].activation if hidden else None,
        trace=0.0 if arguments.lambda_ is None else arguments.lambda_,
        rate=arguments.learning_rate or (RATES[wins] if hidden else SINGLE_RATE),
        decay=DECAY if arguments.decay is None else arguments.decay, floor=FLOOR,
        batch=min(max(games // BATCHES, SMALLEST_BATCH), LARGEST_BATCH), seed=arguments.seed, measure=arguments.measure,
        measure_games=measure_games, measure_every=measure_every, program=program()), start


def measuring(arguments: argparse.Namespace, games: int) -> tuple[int, int]:
    """Return how many games each measurement has, and after how many games it comes, in a run of so many."""
    from games.streams import InputError
    from tuner.selfplay.measure import GAMES as MEASURED
    from tuner.selfplay.measure import TIMES

    number = arguments.measure_games
    if number is not None and arguments.measure is None:
        raise InputError("--measure-games: is for --measure PLAYER; leave it out, or name the player")
    if number is not None and (number % 2 or number < 6):
        raise InputError(f"--measure-games {number}: expected an even number of 6 or more, because games are played in pairs")
    return number or MEASURED, max(1, games // TIMES)


def require_one_learner(arguments: argparse.Namespace) -> None:
    """InputError for options that spread games over threads or machines."""
    from games.streams import InputError

    workers = f"--workers {arguments.workers}" if (arguments.workers or 1) > 1 else None
    if option := workers or (f"--cluster {arguments.cluster}" if arguments.cluster else None):
        raise InputError(f"{option}: a network learns after every ply, in one thread; leave it out")


def _game_of(start: NetworkFile) -> Game:
    from games.record import find

    return find(start.game)


def _new(arguments: argparse.Namespace) -> NetworkFile:
    from games.record import available, find
    from games.streams import InputError
    from tuner.headroom.supervised import chosen_encoding
    from tuner.selfplay import network_run

    name, option = arguments.params, "--hidden" if arguments.encoding is None else "--encoding"
    if name not in available():
        raise InputError(f"{option}: describes a new network, of a game; expected the name of a game instead of {name}, such as "
                         "backgammon")
    game = find(name)
    network_run.require_learnable(game)
    encoding = chosen_encoding(name, arguments.encoding).name
    return network_run.new_network(game, encoding, HIDDEN if arguments.hidden is None else arguments.hidden,
                                   arguments.activation or "sigmoid", arguments.seed)


def _from_file(arguments: argparse.Namespace) -> NetworkFile:
    from games.streams import InputError
    from tuner.engine.loading import parameter_path
    from tuner.networks.evaluation import network_evaluation

    if arguments.activation is not None:
        raise InputError(f"--activation: {arguments.params} has its own; leave it out")
    start = network_evaluation(parameter_path(arguments.params))
    if arguments.wins and start.file.points > 1:
        raise InputError(f"--wins: {arguments.params} learned points; leave it out, or begin with a new network")
    return start.file
