"""The gradient of a network's output by its weights, compiled, and steps along it."""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.bits import lowest, without_lowest
from tuner.networks.calls import different, floats_at
from tuner.networks.forward import LANES, RELU, SIGMOID, TANH, add_times, counts_type, dot, floats, numbers
from tuner.networks.unit import inner

ONE, ZERO = np.float32(1), np.float32(0)


@inner(types.float32(types.float32, types.int64), forceinline=True)
def slope(out, kind):
    """Return the derivative of an activation from its value."""
    if kind == SIGMOID:
        return out * (ONE - out)
    if kind == TANH:
        return ONE - out * out
    if kind == RELU:
        return ONE if out > ZERO else ZERO
    return ONE


@inner(types.void(numbers, floats, floats, floats))
def backward(shape, weights, outs, errors):
    """Write the derivatives of the only output by the sums of every layer to `errors`, in the order of `outs`."""
    last = len(shape) - 2
    first, at = len(outs) - 1, len(weights)
    errors[first] = slope(outs[first], shape[last + 1])
    for k in range(last, 1, -2):
        width, before, kind = shape[k], shape[k - 2], shape[k - 1]
        at -= (before + 1) * width
        then = first
        first -= before
        for i in range(before):
            error = dot(floats_at(errors, then), floats_at(weights, at + i * width), width)
            errors[first + i] = error * slope(outs[first + i], kind)


@inner(types.void(numbers, floats, floats, floats, counts_type, types.int64, counts_type, types.float32, floats))
def add_gradient(shape, units, outs, errors, row, start, zeros, factor, target):
    """Add factor times the gradient to `target`, which has the order of the weights; `errors` are those of `backward`."""
    inputs, width = shape[0], shape[1]
    for chunk in range(0, inputs, LANES):
        present = different(row, zeros, start + chunk, chunk)
        while present:
            i = chunk + lowest(present)
            step = factor * np.float32(row[start + i]) * units[i]
            add_times(floats_at(target, i * width), step, floats_at(errors, 0), width)
            present = without_lowest(present)
    at = inputs * width
    add_times(floats_at(target, at), factor, floats_at(errors, 0), width)
    at += width
    first = 0
    for k in range(3, len(shape), 2):
        before, width = shape[k - 2], shape[k]
        then = first + before
        for i in range(before):
            add_times(floats_at(target, at), factor * outs[first + i], floats_at(errors, then), width)
            at += width
        add_times(floats_at(target, at), factor, floats_at(errors, then), width)
        at += width
        first = then
