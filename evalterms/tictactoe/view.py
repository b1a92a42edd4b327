"""The view of a position for terms: both sides, the phase, the side to move."""

from collections import namedtuple

import numba
from numba.core import types

from games.bits import EMPTY, ONE
from games.tictactoe.rules import CORE, WORDS, inner, second_to_move, words_type

__all__ = [
    "CORE",
    "PHASES",
    "WORDS",
    "across",
    "first_side",
    "phase_of",
    "second_side",
    "second_to_move",
    "side_type",
]

PHASES = 1  # the evaluation is not tapered
Side = namedtuple("Side", "marks to_move")  # squares; one or zero
side_type = numba.typeof(Side(EMPTY, EMPTY))


@inner(side_type(words_type), forceinline=True)
def first_side(words):
    return Side(words[0], EMPTY if second_to_move(words) else ONE)


@inner(side_type(words_type), forceinline=True)
def second_side(words):
    return Side(words[1], ONE if second_to_move(words) else EMPTY)


@inner(side_type(side_type), forceinline=True)
def across(side):
    """Return the same side as its opponent sees it: this board has no direction."""
    return side


@inner(types.int64(words_type))
def phase_of(words):
    return PHASES
