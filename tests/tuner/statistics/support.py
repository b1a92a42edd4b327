"""Pairs drawn at a known strength, made without the formulas under test."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

POINTS = np.linspace(0, 1, 5)
EVEN = np.array([0.05, 0.2, 0.5, 0.2, 0.05])


def shares_of(elo: float, model: str) -> np.ndarray:
    """Shares of pairs (5,), EVEN with an exponential weight, of exactly this strength in either sense of Elo."""

    def shares(slope):
        weights = EVEN * np.exp(slope * POINTS)
        return weights / weights.sum()

    def excess(slope):
        mean = shares(slope) @ POINTS
        if model == "logistic":
            return mean - 1 / (1 + 10 ** (-elo / 400))
        deviation = math.sqrt(2 * (shares(slope) @ (POINTS - mean) ** 2))
        return (mean - 0.5) / deviation - elo * math.log(10) / 800

    return shares(brentq(excess, -20, 20, xtol=1e-14))
