"""Players of whole games in compiled code, and games between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tuner.networks.calls import Encoding, WholeGames, address_of, memory_of, packed_numbers
from tuner.networks.forward import LANES
from tuner.networks.matches import choose_by_network, games_between
from tuner.networks.model import Network
from tuner.networks.td import ROWS


@dataclass(frozen=True)
class Player:
    """A compiled function that chooses (`tuner.networks.calls.call_choose`), and its data: a number or an address."""

    choose: Any
    data: Any = 0


class NetworkPlayer:
    """A network that plays; it owns the memory that compiled code needs, so that each thread needs one of its own.

    `most_points` is what an output of 1 stands for: 1 if the network learned from wins only.
    """

    def __init__(self, network: Network, encoding: Encoding, games: WholeGames, most_points: int) -> None:
        shape, pad = network.shape, -(-encoding.size // LANES) * LANES
        self.choose = choose_by_network
        outs_size = int(shape[1::2].sum())
        self._arrays = (shape, encoding.units.astype(np.float32), network.flat().astype(np.float32),
                        np.zeros(ROWS * pad, np.int32), np.zeros(pad, np.int32), np.zeros(shape[1], np.float32),
                        np.zeros(outs_size, np.float32))
        shapes, units, weights, rows, zeros, sums, outs = map(memory_of, self._arrays)
        found = [games.words, address_of(games.points), address_of(encoding.write), int(encoding.for_mover), most_points,
                 len(shape), encoding.size, shapes, units, weights, network.size, rows, zeros, sums, int(shape[1]), outs,
                 outs_size]
        self._numbers = packed_numbers(found)

    @property
    def data(self) -> Any:
        return memory_of(self._numbers)


@dataclass(frozen=True)
class Played:
    """Points and luck of the first of two players in each game (games,), and the number of plies."""

    points: np.ndarray
    luck: np.ndarray
    plies: int


def play_games(games: WholeGames, a: Any, b: Any, number: int, *, seed: int, paired: bool = True, first_game: int = 0,
               luck: NetworkPlayer | None = None) -> Played:
    """Play games between players a and b, who are the first player in turn; `paired` games have the same dice. With a network
    for `luck`, measure the luck of a in each game, in values of that network."""
    results, found = np.zeros(number, np.int64), np.zeros(number)
    memory = np.zeros(games.words, np.uint64), np.zeros(games.scratch, np.uint64), np.zeros(games.scratch, np.uint64)
    plies = games_between(address_of(games.start), address_of(games.way), address_of(games.afterstates), address_of(games.points),
                          games.words, games.ways, games.chances, games.first_chances, address_of(a.choose), a.data,
                          address_of(b.choose), b.data, 0 if luck is None else luck.data, seed, first_game, paired,
                          luck is not None, *memory, results, found)
    return Played(results, found, int(plies))
