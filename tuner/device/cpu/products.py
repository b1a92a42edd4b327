"""Sums of u u' over many vectors u of which most numbers are zero, such as the scores of games.

Columns that many vectors have are multiplied as dense matrices. The others are few in each vector: their products are added
one row of the sum after the other, so that the row stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba.core import types

from tuner.datasets.array_types import matrix_type, order_type, ranges_type, vector_type
from tuner.unit import entry

FREQUENT = 0.2  # of the vectors: a dense product does some twenty times as many steps a second


def order_of(vectors: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
    """The chosen columns of vectors (n, d), the most frequent first, and how many of them are frequent."""
    share = np.count_nonzero(vectors[:, chosen], axis=0) / max(1, len(vectors))
    return chosen[np.argsort(-share, kind="stable")], int((share > FREQUENT).sum())


def products(batches: Iterable[np.ndarray], order: np.ndarray, dense: int) -> np.ndarray:
    """(k, k) the sum over vectors (n, d) of all batches, columns in this order, of which the first are dense: right on and
    below the diagonal, to be put together by `assembled`."""
    k = len(order)
    sums = np.zeros((k, k))
    for vectors in batches:
        n = len(vectors)
        frequent = np.empty((n, dense))
        places, cursors = np.empty((2, n * (k - dense)), np.int64), np.zeros((2, max(n, k) + 1), np.int64)
        _add_products(vectors, order, dense, frequent, np.empty(n * (k - dense)), places, cursors, sums)
        sums[:dense, :dense] += frequent.T @ frequent
    return sums


def assembled(sums: np.ndarray, order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(k, k) the whole sum in the order of the chosen columns, which ascend."""
    place = np.searchsorted(chosen, order)
    found = np.empty_like(sums)
    found[np.ix_(place, place)] = np.tril(sums) + np.tril(sums, -1).T
    return found


@entry(types.void(matrix_type, order_type, types.int64, matrix_type, vector_type, ranges_type, ranges_type, matrix_type))
def _add_products(vectors, order, dense, frequent, value, places, cursors, sums):
    """Fill `frequent` (n, dense) and add to the rows of `sums` (k, k) behind those, up to the diagonal.

    Room: `value` and `places` for n (k - dense) nonzeros, their columns and, by column, their vectors; zeros in `cursors`,
    where the vectors begin and the columns.
    """
    n, k = len(vectors), len(order)
    found = 0
    for i in range(n):
        cursors[0, i] = found
        for j in range(dense):
            frequent[i, j] = vectors[i, order[j]]
        for j in range(dense, k):
            number = vectors[i, order[j]]
            if number != 0.0:
                places[0, found], value[found] = j, number
                cursors[1, j + 1] += 1
                found += 1
    cursors[0, n] = found
    for j in range(dense, k):
        cursors[1, j + 1] += cursors[1, j]
    for i in range(n):
        for at in range(cursors[0, i], cursors[0, i + 1]):
            j = places[0, at]
            places[1, cursors[1, j]] = i
            cursors[1, j] += 1
    # column by column: a vector's nonzeros are met in their order, and those before have been met
    begin, done = 0, cursors[0].copy()
    for j in range(dense, k):
        for q in range(begin, cursors[1, j]):
            i = places[1, q]
            number = value[done[i]]
            for other in range(dense):
                sums[j, other] += number * frequent[i, other]
            for at in range(cursors[0, i], done[i] + 1):
                sums[j, places[0, at]] += number * value[at]
            done[i] += 1
        begin = cursors[1, j]
