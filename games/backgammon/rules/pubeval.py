"""Pubeval: the evaluation that Gerald Tesauro gave to the public domain in 1993 as a benchmark for
backgammon programs.

Its score is linear in 122 numbers of one side, with one vector of weights while there is contact
and another in a race. For the side's points from 24 to 1 there are five numbers each:

    the opponent has a blot there
    the side has one checker; two or more; exactly three; (n - 3) / 2 for n of four or more

Then come -1/2 for each checker of the opponent on the bar, and 1/15 for each checker borne off. The
weights below are from the public file, derived as facts: the score is linear, so they follow from
the scores of chosen boards by gnubg's copy of pubeval, to all five decimals. Six weights of the
race belong to boards that no race has (checkers on point 24, a blot of the opponent on point 1, a
checker on the bar); they are 0 here.

The score is for the side that has moved; all its checkers off score highest. Tesauro's program
decides on contact or race before the move.
"""

import numpy as np
from numba.core import types

from games.backgammon.rules import inner
from games.backgammon.rules.board import (
    BAR,
    NOT_OFF,
    POINTS,
    count_at,
    mirror,
    occupied,
    two_or_more,
)
from games.bits import lowest, without_lowest
from games.compile import jit

CONTACT = (
    0.25696,
    -0.66937,
    -1.66135,
    -2.02487,
    -2.53398,
    -0.16092,
    -1.11725,
    -1.06654,
    -0.9283,
    -1.99558,
    -1.10388,
    -0.80802,
    0.09856,
    -0.62086,
    -1.27999,
    -0.5922,
    -0.73667,
    0.89032,
    -0.38933,
    -1.59847,
    -1.50197,
    -0.60966,
    1.56166,
    -0.47389,
    -1.8039,
    -0.83425,
    -0.97741,
    -1.41371,
    0.245,
    0.1097,
    -1.36476,
    -1.05572,
    1.1542,
    0.11069,
    -0.38319,
    -0.74816,
    -0.59244,
    0.81116,
    -0.39511,
    0.11424,
    -0.73169,
    -0.56074,
    1.09792,
    0.15977,
    0.13786,
    -1.18435,
    -0.43363,
    1.06169,
    -0.21329,
    0.04798,
    -0.94373,
    -0.22982,
    1.22737,
    -0.13099,
    -0.06295,
    -0.75882,
    -0.13658,
    1.78389,
    0.30416,
    0.36797,
    -0.69851,
    0.13003,
    1.2307,
    0.40868,
    -0.21081,
    -0.64073,
    0.31061,
    1.59554,
    0.65718,
    0.25429,
    -0.80789,
    0.0824,
    1.78964,
    0.54304,
    0.41174,
    -1.06161,
    0.07851,
    2.01451,
    0.49786,
    0.91936,
    -0.9075,
    0.05941,
    1.8312,
    0.58722,
    1.28777,
    -0.83711,
    -0.33248,
    2.64983,
    0.52698,
    0.82132,
    -0.58897,
    -1.18223,
    3.35809,
    0.62017,
    0.57353,
    -0.07276,
    -0.36214,
    4.37655,
    0.45481,
    0.21746,
    0.10504,
    -0.61977,
    3.54001,
    0.04612,
    -0.18108,
    0.63211,
    -0.87046,
    2.47673,
    -0.48016,
    -1.27157,
    0.86505,
    -1.11342,
    1.24612,
    -0.82385,
    -2.77082,
    1.23606,
    -1.59529,
    0.10438,
    -1.30206,
    -4.1152,
    -5.62596,
    -2.758,
)
RACE = (
    0,
    0,
    0,
    0,
    0,
    0,
    -1.40375,
    -1.05121,
    0.07217,
    -0.01351,
    0,
    -1.29506,
    -2.16183,
    0.13246,
    -1.03508,
    0,
    -2.29847,
    -2.34631,
    0.17253,
    0.08302,
    0,
    -1.27266,
    -2.87401,
    -0.07456,
    -0.3424,
    0,
    -1.3464,
    -2.46556,
    -0.13022,
    -0.01591,
    0,
    0.27448,
    0.60015,
    0.48302,
    0.25236,
    0,
    0.39521,
    0.68178,
    0.05281,
    0.09266,
    0,
    0.24855,
    -0.06844,
    -0.37646,
    0.05685,
    0,
    0.17405,
    0.0043,
    0.74427,
    0.00576,
    0,
    0.12392,
    0.31202,
    -0.91035,
    -0.1627,
    0,
    0.01418,
    -0.10839,
    -0.02781,
    -0.88035,
    0,
    1.07274,
    2.00366,
    1.16242,
    0.2252,
    0,
    0.85631,
    1.06349,
    1.49549,
    0.18966,
    0,
    0.37183,
    -0.50352,
    -0.14818,
    0.12039,
    0,
    0.13681,
    0.13978,
    1.11245,
    -0.12707,
    0,
    -0.22082,
    0.20178,
    -0.06285,
    -0.52728,
    0,
    -0.13597,
    -0.19412,
    -0.09308,
    -1.26062,
    0,
    3.05454,
    5.16874,
    1.5068,
    5.35,
    0,
    2.19605,
    3.8539,
    0.88296,
    2.30052,
    0,
    0.92321,
    1.08744,
    -0.11696,
    -0.7856,
    0,
    -0.09795,
    -0.8305,
    -1.09167,
    -4.94251,
    0,
    -1.00316,
    -3.66465,
    -2.56906,
    -9.67677,
    0,
    -2.77982,
    -7.26713,
    -3.40177,
    -12.32252,
    0,
    3.4204,
)
INPUTS = 122
ALL_OFF = 99_999_999  # the score of a side without a checker left
# scores are whole multiples of 1 / WHOLE: weights of five decimals, inputs in thirtieths
WHOLE = 3_000_000


