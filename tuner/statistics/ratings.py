"""Joint ratings of players from matches between some of them.

Each match measures a difference of ratings with a normal error; the ratings are the weighted least
squares fit, which is also their maximum likelihood (Gauss-Markov; Hunter 2004 for the logistic
model that it linearises)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tuner.statistics.pentanomial import elo_of, mean_and_variance

SLOPE = 400 / math.log(10)  # Elo by which a score of 1/2 rises with each unit of its logit


class RatedMatch(NamedTuple):
    """A match: its players, the difference of their ratings, and its standard error."""

    a: str
    b: str
    difference: float
    error: float


class Ratings(NamedTuple):
    """Ratings (players,) with mean 0 within what is connected, and their covariances (players,
    players)."""

    players: list[str]
    values: np.ndarray
    covariance: np.ndarray

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """Return by how much a is rated above b, and its standard error."""
        i, j = self.players.index(a), self.players.index(b)
        contrast = np.zeros(len(self.players))
        contrast[i] += 1
        contrast[j] -= 1
        return float(contrast @ self.values), float(
            math.sqrt(max(contrast @ self.covariance @ contrast, 0.0))
        )


def measured_elo(a: str, b: str, pairs: Sequence[int]) -> RatedMatch:
    """Return the Elo difference of a match and its error from counts of pairs by score
    (pentanomial). Half a pair of either extreme is added where pairs show no spread, so that the
    error is finite."""
    counts = list(map(float, pairs))
    score, variance = mean_and_variance(counts)
    if not variance > 0:
        counts[0] += 0.5
        counts[-1] += 0.5
        score, variance = mean_and_variance(counts)
    slope = SLOPE / (score * (1 - score))
    return RatedMatch(a, b, elo_of(score), slope * math.sqrt(variance / sum(counts)))


def joint_ratings(matches: Sequence[RatedMatch]) -> Ratings:
    """Return the ratings of all players of some matches."""
    players = list(dict.fromkeys(name for match in matches for name in (match.a, match.b)))
    place = {name: i for i, name in enumerate(players)}
    design, weights = np.zeros((len(matches), len(players))), np.zeros(len(matches))
    for row, match in enumerate(matches):
        design[row, place[match.a]] += 1
        design[row, place[match.b]] -= 1
        weights[row] = match.error**-2
    covariance = np.linalg.pinv(design.T @ (weights[:, None] * design), hermitian=True)
    right = design.T @ (weights * np.array([match.difference for match in matches]))
    return Ratings(players, covariance @ right, covariance)
