"""The game set by `position`: all its positions, so that the search sees repetitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


class Line:
    """A start position and the positions after each move.

    `start`: the text of the initial position; the functions are those of `games.record.Game` with these names.
    """

    def __init__(self, start: str, position: Callable[[str], np.ndarray], move_named: Callable[[np.ndarray, str], int],
                 play: Callable[[np.ndarray, int], np.ndarray]) -> None:
        self._position, self._move_named, self._play = position, move_named, play
        self._start = start
        self._names: list[str] = []
        self.positions = [position(start)]

    def set(self, start: str, names: Sequence[str]) -> None:
        """Set start and moves; after a ValueError, which names the fault, the game is unchanged.

        Moves shared with the current game are not replayed, because each `position` command repeats the whole game.
        """
        shared = 0
        if start == self._start:
            pairs = zip(names, self._names, strict=False)
            shared = next((i for i, (new, old) in enumerate(pairs) if new != old), min(len(names), len(self._names)))
            positions = self.positions[:shared + 1]
        else:
            positions = [self._position(start)]
        for i, name in enumerate(names[shared:], shared):
            try:
                move = self._move_named(positions[-1], name)
            except ValueError:
                raise ValueError(f"illegal move {name[:40]!a} at ply {i + 1}") from None
            positions.append(self._play(positions[-1], move))
        self._start, self._names, self.positions = start, list(names), positions

    def playable(self) -> list[np.ndarray]:
        """Return the positions that can recur, and the last one."""
        return self.positions
