"""Cross-entropy of values of positions given evaluations. Values q (n,) are expected scores of the first player, from 0 to 1;
logits (n,) are log p / (1 - p) of the prediction p = 1 / (1 + exp(-logit)), where logit = 2 * scale * evaluation."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

STEEPEST = 1.0  # scale, in 1 / centipawns: a pawn decides any game


def cross_entropy(logit: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return -q log p - (1 - q) log(1 - p) of each position (n,)."""
    return np.logaddexp(0, logit) - q * logit


def entropy(q: np.ndarray) -> np.ndarray:
    """Return the cross-entropy (n,) of values given themselves: the least that any prediction can have."""
    return -xlogy(q, q) - xlogy(1 - q, 1 - q)


def fitted_scale(evaluation: np.ndarray, q: np.ndarray, mass: np.ndarray) -> float:
    """Return the scale in [0, STEEPEST] with the least cross-entropy, each position counted `mass` (n,) times.

    It is 0 for evaluations that do not rise with the values: nothing beats p = 1/2 then.
    """

    def slope(scale: float) -> float:  # of the mean log likelihood, which is concave
        return float(mass @ (evaluation * (q - expit(2 * scale * evaluation))))

    if slope(0.0) <= 0:
        return 0.0
    if slope(STEEPEST) >= 0:
        return STEEPEST
    return float(brentq(slope, 0.0, STEEPEST, xtol=1e-9))
