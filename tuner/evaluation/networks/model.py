"""Positions as the inputs of networks: a sparse matrix of counts times units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import types
from scipy.sparse import csr_array, vstack

from evalterms.framework.encoding import Encoding
from games.bits import lowest, without_lowest
from tuner.evaluation.networks.compiled import (
    LANES,
    LINEAR,
    RELU,
    SIGMOID,
    TANH,
    NetworkArrays,
    address_of,
    counts_type,
    different,
    entry,
    memory_of,
    numbers,
    outputs,
    packed,
    words_at,
    write_inputs,
)

# rows that are written before they are read, because wide loads right after narrow stores stall the
# CPU
BLOCK = 8
# of a player of whole games, and the rows of its memory: the position before the roll, those, and
# the position whose value is learned
PLAYED_BLOCK = 16
LAST, ROWS = PLAYED_BLOCK + 1, PLAYED_BLOCK + 2
POSITIONS_AT_ONCE = 1 << 14  # positions
I64 = types.int64
words_type = types.Array(types.uint64, 1, "C")


@entry(
    I64(I64, I64, words_type, I64, I64, counts_type, counts_type, counts_type, counts_type, numbers)
)
def encode(write, more, positions, words, n, rows, zeros, index, counts, ends):
    """Write the nonzero counts of n positions in their order, their places to `index`, and the end
    of each position to `ends`; return how many there are. `rows` has room for BLOCK rows, each as
    long as `zeros`."""
    pad, found = len(zeros), 0
    for block in range(0, n, BLOCK):
        stop = min(block + BLOCK, n)
        for i in range(block, stop):
            position = words_at(positions, i * words)
            write_inputs(write, more, position, rows, (i - block) * pad)
        for i in range(block, stop):
            start = (i - block) * pad
            for chunk in range(0, pad, LANES):
                present = different(rows, zeros, start + chunk, chunk)
                while present:
                    at = chunk + lowest(present)
                    index[found] = at
                    counts[found] = rows[start + at]
                    found += 1
                    present = without_lowest(present)
            ends[i] = found
    return found


def addresses_of(encoding: Encoding) -> tuple[Any, Any]:
    """Return the functions that write its counts, the second 0 if there is none."""
    return address_of(encoding.write), encoding.more and address_of(encoding.more) or 0


def padded_length(size: int) -> int:
    """Return the length of a row of counts for compiled code."""
    return -(-size // LANES) * LANES


def counts_of(encoding: Encoding, positions: np.ndarray) -> csr_array:
    """Return the counts (n, inputs) int32 of positions (n, words) uint64."""
    return vstack(
        [csr_array((0, encoding.size), dtype=np.int32), *_parts(encoding, positions)],
        "csr",
        np.int32,
    )


def inputs_of(encoding: Encoding, positions: np.ndarray) -> csr_array:
    """Return the inputs (n, inputs) float32 of positions (n, words) uint64: their counts times the
    units."""
    counts = counts_of(encoding, positions)
    return csr_array(
        (
            (counts.data * encoding.units[counts.indices]).astype(np.float32),
            counts.indices,
            counts.indptr,
        ),
        counts.shape,
    )


def _parts(encoding: Encoding, positions: np.ndarray) -> Iterator[csr_array]:
    pad, words = padded_length(encoding.size), positions.shape[1]
    zeros, rows = np.zeros(pad, np.int32), np.zeros(BLOCK * pad, np.int32)
    for begin in range(0, len(positions), POSITIONS_AT_ONCE):
        part = np.ascontiguousarray(positions[begin : begin + POSITIONS_AT_ONCE])
        ends = np.zeros(len(part) + 1, np.int64)
        index, counts = np.empty((2, len(part) * encoding.size), np.int32)
        n = encode(
            *addresses_of(encoding),
            part.ravel(),
            words,
            len(part),
            rows,
            zeros,
            index,
            counts,
            ends[1:],
        )
        yield csr_array((counts[:n].copy(), index[:n].copy(), ends), (len(part), encoding.size))


AT_ONCE = 256
LEAST_SUM = -80.0  # of a sigmoid, whose exp is within single precision
ACTIVATIONS = {"linear": LINEAR, "relu": RELU, "tanh": TANH, "sigmoid": SIGMOID}


@dataclass(frozen=True)
class Layer:
    """Weights (inputs, outputs), biases (outputs,), and the name of the activation."""

    weights: np.ndarray
    biases: np.ndarray
    activation: str


@dataclass(frozen=True)
class Network:
    """Dense layers over the inputs of an encoding."""

    layers: tuple[Layer, ...]

    @property
    def inputs(self) -> int:
        return self.layers[0].weights.shape[0]

    @property
    def size(self) -> int:
        """Number of weights and biases."""
        return sum(layer.weights.size + layer.biases.size for layer in self.layers)

    @property
    def shape(self) -> np.ndarray:
        """The shape for compiled code, int64, see `tuner.evaluation.networks.compiled`."""
        sizes = [self.inputs]
        for layer in self.layers:
            sizes += [len(layer.biases), ACTIVATIONS[layer.activation]]
        return np.array(sizes, np.int64)

    def flat(self) -> np.ndarray:
        """Return all weights and biases (size,) in the order of
        `tuner.evaluation.networks.compiled`."""
        return np.concatenate(
            [part.ravel() for layer in self.layers for part in (layer.weights, layer.biases)]
        )

    def with_flat(self, flat: np.ndarray) -> Network:
        """Return the network with different weights and biases (size,), of their dtype."""
        layers, at = [], 0
        for layer in self.layers:
            inputs, width = layer.weights.shape
            weights, biases = np.split(flat[at : at + (inputs + 1) * width], [inputs * width])
            layers.append(Layer(weights.reshape(inputs, width), biases, layer.activation))
            at += (inputs + 1) * width
        return Network(tuple(layers))

    def outputs(self, inputs: np.ndarray) -> np.ndarray:
        """Return the outputs (n, outputs) for inputs (n, inputs), which are counts times their
        units."""
        return self.all_outputs(inputs)[-1]

    def all_outputs(self, inputs: np.ndarray) -> list[np.ndarray]:
        """Return the inputs and the outputs of every layer."""
        layers_out = [inputs]
        for layer in self.layers:
            layers_out.append(
                activate_sums(
                    product(layers_out[-1], layer.weights) + layer.biases, layer.activation
                )
            )
        return layers_out

    def pull(self, inputs: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """Return the sum (size,) over positions and outputs of errors (n, outputs) times the
        derivatives of the outputs by all weights, by backpropagation."""
        outs, parts = self.all_outputs(inputs), []
        for layer, below, out in zip(
            reversed(self.layers), reversed(outs[:-1]), reversed(outs[1:]), strict=True
        ):
            errors = errors * slope(out, layer.activation)
            parts += [errors.sum(0), product(below.T, errors).ravel()]
            errors = product(errors, layer.weights.T)
        return np.concatenate(parts[::-1])


class NetworkMemory:
    """A network as compiled code reads it at the address `data`, and memory for one thread; it owns
    both, and has to stay alive.

    `words` is the size of a position. Players of whole games need the compiled `points` of the
    game, and the `most` points of an output of 1; searches the share of
    `tuner.evaluation.networks.evaluation.NetworkEvaluation` and steps / scale."""

    def __init__(
        self,
        network: Network,
        encoding: Encoding,
        words: int,
        points: Any = 0,
        most: int = 1,
        shares: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        pad, shape = padded_length(encoding.size), network.shape
        units = np.zeros(pad, np.float32)
        units[: encoding.size] = encoding.units
        self.arrays = NetworkArrays(
            *addresses_of(encoding),
            int(encoding.for_mover),
            words,
            points,
            most,
            shape,
            units,
            network.flat().astype(np.float32),
            np.zeros(ROWS * pad, np.int32),
            np.zeros(pad, np.int32),
            np.zeros(int(shape[1]), np.float32),
            np.zeros(int(shape[1::2].sum()), np.float32),
            np.array(shares, np.float32),
        )
        self._packed = packed(self.arrays)
        self.data = memory_of(self._packed)


def product(a: Any, b: Any) -> Any:
    """Return the matrix product a @ b, where a may be sparse. Products with vectors are sums and
    not calls of BLAS, whose threads would wait longer than they add."""
    if not isinstance(a, np.ndarray):
        return a @ b
    if a.shape[1] == 1:
        return a * b
    return (a * b[:, 0]).sum(1)[:, None] if b.shape[1] == 1 else a @ b


def activate_sums(sums: np.ndarray, activation: str) -> np.ndarray:
    """Return the outputs of a layer from its sums."""
    if activation == "sigmoid":
        return 1 / (1 + np.exp(-np.maximum(sums, LEAST_SUM)))
    if activation == "tanh":
        return np.tanh(sums)
    return np.maximum(sums, 0) if activation == "relu" else sums


def slope(out: np.ndarray, activation: str) -> np.ndarray:
    """Return the derivatives of an activation from its values."""
    if activation == "sigmoid":
        return out * (1 - out)
    if activation == "tanh":
        return 1 - out**2
    return (out > 0).astype(out.dtype) if activation == "relu" else np.ones_like(out)


def random_network(
    inputs: int, layers: Sequence[tuple[int, str]], seed: int, spread: float | None = None
) -> Network:
    """Return a network with layers of these widths and activations. Weights are normal with
    standard deviation `spread`, by default 1 / sqrt(inputs of the layer); biases are zero."""
    random, made = np.random.default_rng(seed), []
    for width, activation in layers:
        deviation = 1 / np.sqrt(inputs) if spread is None else spread
        made.append(
            Layer(random.normal(0, deviation, (inputs, width)), np.zeros(width), activation)
        )
        inputs = width
    return Network(tuple(made))


def compiled_outputs(network: Network, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the outputs (n, outputs) float32 for counts (n, inputs), by compiled code in single
    precision."""
    shape, pad = network.shape, -(-counts.shape[1] // LANES) * LANES
    flat, units = network.flat().astype(np.float32), units.astype(np.float32)
    out = np.empty((len(counts), len(network.layers[-1].biases)), np.float32)
    outs, scratch, zeros = (
        np.empty(shape[1::2].sum(), np.float32),
        np.empty(shape[1], np.float32),
        np.zeros(pad, np.int32),
    )
    rows = np.zeros((AT_ONCE, pad), np.int32)
    for begin in range(0, len(counts), AT_ONCE):  # few enough rows to stay in the CPU's cache
        part = out[begin : begin + AT_ONCE]
        rows[: len(part), : counts.shape[1]] = counts[begin : begin + AT_ONCE]
        outputs(shape, units, flat, rows.ravel(), zeros, outs, scratch, part)
    return out
