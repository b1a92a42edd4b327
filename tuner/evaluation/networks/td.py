"""TD(lambda) on whole games that compiled code plays against itself, one roll deep.

The side to move takes the afterstate with the best output. With V the output for the first player,
at every ply

    e = lambda * e + gradient of V(s);   w += rate * (V(s') - V(s)) * e

where s is the position before the roll, s' the one after the move, and at the end V(s') is the
outcome. A sigmoid's V is (1 + v) / 2, a tanh's v, with v = points / most points, or 1 and -1 if
only wins count. The step of game g = 0, 1, ... is

    rate * max(floor, 1 / (1 + g / halving))
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba.core import types

from evalterms.framework.encoding import Encoding
from tuner.evaluation.networks.compiled import (
    LANES,
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
    call_write,
    counts_type,
    entry,
    first_sums,
    floats,
    follow,
    forward,
    inner,
    numbers,
    row_at,
    words_at,
)
from tuner.evaluation.networks.model import Network

I64, F32, F64 = types.int64, types.float32, types.float64
words_type = types.Array(types.uint64, 1, "C")
HALF, ONE, ZERO = np.float32(0.5), np.float32(1), np.float32(0)
TURN = np.uint64(1)
BLOCK = 16  # positions whose counts are written before they are read
LAST, ROWS = BLOCK + 1, BLOCK + 2


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


@inner(
    types.Tuple((I64, F32))(
        words_type,
        I64,
        I64,
        I64,
        I64,
        I64,
        I64,
        numbers,
        floats,
        floats,
        counts_type,
        counts_type,
        floats,
        floats,
    )
)
def best_of(
    afterstates, n, words, points, write, sign, most, shape, units, weights, rows, zeros, sums, outs
):
    """Return the afterstate with the highest sign * output, and its output; those that end the game
    have their reward.

    `rows` has room for BLOCK + 1 rows of counts.
    """
    by_sigmoid = shape[len(shape) - 1] == SIGMOID
    width, pad = shape[1], len(zeros)
    best, best_output = 0, ZERO
    for block in range(0, n, BLOCK):
        stop = min(block + BLOCK, n)
        # rows are read after a block of them is written, because wide loads right after narrow
        # stores stall the CPU
        for k in range(block, stop):
            call_write(write, words_at(afterstates, k * words), row_at(rows, (1 + k - block) * pad))
        if block == 0:
            for i in range(pad):
                rows[i] = rows[pad + i]
            for j in range(width):
                outs[j] = weights[shape[0] * width + j]
            first_sums(shape, units, weights, zeros, 0, rows, 0, outs, sums)
        for k in range(block, stop):
            ended = call_points(points, words_at(afterstates, k * words))
            if ended:
                mine = reward(ended if ended > 0 else -ended, most)  # who has moved has won
                output = as_output(np.float32(sign) * mine, by_sigmoid)
            else:
                first_sums(shape, units, weights, rows, 0, rows, (1 + k - block) * pad, sums, outs)
                output = follow(shape, weights, outs)
            if k == 0 or np.float32(sign) * output > np.float32(sign) * best_output:
                best, best_output = k, output
    return best, best_output


@entry(
    I64(
        I64,
        I64,
        I64,
        I64,
        I64,
        I64,
        types.boolean,
        I64,
        numbers,
        floats,
        floats,
        floats,
        F64,
        F64,
        F64,
        F32,
        I64,
        I64,
        I64,
        words_type,
        words_type,
        words_type,
        counts_type,
        counts_type,
        floats,
        floats,
        floats,
        words_type,
        numbers,
        types.Array(F64, 1, "C"),
    )
)
def td_games(
    start,
    way,
    afterstates,
    points,
    write,
    words,
    for_mover,
    most,
    shape,
    units,
    weights,
    traces,
    first_rate,
    halving,
    floor,
    decay,
    seed,
    first_game,
    longest,
    position,
    found,
    scratch,
    rows,
    zeros,
    sums,
    outs,
    errors,
    record,
    results,
    squares,
):
    """Play games first_game, first_game + 1, ... against itself and learn from each ply; return the
    number of plies.

    `traces` has a number for each weight, or none if `decay` is 0. A game ends after `longest`
    plies at the latest. `position`, `found`, `scratch`, `rows` (ROWS of them), `zeros`, `sums`,
    `outs` and `errors` are memory. `results` (games,) takes the points of the first player, 0 for a
    game broken off; `squares` (games,) the sum over a game of the squared differences of v that
    were learned from; `record` as many of the positions after each ply as it has room for."""
    by_sigmoid, pad, state = shape[len(shape) - 1] == SIGMOID, len(zeros), words - 1
    plies, noted = 0, 0
    for game in range(len(results)):
        rate = np.float32(first_rate * max(floor, 1.0 / (1.0 + (first_game + game) / halving)))
        roll = call_start(start, words_at(position, 0), seed, first_game + game)
        squares[game] = 0.0
        for i in range(len(traces)):
            traces[i] = ZERO
        ply, sign_before, begun = 0, ONE, False
        while True:
            n = call_afterstates(
                afterstates, words_at(position, 0), roll, words_at(found, 0), words_at(scratch, 0)
            )
            first_moves = position[state] & TURN == np.uint64(0)
            sign = 1 if first_moves and not for_mover else -1
            best, output = best_of(
                found,
                n,
                words,
                points,
                write,
                sign,
                most,
                shape,
                units,
                weights,
                rows,
                zeros,
                sums,
                outs,
            )
            for i in range(words):
                position[i] = found[best * words + i]
            ended = call_points(points, words_at(position, 0))
            # outputs of the player who rolls next are those of the first player if that is who it
            # is
            direction = -ONE if for_mover and first_moves else ONE
            target = as_output(reward(ended, most), by_sigmoid) if ended else direction * output
            if not ended and by_sigmoid and direction < ZERO:
                target += ONE
            if begun:
                before = sign_before * forward(
                    shape, units, weights, rows, LAST * pad, zeros, outs, sums
                )
                if by_sigmoid and sign_before < ZERO:
                    before += ONE
                backward(shape, weights, outs, errors)
                squares[game] += (
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
            if ended or ply == longest:
                break
            call_write(write, words_at(position, 0), row_at(rows, LAST * pad))
            sign_before, begun = direction, True
            roll = call_way(way, seed, first_game + game, ply)
        results[game] = ended
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
        self._shape, self._network = network.shape, network
        self._encoding, self._games, self._settings = encoding, games, settings
        self.weights = network.flat().astype(np.float32)
        self._traces = np.zeros(len(self.weights) if settings.lambda_ else 0, np.float32)
        self._units = encoding.units.astype(np.float32)
        pad, outs = -(-encoding.size // LANES) * LANES, int(self._shape[1::2].sum())
        self._memory = (
            np.zeros(games.words, np.uint64),
            np.zeros(games.scratch, np.uint64),
            np.zeros(games.scratch, np.uint64),
            np.zeros(ROWS * pad, np.int32),
            np.zeros(pad, np.int32),
            np.zeros(self._shape[1], np.float32),
            np.zeros(outs, np.float32),
            np.zeros(outs, np.float32),
        )
        self.games, self.plies = played, 0
        # of the differences of v learned from by this learner, one a ply after the first of a game
        self.squares = 0.0

    @property
    def network(self) -> Network:
        """The network with the weights of now."""
        return self._network.with_flat(self.weights.astype(np.float64))

    def play(self, games: int, record: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Play and learn from some more games. Return their points for the first player (games,)
        int64, 0 for one broken off, and the positions after the first `record` plies (at most
        `record`, words)."""
        found, results = np.zeros(record * self._games.words, np.uint64), np.zeros(games, np.int64)
        squares = np.zeros(games)
        chosen, game, encoding = self._settings, self._games, self._encoding
        plies = td_games(
            address_of(game.start),
            address_of(game.way),
            address_of(game.afterstates),
            address_of(game.points),
            address_of(encoding.write),
            game.words,
            encoding.for_mover,
            game.most_points if chosen.points else 1,
            self._shape,
            self._units,
            self.weights,
            self._traces,
            chosen.rate,
            chosen.halving,
            chosen.floor,
            np.float32(chosen.lambda_),
            chosen.seed,
            self.games,
            chosen.longest,
            *self._memory,
            found,
            results,
            squares,
        )
        self.games += games
        self.plies += plies  # of this learner
        self.squares += float(squares.sum())
        return results, found.reshape(-1, self._games.words)[: min(record, plies)]
