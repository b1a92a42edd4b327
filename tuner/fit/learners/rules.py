"""Update rules, from the gradient of a batch to a change of the weights.

A gradient is the sum over n positions of c (1 - v^2) * coefficient, the direction of ascent. A rule has a state, a dictionary
of arrays of the weights' shape (stages, columns), and returns a step in units of its learning rate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

State = dict[str, np.ndarray]
ADAM = ("first", "second")  # its state: means of the gradient and of its square
NEVER_NEGATIVE = {"second", "squares", "absolute"}  # arrays of states without negative entries
SMALL = 1e-12


class Rule(NamedTuple):
    """An update rule: the `names` of the arrays of its state, initially zero; `step(state, gradient, n, t)` for batch t = 1, 2,
    ..., which updates the state; its default learning `rate` in centipawns; and whether its steps are `scale_free`: they do not
    depend on the size of gradients, nor on that of noise."""

    names: tuple[str, ...]
    step: Callable[[State, np.ndarray, int, int], np.ndarray]
    rate: float
    scale_free: bool = False


def _sgd(state: State, gradient: np.ndarray, n: int, t: int) -> np.ndarray:
    return gradient


def adam_step(memory: float) -> Callable[[State, np.ndarray, int, int], np.ndarray]:
    """Return Adam (Kingma and Ba 2015); `memory` is the decay of the mean square, in the paper 0.999."""

    def step(state: State, gradient: np.ndarray, n: int, t: int) -> np.ndarray:
        mean = gradient / max(n, 1)
        state["first"] += 0.1 * (mean - state["first"])
        state["second"] += (1 - memory) * (mean**2 - state["second"])
        return state["first"] / (1 - 0.9**t) / (np.sqrt(state["second"] / (1 - memory**t)) + SMALL)

    return step


def _adagrad(state: State, gradient: np.ndarray, n: int, t: int) -> np.ndarray:
    """AdaGrad (Duchi, Hazan and Singer 2011)."""
    state["squares"] += gradient**2
    return gradient / (np.sqrt(state["squares"]) + SMALL)


def _coherence(state: State, gradient: np.ndarray, n: int, t: int) -> np.ndarray:
    """Temporal coherence (Beal and Smith 1999): a weight's rate is |N| / A, the share of its changes that did not cancel."""
    state["net"] += gradient
    state["absolute"] += np.abs(gradient)
    return gradient * np.abs(state["net"]) / np.maximum(state["absolute"], SMALL)


RULES = {
    "sgd": Rule((), _sgd, 1.0),  # KnightCap's step is 0.1, Homan's 0.255
    "adam": Rule(ADAM, adam_step(0.99), 3.0, scale_free=True),
    "adagrad": Rule(("squares",), _adagrad, 20.0, scale_free=True),
    "coherence": Rule(("net", "absolute"), _coherence, 3.0),
}
