"""SPSA as fishtest and OpenBench run it (Spall 1998; names and schedule of fishtest).

At pair k from 1 of N, both sides play theta +- c_k * flips, and theta moves by R_k * c_k * (wins -
losses) * flips, where c_k = c / k^gamma, R_k = a / (A + k)^alpha / c_k^2; c and a are such that
c_N = c_end and R_N = r_end. After pair N the same curves go on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tuner.optimize.methods.base import GameMethod, Optimum
from tuner.optimize.methods.neighbourhood import FEWEST_PAIRS, Neighbourhood
from tuner.optimize.numbers import Number

ALPHA, GAMMA = 0.602, 0.101
STABILITY = 0.1  # A as a share of the planned pairs


class Spsa(GameMethod):
    """Simultaneous perturbation stochastic approximation. What its pairs say of the values around
    the best ones is estimated as for the local model."""

    def __init__(self, numbers: Sequence[Number], pairs: int, seed: int) -> None:
        super().__init__(numbers, pairs, seed)
        self._theta = np.array([number.value for number in numbers], np.float64)
        self._limits = np.array([(number.low, number.high) for number in numbers]).T
        steps, rates = (np.array([number[i] for number in numbers]) for i in (-2, -1))
        self._stability = STABILITY * pairs
        self._c = steps * pairs**GAMMA
        self._a = rates * steps**2 * (self._stability + pairs) ** ALPHA
        self._near = Neighbourhood(numbers)
        self._near.step = np.maximum(self._near.step, steps / self._near.units)

    def _flips(self, pair: int) -> np.ndarray:
        return self.random(pair).choice((-1.0, 1.0), len(self.numbers))

    def _perturbation(self, pair: int) -> np.ndarray:
        return self._c / (pair + 1) ** GAMMA

    def proposal(self, pair: int) -> tuple[np.ndarray, np.ndarray]:
        """See `GameMethod`."""
        moved = self._perturbation(pair) * self._flips(pair)
        return np.clip(self._theta + moved, *self._limits), np.clip(
            self._theta - moved, *self._limits
        )

    def add(self, pair: int, a: np.ndarray, b: np.ndarray, score: float) -> None:
        """See `GameMethod`."""
        gain = self._a / (self._stability + pair + 1) ** ALPHA / self._perturbation(pair)
        won = 4 * score - 2  # wins less losses of two games
        self._theta = np.clip(self._theta + gain * won * self._flips(pair), *self._limits)
        self._near.add(a, b, score)

    def best(self) -> np.ndarray:
        """See `GameMethod`."""
        return self._theta.copy()

    def estimate(self) -> Optimum:
        """See `GameMethod`."""
        near = self._near.copy()
        near.u = near.at(self._theta)
        if near.pairs >= FEWEST_PAIRS:
            near.fit()
        return near.estimate(self.seed)
