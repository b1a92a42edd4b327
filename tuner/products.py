"""Sums of u u' over many vectors u of which most numbers are zero, such as the scores of games.

Columns that many vectors have are multiplied as dense matrices. The others are few in each vector: their products are added
one row of the sum after the other, so that the row stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba.core import types

from tuner.passes import matrix_type, order_type
from tuner.unit import entry

FREQUENT = 0.2  # of the vectors: a dense product does some twenty times as many steps a second


def order_of(vectors: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
    """The chosen columns of vectors (n, d), the most frequent first, and how many of them are frequent."""
    share = np.count_nonzero(vectors[:, chosen], axis=0) / max(1, len(vectors))
    return chosen[np.argsort(-share, kind="stable")], int((share > FREQUENT).sum())


def products(batches: Iterable[np.ndarray], order: np.ndarray, dense: int) -> np.ndarray:
    """(k, k) the sum over vectors (n, d) of all batches, columns in this order, of which the first are dense: right on and
    below the diagonal, to be put together by `assembled`."""
    sums = np.zeros((len(order), len(order)))
    for vectors in batches:
        frequent = np.empty((len(vectors), dense))
        _add_products(vectors, order, dense, frequent, sums)
        sums[:dense, :dense] += frequent.T @ frequent
    return sums


def assembled(sums: np.ndarray, order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(k, k) the whole sum in the order of the chosen columns, which ascend."""
    place = np.searchsorted(chosen, order)
    found = np.empty_like(sums)
    found[np.ix_(place, place)] = np.tril(sums) + np.tril(sums, -1).T
    return found


@entry(types.void(matrix_type, order_type, types.int64, matrix_type, matrix_type))
def _add_products(vectors, order, dense, frequent, sums):
    """Fill `frequent` (n, dense) and add to the rows of `sums` (k, k) behind those, up to the diagonal."""
    n, k = len(vectors), len(order)
    place, value = np.empty(n * (k - dense), np.int64), np.empty(n * (k - dense))
    first, ends = np.zeros(n + 1, np.int64), np.zeros(k + 1, np.int64)
    found = 0
    for i in range(n):
        vector = vectors[i]
        for j in range(dense):
            frequent[i, j] = vector[order[j]]
        for j in range(dense, k):
            number = vector[order[j]]
            if number != 0.0:
                place[found], value[found] = j, number
                ends[j + 1] += 1
                found += 1
        first[i + 1] = found
    for j in range(k):
        ends[j + 1] += ends[j]
    # the same by column: which vectors have it, and where among theirs
    whose, where, free = np.empty(found, np.int64), np.empty(found, np.int64), ends.copy()
    for i in range(n):
        for at in range(first[i], first[i + 1]):
            whose[free[place[at]]], where[free[place[at]]] = i, at
            free[place[at]] += 1
    for j in range(dense, k):
        row = sums[j]
        for q in range(ends[j], ends[j + 1]):
            number, line = value[where[q]], frequent[whose[q]]
            for other in range(dense):
                row[other] += number * line[other]
            for at in range(first[whose[q]], where[q] + 1):
                row[place[at]] += number * value[at]
