"""The game of chess set by `position`."""

from __future__ import annotations

import numpy as np

from games.chess.coordinates import move_named
from games.chess.fen import START, position
from games.chess.game import after
from games.chess.position import CLOCK_MASK, CLOCK_SHIFT
from games.protocol import line


class Line(line.Line):
    """A start position and the positions after each move."""

    def __init__(self) -> None:
        super().__init__(START, position, move_named, after)

    def playable(self) -> list[np.ndarray]:
        """Return the positions (10,) since the last capture or pawn move: those that can recur, and the last one."""
        clock = int(self.positions[-1][8] >> CLOCK_SHIFT & CLOCK_MASK)
        return self.positions[-clock - 1:]
