"""Players of whole games in compiled code, and games between two of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from evalterms.framework.encoding import Encoding
from games.compile.jit import record
from tuner.evaluation.networks.compiled import (
    SIGMOID,
    WholeGames,
    address_of,
    call_afterstates,
    call_choose,
    call_points,
    call_start,
    call_way,
    chances_type,
    entry,
    game_type,
    inner,
    memory_of_game,
    network_at,
    network_type,
    numbers,
    words_at,
    words_of,
    words_type,
)
from tuner.evaluation.networks.model import Network, NetworkMemory
from tuner.evaluation.networks.td import best_of


@dataclass(frozen=True)
class CompiledPlayer:
    """A compiled function that chooses (`tuner.evaluation.networks.compiled.call_choose`), and its
    data: a number or an address."""

    choose: Any
    data: Any = 0


class NetworkPlayer(NetworkMemory):
    """A network that plays; each thread needs one of its own.

    `most_points` are the points of an output of 1: 1 if the network learned from wins only.
    """

    def __init__(
        self, network: Network, encoding: Encoding, games: WholeGames, most_points: int
    ) -> None:
        super().__init__(network, encoding, games.words, address_of(games.points), most_points)
        self.choose = choose_by_network


@dataclass(frozen=True)
class GameResults:
    """Points and luck of the first of two players in each game (games,), and the number of
    plies."""

    points: np.ndarray
    luck: np.ndarray
    plies: int


def play_games(
    games: WholeGames,
    a: Any,
    b: Any,
    number: int,
    *,
    seed: int,
    paired: bool = True,
    first_game: int = 0,
    luck: NetworkPlayer | None = None,
) -> GameResults:
    """Play games between players a and b, who are the first player in turn; `paired` games have the
    same dice. With a network for `luck`, measure the luck of a in each game, in values of that
    network."""
    results, found = np.zeros(number, np.int64), np.zeros(number)
    players = Players(
        address_of(a.choose),
        a.data,
        address_of(b.choose),
        b.data,
        0 if luck is None else luck.data,
    )
    plies = games_between(memory_of_game(games), players, seed, first_game, paired, results, found)
    return GameResults(results, found, int(plies))


I64, F64, F32 = types.int64, types.float64, types.float32
TURN = np.uint64(1)


class Players(NamedTuple):
    """Players a and b, functions at their addresses and their data, and the data of the network
    that measures luck, 0 without one."""

    choose_a: Any
    data_a: Any
    choose_b: Any
    data_b: Any
    luck: Any


players_type = record(Players, I64, I64, I64, I64, I64)


@inner(types.Tuple((I64, F32))(words_type, I64, I64, network_type))
def best_by(found, n, turn, net):
    """Return the afterstate that a network likes best for the side to move, and its output."""
    return best_of(found, n, 1 if turn == 0 and not net.for_mover else -1, net)


@entry(I64(I64, I64, I64, I64))
def choose_by_network(position, afterstates, n, data):
    """Choose the afterstate that a network likes best, see
    `tuner.evaluation.networks.compiled.call_choose`."""
    net = network_at(data)
    words = net.words
    turn = np.int64(words_of(position, words)[words - 1] & TURN)
    best, _ = best_by(words_of(afterstates, n * words), n, turn, net)
    return best


@inner(F64(game_type, I64, chances_type, I64))
def luck_of(game, roll, chances, data):
    """Return how much better a roll is than the mean of all, in values for the side to move."""
    net, ways = network_at(data), game.ways
    turn = np.int64(game.position[net.words - 1] & TURN)
    sign = 1.0 if turn == 0 and not net.for_mover else -1.0
    by_sigmoid = net.shape[len(net.shape) - 1] == SIGMOID
    own, mean = 0.0, 0.0
    for k in range(len(ways)):
        if chances[k] > 0.0:
            n = call_afterstates(
                game.afterstates,
                words_at(game.position, 0),
                ways[k],
                words_at(game.found, 0),
                words_at(game.scratch, 0),
            )
            _, output = best_by(game.found, n, turn, net)
            value = sign * (2.0 * np.float64(output) - 1.0 if by_sigmoid else np.float64(output))
            mean += chances[k] * value
            if ways[k] == roll:
                own = value
    return own - mean


@entry(I64(game_type, players_type, I64, I64, types.boolean, numbers, chances_type))
def games_between(game, players, seed, first_game, paired, results, luck):
    """Play games first_game, first_game + 1, ... between players a and b; a is the first player of
    those with even numbers.

    With `paired` games 2k and 2k + 1 have the same dice. Write the points for a and, if it is
    measured, its luck, each (games,). Return the number of plies."""
    position, found, words = game.position, game.found, game.words
    plies = 0
    for k in range(len(results)):
        number = first_game + k
        dice = number // 2 if paired else number
        a_first = number % 2 == 0
        roll = call_start(game.start, words_at(position, 0), seed, dice)
        total, ply = 0.0, 0
        while True:
            turn = np.int64(position[words - 1] & TURN)
            a_moves = (turn == 0) == a_first
            if players.luck != 0:
                likely = game.chances if ply else game.first_chances
                more = luck_of(game, roll, likely, players.luck)
                total += more if a_moves else -more
            n = call_afterstates(
                game.afterstates,
                words_at(position, 0),
                roll,
                words_at(found, 0),
                words_at(game.scratch, 0),
            )
            if a_moves:
                choose, data = players.choose_a, players.data_a
            else:
                choose, data = players.choose_b, players.data_b
            best = call_choose(choose, words_at(position, 0), words_at(found, 0), n, data)
            for i in range(words):
                position[i] = found[best * words + i]
            ended = call_points(game.points, words_at(position, 0))
            ply += 1
            if ended:
                break
            roll = call_way(game.way, seed, dice, ply)
        results[k] = ended if a_first else -ended
        luck[k] = total
        plies += ply
    return plies
