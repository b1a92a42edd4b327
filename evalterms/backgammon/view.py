"""The view of a backgammon position for terms: both sides, contact or race, the side to move.

A side is seen from the point of view of one of the two, whose places are numbered as in
`games.backgammon.rules.board`: 1 to 24 are its points, it moves down, 0 is off and 25 its bar.
`across` is the same side as its opponent numbers the places: its bar is then place 0 and its
checkers off are place 25."""

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.backgammon.rules import CORE, inner
from games.backgammon.rules.board import (
    POINTS,
    WORDS,
    in_contact,
    mirror,
    occupied,
    second_to_move,
    two_or_more,
    words_type,
)
from games.bits import EMPTY, ONE

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

PHASES = 1  # contact is the first stage, a race the last, and nothing is between
S32 = np.uint64(32)


class Side(NamedTuple):
    """Places of a side (uint64) and whether it rolls next."""

    points: np.uint64  # with any checkers, among places 1 to 24
    blots: np.uint64  # with one
    made: np.uint64  # with two or more
    spare: np.uint64  # with three or more
    low: np.uint64  # counts of all places, for `count_at`
    high: np.uint64
    to_move: np.uint64  # one or zero


side_type = numba.typeof(Side(*np.zeros(7, np.uint64)))


@inner(side_type(types.uint64, types.uint64, types.uint64), forceinline=True)
def side_of(low, high, to_move):
    points, made = occupied(low, high) & POINTS, two_or_more(low, high) & POINTS
    spare = (low & low >> S32 | high | high >> S32) & POINTS
    return Side(points, points & ~made, made, spare, low, high, to_move)


@inner(side_type(words_type), forceinline=True)
def first_side(words):
    return side_of(words[0], words[1], EMPTY if second_to_move(words) else ONE)


@inner(side_type(words_type), forceinline=True)
def second_side(words):
    return side_of(words[2], words[3], ONE if second_to_move(words) else EMPTY)


@inner(side_type(side_type), forceinline=True)
def across(side):
    """Return the same side as its opponent numbers the places: place p becomes 25 - p."""
    low = mirror(side.low) | mirror(side.low >> S32) << S32
    high = mirror(side.high) | mirror(side.high >> S32) << S32
    return Side(
        mirror(side.points),
        mirror(side.blots),
        mirror(side.made),
        mirror(side.spare),
        low,
        high,
        side.to_move,
    )


@inner(types.int64(words_type))
def phase_of(words):
    """Return PHASES while there is contact, 0 in a race."""
    return PHASES if in_contact(words) else 0


# beyond our home, each a quarter of the board further
QUARTERS = tuple(np.uint64(0x3F << first) for first in (7, 13, 19))
THEIR_HOME = QUARTERS[2]
BAR_OF_THEM = ONE  # the bar of `them` is place 0 of ours


@inner("int64(uint64)")
def longest_run(places):
    """Return the length of the longest row of neighboring places of a set."""
    length = 0
    while places:
        places &= places >> ONE
        length += 1
    return length


@inner("int64(uint64, uint64, uint64)")
def hitting_rolls(blots, made, enemies):
    """Return how many of the 36 rolls let one of the enemies hit a blot.

    `made`: our points, on which they cannot land. All places are numbered as we see them: enemies
    move up, from place 0 if they are on the bar, of whom at most one is taken to wait there."""
    open_points, hits = POINTS & ~made, 0
    waiting = enemies & BAR_OF_THEM != EMPTY
    for a in range(1, 7):
        # where the first checker can land
        first = (BAR_OF_THEM if waiting else enemies) << np.uint64(a)
        # doubles
        reached, hit = first & open_points, first & blots
        for _ in range(3):
            reached = reached << np.uint64(a) & open_points
            hit |= reached & blots
        if waiting and first & open_points:
            hit |= enemies << np.uint64(a) & blots
        if hit:
            hits += 1
        for b in range(1, a):
            other = (BAR_OF_THEM if waiting else enemies) << np.uint64(b)
            hit = (
                first
                | other
                | (first & open_points) << np.uint64(b)
                | (other & open_points) << np.uint64(a)
            ) & blots
            if waiting:  # one enters, another moves on
                if first & open_points:
                    hit |= enemies << np.uint64(b) & blots
                if other & open_points:
                    hit |= enemies << np.uint64(a) & blots
            if hit:
                hits += 2
    return hits
