"""Losses of predictions on held-out positions, with intervals by resampling their openings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from tuner.results.result import Interval

STEEPEST = 1.0  # scale, in 1 / centipawns: a pawn decides any game


def cross_entropy(logit: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return -q log p - (1 - q) log(1 - p) of each position (n,)."""
    return np.logaddexp(0, logit) - q * logit


def entropy(q: np.ndarray) -> np.ndarray:
    """Return the cross-entropy (n,) of values given themselves: the least that any prediction can
    have."""
    return -xlogy(q, q) - xlogy(1 - q, 1 - q)


def fitted_scale(evaluation: np.ndarray, q: np.ndarray, mass: np.ndarray) -> float:
    """Return the scale in [0, STEEPEST] with the least cross-entropy, each position counted `mass`
    (n,) times.

    It is 0 for evaluations that do not rise with the values: nothing beats p = 1/2 then.
    """

    def slope(scale: float) -> float:  # of the mean log likelihood, which is concave
        return float(mass @ (evaluation * (q - expit(2 * scale * evaluation))))

    if slope(0.0) <= 0:
        return 0.0
    if slope(STEEPEST) >= 0:
        return STEEPEST
    return float(brentq(slope, 0.0, STEEPEST, xtol=1e-9))


REPLICATES = 2000
MOST_BLOCKS = 2000  # more clusters are joined at random: blocks are independent too
LEVEL = 0.95
DIGITS = 7  # of what is reported


def block_sums(cluster: np.ndarray, columns: np.ndarray, seed: int = 1) -> np.ndarray:
    """Return the sums (blocks, k) of columns (n, k) over blocks of positions; `cluster` (n,) is any
    identity of the opening."""
    _, block = np.unique(cluster, return_inverse=True)
    blocks = int(block.max(initial=-1)) + 1
    if blocks > MOST_BLOCKS:
        block = (np.random.default_rng([seed, blocks]).permutation(blocks) % MOST_BLOCKS)[block]
        blocks = MOST_BLOCKS
    return np.stack([np.bincount(block, column, blocks) for column in columns.T], axis=1)


def resample(sums: np.ndarray, seed: int = 1, replicates: int = REPLICATES) -> np.ndarray:
    """Return the totals (replicates, k) of as many blocks as there are, drawn with replacement from
    the sums (blocks, k)."""
    random, blocks = np.random.default_rng([seed, len(sums)]), len(sums)
    return np.stack(
        [random.multinomial(blocks, np.full(blocks, 1 / blocks)) @ sums for _ in range(replicates)]
    )


class ResampledSums:
    """Sums of some columns over blocks, and their resampled totals: `interval` takes any function
    of them."""

    def __init__(self, cluster: np.ndarray, columns: dict[str, np.ndarray], seed: int = 1) -> None:
        sums = block_sums(
            cluster, np.stack(list(columns.values()), axis=1).astype(np.float64), seed
        )
        self._total = dict(zip(columns, sums.sum(axis=0), strict=True))
        self._draws = (
            dict(zip(columns, resample(sums, seed).T, strict=True)) if len(sums) > 1 else None
        )

    def interval(self, of: Callable[[dict], np.ndarray]) -> Interval:
        """Return `of` the sums, with the 95 % interval of `of` the resampled sums (replicates,);
        None if it is not known."""
        with np.errstate(all="ignore"):
            value = rounded(of(self._total))
            if self._draws is None:
                return Interval(value)
            drawn = np.asarray(of(self._draws), np.float64)
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) < REPLICATES / 2:
            return Interval(value)
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval(value, rounded(low), rounded(high), rounded(drawn.std(ddof=1)))


def rounded(value: Any) -> float | None:
    """Return a number with the digits that are reported, None if it is not known."""
    return round(float(value), DIGITS) if np.isfinite(value) else None
