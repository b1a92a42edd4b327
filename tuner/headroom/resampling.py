"""Intervals of any function of sums over positions, by resampling games: the bootstrap of clusters (Efron 1979).

Positions of one opening resemble each other, so openings are drawn as a whole. What was fitted is not fitted again: intervals
cover the choice of held-out positions, not of those learned from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tuner.diagnostics.validation import Interval

REPLICATES = 2000
MOST_BLOCKS = 2000  # more clusters are joined at random: blocks are independent too
LEVEL = 0.95
DIGITS = 7  # of plain data


def block_sums(cluster: np.ndarray, columns: np.ndarray, seed: int = 1) -> np.ndarray:
    """Return the sums (blocks, k) of columns (n, k) over blocks of positions; `cluster` (n,) is any identity of the opening."""
    _, block = np.unique(cluster, return_inverse=True)
    blocks = int(block.max(initial=-1)) + 1
    if blocks > MOST_BLOCKS:
        block = (np.random.default_rng([seed, blocks]).permutation(blocks) % MOST_BLOCKS)[block]
        blocks = MOST_BLOCKS
    return np.stack([np.bincount(block, column, blocks) for column in columns.T], axis=1)


def resampled(sums: np.ndarray, seed: int = 1, replicates: int = REPLICATES) -> np.ndarray:
    """Return the totals (replicates, k) of as many blocks as there are, drawn with replacement from the sums (blocks, k)."""
    random, blocks = np.random.default_rng([seed, len(sums)]), len(sums)
    return np.stack([random.multinomial(blocks, np.full(blocks, 1 / blocks)) @ sums for _ in range(replicates)])


class Sums:
    """Sums of some columns over blocks, and their resampled totals: `interval` takes any function of them."""

    def __init__(self, cluster: np.ndarray, columns: dict[str, np.ndarray], seed: int = 1) -> None:
        sums = block_sums(cluster, np.stack(list(columns.values()), axis=1).astype(np.float64), seed)
        self._total = dict(zip(columns, sums.sum(axis=0), strict=True))
        self._draws = dict(zip(columns, resampled(sums, seed).T, strict=True)) if len(sums) > 1 else None

    def interval(self, of: Callable[[dict], np.ndarray]) -> Interval:
        """Return `of` the sums, with the 95 % interval of `of` the resampled sums (replicates,); NaN if it is not known."""
        with np.errstate(all="ignore"):
            value = float(of(self._total))
            if self._draws is None:
                return Interval(value, np.nan, np.nan)
            drawn = np.asarray(of(self._draws), np.float64)
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) < REPLICATES / 2:
            return Interval(value, np.nan, np.nan)
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval(value, float(low), float(high))


def plain(found: Interval) -> dict:
    """Return an interval as plain data; unknown numbers are None."""
    return {key: round(float(number), DIGITS) if np.isfinite(number) else None for key, number in found._asdict().items()}
