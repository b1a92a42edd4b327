"""Passes over whole games for TD(lambda): the reverse scan, and the matrix of its derivatives.

The positions of a game are in order; `decay` (n,) is lambda to the power of the plies to the next one. `slope` (n,) is
dv/de, zero if the value is known. j_t = slope_t x_t is the derivative of a value, x_t the coefficients by stage.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from tuner.datasets.array_types import (
    KINDS,
    index_type,
    matrix_type,
    outcome_type,
    ranges_type,
    row_type,
    vector_type,
)
from tuner.unit import entry, inner


@entry(types.void(ranges_type, vector_type, outcome_type, vector_type, vector_type))
def scan(ranges, values, outcome, decay, c):
    """Compute c_t = v_{t+1} - v_t + decay_t c_{t+1} for the positions of each range; the outcome follows the last value."""
    for r in range(len(ranges)):
        if ranges[r, 0] == ranges[r, 1]:
            continue
        later, following = 0.0, np.float64(outcome[ranges[r, 1] - 1])
        for t in range(ranges[r, 1] - 1, ranges[r, 0] - 1, -1):
            later = following - values[t] + decay[t] * later
            c[t] = later
            following = values[t]


@inner(*(types.void(index_type, count, row_type, phase, types.int64, types.int64, types.float64, vector_type, types.int64)
         for count, phase in KINDS))
def _add_row(index, count, row, phase, t, phases, factor, y, stages):
    """Add factor * x_t to the dense vector y (stages * width)."""
    width = len(y) // stages
    for stage in range(stages):
        share = factor
        if stages == 2:
            share = factor * (phase[t] / phases if stage == 0 else (phases - phase[t]) / phases)
        if share != 0.0:
            base = stage * width
            for k in range(row[t], row[t + 1]):
                y[base + np.int64(index[k])] += share * count[k]
            y[base + width - 1] += share


@entry(*(types.void(index_type, count, row_type, phase, ranges_type, vector_type, vector_type, vector_type, types.int64,
                    types.int64, matrix_type) for count, phase in KINDS))
def lambda_gram(index, count, row, phase, ranges, slope, decay, curvature, phases, stages, matrix):
    """Add the sum of j_t y_t' + curvature_t x_t x_t' to `matrix` (d, d), with y_t = j_t - j_{t+1} + decay_t y_{t+1}.

    That is minus the derivative of the sum of c_t j_t with respect to the weights (Bradtke and Barto 1996, for c linear).
    """
    size = matrix.shape[0]
    width = size // stages
    y, whole = np.zeros(size), np.zeros(size)
    for r in range(len(ranges)):
        y[:] = 0.0
        begin, end = ranges[r, 0], ranges[r, 1]
        for t in range(end - 1, begin - 1, -1):
            y *= decay[t]
            if t + 1 < end:
                _add_row(index, count, row, phase, t + 1, phases, -slope[t + 1], y, stages)
            _add_row(index, count, row, phase, t, phases, slope[t], y, stages)
            if slope[t] == 0.0:
                continue
            whole[:] = slope[t] * y
            _add_row(index, count, row, phase, t, phases, curvature[t], whole, stages)
            for stage in range(stages):
                share = 1.0
                if stages == 2:
                    share = phase[t] / phases if stage == 0 else (phases - phase[t]) / phases
                if share == 0.0:
                    continue
                for k in range(row[t], row[t + 1] + 1):
                    column, times = width - 1, share
                    if k < row[t + 1]:
                        column, times = np.int64(index[k]), share * count[k]
                    line = matrix[stage * width + column]
                    for i in range(size):
                        line[i] += times * whole[i]
