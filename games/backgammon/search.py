"""The search of backgammon: expectimax over rolls."""

import numpy as np
from numba.core import types

from games.backgammon.rules import CORE, entry, inner
from games.backgammon.rules.afterstates import MAX_AFTERSTATES, STRIDE
from games.backgammon.rules.board import (
    ALL_DICE,
    DICE_SHIFT,
    PLY_SHIFT,
    STATE,
    TURN,
    WORDS,
    pointer_type,
)
from games.backgammon.rules.dice import CHANCES, SIDES, WAYS, first_way, larger_first, way_of
from games.backgammon.rules.play import (
    HIGHEST_POINTS,
    MOVE_DICE_SHIFT,
    SCRATCH,
    START,
    points_of,
    write_afterstates,
)
from games.search.expectimax import (
    BEST_VALUES_TYPE,
    PLAY_TYPE,
    SEARCH_TYPE,
    DiceRules,
    Expectimax,
    make_expectimax,
)
from games.search.expectimax_searcher import ExpectimaxSearcher

DIE = np.uint64(7)


@inner(types.boolean(pointer_type))
def second_here(position):
    return position[STATE] & TURN != np.uint64(0)


@inner(types.int64(pointer_type))
def way_here(position):
    dice = position[STATE] >> np.uint64(DICE_SHIFT)
    return SIDES * (np.int64(dice & DIE) - 1) + np.int64(dice >> np.uint64(3) & DIE) - 1


@inner(types.int64(pointer_type, types.int64, types.int64))
def move_of(scratch, k, way):
    """Return the number of a move, see `games.backgammon.rules.play`."""
    return (
        np.int64(scratch[STRIDE * k + 4])
        | (way // SIDES + 1 | (way % SIDES + 1) << 3) << MOVE_DICE_SHIFT
    )


@inner(types.void(pointer_type, types.uint64, types.uint64))
def roll_here(position, seed, game):
    """Roll the dice of a position, as `games.backgammon.rules.dice.rolled` does."""
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
    position[STATE] = (
        position[STATE] & ~ALL_DICE | dice << np.uint64(DICE_SHIFT) | np.uint64(second)
    )


RULES = DiceRules(
    unit=CORE,
    words=WORDS,
    most=MAX_AFTERSTATES,
    memory=SCRATCH,
    most_points=HIGHEST_POINTS,
    ways=WAYS,
    chances=CHANCES,
    successors=write_afterstates,
    move=move_of,
    points=points_of,
    second_to_move=second_here,
    way=way_here,
    roll=roll_here,
)
_search, _best_values, _play = make_expectimax(RULES)[1:]


@entry(SEARCH_TYPE)
def search(position, depth, seed, work):
    return _search(position, depth, seed, work)


@entry(BEST_VALUES_TYPE)
def best_values(positions, work, out):
    _best_values(positions, work, out)


@entry(PLAY_TYPE)
def play(position, dice_seed, game, seed, work, record):
    return _play(position, dice_seed, game, seed, work, record)


SEARCH = Expectimax(RULES, search, best_values, play)


def searcher(
    function: int, weights: int, playing: bool, margin: float, megabytes: int = 16
) -> ExpectimaxSearcher:
    """Return a search with the evaluation and weights at these addresses; it is the same whether
    `playing` or not."""
    return ExpectimaxSearcher(SEARCH, function, weights, margin)
