"""Intervals of proportions (Wilson), changes of weights by their errors and the false discovery
rate."""

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from tuner.core.estimates import NORMAL, chance_below, student


def equal_results_interval(result: float, games: int) -> tuple[float, float] | None:
    """Return the interval of a mean result from 0 to 1 of games that all ended alike, in which no
    variance is seen: the interval of a proportion if all were won or lost, None for other results,
    such as draws."""
    return wilson_interval(result * games, games) if result in (0, 1) else None


def wilson_interval(
    successes: float, trials: float, confidence: float = 0.95
) -> tuple[float, float]:
    """The true shares from which the observed share is within z of their standard errors; 0 to 1
    without trials."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    if not trials:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = (
        z
        * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
        / (1 + z * z / trials)
    )
    # exact at the ends, where rounding would leave a trace of 1e-17
    return (middle - half if successes else 0.0), (middle + half if successes < trials else 1.0)


FALSE_DISCOVERIES = 0.05  # expected share of false ones among the supported changes


@dataclass(frozen=True)
class Evidence:
    """Arrays of one shape, an entry for each change.

    `error` is the standard error of the change, NaN where the data do not identify it; `tested`
    where there is an error that is not zero: a number that was held is no finding. `reach` is how
    many errors a 95 % interval goes to either side. `repeated` marks changes that are duplicates,
    and do not count. `p` are two-sided p values, NaN where untested: of the normal distribution, or
    of Student's t with the degrees of `freedom` of the errors. Where games are few, they are larger
    by as much as the reach is."""

    error: np.ndarray
    tested: np.ndarray
    z: np.ndarray
    reach: float | np.ndarray
    repeated: np.ndarray
    freedom: float = math.inf

    def count(self, marks: np.ndarray) -> int:
        """Return how many changes are marked."""
        return int((marks & ~self.repeated).sum())

    @cached_property
    def significant(self) -> np.ndarray:
        """Changes beyond their own 95 % interval."""
        return self.tested & (self.z > self.reach)

    @cached_property
    def p(self) -> np.ndarray:
        z = self.z * student(self.freedom) / self.reach
        return np.where(self.tested, 2 * chance_below(-z, self.freedom), np.nan)

    @cached_property
    def supported(self) -> np.ndarray:
        """Changes that remain when the false discovery rate of all tested together is held at 5 %
        (Benjamini-Hochberg)."""
        counted = self.tested & ~self.repeated
        if not counted.any():
            return counted
        from scipy.stats import false_discovery_control

        p = self.p[counted]
        kept = p[false_discovery_control(p, method="bh") <= FALSE_DISCOVERIES]
        return self.tested & (self.p <= kept.max(initial=-1.0))


def weigh(
    change: np.ndarray,
    error: np.ndarray,
    reach: float | np.ndarray = NORMAL,
    repeated: np.ndarray | bool = False,
    freedom: float = math.inf,
) -> Evidence:
    """The evidence of changes with these standard errors: NaN is unknown, 0 is a weight that was
    not learned. `repeated` marks changes that are duplicates; `freedom` are the degrees of freedom
    of the errors."""
    tested = np.isfinite(error) & (error > 0)
    z = np.divide(np.abs(change), error, out=np.zeros(change.shape), where=tested)
    return Evidence(error, tested, z, reach, np.broadcast_to(repeated, change.shape), freedom)


def error_of_change(
    before: np.ndarray | None, after: np.ndarray | None, shape: tuple[int, ...]
) -> np.ndarray:
    """Standard errors of differences of independent numbers; numbers without errors are exact, but
    not if both lack them."""
    if before is None and after is None:
        return np.full(shape, np.nan)
    return np.hypot(0.0 if before is None else before, 0.0 if after is None else after)
