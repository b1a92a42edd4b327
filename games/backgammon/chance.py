"""Rolls as the record of a game wants them: the dice of a ply, and all rolls that a position may get with their chances."""

from __future__ import annotations

import numpy as np

from games.backgammon import dice as dice_of_games
from games.backgammon.board import ALL_DICE, STATE, TURN, ply_of, start, with_dice
from games.backgammon.moves import ROLLS
from games.record import Dice

START = start()
CHANCES = np.array([1 if a == b else 2 for a, b in ROLLS]) / 36
DICE_BITS = np.array([with_dice(START, dice)[STATE] for dice in ROLLS])


def _begun(words: np.ndarray, dice: tuple[int, int], second: int) -> np.ndarray:
    """Return the start with its roll, for the side with the larger die."""
    after = with_dice(words, dice)
    if second:
        after[STATE] |= TURN
    return after


def roll(words: np.ndarray, dice: Dice) -> np.ndarray:
    """Return a position with the dice of its ply; at the start each side has a die, and the larger one begins."""
    if np.array_equal(words, START):
        return _begun(words, *dice_of_games.first_roll(dice.seed, dice.game))
    return with_dice(words, dice_of_games.roll(dice.seed, dice.game, ply_of(words)))


def rolls(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all positions with dice (k, 5) of a position before the roll, and how likely each is (k,)."""
    if np.array_equal(words, START):
        unequal = [dice for dice in ROLLS if dice[0] != dice[1]]
        begun = np.array([_begun(words, dice, second) for dice in unequal for second in (0, 1)])
        return begun, np.full(len(begun), 1 / len(begun))
    found = np.repeat(words[None], len(ROLLS), axis=0)
    found[:, STATE] = words[STATE] & ~ALL_DICE | DICE_BITS
    return found, CHANCES
