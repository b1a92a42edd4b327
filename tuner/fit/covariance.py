"""Uncertain weights: covariances, as matrices or as random vectors, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tuner.core.estimates import Estimate, estimate_of, reach_of


class Full:
    """A covariance as a `matrix` (d, d); NaN is unknown. Rows (n, d) are coefficients of n linear
    combinations, dense or sparse."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    @property
    def unknown(self) -> bool:
        return bool(np.isnan(self.matrix).any())

    @property
    def variances(self) -> np.ndarray:
        """The variances (d,) of the weights."""
        return self.matrix.diagonal()

    def scaled(self, factors: np.ndarray) -> Full:
        """Return the covariance of the weights times factors (d,)."""
        return Full(self.matrix * np.outer(factors, factors))

    def of(self, rows: Any, centred: bool = False) -> float:
        """Return the mean variance of linear combinations, less that of their mean if `centred`."""
        return float((moments_of(rows, centred) * self.matrix).sum())

    def freedom(self, rows: Any) -> float:
        """Return the degrees of freedom of the mean square of centred linear combinations
        (Satterthwaite 1946)."""
        spread = moments_of(rows, True) @ self.matrix
        return float(np.trace(spread) ** 2 / max(float((spread * spread.T).sum()), 1e-300))


class RandomVectors:
    """A covariance as random vectors (n, d): the sum of their squares over `number`."""

    def __init__(self, vectors: np.ndarray, number: int) -> None:
        self.vectors, self.number = vectors, number

    @property
    def unknown(self) -> bool:
        return bool(np.isnan(self.vectors).any())

    @property
    def variances(self) -> np.ndarray:
        """See `Full`."""
        return (self.vectors**2).sum(axis=0) / self.number

    def scaled(self, factors: np.ndarray) -> RandomVectors:
        """See `Full`."""
        return RandomVectors(self.vectors * factors, self.number)

    def of(self, rows: Any, centred: bool = False) -> float:
        """See `Full`."""
        return float((self._along(rows, centred) ** 2).sum() / self.number)

    def freedom(self, rows: Any) -> float:
        """See `Full`; from pairs of different vectors, whose products have no bias."""
        along = self._along(rows, True)
        products = along.T @ along
        own = products.diagonal()
        pairs = len(own) * (len(own) - 1)
        squares = ((products**2).sum() - (own**2).sum()) / pairs
        return float(own.mean() ** 2 / max(float(squares), 1e-300))

    def _along(self, rows: Any, centred: bool) -> np.ndarray:
        along = rows @ self.vectors.T / np.sqrt(rows.shape[0])
        return along - along.mean(axis=0) if centred else along


def random_signs(seed: int, *shape: int) -> np.ndarray:
    """Return 1 and -1 at random."""
    return np.random.default_rng(seed).integers(0, 2, shape, np.int8) * 2.0 - 1.0


def moments_of(rows: Any, centred: bool) -> np.ndarray:
    """Return the mean (d, d) of x x' over dense or sparse rows x (n, d), less that of their mean if
    `centred`."""
    found, mean = rows.T @ rows / rows.shape[0], rows.mean(axis=0)
    found = found if isinstance(found, np.ndarray) else found.toarray()
    return found - np.outer(mean, mean) if centred else found


@dataclass(frozen=True)
class Uncertainty:
    """Standard errors (stages, columns + 1) in centipawns: NaN if not identified, 0 if fixed.

    `covariance` belongs to the weights at `coordinates` (d,). `noise` excludes what the
    prior adds, and has the share of the way that the weights went: it is that of fits to different
    games under the same prior. `draws`: random vectors from which both were estimated; 0 if they
    are matrices, or unknown."""

    standard_errors: np.ndarray
    covariance: Full | RandomVectors
    noise: Full | RandomVectors
    coordinates: np.ndarray
    games: int
    draws: int = 0


def ratios(found: Uncertainty, weights: np.ndarray, columns: list[int]) -> dict[int, Estimate]:
    """Return weights by column, each averaged over the stages, as multiples of the first one, with
    intervals by the delta method. Weights that were not learned or are not identified are left out;
    so are all if the interval of the first weight contains 0."""
    stages, width = weights.shape
    mean = weights[:, columns].mean(axis=0)
    place = {int(coordinate): i for i, coordinate in enumerate(found.coordinates)}
    known = [[place.get(stage * width + column) for stage in range(stages)] for column in columns]
    z, lines = reach_of(found.games), dict[int, Estimate]()
    z = max(z, reach_of(found.draws + 1)) if found.draws else z

    def error_of(factors: dict[int, float]) -> float:
        """The standard error of a sum of means with these factors, by their places in columns."""
        slope = np.zeros(len(found.coordinates))
        for j, factor in factors.items():
            for at in known[j]:
                if at is not None:
                    slope[at] += factor / stages
        return float(np.sqrt(max(found.covariance.of(slope[None]), 0.0)))

    identified = ~np.isnan(found.standard_errors[:, columns]).any(axis=0)
    if not identified[0] or abs(mean[0]) <= z * error_of({0: 1.0}):
        return {}
    for i in np.flatnonzero(identified)[1:].tolist():
        ratio = mean[i] / mean[0]
        error = error_of({i: 1 / mean[0], 0: -ratio / mean[0]})
        if error > 0:
            lines[columns[i]] = estimate_of(float(ratio), error, z)
    return lines
