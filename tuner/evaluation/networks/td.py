"""TD(lambda) on whole games that compiled code plays against itself, one roll deep.

The side to move takes the afterstate with the best output. With V the output for the first player,
at every ply

    e = lambda * e + gradient of V(s);   w += rate * (V(s') - V(s)) * e

where s is the position before the roll, s' the one after the move, and at the end V(s') is the
outcome. A sigmoid's V is (1 + v) / 2, a tanh's v, with v = points / most points, or 1 and -1 if
only wins count. The step of game g = 0, 1, ... is

    rate * max(floor, 1 / (1 + g / halving))
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba.core import types

from evalterms.framework.encoding import Encoding
from games.compile.jit import record
from tuner.evaluation.networks.compiled import (
    NETWORKS,
    SIGMOID,
    WholeGames,
    add_gradient,
    address_of,
    backward,
    call_afterstates,
    call_points,
    call_start,
    call_way,
    chances_type,
    entry,
    first_sums,
    floats,
    follow,
    forward,
    game_type,
    inner,
    memory_of_game,
    network_type,
    numbers,
    words_at,
    words_type,
    write_inputs,
)
from tuner.evaluation.networks.model import LAST, PLAYED_BLOCK, Network, NetworkMemory

I64, F32, F64 = types.int64, types.float32, types.float64
HALF, ONE, ZERO = np.float32(0.5), np.float32(1), np.float32(0)
TURN = np.uint64(1)


def program() -> str:
    """Return a hash of the compiled code that plays and learns."""
    return NETWORKS.name


@inner(F32(F32, types.boolean), forceinline=True)
def as_output(value, by_sigmoid):
    """Return a value in [-1, 1] as the output of the network."""
    return HALF + HALF * value if by_sigmoid else value


@inner(F32(I64, I64), forceinline=True)
def reward(points, most):
    """Return the value of a result in points; only its sign counts if `most` is 1."""
    sign = ONE if points > 0 else -ONE
    return sign if most == 1 else np.float32(points) / np.float32(most)


@inner(types.Tuple((I64, F32))(words_type, I64, I64, network_type))
def best_of(afterstates, n, sign, net):
    """Return the afterstate with the highest sign * output, and its output; those that end the game
    have their reward."""
    shape, units, weights, words = net.shape, net.units, net.weights, net.words
    rows, zeros, sums, outs = net.rows, net.zeros, net.sums, net.outs
    by_sigmoid = shape[len(shape) - 1] == SIGMOID
    width, pad = shape[1], len(zeros)
    best, best_output = 0, ZERO
    for block in range(0, n, PLAYED_BLOCK):
        stop = min(block + PLAYED_BLOCK, n)
        # rows are read after a block of them is written, because wide loads right after narrow
        # stores stall the CPU
        for k in range(block, stop):
            afterstate = words_at(afterstates, k * words)
            write_inputs(net.write, net.more, afterstate, rows, (1 + k - block) * pad)
        if block == 0:
            for i in range(pad):
                rows[i] = rows[pad + i]
            for j in range(width):
                outs[j] = weights[shape[0] * width + j]
            first_sums(shape, units, weights, zeros, 0, rows, 0, outs, sums)
        for k in range(block, stop):
            ended = call_points(net.points, words_at(afterstates, k * words))
            if ended:
                mine = reward(ended if ended > 0 else -ended, net.most)  # who has moved has won
                output = as_output(np.float32(sign) * mine, by_sigmoid)
            else:
                first_sums(shape, units, weights, rows, 0, rows, (1 + k - block) * pad, sums, outs)
                output = follow(shape, weights, outs)
            if k == 0 or np.float32(sign) * output > np.float32(sign) * best_output:
                best, best_output = k, output
    return best, best_output


class TdMemory(NamedTuple):
    """How to learn, see `TdSettings`, and memory: `traces` has a number for each weight, or none if
    `decay` is 0."""

    rate: float
    halving: float
    floor: float
    decay: np.float32
    seed: int
    longest: int
    traces: np.ndarray
    errors: np.ndarray


learning_type = record(TdMemory, F64, F64, F64, F32, I64, I64, floats, floats)


@entry(I64(game_type, network_type, learning_type, I64, words_type, numbers, chances_type))
def td_games(game, net, learning, first_game, record, results, squares):
    """Play games first_game, first_game + 1, ... against itself and learn from each ply; return the
    number of plies.

    A game ends after `longest` plies at the latest. `results` (games,) takes the points of the
    first player, 0 for a game broken off; `squares` (games,) the sum over a game of the squared
    differences of v that were learned from; `record` as many of the positions after each ply as it
    has room for."""
    shape, units, weights, for_mover = net.shape, net.units, net.weights, net.for_mover
    rows, zeros, sums, outs = net.rows, net.zeros, net.sums, net.outs
    traces, errors, decay, seed = learning.traces, learning.errors, learning.decay, learning.seed
    position, found, words = game.position, game.found, game.words
    by_sigmoid, pad, state = shape[len(shape) - 1] == SIGMOID, len(zeros), words - 1
    plies, noted = 0, 0
    for k in range(len(results)):
        number = first_game + k
        share = max(learning.floor, 1.0 / (1.0 + number / learning.halving))
        rate = np.float32(learning.rate * share)
        roll = call_start(game.start, words_at(position, 0), seed, number)
        squares[k] = 0.0
        for i in range(len(traces)):
            traces[i] = ZERO
        ply, sign_before, begun = 0, ONE, False
        while True:
            n = call_afterstates(
                game.afterstates,
                words_at(position, 0),
                roll,
                words_at(found, 0),
                words_at(game.scratch, 0),
            )
            first_moves = position[state] & TURN == np.uint64(0)
            sign = 1 if first_moves and not for_mover else -1
            best, output = best_of(found, n, sign, net)
            for i in range(words):
                position[i] = found[best * words + i]
            ended = call_points(game.points, words_at(position, 0))
            # outputs of the player who rolls next are the first player's if that is who it
            # is
            direction = -ONE if for_mover and first_moves else ONE
            target = as_output(reward(ended, net.most), by_sigmoid) if ended else direction * output
            if not ended and by_sigmoid and direction < ZERO:
                target += ONE
            if begun:
                before = sign_before * forward(
                    shape, units, weights, rows, LAST * pad, zeros, outs, sums
                )
                if by_sigmoid and sign_before < ZERO:
                    before += ONE
                backward(shape, weights, outs, errors)
                squares[k] += (
                    np.float64(target - before)
                    * np.float64(target - before)
                    * (4.0 if by_sigmoid else 1.0)
                )
                step = rate * (target - before)
                if len(traces):
                    for i in range(len(traces)):
                        traces[i] *= decay
                    add_gradient(
                        shape, units, outs, errors, rows, LAST * pad, zeros, sign_before, traces
                    )
                    for i in range(len(traces)):
                        weights[i] += step * traces[i]
                else:
                    add_gradient(
                        shape,
                        units,
                        outs,
                        errors,
                        rows,
                        LAST * pad,
                        zeros,
                        step * sign_before,
                        weights,
                    )
            ply += 1
            if noted < len(record):
                for i in range(words):
                    record[noted + i] = position[i]
                noted += words
            if ended or ply == learning.longest:
                break
            write_inputs(net.write, net.more, words_at(position, 0), rows, LAST * pad)
            sign_before, begun = direction, True
            roll = call_way(game.way, seed, number, ply)
        results[k] = ended
        plies += ply
    return plies


@dataclass(frozen=True, kw_only=True)
class TdSettings:
    """How to learn: the step `rate` to begin with, which halves within `halving` games and never
    falls below `floor` times itself, lambda, whether gammons and backgammons count, the seed of the
    dice, and the longest game in plies."""

    rate: float
    halving: float = math.inf
    floor: float = 0.0
    lambda_: float = 0.0
    points: bool = False
    seed: int = 1
    longest: int = 2000


class TdLearner:
    """A network that learns; its weights are in single precision.

    With the network of a learner that has played `played` games, and the same settings, it goes on
    as that learner would have."""

    def __init__(
        self,
        network: Network,
        encoding: Encoding,
        games: WholeGames,
        settings: TdSettings,
        played: int = 0,
    ) -> None:
        if network.inputs != encoding.size:
            raise ValueError(
                f"a network of {network.inputs} inputs for an encoding of {encoding.size}"
            )
        if (
            network.layers[-1].activation not in ("sigmoid", "tanh")
            or len(network.layers[-1].biases) != 1
        ):
            raise ValueError("TD(lambda) learns networks with one output, a sigmoid or tanh")
        self._network, self._words, points = network, games.words, settings.points
        self._game, self._memory = (
            memory_of_game(games),
            NetworkMemory(
                network,
                encoding,
                games.words,
                address_of(games.points),
                games.most_points if points else 1,
            ),
        )
        self.weights = self._memory.arrays.weights
        self._learning = TdMemory(
            float(settings.rate),
            float(settings.halving),
            float(settings.floor),
            np.float32(settings.lambda_),
            settings.seed,
            settings.longest,
            np.zeros(len(self.weights) if settings.lambda_ else 0, np.float32),
            np.zeros_like(self._memory.arrays.outs),
        )
        self.games, self.plies = played, 0
        # of the differences of v learned from by this learner, one a ply after the first of a game
        self.squares = 0.0

    @property
    def network(self) -> Network:
        """The network with the present weights."""
        return self._network.with_flat(self.weights.astype(np.float64))

    def play(self, games: int, record: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Play and learn from some more games. Return their points for the first player (games,)
        int64, 0 for one broken off, and the positions after the first `record` plies (at most
        `record`, words)."""
        found, results = np.zeros(record * self._words, np.uint64), np.zeros(games, np.int64)
        squares = np.zeros(games)
        plies = td_games(
            self._game, self._memory.arrays, self._learning, self.games, found, results, squares
        )
        self.games += games
        self.plies += plies  # of this learner
        self.squares += float(squares.sum())
        return results, found.reshape(-1, self._words)[: min(record, plies)]
