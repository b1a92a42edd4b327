"""Addresses of arrays, which compiled code passes more cheaply than arrays; in plain Python they are the arrays themselves."""

from __future__ import annotations

from numba.core import types

from games import jit

DATA = 4  # index of the address of the data in Numba's structure of an array


def address_of_arrays(kind):
    """Return a function from an array (n,) with items of a Numba type to the address of its data."""

    @jit.intrinsic(types.CPointer(kind), (types.Array(kind, 1, "C"),),
                   lambda builder, values: builder.extract_value(values[0], DATA))
    def address_of(array):
        """Return the address of an array."""
        return array

    return address_of


address_of = address_of_arrays(types.uint64)
