"""Numba types of a dataset's arrays, which are read-only memory maps, and of the arrays of passes over them."""

from __future__ import annotations

from numba.core import types


def _array(kind, dimensions=1, readonly=True):
    return types.Array(kind, dimensions, "C", readonly=readonly)


index_type, count_type, row_type = _array(types.uint16), _array(types.int8), _array(types.int64)
phase_type, outcome_type = _array(types.uint8), _array(types.float32)
# types of counts and phases, of a dataset and of a wide one
KINDS = (count_type, phase_type), (_array(types.float32), _array(types.uint16))
ranges_type = types.Array(types.int64, 2, "C")
vector_type, matrix_type = types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C")
cube_type = types.Array(types.float64, 3, "C")
order_type = types.Array(types.int64, 1, "C")
