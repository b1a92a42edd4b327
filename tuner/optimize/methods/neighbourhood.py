"""The values around the best ones: a surface of strength, fitted to all
pairs, those far away counting less; where it is highest, what each number is worth, and how well
all that is known.

What the surface says of values far away is not believed as such: pairs in which numbers were put
back to their given values measure by how much it is wrong there."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from tuner.optimize.methods.base import Estimate
from tuner.optimize.methods.surface import LEAST_SHIFT, Data, Surface, grid
from tuner.optimize.numbers import Number
from tuner.statistics.intervals import NORMAL

UNIT = 10.0  # steps of a number (c_end)
FIRST_STEP, SHORTEST_STEP, LONGEST_STEP = 0.3, 0.02, 0.6  # units
SHORTEST_WHOLE = 1.5  # of a whole number
KERNEL = 3.0  # how far pairs count, in squares of the distances played at
TRUST = 2.0  # steps by which the best values move at once
KINK_ERROR = 0.5  # steps: how well the place of a kink is known
REGION = 3.0  # steps: where what is left to be had is looked for
FEWEST_PAIRS = 24  # for a fit
DRAWS = 300  # of the posterior
MOVED = 2.0  # steps (c_end) from the best values at which the cost of a number is measured


class Neighbourhood:
    """The best values `u` (d,), in units from the given ones, the distance `step` (d,) from them at
    which games are played, and the surface around them."""

    def __init__(self, numbers: Sequence[Number]) -> None:
        self.given = np.array([number.value for number in numbers])
        self._ends = np.array([(number.low, number.high) for number in numbers]).T
        steps = np.array([number.step for number in numbers])
        self.units = np.minimum(UNIT * steps, self._ends[1] - self._ends[0])
        self._low, self._high = (self._ends - self.given) / self.units
        self._moved = MOVED * steps / self.units
        whole = np.array([number.whole for number in numbers])
        self._shortest = np.where(whole, SHORTEST_WHOLE / self.units, SHORTEST_STEP)
        self.size = d = len(numbers)
        self.u, self.step, self.surface = np.zeros(d), np.full(d, FIRST_STEP), Surface(d)
        self._a: list[np.ndarray] = []
        self._b: list[np.ndarray] = []
        self._scores: list[float] = []
        self._shifts: list[np.ndarray] = []

    def copy(self) -> Neighbourhood:
        """Return a copy that can be fitted independently."""
        other = copy.copy(self)
        other.surface = copy.copy(self.surface)
        return other

    @property
    def pairs(self) -> int:
        """The number of pairs so far."""
        return len(self._scores)

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the values of the numbers at u, within their limits."""
        return np.clip(self.given + u * self.units, *self._ends)

    def at(self, values: np.ndarray) -> np.ndarray:
        """Return u of values."""
        return (values - self.given) / self.units

    def add(self, a: np.ndarray, b: np.ndarray, score: float, back: int | None = None) -> None:
        """Add a pair with values a and b and the score of a; `back` is the number that b had put
        back to its given value, `size` if it had all."""
        shift = np.zeros(self.size + 1)
        if back is not None:
            shift[back] = 1.0
        self._a.append(self.at(a))
        self._b.append(self.at(b))
        self._scores.append(score)
        self._shifts.append(shift)

    def fit(self) -> None:
        """Fit the surface to the pairs."""
        a, b, shifts = np.array(self._a), np.array(self._b), np.array(self._shifts)
        near, far = (((side - self.u) / self.step) ** 2 for side in (a, b))
        weights = 1 / (1 + ((near + far).mean(1) / 2 / KERNEL) ** 2)
        back = shifts.any(1)
        weights[back] = 1 / (1 + near[back].mean(1) ** 2)
        self.surface.fit(Data(a, b, np.array(self._scores), shifts), weights, self.u, self.step)

    def move(self) -> None:
        """Move to where the surface is highest, not far at once."""
        self.u = self._highest(self.surface.mean[None], TRUST)[0]
        self.surface.shift_units = LEAST_SHIFT + np.abs(self._worth()[0])

    def _highest(self, coefficients: np.ndarray, steps: float = np.inf) -> np.ndarray:
        """Return where surfaces are highest (n, d), within a number of steps and the limits."""
        reach = steps * self.step
        ends = np.maximum(self._low, self.u - reach), np.minimum(self._high, self.u + reach)
        grids = [grid(*each) for each in zip(*ends, self.u, self.step, strict=True)]
        return self.surface.best(coefficients, self.u, grids)

    def losing(self, elo: float) -> np.ndarray:
        """Return how far (d,) from the best values each number alone loses an amount of Elo, the
        mean of both ways."""
        away = np.geomspace(SHORTEST_STEP, LONGEST_STEP, 50)
        found = []
        for i, u in enumerate(self.u):
            places = np.concatenate([[u], u - away, u + away])
            line = self.surface.profiles(self.surface.mean[None], i, places)[0]
            beyond = np.flatnonzero(line[0] - line[1:].reshape(2, -1).mean(0) > elo)
            found.append(away[beyond[0]] if len(beyond) else LONGEST_STEP)
        return np.maximum(found, self._shortest)

    def _put_back(self) -> np.ndarray:
        """Return the best values with each number at its given one, then with all (d + 1, d)."""
        places = np.tile(self.u, (self.size + 1, 1))
        np.fill_diagonal(places, 0.0)
        places[-1] = 0.0
        return places

    def _contrast(self, a: np.ndarray, b: np.ndarray, shifts: np.ndarray) -> tuple:
        """Return the Elo of a over b (n,) and its standard error."""
        x = self.surface.difference(a, b, shifts)
        variances = np.einsum("nk,kl,nl->n", x, self.surface.covariance, x)
        return x @ self.surface.mean, np.sqrt(variances)

    def _worth(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the worth of each number, then of all (d + 1,), and its standard errors."""
        shifts = np.eye(self.size + 1)
        if self.size == 1:
            shifts[0] = shifts[1]  # the same pairs
        places = self._put_back()
        return self._contrast(np.broadcast_to(self.u, places.shape), places, shifts)

    def _cost(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what each number loses two steps from its best value, and its standard errors."""
        here, away = self.surface.terms(self.u[None]), np.diag(self._moved)
        there = (self.surface.terms(self.u + away) + self.surface.terms(self.u - away)) / 2
        x = here - there
        known = self.surface.covariance[: x.shape[1], : x.shape[1]]
        return x @ self.surface.mean[: x.shape[1]], np.sqrt(np.einsum("nk,kl,nl->n", x, known, x))

    def _left(self, drawn: np.ndarray) -> float:
        """Return what surfaces have above the best values, in the region around them."""
        there = self.surface.strength(drawn, self._highest(drawn, REGION))
        here = self.surface.strength(drawn, np.tile(self.u, (len(drawn), 1)))
        return float((there - here).mean())

    def estimate(self, seed: int) -> Estimate:
        """Return the estimate of the last fit."""
        surface, generator = self.surface, np.random.default_rng(seed)
        drawn = surface.draws(DRAWS, generator)
        low, high = np.quantile(self._highest(drawn), (0.025, 0.975), axis=0)
        if surface.kinked:
            low, high = low - KINK_ERROR * self.step, high + KINK_ERROR * self.step
        worth, worth_error = self._worth()
        return Estimate(
            self.values(self.u),
            self.values(np.minimum(low, self.u)),
            self.values(np.maximum(high, self.u)),
            worth[:-1],
            worth_error[:-1],
            *self._cost(),
            float(worth[-1]),
            float(worth_error[-1]),
            self._left(drawn),
            self._left(surface.draws(DRAWS, generator, 0.5)),
            self._doubt(worth[-1] < NORMAL * worth_error[-1]),
        )

    def _doubt(self, no_gain: bool) -> str:
        """Return why the optimum is not to be trusted yet, "" without a reason."""
        if self.pairs < FEWEST_PAIRS:
            return "there are too few pairs"
        probe = self._highest(self.surface.mean[None])[0]
        if (np.abs(probe - self.u) > self.step).any():
            return "the best values are still moving"
        return "the given values may be as good" if no_gain else ""
