"""The view of a position for terms: both sides, the phase, the side to move."""

from typing import NamedTuple

import numba
import numpy as np
from games.othello.rules import CORE as CORE
from games.othello.rules import WORDS as WORDS
from games.othello.rules import inner, second_to_move, targets, words_type
from numba.core import types

from games.bits import EMPTY, ONE, popcount

PHASES = 60  # empty squares at the start


class Side(NamedTuple):
    """Squares of a side: its discs, and where it could put one; one if it is to move, otherwise
    zero."""

    discs: np.uint64
    targets: np.uint64
    to_move: np.uint64


side_type = numba.typeof(Side(EMPTY, EMPTY, EMPTY))


@inner(side_type(words_type), forceinline=True)
def first_side(words):
    return Side(words[0], targets(words[0], words[1]), EMPTY if second_to_move(words) else ONE)


@inner(side_type(words_type), forceinline=True)
def second_side(words):
    return Side(words[1], targets(words[1], words[0]), ONE if second_to_move(words) else EMPTY)


@inner(side_type(side_type), forceinline=True)
def across(side):
    """Return the same side as its opponent sees it: this board has no direction."""
    return side


@inner(types.int64(words_type))
def phase_of(words):
    """Return the number of empty squares."""
    return 64 - popcount(words[0] | words[1])
