"""A network as the compiled evaluation that searches call."""

from __future__ import annotations

import numpy as np
from numba.core import types

from tuner.networks.calls import call_write, floats_of, number_of, numbers_of, row_of, words_at
from tuner.networks.forward import forward
from tuner.networks.unit import entry, inner

I64 = types.int64
LARGEST, HALF = np.float32(1 << 28), np.float32(0.5)  # in steps: the search clamps evaluations, and larger ones would not fit


@inner(I64(I64, I64))
def steps_of(position, data):
    """Return the evaluation of the position at an address for the side that the outputs are for, in steps of 1/256 centipawn.
    `data`: see `tuner.networks.evaluation.NetworkMemory`."""
    pad = number_of(data, 1)
    call_write(number_of(data, 0), position, number_of(data, 2))
    found = forward(numbers_of(number_of(data, 4), number_of(data, 5)), floats_of(number_of(data, 6), pad),
                    floats_of(number_of(data, 7), number_of(data, 8)), row_of(number_of(data, 2), pad), 0,
                    row_of(number_of(data, 3), pad), floats_of(number_of(data, 9), number_of(data, 10)),
                    floats_of(number_of(data, 11), number_of(data, 12)))
    return np.int64(np.floor(min(max(found, -LARGEST), LARGEST) + HALF))


@entry(I64(I64, I64, I64))
def score(position, data, sums):
    """Evaluate the position at an address for the side to move; `sums`, memory of other evaluations, is not used."""
    return steps_of(position, data)


@entry(types.void(types.Array(types.uint64, 1, "C"), I64, I64, types.Array(types.int64, 1, "C")))
def scores(positions, words, data, out):
    """Evaluate positions for the side to move in each."""
    for i in range(len(out)):
        out[i] = steps_of(words_at(positions, i * words), data)
