"""Expectimax, for games with dice: the best position after a roll, one to three plies deep. Values
are v in [-1, 1].

At depth 1 a position is as good as the static value of its best successor. One ply deeper, a
successor is as good as the mean over all rolls of the opponent's best reply. Only the
successors that are best one ply deep are searched deeper: KEPT of them, within MARGIN points of the
best."""

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types

from games.compile import jit
from games.compile.hashset import mix
from games.compile.jit import Unit, address_of, record
from games.search.context import UNIT

MAX_DEPTH = 3
KEPT, MARGIN = 8, 0.16
USED = -9.0  # in place of the value of a successor that has been searched deeper
# numbers of `found`; from MOVES on the moves of the root
NODES, BEST, STATIC, ENDED, MOVES = range(5)
I64, F64 = types.int64, types.float64
pointer_type = types.CPointer(types.uint64)
words_type = types.Array(types.uint64, 1, "C")
rows_type = types.Array(types.uint64, 2, "C")
numbers_type, floats_type = types.Array(I64, 1, "C"), types.Array(F64, 1, "C")


class Work(NamedTuple):
    """The evaluation of compiled code, `function` and `weights` at their addresses and the
    `scale` of values, and its memory: successors, their values, what a search found, and a number
    that is nonzero to stop it."""

    function: int
    weights: int
    scale: float
    memory: np.ndarray
    values: np.ndarray
    found: np.ndarray
    stop: np.ndarray


class GameRoom(NamedTuple):
    """Room for a game: positions with dice and after each move, both (n, words); moves (n,); and
    the static values (n,) of the positions after them, in steps."""

    line: np.ndarray
    after: np.ndarray
    moves: np.ndarray
    statics: np.ndarray


work_type = record(Work, I64, I64, F64, words_type, floats_type, numbers_type, words_type)
room_type = record(GameRoom, rows_type, rows_type, numbers_type, numbers_type)
# of the functions of `Expectimax`
SEARCH_TYPE = F64(words_type, I64, types.uint64, work_type)
BEST_VALUES_TYPE = types.void(rows_type, work_type, floats_type)
PLAY_TYPE = I64(words_type, types.uint64, types.uint64, types.uint64, work_type, room_type)


class DiceRules(NamedTuple):
    """The rules of a game with dice for the search; positions are addresses of their words, rolls
    are numbers."""

    unit: Unit
    words: int  # of a position
    most: int  # successors of a roll
    memory: int  # words that `successors` needs at either of its addresses
    most_points: int  # that a game wins
    ways: np.ndarray  # (n,) the rolls that differ
    chances: np.ndarray  # (n,) and how likely each is
    # position, roll, to, memory -> number of positions before the next roll, written to `to`
    successors: Any
    move: Any  # memory, k, roll -> the move that leads to successor k
    points: Any  # position -> points of the first player; 0: the game goes on
    second_to_move: Any  # position -> bool
    way: Any  # position -> its roll
    roll: Any  # position, seed, game: rolls its dice


class Expectimax(NamedTuple):
    """The compiled search of a game: functions that compiled code calls, or the game's entries to
    them.

    `search`: position (words,), depth, seed, work -> v of the best move, whose number among the
    successors is found[BEST]. `best_values`: positions (k, words) with dice, work, and out (k,) for
    v of the best successor of each, for the first player. `play`: position (words,) before a roll,
    the seed of the dice and the number of the game, seed, work and record -> plies, at most those
    that the record has room for."""

    rules: DiceRules
    search: Any
    best_values: Any
    play: Any


def _call(builder, values):
    word = ir.IntType(64)
    function = builder.inttoptr(
        values[0], ir.FunctionType(word, [values[1].type, word, word]).as_pointer()
    )
    return builder.call(function, [*values[1:], word(0)])


@jit.intrinsic(I64, (I64, pointer_type, I64), _call)
def evaluate_at(function, position, weights):
    """Call the evaluation at an address: its value for the side to move, in steps."""
    return function(position, weights, 0)


@jit.intrinsic(
    pointer_type, (pointer_type, I64), lambda builder, values: builder.gep(values[0], [values[1]])
)
def offset(pointer, words):
    """Return the address a number of words further; in plain Python the rest of the array."""
    return pointer[words:]


