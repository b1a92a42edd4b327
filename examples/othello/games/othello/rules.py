"""The rules of Othello: discs between a new disc and another of its side, in a straight line,
change sides.

A position is four words: the discs of Black, who begins, and of White, square a1 in bit 0 and h8 in
bit 63; the state, whose bit 0 is the side to move (1: White) and whose bits from 16 on are the
plies played; a hash. Moves are numbers from 1 (a1) to 64 (h8); a side that cannot move passes, with
move 65, and the game ends when neither can."""

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE, bit, lowest, popcount, without_lowest
from games.compile import jit
from games.compile.hashset import mix
from games.search.plain import GOES_ON, moves_type, plain_core, words_type

SOURCES = [
    *jit.modules("games.compile", "*"),
    *jit.modules("games", "bits"),
    *jit.modules("games.search", "*"),
    *jit.modules("games.othello", "rules"),
]
CORE = jit.Unit("othello", lambda: SOURCES)
inner, entry = CORE.inner, CORE.entry

WORDS, STATE, PASS = 4, 2, 65
PLY_SHIFT, ONE_PLY = 16, np.uint64(1 << 16)
ALL = np.uint64((1 << 64) - 1)
NOT_A, NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
# the eight directions: four shifts, up and then down, each with the squares that it can reach
SHIFTS = tuple(np.uint64(n) for n in (1, 8, 9, 7))
UP, DOWN = (NOT_A, ALL, NOT_A, NOT_H), (NOT_H, ALL, NOT_H, NOT_A)


class Position(NamedTuple):
    """The words of a position as a value."""

    black: np.uint64
    white: np.uint64
    state: np.uint64
    key: np.uint64


position_type = numba.typeof(Position(*[EMPTY] * WORDS))


@inner(types.uint64(types.uint64, types.int64), forceinline=True)
def step(squares, direction):
    """Return the neighbors of some squares in one of eight directions."""
    if direction < 4:
        return squares << SHIFTS[direction] & UP[direction]
    return squares >> SHIFTS[direction - 4] & DOWN[direction - 4]


@inner(types.uint64(types.uint64, types.uint64, types.int64), forceinline=True)
def run(discs, other, direction):
    """Return the discs of the other side in one direction from these without a gap."""
    found = step(discs, direction) & other
    for _ in range(5):
        found |= step(found, direction) & other
    return found


@inner(types.uint64(types.uint64, types.uint64))
def targets(own, other):
    """Return the squares where a side may put a disc."""
    found = EMPTY
    for direction in range(8):
        found |= step(run(own, other, direction), direction)
    return found & ~(own | other)


@inner(types.uint64(types.uint64, types.uint64, types.uint64))
def enclosed(disc, own, other):
    """Return the discs that a new disc turns."""
    found = EMPTY
    for direction in range(8):
        line = run(disc, other, direction)
        if step(line, direction) & own:
            found |= line
    return found


@inner(types.UniTuple(types.uint64, 2)(position_type), forceinline=True)
def sides(p):
    """Return the discs of the side to move and of the other."""
    return (p.white, p.black) if p.state & ONE else (p.black, p.white)


@inner(position_type(position_type, types.int64))
def make(p, move):
    """Return the position after a legal move."""
    own, other = sides(p)
    if move != PASS:
        disc = bit(move - 1)
        turned = enclosed(disc, own, other)
        own, other = own | disc | turned, other ^ turned
    state = (p.state ^ ONE) + ONE_PLY
    black, white = (own, other) if state & ONE else (other, own)
    return Position(black, white, state, mix(mix(black) ^ white ^ (state & ONE) << np.uint64(63)))


@inner(types.int64(position_type, moves_type))
def generate(p, moves):
    """Write the legal moves to `moves`; returns their number."""
    own, other = sides(p)
    free, n = targets(own, other), 0
    while free:
        moves[n] = lowest(free) + 1
        free = without_lowest(free)
        n += 1
    if n == 0 and targets(other, own):
        moves[0] = PASS
        n = 1
    return n


@inner(types.int64(position_type))
def outcome(p):
    """Return the result for the side to move, 1, 0 or -1; GOES_ON before the end."""
    own, other = sides(p)
    if targets(own, other) | targets(other, own):
        return GOES_ON
    lead = popcount(own) - popcount(other)
    return 1 if lead > 0 else -1 if lead < 0 else 0


@inner(position_type(words_type))
def load(words):
    return Position(words[0], words[1], words[2], words[3])


@inner(types.boolean(words_type))
def second_to_move(words):
    """Return whether White is to move."""
    return words[STATE] & ONE != EMPTY


@entry(types.void(words_type))
def complete(words):
    """Write the hash of a position."""
    p = load(words)
    words[3] = mix(mix(p.black) ^ p.white ^ (p.state & ONE) << np.uint64(63))


COMPILED = plain_core(
    CORE,
    position_type,
    second_to_move=second_to_move,
    load=load,
    generate=generate,
    make=make,
    outcome=outcome,
)
