"""Interval of a proportion that holds for few trials and near 0 and 1 (E. B. Wilson, 1927)."""

from __future__ import annotations

import math
from statistics import NormalDist


def equal_results_interval(result: float, games: int) -> tuple[float, float] | None:
    """Return the interval of a mean result from 0 to 1 of games that all ended alike, in which no variance is seen: that of a
    proportion if all were won or lost, None for other results, such as draws."""
    return wilson_interval(result * games, games) if result in (0, 1) else None


def wilson_interval(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """The true shares from which the observed share is within z of their standard errors; 0 to 1 without trials."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    if not trials:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    # exact at the ends, where rounding would leave a trace of 1e-17
    return (middle - half if successes else 0.0), (middle + half if successes < trials else 1.0)
