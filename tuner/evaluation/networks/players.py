"""Players of whole games in compiled code, and games between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import types

from evalterms.framework.encoding import Encoding
from tuner.evaluation.networks.compiled import (
    LANES,
    SIGMOID,
    WholeGames,
    address_of,
    call_afterstates,
    call_choose,
    call_points,
    call_start,
    call_way,
    entry,
    floats_of,
    inner,
    memory_of,
    number_of,
    numbers,
    numbers_of,
    packed_numbers,
    row_of,
    words_at,
    words_of,
)
from tuner.evaluation.networks.model import Network
from tuner.evaluation.networks.td import ROWS, best_of, words_type


@dataclass(frozen=True)
class CompiledPlayer:
    """A compiled function that chooses (`tuner.evaluation.networks.compiled.call_choose`), and its
    data: a number or an address."""

    choose: Any
    data: Any = 0


class NetworkPlayer:
    """A network that plays; it owns the memory that compiled code needs, so that each thread needs
    one of its own.

    `most_points` is what an output of 1 stands for: 1 if the network learned from wins only.
    """

    def __init__(
        self, network: Network, encoding: Encoding, games: WholeGames, most_points: int
    ) -> None:
        shape, pad = network.shape, -(-encoding.size // LANES) * LANES
        self.choose = choose_by_network
        outs_size = int(shape[1::2].sum())
        self._arrays = (
            shape,
            encoding.units.astype(np.float32),
            network.flat().astype(np.float32),
            np.zeros(ROWS * pad, np.int32),
            np.zeros(pad, np.int32),
            np.zeros(shape[1], np.float32),
            np.zeros(outs_size, np.float32),
        )
        shapes, units, weights, rows, zeros, sums, outs = map(memory_of, self._arrays)
        found = [
            games.words,
            address_of(games.points),
            address_of(encoding.write),
            int(encoding.for_mover),
            most_points,
            len(shape),
            encoding.size,
            shapes,
            units,
            weights,
            network.size,
            rows,
            zeros,
            sums,
            int(shape[1]),
            outs,
            outs_size,
        ]
        self._numbers = packed_numbers(found)

    @property
    def data(self) -> Any:
        return memory_of(self._numbers)


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
    memory = (
        np.zeros(games.words, np.uint64),
        np.zeros(games.scratch, np.uint64),
        np.zeros(games.scratch, np.uint64),
    )
    plies = games_between(
        address_of(games.start),
        address_of(games.way),
        address_of(games.afterstates),
        address_of(games.points),
        games.words,
        games.ways,
        games.chances,
        games.first_chances,
        address_of(a.choose),
        a.data,
        address_of(b.choose),
        b.data,
        0 if luck is None else luck.data,
        seed,
        first_game,
        paired,
        luck is not None,
        *memory,
        results,
        found,
    )
    return GameResults(results, found, int(plies))


I64, F64, F32 = types.int64, types.float64, types.float32
chances_type = types.Array(types.float64, 1, "C")
TURN = np.uint64(1)


@inner(types.Tuple((I64, F32))(words_type, I64, I64, I64))
def best_by(found, n, turn, data):
    """Return the afterstate that a network likes best for the side to move, and its output. `data`:
    see `NetworkPlayer`."""
    sign = 1 if turn == 0 and not number_of(data, 3) else -1
    pad = (number_of(data, 6) + LANES - 1) // LANES * LANES
    return best_of(
        found,
        n,
        number_of(data, 0),
        number_of(data, 1),
        number_of(data, 2),
        sign,
        number_of(data, 4),
        numbers_of(number_of(data, 7), number_of(data, 5)),
        floats_of(number_of(data, 8), number_of(data, 6)),
        floats_of(number_of(data, 9), number_of(data, 10)),
        row_of(number_of(data, 11), ROWS * pad),
        row_of(number_of(data, 12), pad),
        floats_of(number_of(data, 13), number_of(data, 14)),
        floats_of(number_of(data, 15), number_of(data, 16)),
    )


@entry(I64(I64, I64, I64, I64))
def choose_by_network(position, afterstates, n, data):
    """Choose the afterstate that a network likes best, see
    `tuner.evaluation.networks.compiled.call_choose`."""
    words = number_of(data, 0)
    turn = np.int64(words_of(position, words)[words - 1] & TURN)
    best, _ = best_by(words_of(afterstates, n * words), n, turn, data)
    return best


@inner(F64(I64, words_type, words_type, words_type, I64, numbers, chances_type, I64))
def luck_of(afterstates, position, found, scratch, roll, ways, chances, data):
    """Return how much better a roll is than the mean of all, in values for the side to move."""
    words, for_mover, last = number_of(data, 0), number_of(data, 3), number_of(data, 5) - 1
    turn = np.int64(position[words - 1] & TURN)
    sign = 1.0 if turn == 0 and not for_mover else -1.0
    by_sigmoid = number_of(number_of(data, 7), last) == SIGMOID
    own, mean = 0.0, 0.0
    for k in range(len(ways)):
        if chances[k] > 0.0:
            n = call_afterstates(
                afterstates,
                words_at(position, 0),
                ways[k],
                words_at(found, 0),
                words_at(scratch, 0),
            )
            _, output = best_by(found, n, turn, data)
            value = sign * (2.0 * np.float64(output) - 1.0 if by_sigmoid else np.float64(output))
            mean += chances[k] * value
            if ways[k] == roll:
                own = value
    return own - mean


@entry(
    I64(
        I64,
        I64,
        I64,
        I64,
        I64,
        numbers,
        chances_type,
        chances_type,
        I64,
        I64,
        I64,
        I64,
        I64,
        I64,
        I64,
        types.boolean,
        types.boolean,
        words_type,
        words_type,
        words_type,
        numbers,
        chances_type,
    )
)
def games_between(
    start,
    way,
    afterstates,
    points,
    words,
    ways,
    chances,
    first_chances,
    choose_a,
    data_a,
    choose_b,
    data_b,
    luck_data,
    seed,
    first_game,
    paired,
    with_luck,
    position,
    found,
    scratch,
    results,
    luck,
):
    """Play games first_game, first_game + 1, ... between players a and b; a is the first player of
    those with even numbers.

    With `paired` games 2k and 2k + 1 have the same dice. Write the points for a and, `with_luck`,
    its luck, each (games,). Return the number of plies."""
    plies = 0
    for k in range(len(results)):
        game = first_game + k
        dice = game // 2 if paired else game
        a_first = game % 2 == 0
        roll = call_start(start, words_at(position, 0), seed, dice)
        total, ply = 0.0, 0
        while True:
            turn = np.int64(position[words - 1] & TURN)
            a_moves = (turn == 0) == a_first
            if with_luck:
                likely = chances if ply else first_chances
                more = luck_of(afterstates, position, found, scratch, roll, ways, likely, luck_data)
                total += more if a_moves else -more
            n = call_afterstates(
                afterstates, words_at(position, 0), roll, words_at(found, 0), words_at(scratch, 0)
            )
            if a_moves:
                best = call_choose(choose_a, words_at(position, 0), words_at(found, 0), n, data_a)
            else:
                best = call_choose(choose_b, words_at(position, 0), words_at(found, 0), n, data_b)
            for i in range(words):
                position[i] = found[best * words + i]
            ended = call_points(points, words_at(position, 0))
            ply += 1
            if ended:
                break
            roll = call_way(way, seed, dice, ply)
        results[k] = ended if a_first else -ended
        luck[k] = total
        plies += ply
    return plies