def _tables() -> tuple[np.ndarray, np.ndarray]:
    """Return the sums that checkers of the side (2, 26, 16) and of the opponent (2, 26, 16) add, by
    stage, place of the side and number."""
    weights = np.round(np.array([CONTACT, RACE]) * 100_000).astype(np.int64)
    own, other = np.zeros((2, 26, 16), np.int64), np.zeros((2, 26, 16), np.int64)
    for stage, (points, (bar, off)) in enumerate(
        zip(weights[:, :120].reshape(2, 24, 5), weights[:, 120:], strict=True)
    ):
        for place, (blot, one, more, three, rest) in zip(range(24, 0, -1), points, strict=True):
            other[stage, place, 1] = 30 * blot
            own[stage, place, 1] = 30 * one
            own[stage, place, 2:] = 30 * more
            own[stage, place, 3] += 30 * three
            own[stage, place, 4:] += 15 * np.arange(1, 13) * rest
        own[stage, 0] = 2 * np.arange(16) * off
        other[stage, 0] = (
            -15 * np.arange(16) * bar
        )  # the bar of the opponent is place 0 of this one
    return own, other


_OWN, _OTHER = _tables()
own_adds = jit.table("backgammon_pubeval_own", _OWN.ravel())
other_adds = jit.table("backgammon_pubeval_other", _OTHER.ravel())


@inner(types.int64(types.uint64, types.uint64, types.uint64, types.uint64, types.boolean))
def pubeval_of(low, high, other_low, other_high, race):
    """Return the score of the side with the first two words, which has moved, times WHOLE."""
    if not occupied(low, high) & NOT_OFF:
        return ALL_OFF * WHOLE
    stage = 26 * 16 if race else 0
    total = np.int64(0)
    places = occupied(low, high) & ~np.uint64(1 << BAR)
    while places:
        place = lowest(places)
        total += own_adds(stage + 16 * place + count_at(low, high, place))
        places = without_lowest(places)
    blots = mirror(occupied(other_low, other_high) & ~two_or_more(other_low, other_high)) & POINTS
    while blots:
        total += other_adds(stage + 16 * lowest(blots) + 1)
        blots = without_lowest(blots)
    return total + other_adds(stage + count_at(other_low, other_high, BAR))
