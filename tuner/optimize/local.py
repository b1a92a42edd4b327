"""Local model: both sides play around the best values so far, as far away as costs little Elo.

The idea is CLOP's (Coulom 2011): fit a surface to the neighborhood of its own optimum. Here the
two sides of a pair play on opposite sides of a point, which is most informative about slopes; the
points vary, which informs about curvatures. The steps shrink as games come: what the surface cannot
follow matters less then. Some pairs put numbers back to their given values, which measures their
worth.

Strength near its best is a quadratic function of the numbers, with kinks along each of them where
the games show some; pairs far away count less. The score of a pair is logistic in the difference of
strength. Priors are normal, with widths from the games: widths of slopes, curvatures and products
by expectation maximization, the width of kinks by the evidence (MacKay 1992). The widths have a
weak prior of their own, so that few games claim little.

What the surface says of values far away is not believed as such: pairs in which numbers were put
back to their given values measure by how much it is wrong there. Coordinates u are (value - given
value) / unit, see `units`. Weights of a pair: `shifts` are what it tells beyond the function, see
`Data`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuner.core.estimates import ELO, Estimate, estimate_of
from tuner.optimize.numbers import Number

KNOTS = np.arange(-2.5, 2.51, 0.5)  # of kinks around the best values, in steps of play
LOGIT = 1 / ELO  # of a score, for each Elo
SLOPE, CURVE, PRODUCT, SHIFT, TOTAL, KINK = range(6)  # groups of coefficients that share a width
EXPECTED = 60.0  # Elo: what numbers are expected to be worth in all over a unit
BELIEF = 1.0  # in how many coefficients the expected width counts
SHIFTS = 0.3  # expected, as a share of what is put back
LEAST_SHIFT = 4.0  # Elo
PAIR_VARIANCE, PAIRS_OF_VARIANCE = 0.06, 20  # of a pair's score, and how many pairs that counts as
KINK_WIDTHS = np.array([0.01, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0])  # Elo for each unit, to choose
CONVINCING = 2.0  # log evidence: kinks are there from it on
ROUNDS = 6  # of expectation maximization in each fit
REACH = 600.0  # Elo: differences beyond it are as good as won
FLATTEST = 0.02  # the least p (1 - p) that weighs a pair
SWEEPS, NEAR, FAR = 30, 61, 21  # of the search for the best values, and its grid


@dataclass
class Data:
    """Pairs that were played: u of both sides (n, d), scores (n,), and indicators (n, d + 1) of
    pairs in which b had one number put back to its given value, or (the last) all."""

    a: np.ndarray
    b: np.ndarray
    scores: np.ndarray
    shifts: np.ndarray


class Surface:
    """A normal posterior of the coefficients: `mean` (k,), `covariance` (k, k), in Elo."""

    def __init__(self, size: int) -> None:
        """For `size` numbers."""
        d = self.size = size
        self._i, self._j = np.triu_indices(d, 1)
        kinds = [
            (SLOPE, d),
            (CURVE, d),
            (PRODUCT, len(self._i)),
            (KINK, d * len(KNOTS)),
            (SHIFT, d),
            (TOTAL, 1),
        ]
        self.groups = np.repeat([kind for kind, _ in kinds], [count for _, count in kinds])
        self._curves = self.groups == CURVE
        each = EXPECTED / d**0.5
        self._expected = np.array([2 * each, 2 * each, each, SHIFTS, SHIFTS, KINK_WIDTHS[0]])
        self._usual_curve = self.curve = -4 * each
        self.widths = self._expected.copy()
        self.variance = PAIR_VARIANCE
        self.knots = np.zeros((d, len(KNOTS)))
        self.mean = np.where(self._curves, self.curve, 0.0)
        self.covariance = np.diag(self.widths[self.groups] ** 2)
        self.shift_units = np.full(d + 1, LEAST_SHIFT)
        self.kinked = False  # whether the pairs show kinks

    def terms(self, u: np.ndarray) -> np.ndarray:
        """Return the terms of strength (n, k - d - 1) at u (n, d)."""
        kinks = np.maximum(u[:, :, None] - self.knots, 0).reshape(len(u), -1)
        return np.concatenate([u, u * u / 2, u[:, self._i] * u[:, self._j], kinks], 1)

    def difference(self, a: np.ndarray, b: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        """Return what multiplies the coefficients in the Elo of a over b."""
        return np.concatenate([self.terms(a) - self.terms(b), shifts * self.shift_units], 1)

    def fit(self, data: Data, weights: np.ndarray, around: np.ndarray, steps: np.ndarray) -> None:
        """Learn from pairs with these weights (n,); knots of kinks are `around` u (d,), in `steps`
        (d,)."""
        before = self.difference(data.a, data.b, data.shifts) @ self.mean
        self.knots = around[:, None] + steps[:, None] * KNOTS
        x = self.difference(data.a, data.b, data.shifts)
        for elo in (before, None):
            elo = np.clip(x @ self.mean if elo is None else elo, -REACH, REACH)
            p = 1 / (1 + np.exp(-LOGIT * elo))
            spread = np.maximum(p * (1 - p), FLATTEST)
            slope = LOGIT * spread
            information = weights * slope**2 / (4 * spread * self.variance)
            self._learn(
                (x.T * information) @ x, x.T @ (information * (elo + (data.scores - p) / slope))
            )
        p = 1 / (1 + np.exp(-LOGIT * np.clip(x @ self.mean, -REACH, REACH)))
        squares = weights @ ((data.scores - p) ** 2 / (4 * spread))
        self.variance = (squares + PAIRS_OF_VARIANCE * PAIR_VARIANCE) / (
            weights.sum() + PAIRS_OF_VARIANCE
        )

    def _learn(self, gram: np.ndarray, right: np.ndarray) -> None:
        """Set widths and the posterior, given the information of the pairs and its product with
        what they measured."""
        counts = np.bincount(self.groups, minlength=len(self.widths))
        for _ in range(ROUNDS):
            self._solve(gram, right)
            own = self.covariance.diagonal()
            share = counts[CURVE] / self.widths[CURVE] ** 2
            usual = 1 / (2 * self._expected[CURVE]) ** 2
            self.curve = min(
                (share * self.mean[self._curves].mean() + usual * self._usual_curve)
                / (share + usual),
                -1.0,
            )
            squares = (self.mean - np.where(self._curves, self.curve, 0.0)) ** 2 + own
            kinks = self.widths[KINK]
            self.widths = np.sqrt(
                (np.bincount(self.groups, squares) + BELIEF * self._expected**2) / (counts + BELIEF)
            )
            self.widths[KINK] = kinks
        evidence = []
        for self.widths[KINK] in KINK_WIDTHS:
            precision = self.widths[self.groups] ** -2
            factor = np.linalg.cholesky(gram + np.diag(precision))
            half = np.linalg.solve(factor, right - gram @ np.where(self._curves, self.curve, 0.0))
            evidence.append(
                half @ half / 2 - np.log(factor.diagonal()).sum() + np.log(precision).sum() / 2
            )
        self.kinked = max(evidence) - evidence[0] > CONVINCING
        self.widths[KINK] = KINK_WIDTHS[int(np.argmax(evidence)) if self.kinked else 0]
        self._solve(gram, right)

    def _solve(self, gram: np.ndarray, right: np.ndarray) -> None:
        precision = self.widths[self.groups] ** -2
        self.covariance = np.linalg.inv(gram + np.diag(precision))
        self.mean = self.covariance @ (right + precision * np.where(self._curves, self.curve, 0.0))

    def draws(self, count: int, generator: np.random.Generator, share: float = 1.0) -> np.ndarray:
        """Return coefficients (count, k) of the posterior, its variances times `share`."""
        factor = np.linalg.cholesky(self.covariance + np.diag(1e-12 * self.covariance.diagonal()))
        return self.mean + share**0.5 * generator.normal(size=(count, len(self.mean))) @ factor.T

    def strength(self, coefficients: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return Elo (n,) of coefficients (n, k) at u (n, d)."""
        terms = self.terms(u)
        return np.einsum("nk,nk->n", coefficients[:, : terms.shape[1]], terms)

    def profiles(self, coefficients: np.ndarray, number: int, u: np.ndarray) -> np.ndarray:
        """Return Elo (n, m) of coefficients (n, k) along one number, at u (m,) of it, the rest
        0."""
        d, kinks = self.size, 2 * self.size + len(self._i) + number * len(KNOTS)
        return (
            coefficients[:, number, None] * u
            + coefficients[:, d + number, None] * u * u / 2
            + coefficients[:, kinks : kinks + len(KNOTS)]
            @ np.maximum(u - self.knots[number][:, None], 0)
        )

    def best(
        self, coefficients: np.ndarray, start: np.ndarray, grids: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return where strength is greatest (n, d) by coefficients (n, k), by one number after
        another from u `start` (d,), within their grids."""
        d, n = self.size, len(coefficients)
        products = np.zeros((n, d, d))
        products[:, self._i, self._j] = coefficients[:, 2 * d : 2 * d + len(self._i)]
        products += products.transpose(0, 2, 1)
        along = [self.profiles(coefficients, i, grids[i]) for i in range(d)]
        u, rows = np.tile(start, (n, 1)), np.arange(n)
        for _ in range(SWEEPS):
            before = u.copy()
            for i, x in enumerate(grids):
                elo = along[i] + np.einsum("nj,nj->n", products[:, i], u)[:, None] * x
                top = elo.argmax(1)
                k = np.clip(top, 1, len(x) - 2)
                u[:, i] = np.where(
                    k == top,
                    _vertex(x[k - 1], x[k], x[k + 1], *elo[rows, [k - 1, k, k + 1]]),
                    x[top],
                )
            if np.abs(u - before).max() < 1e-4:
                break
        return u


def _vertex(x0, x1, x2, y0, y1, y2):
    """Return where the parabola through three points with the highest in the middle is highest."""
    left, right = (x1 - x0) * (y1 - y2), (x1 - x2) * (y1 - y0)
    under = 2 * (left - right)
    over = (x1 - x0) * left - (x1 - x2) * right
    return x1 - np.divide(over, under, out=np.zeros_like(x1), where=under != 0)


def grid(low: float, high: float, middle: float, step: float) -> np.ndarray:
    """Return u from low to high, denser within three steps of the middle."""
    near = middle + 3 * step * np.linspace(-1, 1, NEAR)
    return np.unique(np.clip(np.concatenate([near, np.linspace(low, high, FAR)]), low, high))


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
        lengths = []
        for i, u in enumerate(self.u):
            places = np.concatenate([[u], u - away, u + away])
            line = self.surface.profiles(self.surface.mean[None], i, places)[0]
            beyond = np.flatnonzero(line[0] - line[1:].reshape(2, -1).mean(0) > elo)
            lengths.append(away[beyond[0]] if len(beyond) else LONGEST_STEP)
        return np.maximum(lengths, self._shortest)

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

    def estimate(self, seed: int) -> Optimum:
        """Return the estimate of the last fit."""
        surface, generator = self.surface, np.random.default_rng(seed)
        drawn = surface.draws(DRAWS, generator)
        low, high = np.quantile(self._highest(drawn), (0.025, 0.975), axis=0)
        if surface.kinked:
            low, high = low - KINK_ERROR * self.step, high + KINK_ERROR * self.step
        worth, worth_error = self._worth()
        gain = estimate_of(float(worth[-1]), float(worth_error[-1]))
        return Optimum(
            self.values(self.u),
            self.values(np.minimum(low, self.u)),
            self.values(np.maximum(high, self.u)),
            worth[:-1],
            worth_error[:-1],
            *self._cost(),
            gain,
            self._left(drawn),
            self._left(surface.draws(DRAWS, generator, 0.5)),
            self._doubt(gain.low < 0),
        )

    def _doubt(self, no_gain: bool) -> str:
        """Return why the optimum is not to be trusted yet, "" without a reason."""
        if self.pairs < FEWEST_PAIRS:
            return "there are too few pairs"
        probe = self._highest(self.surface.mean[None])[0]
        if (np.abs(probe - self.u) > self.step).any():
            return "the best values are still moving"
        return "the given values may be as good" if no_gain else ""


class Optimum(NamedTuple):
    """What the pairs say so far; arrays (d,) in the order of the numbers, Elo logistic.

    `best` are the values to take now; `low` and `high` are 95 % intervals of the optimum within the
    limits. `worth` is the Elo that each number brings: what is lost if it alone goes back to its
    given value, with standard error `worth_error`. `cost` is what it loses two steps (c_end) from
    its best value, the mean of both ways, with `cost_error`: a number that costs nothing does not
    matter. `gain` is the Elo of `best` over the given values. `left` is the Elo that is expected
    to be between `best` and the optimum, and `left_later` after twice the pairs. `doubt` is a
    reason not to trust the optimum, "" without one."""

    best: np.ndarray
    low: np.ndarray
    high: np.ndarray
    worth: np.ndarray
    worth_error: np.ndarray
    cost: np.ndarray
    cost_error: np.ndarray
    gain: Estimate
    left: float
    left_later: float
    doubt: str

    def worth_of(self, i: int) -> Estimate:
        """Return what a number brings."""
        return estimate_of(float(self.worth[i]), float(self.worth_error[i]))

    def cost_of(self, i: int) -> Estimate:
        """Return what a number loses two steps from its best value."""
        return estimate_of(float(self.cost[i]), float(self.cost_error[i]))


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
