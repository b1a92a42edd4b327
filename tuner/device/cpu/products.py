"""Sums of u u' over many sparse vectors u, such as the scores of games.

Columns that are nonzero in many vectors are multiplied as dense matrices. Each vector has few of the others: their products
are added one row of the sum after the other, so that the row stays in the CPU's cache.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba.core import types

from tuner.datasets.array_types import matrix_type, order_type, ranges_type, vector_type
from tuner.unit import entry

FREQUENT = 0.2  # share of the vectors: a dense product does about twenty times as many steps a second


def order_of(vectors: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the chosen columns of vectors (n, d), most frequent first, and how many of them are frequent."""
    share = np.count_nonzero(vectors[:, chosen], axis=0) / max(1, len(vectors))
    return chosen[np.argsort(-share, kind="stable")], int((share > FREQUENT).sum())


def products(batches: Iterable[np.ndarray], order: np.ndarray, dense: int) -> np.ndarray:
    """Return the sum (k, k) over the vectors (n, d) of all batches, columns in this order, the first `dense` of them as dense
    matrices. Valid on and below the diagonal; `assembled` makes it symmetric."""
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
    """Return the full sum (k, k) in the order of the chosen columns, which ascend."""
    place = np.searchsorted(chosen, order)
    found = np.empty_like(sums)
    found[np.ix_(place, place)] = np.tril(sums) + np.tril(sums, -1).T
    return found


@entry(types.void(matrix_type, order_type, types.int64, matrix_type, vector_type, ranges_type, ranges_type, matrix_type))
def _add_products(vectors, order, dense, frequent, value, places, cursors, sums):
    """Fill `frequent` (n, dense) and add to the other rows of `sums` (k, k), up to the diagonal.

    Work space for n (k - dense) nonzeros: `value`; `places`, their columns and, sorted by column, their vectors; `cursors`,
    zeros, the starts of vectors and of columns.
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
    # column by column: the nonzeros of a vector come in order, so that all earlier ones are done
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
