"""Sums in a fixed order, wherever their parts come from: parts are added to the sum of their group, groups to the total."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

GRADIENT_GROUP, MATRIX_GROUP = 16, 16  # pieces of a group: 1,048,576 positions, for matrices four times as many


class TreeSum:
    """The sum of arrays of the same shape, added one by one in order."""

    def __init__(self, group: int) -> None:
        self._group, self._added = group, 0
        self._subtotal: np.ndarray | None = None
        self._total: np.ndarray | None = None

    def add(self, part: np.ndarray) -> None:
        """Add a part."""
        if self._subtotal is None:
            self._subtotal = np.zeros_like(part)
        self._subtotal += part
        self._added += 1
        if self._added == self._group:
            self.add_group(self._subtotal)
            self._subtotal, self._added = None, 0

    def add_group(self, subtotal: np.ndarray) -> None:
        """Add the sum of a whole group."""
        if self._total is None:
            self._total = np.zeros_like(subtotal)
        self._total += subtotal

    def total(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the sum, zeros of this shape if nothing was added."""
        if self._subtotal is not None:
            self.add_group(self._subtotal)
            self._subtotal = None
        return np.zeros(shape) if self._total is None else self._total


def sum_of(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of the parts of one group."""
    found: np.ndarray | None = None
    for part in parts:
        found = np.zeros_like(part) if found is None else found
        found += part
    assert found is not None, "a group has a part"
    return found
