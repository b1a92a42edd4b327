"""Local model: both sides play around the best values so far, as far away as costs little Elo.

The idea is CLOP's (Coulom 2011): fit a surface to the neighborhood of its own optimum. Here the
two sides of a pair play on opposite sides of a point, which is most informative about slopes; the
points vary, which informs about curvatures. The steps shrink as games come: what the surface cannot
follow matters less then. Some pairs put numbers back to their given values, which measures their
worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tuner.optimize.neighbourhood import FEWEST_PAIRS, Neighbourhood
from tuner.optimize.numbers import Number
from tuner.optimize.optimum import Optimum

LEVEL, LEVEL_PAIRS, LEVEL_POWER = 20.0, 1000, 0.5  # Elo that all numbers lose / d^1/2, after pairs
FIRST_LEVEL = 200  # pairs before it falls
CENTRES = 0.6  # spread of the points between two sides, in steps
SIDES = 0.4, 1.4  # how far the sides are from them, in steps
REFIT = 12  # a fit after each 1 / REFIT more pairs
PUT_BACK, PUT_BACK_FROM = 0.1, 200  # share of pairs that measure worth, and from which pair on
ALL = 0.5  # share of these that have all numbers put back


class Local:
    """A local model of strength. Its state depends on the pairs that were added, in their order,
    and on nothing else."""

    def __init__(self, numbers: Sequence[Number], seed: int) -> None:
        self._near, self._fitted, self._seed = Neighbourhood(numbers), 0, seed

    def _random(self, pair: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, pair))

    def _put_back(self, pair: int, generator: np.random.Generator) -> int | None:
        """Return which number side b of this pair has at its given value, `size`: all; None: it
        explores."""
        if pair < PUT_BACK_FROM or generator.random() >= PUT_BACK:
            return None
        size = self._near.size
        return size if size == 1 or generator.random() < ALL else int(generator.integers(size))

    def proposal(self, pair: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the values (d,) of both sides of a pair, by the number of the pair, from 0, and
        the pairs added so far."""
        near, generator = self._near, self._random(pair)
        if (back := self._put_back(pair, generator)) is not None:
            b = near.u.copy()
            b[... if back == near.size else back] = 0.0
            return near.values(near.u), near.values(b)
        centre = near.u + CENTRES * near.step * generator.normal(size=near.size)
        signs = generator.choice((-1.0, 1.0), near.size)
        away = near.step * generator.uniform(*SIDES, near.size) * signs
        return near.values(centre + away), near.values(centre - away)

    def add(self, pair: int, a: np.ndarray, b: np.ndarray, score: float) -> None:
        """Add a pair that was played with values a and b (d,), as they were rounded; `score` is the
        score of a, the mean of both games, from 0 to 1."""
        self._near.add(a, b, score, self._put_back(pair, self._random(pair)))
        if self._near.pairs >= max(FEWEST_PAIRS, self._fitted * (1 + 1 / REFIT)):
            self._fit()

    def _fit(self) -> None:
        near = self._near
        self._fitted = near.pairs
        near.fit()
        near.move()
        falls = LEVEL_PAIRS / max(near.pairs, FIRST_LEVEL)
        near.step = near.losing(LEVEL * falls**LEVEL_POWER / near.size**0.5)

    def best(self) -> np.ndarray:
        """Return the values (d,) to take now."""
        return self._near.values(self._near.u)

    def estimate(self) -> Optimum:
        """Return what the pairs say."""
        near = self._near.copy()  # what is proposed must not depend on who asks
        if near.pairs > max(self._fitted, FEWEST_PAIRS - 1):
            near.fit()
            near.move()
        return near.estimate(self._seed)
