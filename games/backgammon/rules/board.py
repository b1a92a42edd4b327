"""A backgammon position as counts of checkers in a few words, and the sets of points that follow
from them.

Each side has 26 places, from its own point of view: 0 its checkers borne off, 1 to 24 its points (1
is its ace point, towards which it moves), 25 its bar. The counts of a side are in two words of two
planes of 32 bits each, one bit for each place: `low` holds the ones in its lower half and the twos
in its upper half, `high` the fours and the eights. There are always 15 checkers.

A position is five words: low and high of the first player, low and high of the second, and the
state:

    bit 0        the side to move: 0 first player, 1 second bits 1-6     the dice, 3 bits each, the
                 larger first; zero: not yet rolled, so that the position is an afterstate bits 16-
                 plies played
"""

import numpy as np
from llvmlite import ir
from numba.core import types

from games.backgammon.rules import entry, inner
from games.bits import EMPTY, ONE, popcount
from games.compile import jit

WORDS, STATE, CHECKERS, OFF, BAR = 5, 4, 15, 0, 25  # STATE: the word of the state
S32 = np.uint64(32)
MASK = np.uint64((1 << 26) - 1)  # all places
POINTS = np.uint64((1 << 25) - 2)  # places 1 to 24
HOME = np.uint64(0x7E)  # places 1 to 6
OUTSIDE = np.uint64(MASK ^ np.uint64(0x7F))  # what is not yet home, the bar included
BAR_SET = np.uint64(1 << BAR)
NOT_OFF = np.uint64(MASK ^ np.uint64(1))
# bits of the number of a place: the sum of the places of a set is the sum of 2^k * popcount(set &
# PLACE_BITS[k])
PLACE_BITS = tuple(
    np.uint64(sum(1 << place for place in range(26) if place >> k & 1)) for k in range(5)
)
LOWER = np.uint64((1 << 32) - 1)
TURN, DICE_SHIFT, PLY_SHIFT = ONE, 1, 16
ALL_DICE = np.uint64(63 << DICE_SHIFT)

words_type = types.Array(types.uint64, 1, "C")
pointer_type = types.CPointer(types.uint64)
side_type = types.UniTuple(types.uint64, 2)


@jit.intrinsic(
    types.uint64,
    (types.uint64,),
    lambda builder, values: builder.lshr(builder.bitreverse(values[0]), ir.IntType(64)(38)),
)
def mirror(places):
    """Return a set of places in the numbering of the opponent: place p becomes 25 - p."""
    return np.uint64(int(f"{int(places):064b}"[::-1], 2) >> 38)


@inner(types.uint64(types.uint64, types.uint64))
def occupied(low, high):
    """Return the places with at least one checker."""
    both = low | high
    return (both | both >> S32) & MASK


@inner(types.uint64(types.uint64, types.uint64))
def two_or_more(low, high):
    """Return the places with at least two checkers."""
    return (low >> S32 | high | high >> S32) & MASK


@inner(types.int64(types.uint64, types.uint64, types.int64))
def count_at(low, high, place):
    """Return the number of checkers on a place."""
    shift = np.uint64(place)
    ones, fours = low >> shift, high >> shift
    count = ones & ONE | (ones >> S32 & ONE) << ONE
    return np.int64(count | (fours & ONE) << np.uint64(2) | (fours >> S32 & ONE) << np.uint64(3))


@inner(side_type(types.uint64, types.uint64, types.uint64), forceinline=True)
def with_one_more(low, high, place):
    """Return the counts with a checker more on a place, a set of one."""
    carry = (low & place) << S32
    low ^= place
    more = (low & carry) >> S32
    low ^= carry
    carry = (high & more) << S32
    return low, high ^ more ^ carry


@inner(side_type(types.uint64, types.uint64, types.uint64), forceinline=True)
def with_one_less(low, high, place):
    """Return the counts with a checker less on a place, a set of one that is not empty."""
    low ^= place
    borrow = (low & place) << S32
    low ^= borrow
    more = (low & borrow) >> S32
    high ^= more
    return low, high ^ (high & more) << S32


@inner(types.int64(types.uint64))
def places_sum(places):
    """Return the sum of the numbers of the places of a set."""
    total = 0
    for k in range(5):
        total += popcount(places & PLACE_BITS[k]) << k
    return total