def make_expectimax(rules: DiceRules) -> Expectimax:
    """Build the search of a game with dice."""
    inner = rules.unit.inner
    words, most, memory_size, most_points = rules.words, rules.most, rules.memory, rules.most_points
    successors, move_of, points, second_to_move, way_of = (
        rules.successors,
        rules.move,
        rules.points,
        rules.second_to_move,
        rules.way,
    )
    roll = rules.roll
    ways, chances = (
        tuple(int(way) for way in rules.ways),
        tuple(float(chance) for chance in rules.chances),
    )
    margin = MARGIN / most_points

    @inner(F64(pointer_type, work_type))
    def value_of(after, work):
        """Return v of a position before a roll, for the side that has moved."""
        ended = points(after)
        if ended != 0:
            return (ended if second_to_move(after) else -ended) / most_points
        return math.tanh(-work.scale / UNIT * evaluate_at(work.function, after, work.weights))

    @inner(F64(pointer_type, I64, I64, I64, types.uint64, work_type))
    def best_of(position, way, depth, level, seed, work):
        """Return v of the best move of a roll; at level 0 also write which it is, by the seed among
        equals."""
        memory, values, found = work.memory, work.values, work.found
        at, base = address_of(memory), level * most
        to = offset(at, (1 + level) * memory_size)
        n = successors(position, way, to, at)
        found[NODES] += n
        if level == 0:
            for k in range(n):
                found[MOVES + k] = move_of(at, k, way)
        greatest = -2.0
        for k in range(n):
            values[base + k] = value_of(offset(to, words * k), work)
            greatest = max(greatest, values[base + k])
        if depth == 1 and level > 0:
            return greatest
        best, best_value, ties = 0, -2.0, np.uint64(0)
        least = greatest if depth == 1 else greatest - margin
        tried = 0
        while depth == 1 or tried < KEPT:
            k = 0
            for i in range(1, n):
                if values[base + i] > values[base + k]:
                    k = i
            value = values[base + k]
            if value < least:
                break
            values[base + k] = USED
            after = offset(to, words * k)
            if depth > 1 and points(after) == 0:
                value = 0.0
                for i in range(len(ways)):
                    value -= chances[i] * best_of(after, ways[i], depth - 1, level + 1, seed, work)
                    if work.stop[0]:
                        return best_value
            tried += 1
            if value > best_value:
                best, best_value, ties = k, value, np.uint64(1)
            elif value == best_value and seed != np.uint64(0):
                ties += np.uint64(1)
                if mix(seed ^ ties) % ties == np.uint64(0):
                    best = k
        if level == 0:
            after = offset(to, words * best)
            found[BEST], found[ENDED] = best, points(after)
            found[STATIC] = (
                0 if found[ENDED] != 0 else -evaluate_at(work.function, after, work.weights)
            )
        return best_value

    @inner(SEARCH_TYPE)
    def search(position, depth, seed, work):
        if seed != np.uint64(0):
            for i in range(words):
                seed = mix(seed ^ position[i])
        work.found[NODES] = 0
        here = address_of(position)
        return best_of(here, way_of(here), depth, 0, seed, work)

    @inner(BEST_VALUES_TYPE)
    def best_values(positions, work, out):
        for i in range(len(positions)):
            position = address_of(positions[i])
            value = best_of(position, way_of(position), 1, 1, np.uint64(0), work)
            out[i] = -value if second_to_move(position) else value

    @inner(PLAY_TYPE)
    def play(position, dice_seed, game, seed, work, record):
        here, found = address_of(position), work.found
        for ply in range(len(record.moves)):
            if work.stop[0]:
                return ply
            roll(here, dice_seed, game)
            own = seed
            for i in range(words):
                record.line[ply, i] = position[i]
                own = mix(own ^ position[i]) if seed != np.uint64(0) else own
            best_of(here, way_of(here), 1, 0, own, work)
            best = memory_size + found[BEST] * words
            for i in range(words):
                position[i] = work.memory[best + i]
                record.after[ply, i] = position[i]
            record.moves[ply] = found[MOVES + found[BEST]]
            record.statics[ply] = found[STATIC]
            if found[ENDED] != 0:
                return ply + 1
        return len(record.moves)

    return Expectimax(rules, search, best_values, play)
