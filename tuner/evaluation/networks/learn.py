"""Supervised learning of networks: Adam on the cross-entropy of expected scores, or their squared
error, until games set aside are predicted no better.

With z the sum of the only output before its activation, the logit of the expected score is `offset
+ z` for a sigmoid and `offset + 2 z` for a tanh; the loss of a position that counts `mass` times is
the loss of its value q given that logit. Each minibatch holds whole games. If an epoch predicts the
games set aside no better than the best before, learning continues from the best with half the rate;
it ends after some halvings. Arrays are those of NumPy or of CuPy, by the same code. On the same
machine the same seed gives the same bits, for one hidden layer with any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from tuner.evaluation.networks.model import LEAST_SUM, Layer, Network

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015)
AT_ONCE = 1 << 13  # positions of a prediction


@dataclass(frozen=True)
class Examples:
    """n positions to learn from: inputs (n, k) float32; values q (n,) from 0 to 1, and logits
    `offset` (n,) to which the network is added, both for the side that its output is for; how many
    times each counts, `mass` (n,); and the game (n,) of each, whose positions are consecutive."""

    inputs: csr_array
    q: np.ndarray
    offset: np.ndarray
    mass: np.ndarray
    game: np.ndarray

    def only(self, keep: np.ndarray | slice) -> Examples:
        """Return some of the positions: a mask, indices or a slice."""
        return Examples(
            self.inputs[keep], self.q[keep], self.offset[keep], self.mass[keep], self.game[keep]
        )


@dataclass(frozen=True)
class LearnOptions:
    """`rate` of Adam, positions of a minibatch, epochs at most, how often the rate is halved, the
    seed of the order, and the loss, one of LOSSES."""

    rate: float = 2e-3
    batch: int = 1024
    epochs: int = 60
    halvings: int = 4
    seed: int = 1
    loss: str = "cross-entropy"


@dataclass(frozen=True)
class LearnedNetwork:
    """A network, and its epochs: each with the mean loss of the games learned from and of those set
    aside."""

    network: Network
    epochs: list[dict]


def learn(
    network: Network,
    examples: Examples,
    aside: Examples,
    options: LearnOptions,
    arrays: Any = np,
    watch: Callable[[dict], None] = lambda line: None,
) -> LearnedNetwork:
    """Learn from examples, and choose the epoch by those set aside. `arrays` is NumPy or CuPy;
    `watch` gets each epoch."""
    factor = logit_factor(network)
    flat = arrays.asarray(network.flat().astype(np.float32))
    loss_of, errors_of = LOSSES[options.loss]
    before = mean_loss(network.with_flat(flat), aside, arrays, loss_of)
    best, least = flat, before
    first, second = arrays.zeros_like(flat), arrays.zeros_like(flat)
    epochs: list[dict] = [{"epoch": 0, "rate": options.rate, "loss": None, "aside": before}]
    watch(epochs[0])
    rate, step, halved = options.rate, 0, 0
    for epoch in range(1, options.epochs + 1):
        total = 0.0
        for batch in _batches(examples, options, epoch):
            step += 1
            made = network.with_flat(flat)
            gradient, loss = _gradient(made, batch, factor, arrays, loss_of, errors_of)
            total += loss
            first = BETA1 * first + (1 - BETA1) * gradient
            second = BETA2 * second + (1 - BETA2) * gradient * gradient
            size = rate * np.sqrt(1 - BETA2**step) / (1 - BETA1**step)
            flat = flat - np.float32(size) * first / (arrays.sqrt(second) + np.float32(EPSILON))
        aside_loss = mean_loss(network.with_flat(flat), aside, arrays, loss_of)
        epochs.append(
            {
                "epoch": epoch,
                "rate": rate,
                "loss": total / float(examples.mass.sum()),
                "aside": aside_loss,
            }
        )
        watch(epochs[-1])
        if aside_loss < least:
            best, least = flat, aside_loss
        else:
            halved += 1
            if halved > options.halvings:
                break
            flat, rate = best, rate / 2
            first, second, step = arrays.zeros_like(flat), arrays.zeros_like(flat), 0
    return LearnedNetwork(network.with_flat(on_host(best).astype(np.float32)), epochs)


def logits(network: Network, inputs: csr_array, arrays: Any = np) -> np.ndarray:
    """Return the logits (n,) float64 that the network adds, for inputs (n, k)."""
    factor, linear = logit_factor(network), _linear(network, arrays)
    parts = [
        on_host(linear.outputs(_placed(inputs[begin : begin + AT_ONCE], arrays))[:, 0])
        for begin in range(0, inputs.shape[0], AT_ONCE)
    ]
    return factor * np.concatenate([np.zeros(0), *parts])


def logit_factor(network: Network) -> float:
    """Return the logit of the expected score for each unit of the last sum. ValueError for a
    network that has not one output of a sigmoid or a tanh."""
    last = network.layers[-1]
    if len(last.biases) != 1 or last.activation not in ("sigmoid", "tanh"):
        raise ValueError(
            f"expected one output of a sigmoid or tanh, found {len(last.biases)} of"
            f" {last.activation}"
        )
    return 1.0 if last.activation == "sigmoid" else 2.0


def cross_entropy(arrays: Any, logit: Any, q: Any) -> Any:
    """Return the cross-entropy (n,) of values q given logits."""
    return arrays.logaddexp(0, logit) - q * logit


def expected_score(arrays: Any, logit: Any) -> Any:
    """Return the expected scores (n,) of logits."""
    return 1 / (1 + arrays.exp(-arrays.maximum(logit, LEAST_SUM)))


def surprise(arrays: Any, logit: Any, q: Any) -> Any:
    """Return the derivative (n,) of the cross-entropy by the logit."""
    return expected_score(arrays, logit) - q


def squared_error(arrays: Any, logit: Any, q: Any) -> Any:
    """Return the squared error (n,) of expected scores."""
    return surprise(arrays, logit, q) ** 2


def squared_error_slope(arrays: Any, logit: Any, q: Any) -> Any:
    """Return the derivative (n,) of the squared error by the logit."""
    p = expected_score(arrays, logit)
    return 2 * (p - q) * p * (1 - p)


# what is minimized, and its derivative by the logit
LOSSES = {
    "cross-entropy": (cross_entropy, surprise),
    "mse": (squared_error, squared_error_slope),
}


def mean_loss(
    network: Network, examples: Examples, arrays: Any = np, loss: Callable = cross_entropy
) -> float:
    """Return the mean loss of examples."""
    logit = examples.offset + logits(network, examples.inputs, arrays)
    return float(examples.mass @ loss(np, logit, examples.q) / examples.mass.sum())


def on_host(array: Any) -> np.ndarray:
    """Return an array of NumPy or CuPy as one of NumPy."""
    return array.get() if hasattr(array, "get") else array


def _linear(network: Network, arrays: Any) -> Network:
    """Return the network with sums as outputs, single precision, on the device."""
    layers = [
        Layer(
            arrays.asarray(layer.weights, np.float32),
            arrays.asarray(layer.biases, np.float32),
            layer.activation,
        )
        for layer in network.layers
    ]
    return Network((*layers[:-1], replace(layers[-1], activation="linear")))


def _gradient(
    network: Network,
    batch: Examples,
    factor: float,
    arrays: Any,
    loss_of: Callable,
    errors_of: Callable,
) -> tuple[Any, float]:
    """Return the derivatives (size,) of the mean loss of a minibatch by all weights, and the sum of
    its losses."""
    linear = _linear(network, arrays)
    inputs = _placed(batch.inputs, arrays)
    q, offset, mass = (
        arrays.asarray(each, np.float32) for each in (batch.q, batch.offset, batch.mass)
    )
    logit = offset + np.float32(factor) * linear.outputs(inputs)[:, 0]
    errors = np.float32(factor / batch.mass.sum()) * mass * errors_of(arrays, logit, q)
    loss = float((mass * loss_of(arrays, logit, q)).sum())
    return linear.pull(inputs, errors[:, None]), loss


def _placed(inputs: csr_array, arrays: Any) -> Any:
    """Return inputs as what layers multiply: on the CPU as they are, since few are not zero; on a
    device as a dense array, whose products have the same bits each time."""
    if arrays is np:
        return inputs
    placed = arrays.zeros(inputs.shape, np.float32)
    place = (
        np.repeat(
            np.arange(inputs.shape[0], dtype=np.int64) * inputs.shape[1], np.diff(inputs.indptr)
        )
        + inputs.indices
    )
    placed.ravel()[arrays.asarray(place)] = arrays.asarray(inputs.data, np.float32)
    return placed


def _batches(examples: Examples, options: LearnOptions, epoch: int) -> Iterator[Examples]:
    """Yield minibatches of whole games, in an order that depends on the seed and the epoch."""
    _, first, size = np.unique(examples.game, return_index=True, return_counts=True)
    order = np.random.default_rng([options.seed, epoch]).permutation(len(first))
    ends = np.cumsum(size[order])
    cuts = np.flatnonzero(np.diff(ends // options.batch, prepend=0)) + 1
    for games in np.split(order, cuts):
        if len(games):
            yield examples.only(
                np.concatenate([np.arange(first[game], first[game] + size[game]) for game in games])
            )
