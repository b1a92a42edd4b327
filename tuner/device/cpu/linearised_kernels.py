"""Rows of positions whose evaluation is not linear, linear near some weights; evaluations with one weight moved at a time.

See `evalterms.form` for inputs, sums and `combine`, which is called by its address.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games import jit
from tuner.datasets.array_types import count_type, index_type, matrix_type, phase_type, ranges_type, row_type, vector_type
from tuner.device.cpu.kernels import numbers_at
from tuner.unit import entry, inner

bytes_type = types.Array(types.uint8, 1, "C", readonly=True)
places_type = types.Array(types.int64, 1, "C")
call_combine = jit.address_call(types.float64, (types.CPointer(types.float64), types.CPointer(types.float64)))


@inner(types.void(index_type, count_type, types.int64, types.int64, vector_type, index_type, bytes_type, vector_type))
def _add_up(index, count, begin, end, line, column, sum_of, sums):
    """Compute the sums of a position with nonzeros begin to end; `line` are the weights at its phase."""
    sums[:] = 0.0
    for k in range(np.uint64(begin), np.uint64(end)):
        sums[sum_of[index[k]]] += line[column[index[k]]] * count[k]


@entry(types.int64(index_type, count_type, row_type, phase_type, ranges_type, types.int64, matrix_type, index_type, bytes_type,
                   types.int64, vector_type, vector_type, places_type, types.Array(types.uint16, 1, "C"),
                   types.Array(types.float32, 1, "C"), places_type, types.Array(types.float32, 1, "C"), vector_type))
def linearise(index, count, row, phase, ranges, base, table, column, sum_of, combine, sums, factors, place, columns, slopes, ends,
              rest, evaluation):
    """Write the rows of the positions of ranges, which begin at `base`: `columns` and the derivatives of the evaluation by the
    column's weights (`slopes`, without the shares of stages), the end of each row, and evaluations without intercept; `rest` is
    what the products of slopes and weights lack of these. Return the number of nonzeros.

    `sums`, `factors` and `place`, -1 for each column, are memory to work in. Positions between ranges have empty rows.
    """
    n, done = 0, 0
    for r in range(len(ranges)):
        while done < ranges[r, 0] - base:
            ends[done + 1] = n
            done += 1
        for position in range(ranges[r, 0], ranges[r, 1]):
            line, begin, end = table[phase[position]], row[position], row[position + 1]
            _add_up(index, count, begin, end, line, column, sum_of, sums)
            value = call_combine(combine, numbers_at(sums), numbers_at(factors))
            linear, start = 0.0, n
            for k in range(np.uint64(begin), np.uint64(end)):
                at, kind = column[index[k]], sum_of[index[k]]
                slope = factors[kind] * count[k]
                if slope == 0.0:
                    continue
                linear += slope * line[at]
                if place[at] >= start:  # counted for both sides
                    slopes[place[at]] += np.float32(slope)
                else:
                    columns[n] = at
                    slopes[n] = slope
                    place[at] = n
                    n += 1
            evaluation[done] = value
            rest[done] = value - linear
            done += 1
            ends[done] = n
    return n


@entry(types.void(index_type, count_type, row_type, phase_type, matrix_type, index_type, bytes_type, types.int64, vector_type,
                  vector_type, vector_type))
def values(index, count, row, phase, table, column, sum_of, combine, sums, factors, out):
    """Write the evaluations of positions in centipawns, first player's view; `table` has the weights at each phase."""
    for i in range(len(phase)):
        _add_up(index, count, row[i], row[i + 1], table[phase[i]], column, sum_of, sums)
        out[i] = call_combine(combine, numbers_at(sums), numbers_at(factors))


@entry(types.void(index_type, count_type, row_type, phase_type, matrix_type, matrix_type, index_type, bytes_type, types.int64,
                  vector_type, vector_type, vector_type, index_type, row_type, types.float64, vector_type))
def moved(index, count, row, phase, table, shares, column, sum_of, combine, sums, saved, factors, chosen, ends, step, changes):
    """Write to `changes` how the evaluation changes if the weight of one stage moves by `step` centipawns, up and down:
    2 * stages numbers for each of the columns `chosen`, which end at ends[i] for position i. `shares` (stages, phases + 1)."""
    first = 0
    for i in range(len(phase)):
        begin, end = np.uint64(row[i]), np.uint64(row[i + 1])
        _add_up(index, count, row[i], row[i + 1], table[phase[i]], column, sum_of, saved)
        sums[:] = saved
        here = call_combine(combine, numbers_at(sums), numbers_at(factors))
        for c in range(first, ends[i]):
            for stage in range(len(shares)):
                for down in range(2):
                    change = (-step if down == 1 else step) * shares[stage, phase[i]]
                    sums[:] = saved
                    for k in range(begin, end):
                        if column[index[k]] == chosen[c]:
                            sums[sum_of[index[k]]] += change * count[k]
                    there = call_combine(combine, numbers_at(sums), numbers_at(factors))
                    changes[2 * (len(shares) * c + stage) + down] = there - here
        first = ends[i]
