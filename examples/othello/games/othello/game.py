"""Othello as a record of functions; its notation."""

import re

import numpy as np
from games.othello import rules

from games.plain import plain_game
from games.record import Wording

NAMES = ["", *(f"{file}{rank}" for rank in range(1, 9) for file in "abcdefgh"), "pass"]
START = f"{'.' * 27}ox{'.' * 6}xo{'.' * 27} x 0"


def position(text: str) -> np.ndarray:
    """Parse a text: the squares from a1 to h8, the side to move, the plies played; ValueError if it
    is not a position."""
    found = re.fullmatch(r"([xo.]{64}) ([xo]) ([0-9]{1,4})", text)
    if not found:
        raise ValueError(
            f"{text[:80]!r} is not a position, expected 64 squares x, o or ., the side to move,"
            " plies"
        )
    black, white = (sum(1 << i for i, mark in enumerate(found[1]) if mark == own) for own in "xo")
    words = np.array(
        [black, white, "xo".index(found[2]) | int(found[3]) << rules.PLY_SHIFT, 0], np.uint64
    )
    rules.complete(words)
    return words


def text(words: np.ndarray) -> str:
    """Return a position as text, see `position`."""
    black, white, state = (int(word) for word in words[:3])
    board = "".join(
        ".xo"[(black >> square & 1) + 2 * (white >> square & 1)] for square in range(64)
    )
    return f"{board} {'xo'[state & 1]} {state >> rules.PLY_SHIFT}"


def draw(words: np.ndarray) -> str:
    """Return the board, a1 at the top left."""
    board = text(words)
    return "\n".join(
        [
            "  a b c d e f g h",
            *(f"{rank + 1} {' '.join(board[8 * rank : 8 * rank + 8])}" for rank in range(8)),
        ]
    )


GAME = plain_game(
    rules.COMPILED,
    name="othello",
    suffix=".oth",
    names=NAMES,
    stages=("opening", "ending"),
    start=lambda: position(START),
    plies=lambda positions: positions[:, rules.STATE].astype(np.int64) >> rules.PLY_SHIFT,
    position=position,
    text=text,
    draw=draw,
    wording=Wording(sides=("Black", "White"), piece="disc", ratios=False),
)