@inner(types.int64(types.uint64, types.uint64))
def pips_of(low, high):
    """Return the pip count of a side; a checker on the bar has 25."""
    return (
        places_sum(low & LOWER)
        + 2 * places_sum(low >> S32)
        + 4 * places_sum(high & LOWER)
        + 8 * places_sum(high >> S32)
    )


@inner(types.boolean(types.uint64, types.uint64, types.uint64, types.uint64))
def contact_between(low, high, other_low, other_high):
    """Return whether a checker of one side has still to pass one of the opponent."""
    own, other = occupied(low, high) & NOT_OFF, mirror(occupied(other_low, other_high) & NOT_OFF)
    # the rearmost of our checkers is behind the rearmost of theirs if own has a higher place than
    # the lowest one of the opponent
    return own != EMPTY and other != EMPTY and own > (other & (~other + ONE))


@inner(types.boolean(words_type), forceinline=True)
def second_to_move(words):
    return words[STATE] & TURN != EMPTY


@inner(types.boolean(words_type))
def in_contact(words):
    return contact_between(words[0], words[1], words[2], words[3])


@entry(types.boolean(words_type))
def contact(words):
    """Return whether the sides can still hit one another; without contact the position is a
    race."""
    return in_contact(words)


@entry(types.int64(words_type, types.int64))
def pips(words, side):
    """Return the pip count of a side, 0 the first player, 1 the second."""
    return pips_of(words[2 * side], words[2 * side + 1])


@entry(types.void(words_type, types.Array(types.int64, 2, "C")))
def unpack(words, counts):
    """Write the counts of both sides to `counts` (2, 26)."""
    for side in range(2):
        for place in range(26):
            counts[side, place] = count_at(words[2 * side], words[2 * side + 1], place)


def counts_of(words: np.ndarray) -> np.ndarray:
    """Return the counts (2, 26) int64 of a position, each side's places from its own point of
    view."""
    counts = np.empty((2, 26), np.int64)
    unpack(words, counts)
    return counts


def side_words(counts: list[int]) -> tuple[int, int]:
    """Return the words low and high of a side with these counts (26)."""
    low = high = 0
    for place, number in enumerate(counts):
        if number:
            low |= ((number & 1) | (number >> 1 & 1) << 32) << place
            high |= ((number >> 2 & 1) | (number >> 3 & 1) << 32) << place
    return low, high


def packed(
    counts: np.ndarray, second: bool = False, dice: tuple[int, int] = (0, 0), ply: int = 0
) -> np.ndarray:
    """Return the position with these counts (2, 26), `second` to move, with dice or before the roll
    (0, 0)."""
    counts = np.asarray(counts, np.uint64)
    bits = np.arange(26, dtype=np.uint64)
    planes = [
        np.bitwise_or.reduce((counts >> np.uint64(k) & ONE) << bits, axis=1) for k in range(4)
    ]
    low, high = planes[0] | planes[1] << S32, planes[2] | planes[3] << S32
    larger, smaller = max(dice), min(dice)
    state = int(second) | (larger | smaller << 3) << DICE_SHIFT | ply << PLY_SHIFT
    return np.array([low[0], high[0], low[1], high[1], state], np.uint64)


def dice_of(words: np.ndarray) -> tuple[int, int]:
    """Return the dice of a position, the larger first; (0, 0) before the roll."""
    state = int(words[STATE]) >> DICE_SHIFT
    return state & 7, state >> 3 & 7


def ply_of(words: np.ndarray) -> int:
    """Return the plies played before a position."""
    return int(words[STATE]) >> PLY_SHIFT


def swapped(positions: np.ndarray) -> np.ndarray:
    """Return positions (n, words) with the two players exchanged."""
    exchanged = np.ascontiguousarray(positions[:, [2, 3, 0, 1, 4]])
    exchanged[:, STATE] ^= TURN
    return exchanged


def turn_of(words: np.ndarray) -> int:
    """Return 0 if the first player is to move, 1 if the second."""
    return int(words[STATE]) & 1


def with_dice(words: np.ndarray, dice: tuple[int, int]) -> np.ndarray:
    """Return a position with the dice rolled; (0, 0): not yet."""
    after = words.copy()
    after[STATE] = words[STATE] & ~ALL_DICE | np.uint64((max(dice) | min(dice) << 3) << DICE_SHIFT)
    return after


def start() -> np.ndarray:
    """Return the starting position before the first roll."""
    counts = np.zeros((2, 26), np.int64)
    counts[:, [6, 8, 13, 24]] = 5, 3, 5, 2
    return packed(counts)
