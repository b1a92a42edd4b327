"""The search of backgammon: expectimax over rolls."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.backgammon.afterstates import STRIDE
from games.backgammon.board import ALL_DICE, DICE_SHIFT, PLY_SHIFT, STATE, TURN, WORDS, pointer_type
from games.backgammon.dice import SIDES, first_way, way_of
from games.backgammon.native import MOST_AFTERSTATES, SCRATCH, START, WHOLE_GAMES, larger_first, write_afterstates
from games.backgammon.rules import HIGHEST_POINTS, MOVE_DICE_SHIFT, points_won
from games.backgammon.unit import CORE, entry, inner
from games.search.expectimax import BEST_VALUES_TYPE, PLAY_TYPE, SEARCH_TYPE, DiceRules, Expectimax, make_expectimax
from games.search.expectimax_searcher import ExpectimaxSearcher

DIE = np.uint64(7)


@inner(types.int64(pointer_type))
def points_here(position):
    return (points_won(position[0], position[1], position[2], position[3])
            - points_won(position[2], position[3], position[0], position[1]))


@inner(types.boolean(pointer_type))
def second_here(position):
    return position[STATE] & TURN != np.uint64(0)


@inner(types.int64(pointer_type))
def way_here(position):
    dice = position[STATE] >> np.uint64(DICE_SHIFT)
    return SIDES * (np.int64(dice & DIE) - 1) + np.int64(dice >> np.uint64(3) & DIE) - 1


@inner(types.int64(pointer_type, types.int64, pointer_type, pointer_type))
def successors(position, way, to, memory):
    """Write the afterstates of a roll, without dice."""
    state = position[STATE]
    position[STATE] = state & ~ALL_DICE
    n = write_afterstates(position, way, to, memory)
    position[STATE] = state
    return n


@inner(types.int64(pointer_type, types.int64, types.int64))
def move_of(scratch, k, way):
    """Return the number of a move, see `games.backgammon.moves`."""
    return np.int64(scratch[STRIDE * k + 4]) | (way // SIDES + 1 | (way % SIDES + 1) << 3) << MOVE_DICE_SHIFT


@inner(types.void(pointer_type, types.uint64, types.uint64))
def roll_here(position, seed, game):
    """Roll the dice of a position, as `games.backgammon.chance.roll` does."""
    begins = True
    for i in range(WORDS):
        begins = begins and position[i] == START[i]
    second = 0
    if begins:
        way, second = first_way(seed, game)
    else:
        way = way_of(seed, game, position[STATE] >> np.uint64(PLY_SHIFT))
    way = larger_first(way)
    dice = np.uint64(way // SIDES + 1) | np.uint64(way % SIDES + 1) << np.uint64(3)
    position[STATE] = position[STATE] & ~ALL_DICE | dice << np.uint64(DICE_SHIFT) | np.uint64(second)


RULES = DiceRules(
    unit=CORE, words=WORDS, most=MOST_AFTERSTATES, memory=SCRATCH, most_points=HIGHEST_POINTS, ways=WHOLE_GAMES.ways,
    chances=WHOLE_GAMES.chances, successors=successors, move=move_of, points=points_here, second_to_move=second_here,
    way=way_here, roll=roll_here)
_search, _best_values, _play = make_expectimax(RULES)[1:]


@entry(SEARCH_TYPE)
def search(position, depth, function, weights, scale, seed, memory, values, found, stop):
    return _search(position, depth, function, weights, scale, seed, memory, values, found, stop)


@entry(BEST_VALUES_TYPE)
def best_values(positions, function, weights, scale, memory, values, found, stop, out):
    _best_values(positions, function, weights, scale, memory, values, found, stop, out)


@entry(PLAY_TYPE)
def play(position, dice_seed, game, function, weights, scale, seed, memory, values, found, stop, line, after, moves, statics):
    return _play(position, dice_seed, game, function, weights, scale, seed, memory, values, found, stop, line, after, moves,
                 statics)


SEARCH = Expectimax(RULES, search, best_values, play)


def searcher(function: int, weights: int, playing: bool, margin: float, megabytes: int = 16) -> ExpectimaxSearcher:
    """Return a search with the evaluation and weights at these addresses; it is the same whether `playing` or not."""
    return ExpectimaxSearcher(SEARCH, function, weights, margin)
