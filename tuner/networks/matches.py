"""Games between two players that compiled code plays, with luck: what the dice gave one player more than their mean.

A player is a function by its address (`tuner.networks.calls.call_choose`) and data. The luck of a ply is the value of the best
afterstate of the roll minus its mean over all rolls, by a network of its own. Its mean over the dice is zero, whoever plays and
however well.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from tuner.networks.calls import (
    call_afterstates,
    call_choose,
    call_points,
    call_start,
    call_way,
    floats_of,
    number_of,
    numbers_of,
    row_of,
    words_at,
    words_of,
)
from tuner.networks.forward import LANES, SIGMOID, numbers
from tuner.networks.td import ROWS, best_of, words_type
from tuner.networks.unit import entry, inner

I64, F64, F32 = types.int64, types.float64, types.float32
chances_type = types.Array(types.float64, 1, "C")
TURN = np.uint64(1)


@inner(types.Tuple((I64, F32))(words_type, I64, I64, I64))
def best_by(found, n, turn, data):
    """Return the afterstate that a network likes best for the side to move, and its output. `data`: see `NetworkPlayer`."""
    sign = 1 if turn == 0 and not number_of(data, 3) else -1
    pad = (number_of(data, 6) + LANES - 1) // LANES * LANES
    return best_of(found, n, number_of(data, 0), number_of(data, 1), number_of(data, 2), sign, number_of(data, 4),
                   numbers_of(number_of(data, 7), number_of(data, 5)), floats_of(number_of(data, 8), number_of(data, 6)),
                   floats_of(number_of(data, 9), number_of(data, 10)), row_of(number_of(data, 11), ROWS * pad),
                   row_of(number_of(data, 12), pad), floats_of(number_of(data, 13), number_of(data, 14)),
                   floats_of(number_of(data, 15), number_of(data, 16)))


@entry(I64(I64, I64, I64, I64))
def choose_by_network(position, afterstates, n, data):
    """Choose the afterstate that a network likes best, see `tuner.networks.calls.call_choose`."""
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
            n = call_afterstates(afterstates, words_at(position, 0), ways[k], words_at(found, 0), words_at(scratch, 0))
            _, output = best_by(found, n, turn, data)
            value = sign * (2.0 * np.float64(output) - 1.0 if by_sigmoid else np.float64(output))
            mean += chances[k] * value
            if ways[k] == roll:
                own = value
    return own - mean


@entry(I64(I64, I64, I64, I64, I64, numbers, chances_type, chances_type, I64, I64, I64, I64, I64, I64, I64, types.boolean,
           types.boolean, words_type, words_type, words_type, numbers, chances_type))
def games_between(start, way, afterstates, points, words, ways, chances, first_chances, choose_a, data_a, choose_b, data_b,
                  luck_data, seed, first_game, paired, with_luck, position, found, scratch, results, luck):
    """Play games first_game, first_game + 1, ... between players a and b; a is the first player of those with even numbers.

    With `paired` games 2k and 2k + 1 have the same dice. Write the points for a and, `with_luck`, its luck, each (games,). Return
    the number of plies.
    """
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
            n = call_afterstates(afterstates, words_at(position, 0), roll, words_at(found, 0), words_at(scratch, 0))
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
