"""The dice of a game: the next roll, and all rolls that there are."""

from __future__ import annotations

import numpy as np

from games.backgammon.board import DICE_SHIFT, TURN, dice_of, ply_of, with_dice
from games.backgammon.dice import SIDES, first_roll, roll
from games.backgammon.native import WHOLE_GAMES
from games.record import Dice

LARGER, SMALLER = np.divmod(WHOLE_GAMES.ways, SIDES)
BITS = (LARGER + 1 | (SMALLER + 1) << 3).astype(np.uint64) << np.uint64(DICE_SHIFT)  # of the 21 rolls that differ
ALL_DICE = np.uint64(63 << DICE_SHIFT)


def rolled(words: np.ndarray, dice: Dice) -> np.ndarray:
    """Return a position with its dice; the first roll of a game also says who moves. Dice that have been rolled stay."""
    if dice_of(words) != (0, 0):
        return words
    ply = ply_of(words)
    if ply:
        return with_dice(words, roll(dice.seed, dice.game, ply))
    found, second = first_roll(dice.seed, dice.game)
    after = with_dice(words, found)
    after[4] = after[4] & ~TURN | np.uint64(second)
    return after


def rolls(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all rolls of a position before the roll, as positions with dice (k, 5), and how likely each is (k,)."""
    if ply_of(words):
        found = np.repeat(words[None], len(BITS), axis=0)
        found[:, 4] = words[4] & ~ALL_DICE | BITS
        return found, WHOLE_GAMES.chances
    unequal = BITS[LARGER != SMALLER]
    found = np.repeat(words[None], 2 * len(unequal), axis=0)
    found[:, 4] = words[4] & ~(ALL_DICE | TURN) | np.concatenate([unequal, unequal | TURN])
    return found, np.full(len(found), 1 / len(found))
