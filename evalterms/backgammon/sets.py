"""Sets of places that terms share, and the rolls that hit."""

import numpy as np

from games.backgammon.board import POINTS
from games.backgammon.unit import inner
from games.bits import EMPTY, ONE

QUARTERS = tuple(np.uint64(0x3F << first) for first in (7, 13, 19))  # beyond our home, each a quarter of the board further
THEIR_HOME = QUARTERS[2]
BAR_OF_THEM = ONE  # the bar of `them` is place 0 of ours


@inner("int64(uint64)")
def longest_run(places):
    """Return the length of the longest row of neighbouring places of a set."""
    length = 0
    while places:
        places &= places >> ONE
        length += 1
    return length


@inner("int64(uint64, uint64, uint64)")
def hitting_rolls(blots, made, enemies):
    """Return how many of the 36 rolls let one of the enemies hit a blot.

    `made`: our points, on which they cannot land. All places are numbered as we see them: enemies move up, from place 0 if they
    are on the bar, of whom at most one is taken to wait there.
    """
    open_points, hits = POINTS & ~made, 0
    waiting = enemies & BAR_OF_THEM != EMPTY
    for a in range(1, 7):
        first = (BAR_OF_THEM if waiting else enemies) << np.uint64(a)  # where the first checker can land
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
            hit = (first | other | (first & open_points) << np.uint64(b) | (other & open_points) << np.uint64(a)) & blots
            if waiting:  # one enters, another moves on
                if first & open_points:
                    hit |= enemies << np.uint64(b) & blots
                if other & open_points:
                    hit |= enemies << np.uint64(a) & blots
            if hit:
                hits += 2
    return hits

