"""A network as the compiled evaluation that searches call."""

from __future__ import annotations

import math

import numpy as np
from numba.core import types

from tuner.networks.calls import call_write, floats_of, number_of, numbers_of, row_of, words_at, words_of
from tuner.networks.forward import ONE, TWO, forward, sigmoid
from tuner.networks.unit import entry, inner

I64 = types.int64
LARGEST, HALF = np.float32(1 << 28), np.float32(0.5)  # in steps: the search clamps evaluations, and larger ones would not fit
TURN = np.uint64(1)


@inner(types.float32(types.float32, types.float32, types.float32))
def of_share(half_logit, share, steps):
    """Return atanh(share * tanh(half_logit)) * steps."""
    value = np.float64(share * (TWO * sigmoid(TWO * half_logit) - ONE))
    return np.float32(0.5 * math.log((1.0 + value) / (1.0 - value)) * steps)


@inner(I64(I64, I64))
def steps_of(position, data):
    """Return the evaluation of the position at an address for the side to move, in steps of 1/256 centipawn. `data`: see
    `tuner.networks.evaluation.NetworkMemory`."""
    pad = number_of(data, 1)
    call_write(number_of(data, 0), position, number_of(data, 2))
    found = forward(numbers_of(number_of(data, 4), number_of(data, 5)), floats_of(number_of(data, 6), pad),
                    floats_of(number_of(data, 7), number_of(data, 8)), row_of(number_of(data, 2), pad), 0,
                    row_of(number_of(data, 3), pad), floats_of(number_of(data, 9), number_of(data, 10)),
                    floats_of(number_of(data, 11), number_of(data, 12)))
    words, shares = number_of(data, 13), floats_of(number_of(data, 14), 2)
    if shares[0] < ONE:
        found = of_share(found, shares[0], shares[1])
    if words and words_of(position, words)[words - 1] & TURN:
        found = -found
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
