"""Count the terms of positions."""

from __future__ import annotations

import numpy as np

from evalterms.compose import Composition
from tuner.datasets.rows import Rows


class Counter:
    """Counts the terms of positions into buffers that are reused."""

    def __init__(self, composition: Composition) -> None:
        self._count = composition.glue.coefficients
        width = -(-len(composition.form.column) // 64) * 64
        self._rows = np.zeros((8, width), np.int32)
        self._room = 0

    def count(self, positions: np.ndarray) -> Rows:
        """Return the coefficients of positions (n, words); valid until the next call."""
        n = len(positions)
        row, phase = np.zeros(n + 1, np.int64), np.empty(n, np.uint8)
        done = 0
        if self._room == 0:
            self._grow(n)
        while done < n:
            done = self._count(positions, done, self._rows, self._index, self._counts, row[1:], phase)
            if done < 0:
                raise OverflowError("a term counts beyond 127 in one position; count in larger units")
            if done < n:
                self._grow(n)
        return Rows(self._index[:row[-1]], self._counts[:row[-1]], row, phase)

    def _grow(self, n: int) -> None:
        old = self._room
        self._room = max(2 * old, 64 * n, 16 * self._rows.shape[1])
        index, counts = np.empty(self._room, np.uint16), np.empty(self._room, np.int8)
        if old:
            index[:old], counts[:old] = self._index, self._counts
        self._index, self._counts = index, counts
