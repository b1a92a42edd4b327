"""The compiled forward pass of a network.

A network is four arrays:

    shape    int64: the number of inputs; then for each layer its width and its activation (LINEAR, RELU, TANH, SIGMOID)
    units    (inputs,) float32: an input is a count times its unit
    weights  float32: for each layer a row of weights for each of its inputs, then its biases
    row      int32: the counts, padded with zeros to a multiple of LANES

What layers put out is kept in `outs`, one layer after the other. The first layer adds up the rows of weights of inputs that are
not zero, or, from the sums of another position, of inputs that differ.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types

from games import jit
from games.bits import lowest, without_lowest
from tuner.networks.calls import different, floats_at
from tuner.networks.unit import entry, inner

LINEAR, RELU, TANH, SIGMOID = range(4)
LANES = 64
floats = types.Array(types.float32, 1, "C")
pointer = types.CPointer(types.float32)
numbers = types.Array(types.int64, 1, "C")
counts_type = types.Array(types.int32, 1, "C")

# exp(x) = 2^n * 2^f with f in [-1/2, 1/2]; the coefficients of 2^f are ln(2)^k / k!
LOG2_E = np.float32(1.4426950408889634)
C1, C2, C3, C4, C5, C6 = (np.float32(0.6931471805599453**k / factorial) for k, factorial in
                          zip(range(1, 7), (1, 2, 6, 24, 120, 720), strict=True))
ONE, TWO, ZERO = np.float32(1), np.float32(2), np.float32(0)
HIGHEST = np.float32(30)  # beyond it a sigmoid is 0 or 1 in single precision
ROUNDS = np.float32(3 << 22)  # a float32 plus this one is rounded to a whole number, which is in its lowest bits

_I32 = ir.IntType(32)


def _power(builder, values):
    bits = builder.shl(builder.bitcast(values[0], _I32), _I32(23))
    return builder.bitcast(builder.add(bits, _I32(127 << 23)), ir.FloatType())


@jit.intrinsic(types.float32, (types.float32,), _power)
def power_of_two(rounded):
    """Return 2^n for n + ROUNDS: n moves into the exponent. Loops with it are vectorised, unlike those with exp or floor."""
    return np.float32(2.0 ** (float(rounded) - float(ROUNDS)))


@inner(types.float32(types.float32), forceinline=True)
def sigmoid(x):
    """Return 1 / (1 + exp(-x)) to the precision of float32."""
    t = -min(max(x, -HIGHEST), HIGHEST) * LOG2_E
    rounded = t + ROUNDS
    f = t - (rounded - ROUNDS)
    power = ONE + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
    return ONE / (ONE + power * power_of_two(rounded))


@inner(types.void(pointer, types.int64, types.int64))
def activate(outs, width, kind):
    """Apply an activation in place."""
    if kind == SIGMOID:
        for j in range(width):
            outs[j] = sigmoid(outs[j])
    elif kind == TANH:
        for j in range(width):
            outs[j] = TWO * sigmoid(TWO * outs[j]) - ONE
    elif kind == RELU:
        for j in range(width):
            outs[j] = max(outs[j], ZERO)


@inner(types.void(pointer, types.float32, pointer, types.int64), forceinline=True)
def add_times(target, factor, row, width):
    """Add factor times a row to the target."""
    for j in range(width):
        target[j] += factor * row[j]


@inner(types.float32(pointer, pointer, types.int64), fastmath={"reassoc"})
def dot(a, b, n):
    total = ZERO
    for i in range(n):
        total += a[i] * b[i]
    return total


@inner(types.void(numbers, floats, floats, counts_type, types.int64, counts_type, types.int64, floats, floats))
def first_sums(shape, units, weights, base, base_start, row, start, base_sums, sums):
    """Write the sums of the first layer for a row from those of `base`. The rows begin at the starts."""
    inputs, width = shape[0], shape[1]
    for j in range(width):
        sums[j] = base_sums[j]
    for chunk in range(0, inputs, LANES):
        changed = different(row, base, start + chunk, base_start + chunk)
        while changed:
            i = chunk + lowest(changed)
            step = np.float32(row[start + i] - base[base_start + i]) * units[i]
            add_times(floats_at(sums, 0), step, floats_at(weights, i * width), width)
            changed = without_lowest(changed)


@inner(types.float32(numbers, floats, floats))
def follow(shape, weights, outs):
    """Continue from the sums of the first layer at the start of `outs`; return the first output of the last layer."""
    width = shape[1]
    activate(floats_at(outs, 0), width, shape[2])
    first, at = 0, (shape[0] + 1) * width  # where the outputs of the last layer are, and the weights of the next
    for k in range(3, len(shape), 2):
        before, width = width, shape[k]
        then = first + before
        biases = at + before * width
        if width == 1:
            outs[then] = weights[biases] + dot(floats_at(outs, first), floats_at(weights, at), before)
        else:
            for j in range(width):
                outs[then + j] = weights[biases + j]
            for i in range(before):
                add_times(floats_at(outs, then), outs[first + i], floats_at(weights, at + i * width), width)
        activate(floats_at(outs, then), width, shape[k + 1])
        first, at = then, biases + width
    return outs[first]


@inner(types.float32(numbers, floats, floats, counts_type, types.int64, counts_type, floats, floats))
def forward(shape, units, weights, row, start, zeros, outs, biases):
    """Return the first output for a row of counts, and write all outputs; `zeros` is a row of zeros, `biases` scratch."""
    width = shape[1]
    for j in range(width):
        biases[j] = weights[shape[0] * width + j]
    first_sums(shape, units, weights, zeros, 0, row, start, biases, outs)
    return follow(shape, weights, outs)


@entry(types.void(numbers, floats, floats, counts_type, counts_type, floats, floats, types.Array(types.float32, 2, "C")))
def outputs(shape, units, weights, rows, zeros, outs, biases, out):
    """Write the outputs (n, outputs) for rows of counts, each padded like `zeros`."""
    n, width = out.shape
    for i in range(n):
        forward(shape, units, weights, rows, i * len(zeros), zeros, outs, biases)
        for j in range(width):
            out[i, j] = outs[len(outs) - width + j]
