"""The moves of a roll: all distinct positions that it leads to.

Positions are seen by the side to move: its low and high words, then the same of its opponent
(`games.backgammon.rules.board`). The opponent then rolls. An afterstate is six words in a row:

    0-3   the counts: of the side that moved, of its opponent
    4     one way to play it: a byte for each checker moved, its place and 32 times the die
    5     the points where the side that moved could still hit

Doubles are played from the rearmost checker on: each set of steps has one such order, and it can be
played if any can. So doubles give each afterstate once; nondoubles are played in both orders, and
what both give is kept once."""

import numpy as np
from numba.core import types

from games.backgammon.rules import inner
from games.backgammon.rules.board import (
    BAR_SET,
    OUTSIDE,
    POINTS,
    mirror,
    occupied,
    pointer_type,
    two_or_more,
    with_one_less,
    with_one_more,
)
from games.bits import EMPTY, bit, leading_zeros, lowest, without_lowest

STRIDE = 6
# ways to choose four steps among fifteen checkers: more afterstates there cannot be
MAX_AFTERSTATES = 3060
FIVE, EIGHT = np.uint64(5), np.uint64(8)


@inner(types.uint64(types.uint64, types.uint64, types.int64), forceinline=True)
def sources(own, blocked, die):
    """Return the places of `own`, all occupied ones, from which a checker can move by a die."""
    if own & BAR_SET:
        return BAR_SET & (POINTS & ~blocked) << np.uint64(die)
    found = own & POINTS & (POINTS & ~blocked) << np.uint64(die)
    if own & OUTSIDE == EMPTY:
        highest = 63 - leading_zeros(own & POINTS) if own & POINTS else 0
        found |= (
            own & POINTS & bit(min(highest, die))
        )  # exact, or from the highest point if that is smaller than the die
    return found


@inner(
    types.void(pointer_type, types.int64, pointer_type, types.int64, types.int64, types.int64),
    forceinline=True,
)
def step(before, at, after, to, place, die):
    """Write to `after` what follows from moving one checker in an afterstate of `before`."""
    low, high = with_one_less(before[at], before[at + 1], bit(place))
    target = bit(max(place - die, 0))
    low, high = with_one_more(low, high, target)
    other_low, other_high, blots, steps = (
        before[at + 2],
        before[at + 3],
        before[at + 5],
        before[at + 4],
    )
    if blots & target:
        blots ^= target
        other_low, other_high = with_one_less(other_low, other_high, mirror(target))
        other_low, other_high = with_one_more(other_low, other_high, BAR_SET)
    moved = 0  # checkers moved so far
    while moved < 3 and steps >> np.uint64(8 * moved) & np.uint64(255):
        moved += 1
    steps |= (np.uint64(place) | np.uint64(die) << FIVE) << np.uint64(8 * moved)
    after[to] = low
    after[to + 1] = high
    after[to + 2] = other_low
    after[to + 3] = other_high
    after[to + 4] = steps
    after[to + 5] = blots


@inner(types.int64(pointer_type, pointer_type, types.uint64, types.int64))
def doubles(out, scratch, blocked, die):
    """Play up to four steps by one die from the position at the start of `out`; return the number
    of afterstates in `out`."""
    n = 1
    for k in range(4):
        more = 0
        for i in range(n):
            at = STRIDE * i
            own = occupied(out[at], out[at + 1])
            found = sources(own, blocked, die)
            if k:
                last = np.int64(out[at + 4] >> np.uint64(8 * (k - 1)) & np.uint64(31))
                found &= bit(last) | (bit(last) - np.uint64(1))
            while found:
                step(out, at, scratch, STRIDE * more, lowest(found), die)
                more += 1
                found = without_lowest(found)
        if not more:
            return n
        n = more
        for i in range(STRIDE * n):
            out[i] = scratch[i]
    return n


@inner(types.boolean(pointer_type, types.int64))
def is_new(out, n):
    """Return whether afterstate n of `out` differs from all before."""
    at = STRIDE * n
    for i in range(0, at, STRIDE):
        if (
            out[i] == out[at]
            and out[i + 1] == out[at + 1]
            and out[i + 2] == out[at + 2]
            and out[i + 3] == out[at + 3]
        ):
            return False
    return True


@inner(types.int64(pointer_type, pointer_type, types.int64, types.uint64, types.int64, types.int64))
def in_order(out, scratch, n, blocked, first, second):
    """Append to the n afterstates of `out` the results of one die and then the second from the
    position at the start of `scratch`."""
    found = sources(occupied(scratch[0], scratch[1]), blocked, first)
    while found:
        step(scratch, 0, scratch, STRIDE, lowest(found), first)
        found = without_lowest(found)
        then = sources(occupied(scratch[STRIDE], scratch[STRIDE + 1]), blocked, second)
        while then:
            step(scratch, STRIDE, out, STRIDE * n, lowest(then), second)
            if is_new(out, n):
                n += 1
            then = without_lowest(then)
    return n


@inner(types.int64(pointer_type, pointer_type, types.int64, types.int64))
def afterstates_of(out, scratch, larger, smaller):
    """Write the afterstates of a roll to `out`, which starts with the four words of the position;
    return their number.

    All dice that can be played are played, the larger if only one can. A side that cannot move
    passes: its only afterstate is the position. Both arrays have room for MAX_AFTERSTATES."""
    blocked = mirror(two_or_more(out[2], out[3])) & POINTS
    out[4] = EMPTY
    out[5] = mirror(occupied(out[2], out[3])) & POINTS & ~blocked
    if larger == smaller:
        return doubles(out, scratch, blocked, larger)
    for i in range(STRIDE):
        scratch[i] = out[i]
    n = in_order(out, scratch, 0, blocked, larger, smaller)
    n = in_order(out, scratch, n, blocked, smaller, larger)
    if n:
        return n
    for k in range(2):
        die = larger if k == 0 else smaller
        found = sources(occupied(scratch[0], scratch[1]), blocked, die)
        while found:
            step(scratch, 0, out, STRIDE * n, lowest(found), die)
            n += 1
            found = without_lowest(found)
        if n:
            return n
    for i in range(STRIDE):
        out[i] = scratch[i]
    return 1
