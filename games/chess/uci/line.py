"""The game set by `position`: all its positions, so that the search sees repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from games.chess.coordinates import move_named
from games.chess.fen import START, position
from games.chess.game import after
from games.chess.position import CLOCK_MASK, CLOCK_SHIFT


class Line:
    """A start position and the positions after each move."""

    def __init__(self) -> None:
        self._start = START
        self._names: list[str] = []
        self._positions = [position(START)]

    def set(self, start: str, names: Sequence[str]) -> None:
        """Set start (FEN) and moves; after a ValueError, which names the fault, the game is unchanged.

        Moves shared with the current game are not replayed, because each `position` command repeats the whole game.
        """
        shared = 0
        if start == self._start:
            pairs = zip(names, self._names, strict=False)
            shared = next((i for i, (new, old) in enumerate(pairs) if new != old), min(len(names), len(self._names)))
            positions = self._positions[:shared + 1]
        else:
            positions = [position(start)]
        for i, name in enumerate(names[shared:], shared):
            try:
                move = move_named(positions[-1], name)
            except ValueError:
                raise ValueError(f"illegal move {name[:40]!a} at ply {i + 1}") from None
            positions.append(after(positions[-1], move))
        self._start, self._names, self._positions = start, list(names), positions

    def playable(self) -> list[np.ndarray]:
        """Return the positions (10,) since the last capture or pawn move: those that can recur, and the last one."""
        clock = int(self._positions[-1][8] >> CLOCK_SHIFT & CLOCK_MASK)
        return self._positions[-clock - 1:]
