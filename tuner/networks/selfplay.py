"""Learn a network by TD(lambda) from whole games that it plays against itself, in compiled code."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tuner.networks.calls import Encoding, WholeGames, address_of
from tuner.networks.forward import LANES
from tuner.networks.model import Network
from tuner.networks.td import ROWS, td_games


@dataclass(frozen=True, kw_only=True)
class TdSettings:
    """How to learn: the step `rate` to begin with, which halves within `halving` games and never falls below `floor` times
    itself, lambda, whether gammons and backgammons count, the seed of the dice, and the longest game in plies."""

    rate: float
    halving: float = math.inf
    floor: float = 0.0
    lambda_: float = 0.0
    points: bool = False
    seed: int = 1
    longest: int = 2000


class TdLearner:
    """A network that learns; its weights are in single precision.

    With the network of a learner that has played `played` games, and the same settings, it goes on as that learner would have.
    """

    def __init__(self, network: Network, encoding: Encoding, games: WholeGames, settings: TdSettings, played: int = 0) -> None:
        if network.inputs != encoding.size:
            raise ValueError(f"a network of {network.inputs} inputs for an encoding of {encoding.size}")
        if network.layers[-1].activation not in ("sigmoid", "tanh") or len(network.layers[-1].biases) != 1:
            raise ValueError("TD(lambda) learns networks with one output, a sigmoid or tanh")
        self._shape, self._network = network.shape, network
        self._encoding, self._games, self._settings = encoding, games, settings
        self.weights = network.flat().astype(np.float32)
        self._traces = np.zeros(len(self.weights) if settings.lambda_ else 0, np.float32)
        self._units = encoding.units.astype(np.float32)
        pad, outs = -(-encoding.size // LANES) * LANES, int(self._shape[1::2].sum())
        self._memory = (np.zeros(games.words, np.uint64), np.zeros(games.scratch, np.uint64), np.zeros(games.scratch, np.uint64),
                        np.zeros(ROWS * pad, np.int32), np.zeros(pad, np.int32), np.zeros(self._shape[1], np.float32),
                        np.zeros(outs, np.float32), np.zeros(outs, np.float32))
        self.games, self.plies = played, 0
        self.squares = 0.0  # of the differences of v learned from by this learner, one a ply after the first of a game

    @property
    def network(self) -> Network:
        """The network with the weights of now."""
        return self._network.with_flat(self.weights.astype(np.float64))

    def play(self, games: int, record: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Play and learn from some more games. Return their points for the first player (games,) int64, 0 for one broken off,
        and the positions after the first `record` plies (at most `record`, words)."""
        found, results = np.zeros(record * self._games.words, np.uint64), np.zeros(games, np.int64)
        squares = np.zeros(games)
        chosen, game, encoding = self._settings, self._games, self._encoding
        plies = td_games(address_of(game.start), address_of(game.way), address_of(game.afterstates), address_of(game.points),
                         address_of(encoding.write), game.words, encoding.for_mover, game.most_points if chosen.points else 1,
                         self._shape, self._units, self.weights, self._traces, chosen.rate, chosen.halving,
                         chosen.floor, np.float32(chosen.lambda_), chosen.seed, self.games, chosen.longest, *self._memory, found,
                         results, squares)
        self.games += games
        self.plies += plies  # of this learner
        self.squares += float(squares.sum())
        return results, found.reshape(-1, self._games.words)[:min(record, plies)]
