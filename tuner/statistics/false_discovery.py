"""Significant changes of weights: each by its standard error, and all together by the false discovery rate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tuner.statistics.intervals import NORMAL

FALSE_DISCOVERIES = 0.05  # expected share of false ones among the supported changes


@dataclass(frozen=True)
class Evidence:
    """Arrays of one shape, an entry for each change.

    `error` is the standard error of the change, NaN where the data do not identify it; `tested` where there is an error
    that is not zero: a number that was held is no finding. `reach` is how many errors a 95 % interval goes to either side.
    `p` are two-sided p values, NaN where untested: normal ones, as much larger as the reach is where games are few.
    """

    error: np.ndarray
    tested: np.ndarray
    z: np.ndarray
    reach: float | np.ndarray = NORMAL

    @cached_property
    def significant(self) -> np.ndarray:
        """Changes beyond their own 95 % interval."""
        return self.tested & (self.z > self.reach)

    @cached_property
    def p(self) -> np.ndarray:
        from scipy.special import ndtr

        return np.where(self.tested, 2 * ndtr(-self.z * NORMAL / self.reach), np.nan)

    @cached_property
    def supported(self) -> np.ndarray:
        """Changes that remain when the false discovery rate of all tested together is held at 5 % (Benjamini-Hochberg)."""
        found = np.zeros(self.tested.shape, np.bool_)
        if self.tested.any():
            from scipy.stats import false_discovery_control

            found[self.tested] = false_discovery_control(self.p[self.tested], method="bh") <= FALSE_DISCOVERIES
        return found


def weigh(change: np.ndarray, error: np.ndarray, reach: float | np.ndarray = NORMAL) -> Evidence:
    """The evidence of changes with these standard errors: NaN is unknown, 0 is a weight that was not learned."""
    tested = np.isfinite(error) & (error > 0)
    return Evidence(error, tested, np.divide(np.abs(change), error, out=np.zeros(change.shape), where=tested), reach)


def error_of_change(before: np.ndarray | None, after: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Standard errors of differences of independent numbers; numbers without errors are exact, but not those of both."""
    if before is None and after is None:
        return np.full(shape, np.nan)
    return np.hypot(0.0 if before is None else before, 0.0 if after is None else after)
