"""What a method of optimization is: it proposes the values of both sides of a pair of games, and
learns from the pair's score."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tuner.core.estimates import Estimate, estimate_of
from tuner.optimize.numbers import Number


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


class GameMethod(abc.ABC):
    """A method for some numbers, made for a number of pairs that is planned: schedules follow the
    plan, but more may be played. Its state depends on the pairs that were added, in their order,
    and on nothing else."""

    def __init__(self, numbers: Sequence[Number], pairs: int, seed: int) -> None:
        self.numbers, self.pairs, self.seed = tuple(numbers), pairs, seed

    @abc.abstractmethod
    def proposal(self, pair: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the values (d,) of both sides of a pair, by the number of the pair, from 0, and
        the pairs added so far."""

    @abc.abstractmethod
    def best(self) -> np.ndarray:
        """Return the values (d,) to take now."""

    @abc.abstractmethod
    def add(self, pair: int, a: np.ndarray, b: np.ndarray, score: float) -> None:
        """Add a pair that was played with values a and b (d,), as they were rounded; `score` is the
        score of a, the mean of both games, from 0 to 1."""

    def random(self, pair: int) -> np.random.Generator:
        """Return the random numbers of a pair."""
        return np.random.default_rng((self.seed, pair))

    @abc.abstractmethod
    def estimate(self) -> Optimum:
        """Return what the pairs say."""
