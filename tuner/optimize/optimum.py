"""What the pairs of an optimization say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuner.core.estimates import Estimate, estimate_of


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
