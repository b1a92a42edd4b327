"""Dice by counters: each roll is a function of a seed, the number of a game and a ply. A compiled
roll is a number, `SIDES` times one die less 1, plus the second less 1.

Philox4x64-10 (Salmon, Moraes, Dror and Shaw, 2011) makes 256 random bits from a counter and a key.
Both games of a pair can have the same rolls, and neither the order of games nor the number of
threads changes any."""

import numpy as np
from llvmlite import ir
from numba.core import types

from games.backgammon.rules import entry, inner
from games.backgammon.rules.board import ALL_DICE, STATE, TURN, ply_of, start, with_dice
from games.bits import ONE
from games.compile import jit
from games.record import Dice

_WIDE = ir.IntType(128)
MULTIPLIER_0, MULTIPLIER_1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
WEYL_0, WEYL_1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
ROUNDS, ALL_WAYS = 10, np.uint64(36)
SIDES = 6
AGAIN = np.uint64(1 << 32)


def _upper(builder, values):
    wide = [builder.zext(value, _WIDE) for value in values]
    return builder.trunc(builder.lshr(builder.mul(*wide), _WIDE(64)), ir.IntType(64))


@jit.intrinsic(types.uint64, (types.uint64, types.uint64), _upper)
def upper_product(a, b):
    """Return the upper 64 bits of a product of 128."""
    return np.uint64(int(a) * int(b) >> 64)


@inner(
    types.UniTuple(types.uint64, 4)(
        types.uint64, types.uint64, types.uint64, types.uint64, types.uint64, types.uint64
    )
)
def philox(c0, c1, c2, c3, k0, k1):
    """Return the four random words of a counter of four words and a key of two."""
    for _ in range(ROUNDS):
        upper_0, lower_0 = upper_product(MULTIPLIER_0, c0), MULTIPLIER_0 * c0
        upper_1, lower_1 = upper_product(MULTIPLIER_1, c2), MULTIPLIER_1 * c2
        c0, c1, c2, c3 = upper_1 ^ c1 ^ k0, lower_1, upper_0 ^ c3 ^ k1, lower_0
        k0, k1 = k0 + WEYL_0, k1 + WEYL_1
    return c0, c1, c2, c3


@inner(types.int64(types.uint64, types.uint64, types.uint64))
def way_of(seed, game, ply):
    """Return which of the 36 ways the dice fall at a ply of a game; every ply from 0 on has its
    own."""
    random = philox(ply, game, np.uint64(0), np.uint64(0), seed, np.uint64(0))
    return np.int64(upper_product(random[0], ALL_WAYS))


@inner(types.UniTuple(types.int64, 2)(types.uint64, types.uint64))
def first_way(seed, game):
    """Return how the dice of the first ply fall, each side's own, rolled again while they are
    equal, and the side that starts.

    The rolls that do not count are those of plies 2^32 and on, which no game reaches.
    """
    ply = np.uint64(0)
    way = way_of(seed, game, ply)
    ply = AGAIN
    while way // SIDES == way % SIDES:
        way = way_of(seed, game, ply)
        ply += ONE
    return way, np.int64(way % SIDES > way // SIDES)


@entry(types.int64(types.uint64, types.uint64, types.uint64))
def _way(seed, game, ply):
    return way_of(seed, game, ply)


@entry(types.UniTuple(types.int64, 2)(types.uint64, types.uint64))
def _first_way(seed, game):
    return first_way(seed, game)


@inner(types.int64(types.int64))
def larger_first(way):
    """Return the roll of the 21 that differ which one of the 36 ways is."""
    a, b = way // SIDES, way % SIDES
    return SIDES * max(a, b) + min(a, b)


@entry(types.void(types.Array(types.uint64, 1, "C"), types.uint64, types.uint64))
def fill(words, k0, k1):
    """Replace a counter of four words by its random words."""
    words[0], words[1], words[2], words[3] = philox(words[0], words[1], words[2], words[3], k0, k1)


def dice_of_way(way: int) -> tuple[int, int]:
    """Return two dice, the larger first."""
    a, b = divmod(int(way), SIDES)
    return max(a, b) + 1, min(a, b) + 1


def roll(seed: int, game: int, ply: int) -> tuple[int, int]:
    """Return the dice of a ply from 1 on, the larger first."""
    return dice_of_way(_way(np.uint64(seed), np.uint64(game), np.uint64(ply)))


def first_roll(seed: int, game: int) -> tuple[tuple[int, int], int]:
    """Return the dice of the first ply, never equal, and who starts: 0 the first player, whose die
    is the larger."""
    way, second = _first_way(np.uint64(seed), np.uint64(game))
    return dice_of_way(way), int(second)


# that differ
ROLLS = [(larger, smaller) for larger in range(1, SIDES + 1) for smaller in range(1, larger + 1)]
WAYS = np.array([SIDES * (larger - 1) + smaller - 1 for larger, smaller in ROLLS])
DOUBLES = np.array([larger == smaller for larger, smaller in ROLLS])
CHANCES, FIRST_CHANCES = np.where(DOUBLES, 1, 2) / 36, np.where(DOUBLES, 0, 1) / 15
START = start()
DICE_BITS = np.array([with_dice(START, dice)[STATE] for dice in ROLLS])


def _begun(words: np.ndarray, dice: tuple[int, int], second: int) -> np.ndarray:
    """Return the start with its roll, for the side with the larger die."""
    after = with_dice(words, dice)
    if second:
        after[STATE] |= TURN
    return after


def rolled(words: np.ndarray, dice: Dice) -> np.ndarray:
    """Return a position with the dice of its ply; at the start each side has a die, and the larger
    one begins."""
    if np.array_equal(words, START):
        return _begun(words, *first_roll(dice.seed, dice.game))
    return with_dice(words, roll(dice.seed, dice.game, ply_of(words)))


def rolls(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all positions with dice (k, 5) of a position before the roll, and how likely each is
    (k,)."""
    if np.array_equal(words, START):
        begun = np.array(
            [
                _begun(words, dice, second)
                for dice, double in zip(ROLLS, DOUBLES, strict=True)
                if not double
                for second in (0, 1)
            ]
        )
        return begun, np.full(len(begun), 1 / len(begun))
    positions = np.repeat(words[None], len(ROLLS), axis=0)
    positions[:, STATE] = words[STATE] & ~ALL_DICE | DICE_BITS
    return positions, CHANCES
