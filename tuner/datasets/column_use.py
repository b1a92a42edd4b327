"""How often each column of a dataset applies, phase by phase."""

from __future__ import annotations

import numpy as np
from numba.core import types

from tuner.datasets.array_types import KINDS, index_type, matrix_type, order_type, ranges_type, row_type
from tuner.datasets.dataset import Dataset
from tuner.datasets.ranges import ahead
from tuner.parallel import in_order
from tuner.unit import entry

uses_type = types.Array(types.int64, 2, "C")


@entry(*(types.void(index_type, count, row_type, phase, ranges_type, index_type, order_type, uses_type, matrix_type)
         for count, phase in KINDS))
def column_use(index, count, row, phase, ranges, column, latest, positions, total):
    """Add, per phase and column, the number of positions that the column applies to and the sum of absolute counts. `column` is
    that of each index; `latest` is memory to work in, -1 for each column."""
    for r in range(len(ranges)):
        for position in range(ranges[r, 0], ranges[r, 1]):
            applies, sums = positions[phase[position]], total[phase[position]]
            for k in range(np.uint64(row[position]), np.uint64(row[position + 1])):
                at = column[index[k]]
                if latest[at] != position:
                    applies[at] += 1
                latest[at] = position
                sums[at] += abs(np.float64(count[k]))


def use_of(data: Dataset, ranges: np.ndarray, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each value of `phase` and column (codes, columns), the positions that it applies to and the sum of absolute
    counts."""
    shape = (data.codes, data.columns)

    def work(piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        positions, total = np.zeros(shape, np.int64), np.zeros(shape)
        column_use(data.index, data.count, data.row, data.phase, piece, data.column, np.full(data.columns, -1), positions, total)
        return positions, total

    positions, total = np.zeros(shape, np.int64), np.zeros(shape)
    for some, counts in in_order(work, ahead(data, ranges), workers):
        positions += some
        total += counts
        data.release()
    return positions, total
