"""Moves as numbers and names: the dice and a place and a die for each checker moved, `31:8/5,6/5`.

A move is a number: the bytes of `games.backgammon.rules.steps_of`, and above them the dice, 3 bits each, the larger first. Before
the roll the moves of a position are those of all rolls.
"""

from __future__ import annotations

import numpy as np

from games.backgammon.board import dice_of, with_dice
from games.backgammon.notation import PASSES, parse_move
from games.backgammon.notation import move_text as steps_text
from games.backgammon.rules import MOVE_DICE_SHIFT, afterstates, points

STEPS = (1 << MOVE_DICE_SHIFT) - 1
ROLLS = [(larger, smaller) for larger in range(1, 7) for smaller in range(1, larger + 1)]
PASS = "pass"


def _rolls(words: np.ndarray) -> list[tuple[int, int]]:
    """Return the rolls that a position may have: its dice, or all before the roll."""
    dice = dice_of(words)
    return ROLLS if dice == (0, 0) else [dice]


def _number(dice: tuple[int, int], steps: int) -> int:
    return steps | (dice[0] | dice[1] << 3) << MOVE_DICE_SHIFT


def dice_of_move(move: int) -> tuple[int, int]:
    """Return the dice of a move, the larger first."""
    return move >> MOVE_DICE_SHIFT & 7, move >> MOVE_DICE_SHIFT + 3 & 7


def legal_moves(words: np.ndarray) -> list[int]:
    """Return the moves of the roll of a position, or before the roll those of every roll; none once the game is over."""
    if points(words):
        return []
    return [_number(dice, steps) for dice in _rolls(words) for steps in afterstates(with_dice(words, dice))[1].tolist()]


def play(words: np.ndarray, move: int) -> np.ndarray:
    """Return the position after a legal move, before the next roll."""
    after, moves = afterstates(with_dice(words, dice_of_move(move)))
    return after[int(np.flatnonzero(moves == np.uint64(move & STEPS))[0])].copy()


def move_text(words: np.ndarray, move: int) -> str:
    """Return the name of a move: the dice, and the steps without blanks."""
    larger, smaller = dice_of_move(move)
    steps = move & STEPS
    return f"{larger}{smaller}:{steps_text(words, steps).replace(' ', ',') if steps else PASS}"


def move_named(words: np.ndarray, name: str) -> int:
    """Return the legal move of that name, with its dice or, after the roll, without them; ValueError if there is none."""
    rolled, colon, steps = name.partition(":")
    if not colon:
        dice, steps = dice_of(words), rolled
        if dice == (0, 0) or steps in PASSES and steps != PASS:
            raise ValueError(f"{name[:20]!r} is not a move with its dice, such as 31:8/5,6/5")
    else:
        dice = next((dice for dice in _rolls(words) if rolled in (f"{dice[0]}{dice[1]}", f"{dice[1]}{dice[0]}")), (0, 0))
        if dice == (0, 0):
            raise ValueError(f"{rolled[:20]!r} are not the dice of this position")
    with_roll = with_dice(words, dice)
    found = afterstates(with_roll)
    return _number(dice, int(found[1][parse_move(with_roll, steps.replace(",", " "), found)]))
