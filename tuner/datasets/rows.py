"""Positions as sparse rows of counts, in memory, in a dataset or on a GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Rows(NamedTuple):
    """n positions: the nonzeros of position i are row[i] - row[0] to row[i + 1] - row[0] of `index` (uint16 columns) and `count`
    (int8, or float32 if wide); `row` (n + 1,) is int64. `phase` (n,) is uint8 (uint16 if wide), indices into the shares of the
    stages. `outcome`, `weight` and `rest` (n,) float32 are optional. Arrays are NumPy's or CuPy's."""

    index: Any
    count: Any
    row: Any
    phase: Any
    outcome: Any = None
    weight: Any = None
    rest: Any = None

    @property
    def of(self) -> np.ndarray:
        """The position (nonzeros,) of each nonzero."""
        return np.repeat(np.arange(len(self.phase)), np.diff(self.row))

    def only(self, keep: np.ndarray) -> Rows:
        """Return the rows that `keep` (n,) bool marks."""
        lengths = np.diff(self.row)
        nonzeros = np.repeat(keep, lengths)
        parts = {name: None if array is None else array[keep] if len(array) else array
                 for name, array in zip(self._fields[3:], self[3:], strict=True)}
        return Rows(self.index[nonzeros], self.count[nonzeros], np.concatenate([[0], np.cumsum(lengths[keep])]), **parts)

    def matrix(self, columns: int) -> Any:
        """Return the rows (n, columns) as a SciPy CSR array of float64."""
        from scipy.sparse import csr_array

        return csr_array((self.count.astype(np.float64), self.index.astype(np.int32), self.row - self.row[0]),
                         shape=(len(self.phase), columns))

    def dense(self, columns: int) -> np.ndarray:
        """Return the rows as a dense array (n, columns) of float64."""
        found = np.zeros((len(self.phase), columns))
        found[self.of, self.index] = self.count
        return found
