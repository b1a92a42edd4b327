"""Split games into training and held-out games by whole openings."""

from __future__ import annotations

import numpy as np

from tuner.datasets.dataset import Dataset


def split_games(data: Dataset, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the games to learn from and the held-out games; no opening is on both sides."""
    mixed = data.opening ^ np.uint64(seed * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    with np.errstate(over="ignore"):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    held = (mixed >> np.uint64(11)).astype(np.float64) / 2**53 < share
    # a game can occur twice in a merged dataset, under two openings: connected games and openings are all learned from
    while (both := held & (np.isin(data.game, data.game[~held]) | np.isin(data.opening, data.opening[~held]))).any():
        held &= ~both
    return np.flatnonzero(~held), np.flatnonzero(held)
