"""Boards as lines of FIBS: `board:you:other:...`, in which gnubg and UBGI engines are asked."""

from __future__ import annotations

import re

import numpy as np

from games.backgammon.board import BAR, CHECKERS, OFF, counts_of, dice_of, packed, turn_of

FIELDS = 50  # at least, and the rest is about the server
NUMBER = re.compile(r"[+-]?\d{1,6}", re.ASCII)


def fibs_board(words: np.ndarray) -> str:
    """Return a position with dice as a line of FIBS, seen by the side to move; money play without a cube."""
    counts, turn = counts_of(words), turn_of(words)
    own, other = counts[turn], counts[1 - turn]
    points = own - other[::-1]  # place p of the other side is our place 25 - p; the bars are places 25 and 0
    points[0], points[BAR] = -other[BAR], own[BAR]
    numbers = ":".join(map(str, points.tolist()))
    larger, smaller = dice_of(words)
    return (f"board:me:other:9999:0:0:{numbers}:1:{larger}:{smaller}:0:0:1:1:1:0:1:-1:0:25:{own[OFF]}:{other[OFF]}:"
            f"{own[BAR]}:{other[BAR]}:0:0:0:0")


def from_fibs(text: str) -> np.ndarray:
    """Return the position of a line of FIBS, with the dice of the side to move, which is the first player here; ValueError in one
    line if it is not one."""
    fields = text.strip().split(":")
    if fields[0] != "board" or len(fields) < FIELDS:
        raise ValueError(f"{text[:20]!r} is not a board of FIBS, expected board: and {FIELDS - 1} fields")
    if wrong := [field for field in fields[6:FIELDS] if not NUMBER.fullmatch(field)]:
        raise ValueError(f"{wrong[0][:20]!r} in a board of FIBS, expected a number")
    numbers = [0] * 6 + [int(field) for field in fields[6:FIELDS]]
    points, turn, colour, direction = np.array(numbers[6:32]), numbers[32], numbers[41], numbers[42]
    if turn not in (-1, 1) or colour not in (-1, 1) or direction not in (-1, 1):
        raise ValueError(f"turn {turn}, colour {colour}, direction {direction} in a board of FIBS, expected 1 or -1")
    dice = (numbers[33], numbers[34]) if turn == colour else (numbers[35], numbers[36])
    points = points * colour if direction < 0 else points[::-1] * colour  # ours positive, moving towards 0
    counts = np.zeros((2, 26), np.int64)
    counts[0], counts[1] = np.maximum(points, 0), np.maximum(-points[::-1], 0)
    counts[:, OFF] = 0
    if (counts.sum(1) > CHECKERS).any():
        raise ValueError(f"a board of FIBS with {counts.sum(1).max()} checkers of a side, expected {CHECKERS} at most")
    counts[:, OFF] = CHECKERS - counts.sum(1)
    if turn != colour:
        counts = counts[::-1]
    if not all(0 <= die <= 6 for die in dice) or (0 in dice and dice != (0, 0)):
        raise ValueError(f"dice {dice[0]} and {dice[1]} in a board of FIBS, expected two of 1 to 6, or two zeros")
    return packed(counts, False, dice)
