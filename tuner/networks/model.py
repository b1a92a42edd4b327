"""A network of dense layers in NumPy: outputs and gradients, and its arrays for compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuner.networks.forward import LANES, LINEAR, RELU, SIGMOID, TANH, outputs

AT_ONCE = 256
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
        """The shape for compiled code, int64, see `tuner.networks.forward`."""
        found = [self.inputs]
        for layer in self.layers:
            found += [len(layer.biases), ACTIVATIONS[layer.activation]]
        return np.array(found, np.int64)

    def flat(self) -> np.ndarray:
        """Return all weights and biases (size,) in the order of `tuner.networks.forward`."""
        return np.concatenate([part.ravel() for layer in self.layers for part in (layer.weights, layer.biases)])

    def with_flat(self, flat: np.ndarray) -> Network:
        """Return the network with other weights and biases (size,), of their dtype."""
        layers, at = [], 0
        for layer in self.layers:
            inputs, width = layer.weights.shape
            weights, biases = np.split(flat[at:at + (inputs + 1) * width], [inputs * width])
            layers.append(Layer(weights.reshape(inputs, width), biases, layer.activation))
            at += (inputs + 1) * width
        return Network(tuple(layers))

    def outputs(self, inputs: np.ndarray) -> np.ndarray:
        """Return the outputs (n, outputs) for inputs (n, inputs), which are counts times their units."""
        return self.all_outputs(inputs)[-1]

    def all_outputs(self, inputs: np.ndarray) -> list[np.ndarray]:
        """Return the inputs and the outputs of every layer."""
        found = [inputs]
        for layer in self.layers:
            found.append(activated(product(found[-1], layer.weights) + layer.biases, layer.activation))
        return found

    def pull(self, inputs: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """Return the sum (size,) over positions and outputs of errors (n, outputs) times the derivatives of the outputs by all
        weights, by backpropagation."""
        outs, parts = self.all_outputs(inputs), []
        for layer, below, out in zip(reversed(self.layers), reversed(outs[:-1]), reversed(outs[1:]), strict=True):
            errors = errors * slope(out, layer.activation)
            parts += [errors.sum(0), product(below.T, errors).ravel()]
            errors = product(errors, layer.weights.T)
        return np.concatenate(parts[::-1])


def product(a: Any, b: Any) -> Any:
    """Return the matrix product a @ b, where a may be sparse. Products with vectors are sums and not calls of BLAS, whose threads
    would wait for each other longer than they add."""
    if a.shape[1] == 1:
        return a * b
    if b.shape[1] == 1 and isinstance(a, np.ndarray):
        return (a * b[:, 0]).sum(1)[:, None]
    return a @ b


def activated(sums: np.ndarray, activation: str) -> np.ndarray:
    """Return the outputs of a layer from its sums."""
    if activation == "sigmoid":
        return 1 / (1 + np.exp(-sums))
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


def random_network(inputs: int, layers: Sequence[tuple[int, str]], seed: int, spread: float | None = None) -> Network:
    """Return a network with layers of these widths and activations. Weights are normal with standard deviation `spread`, by
    default 1 / sqrt(inputs of the layer); biases are zero."""
    random, found = np.random.default_rng(seed), []
    for width, activation in layers:
        deviation = 1 / np.sqrt(inputs) if spread is None else spread
        found.append(Layer(random.normal(0, deviation, (inputs, width)), np.zeros(width), activation))
        inputs = width
    return Network(tuple(found))


def compiled_outputs(network: Network, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the outputs (n, outputs) float32 for counts (n, inputs), by compiled code in single precision."""
    shape, pad = network.shape, -(-counts.shape[1] // LANES) * LANES
    flat, units = network.flat().astype(np.float32), units.astype(np.float32)
    out = np.empty((len(counts), len(network.layers[-1].biases)), np.float32)
    outs, scratch, zeros = np.empty(shape[1::2].sum(), np.float32), np.empty(shape[1], np.float32), np.zeros(pad, np.int32)
    rows = np.zeros((AT_ONCE, pad), np.int32)
    for begin in range(0, len(counts), AT_ONCE):  # few enough rows to stay in the CPU's cache
        part = out[begin:begin + AT_ONCE]
        rows[:len(part), :counts.shape[1]] = counts[begin:begin + AT_ONCE]
        outputs(shape, units, flat, rows.ravel(), zeros, outs, scratch, part)
    return out
