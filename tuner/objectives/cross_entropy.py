"""Cross-entropy of the expected score. With p = 1 / (1 + exp(-2 * scale * e)) and q = (1 + outcome)
/ 2, so that a draw is half a win:

    loss -q log p - (1 - q) log(1 - p)     residual 2 scale (p - q)     curvature 4 scale^2 p (1 -
    p)
"""

import math

import numpy as np
from numba.core import types

from tuner.objectives.base import SIGNATURE, Objective, expected_by_tanh, numbers
from tuner.objectives.exponential import exp_minus
from tuner.unit import entry, inner


@inner(types.float64(types.int64, types.float64, numbers, numbers))
def _weighted_logs(n, scale, evaluation, weight):
    """Return the sum of (weight - 1) * log(1 + exp(-|logit|)), zero unless positions are
    weighted."""
    same, loss = True, 0.0
    for i in range(n):
        same &= weight[i] == 1.0
    if not same:
        for i in range(n):
            loss += (weight[i] - 1.0) * math.log1p(math.exp(-abs(2.0 * scale * evaluation[i])))
    return loss


@entry(SIGNATURE, fastmath={"reassoc"})
def block(n, scale, evaluation, outcome, weight, curvature):
    """Return the cross-entropy of n positions; `evaluation` is replaced by weight * residual."""
    loss, product = _weighted_logs(n, scale, evaluation, weight), 1.0
    for i in range(n):
        logit = 2.0 * scale * evaluation[i]
        q, w = 0.5 + 0.5 * outcome[i], weight[i]
        small = exp_minus(abs(logit))
        larger = 1.0 / (1.0 + small)
        p = larger if logit >= 0.0 else small * larger
        # log p of the larger side is log(1 + small); a product of factors below 2 needs one
        # logarithm a block
        product *= 1.0 + small
        loss += w * (max(logit, 0.0) - q * logit)
        evaluation[i] = w * 2.0 * scale * (p - q)
        curvature[i] = w * 4.0 * scale * scale * small * larger * larger
    return loss + math.log(product)


def _loss(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    logit = 2 * scale * evaluation
    return np.logaddexp(0, logit) - (0.5 + 0.5 * outcome) * logit


def _residual(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    return scale * (np.tanh(scale * evaluation) - outcome)


def _curvature(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    return scale**2 * (1 - np.tanh(scale * evaluation) ** 2)


CROSS_ENTROPY = Objective(
    name="cross-entropy",
    widths=0,
    block=block,
    loss=_loss,
    residual=_residual,
    curvature=_curvature,
    expected_score=expected_by_tanh,
    largest_residual=2.0,
    cuda="""
        double q = 0.5 + 0.5 * z, tail = exp(-fabs(a)), larger = 1.0 / (1.0 + tail);
        double p = a >= 0.0 ? larger : tail * larger;
        t.loss = mass * (fmax(a, 0.0) - q * a + log1p(tail));
        t.residual = mass * unit * (p - q);
        t.curvature = mass * unit * unit * tail * larger * larger;
""",
)
