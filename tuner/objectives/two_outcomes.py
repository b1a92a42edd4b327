"""Objectives: evaluations and outcomes to a loss and its derivatives with respect to each evaluation.

With p = (1 + tanh(scale * e)) / 2 = 1 / (1 + exp(-2 * scale * e)) and q = (1 + outcome) / 2:

    cross-entropy  -q log p - (1 - q) log(1 - p)     residual 2 scale (p - q)              curvature 4 scale^2 p (1 - p)
    mse            (p - q)^2                         residual 4 scale (p - q) p (1 - p)    curvature 8 scale^2 (p (1 - p))^2

The residual is dL/de; the curvature is the second derivative for cross-entropy and its Gauss-Newton part for mse.
A draw counts as q = 1/2. An objective works on a block of at most BLOCK positions in place, so that one compiled pass
serves all of them; with the same arrays it returns the sum of weight * loss.
"""

from __future__ import annotations

import math

import numpy as np
from numba.core import types

from games.jit import Entry
from tuner.objectives.exponential import exp_minus
from tuner.unit import entry, inner

BLOCK = 512
numbers = types.CPointer(types.float64)
SIGNATURE = types.float64(types.int64, types.float64, numbers, numbers, numbers, numbers)


@inner(types.float64(types.int64, types.float64, numbers, numbers))
def _weighted_logs(n, scale, evaluation, weight):
    """Sum of (weight - 1) * log(1 + exp(-|logit|)): nothing, unless positions are weighted."""
    same, loss = True, 0.0
    for i in range(n):
        same &= weight[i] == 1.0
    if not same:
        for i in range(n):
            loss += (weight[i] - 1.0) * math.log1p(math.exp(-abs(2.0 * scale * evaluation[i])))
    return loss


@entry(SIGNATURE, fastmath={"reassoc"})
def cross_entropy(n, scale, evaluation, outcome, weight, curvature):
    """Cross-entropy of n positions; `evaluation` is replaced by weight * residual."""
    loss, product = _weighted_logs(n, scale, evaluation, weight), 1.0
    for i in range(n):
        logit = 2.0 * scale * evaluation[i]
        q, w = 0.5 + 0.5 * outcome[i], weight[i]
        small = exp_minus(abs(logit))
        larger = 1.0 / (1.0 + small)
        p = larger if logit >= 0.0 else small * larger
        # log p of the larger side is log(1 + small); a product of factors below 2 needs one logarithm a block
        product *= 1.0 + small
        loss += w * (max(logit, 0.0) - q * logit)
        evaluation[i] = w * 2.0 * scale * (p - q)
        curvature[i] = w * 4.0 * scale * scale * small * larger * larger
    return loss + math.log(product)


@entry(SIGNATURE, fastmath={"reassoc"})
def mse(n, scale, evaluation, outcome, weight, curvature):
    """Squared error of n positions; `evaluation` is replaced by weight * residual."""
    loss = 0.0
    for i in range(n):
        logit = 2.0 * scale * evaluation[i]
        q, w = 0.5 + 0.5 * outcome[i], weight[i]
        small = exp_minus(abs(logit))
        larger = 1.0 / (1.0 + small)
        p = larger if logit >= 0.0 else small * larger
        slope = 2.0 * scale * small * larger * larger
        error = p - q
        loss += w * error * error
        evaluation[i] = w * 2.0 * error * slope
        curvature[i] = w * 2.0 * slope * slope
    return loss


OBJECTIVES: dict[str, Entry] = {"cross-entropy": cross_entropy, "mse": mse}


def loss_of(name: str, scale: float, evaluation: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """The loss of each position (n,) by the formula above, in NumPy."""
    p = 0.5 + 0.5 * np.tanh(scale * evaluation)
    q = 0.5 + 0.5 * outcome
    if name == "mse":
        return (p - q) ** 2
    logit = 2 * scale * evaluation
    return np.logaddexp(0, logit) - q * logit


def residual_of(name: str, scale: float, evaluation: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """dL/de of each position (n,) by the formula above, in NumPy."""
    p, q = 0.5 + 0.5 * np.tanh(scale * evaluation), 0.5 + 0.5 * outcome
    return 4 * scale * (p - q) * p * (1 - p) if name == "mse" else 2 * scale * (p - q)


def curvature_of(name: str, scale: float, evaluation: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """The curvature of each position (n,) by the formula above, in NumPy; it does not depend on the outcome."""
    p = 0.5 + 0.5 * np.tanh(scale * evaluation)
    return 8 * (scale * p * (1 - p)) ** 2 if name == "mse" else 4 * scale**2 * p * (1 - p)
