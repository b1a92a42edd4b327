"""What sampling noise of a fit does to evaluations, and what that costs in matches.

A search compares positions that are a move or a few apart: noise that moves all of them alike costs nothing. The measure is
therefore the difference of evaluations between neighbouring positions of one game. Matches of `classic` against itself plus
noise without signal, of three shapes, lost Elo in proportion to the variance of that difference
(docs/what-the-numbers-mean.md has the table); in proportion to the variance of evaluations they did not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuner.fit.problem import Problem
from tuner.fit.standard_errors import Uncertainty

SAMPLE = 4000  # pairs of neighbouring positions
SEED = 1
FEWEST = 100  # pairs from which a variance is estimated
FEWEST_DRAWN = 40  # of about 70 quiet positions of a game: fewer do not follow each other closely


class Price(NamedTuple):
    """Elo per squared centipawn of noise between neighbouring positions, and its 95 % interval, measured by matches."""

    elo: float
    low: float
    high: float


PRICED_DEPTH = 4  # plies, of the matches
PRICE = Price(0.21, 0.18, 0.24)


class Noise(NamedTuple):
    """Standard deviations in centipawns that sampling noise gives evaluations, and differences between neighbouring positions of
    a game; None if hardly any game has two positions, or if few of each game were drawn at random: those are far apart."""

    evaluations: float
    differences: float | None

    def elo(self, centipawn: float) -> Price | None:
        """Return what the noise of differences costs in Elo, with a 95 % interval, where a centipawn
        of the evaluation is worth `centipawn` of `classic`."""
        if self.differences is None:
            return None
        return Price(*(price * (centipawn * self.differences)**2 for price in PRICE))


def noise_of(found: Uncertainty, problem: Problem, weights: np.ndarray) -> Noise | None:
    """Return the noise of evaluations, near some weights, on the positions of a problem; None without positions.

    The mean over positions is taken out of evaluations: moving all of them alike is no noise.
    """
    places = sampled(problem)
    if not len(places):
        return None
    here = coefficients(problem, places, weights)[:, found.coordinates]
    drawn = problem.data.manifest.get("options", {}).get("per_game", 0)
    pairs = None if 0 < drawn < FEWEST_DRAWN else neighbours(problem, weights)
    return Noise(deviation(here - here.mean(axis=0), found.noise),
                 None if pairs is None else deviation((pairs[1] - pairs[0])[:, found.coordinates], found.noise))


def neighbours(problem: Problem, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the coefficients by stage (n, d) of sampled positions, and of the next position of the same game in the dataset;
    None if hardly any game has two positions."""
    data, places = problem.data, sampled(problem)
    places = places[places + 1 < data.first[np.searchsorted(data.first, places, side="right")]] if len(places) else places
    if len(places) < FEWEST:
        return None
    return coefficients(problem, places, weights), coefficients(problem, places + 1, weights)


def sampled(problem: Problem) -> np.ndarray:
    """Return the indices (n,) of sampled positions, ascending; long games count more, as in the data."""
    counts = problem.ranges[:, 1] - problem.ranges[:, 0]
    ends, total = np.cumsum(counts), int(counts.sum())
    chosen = np.sort(np.random.default_rng(SEED).choice(total, min(SAMPLE, total), replace=False)) if total else np.zeros(0, int)
    which = np.searchsorted(ends, chosen, side="right")
    return problem.ranges[which, 0] + chosen - (ends - counts)[which]


def coefficients(problem: Problem, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the derivatives by stage (n, d) of the evaluations of positions (indices) near some weights, as the game plays
    them: without slopes by phase. In a linear evaluation they are its coefficients."""
    found = np.zeros((len(places), *problem.start.shape))
    found[:, :, :problem.data.columns] = problem.derivatives(weights, places)
    return found.reshape(len(places), -1)


def deviation(rows: np.ndarray, covariance: np.ndarray) -> float:
    """Return the root mean square over rows x (n, d) of x' C x."""
    return float(np.sqrt(max(np.einsum("ij,ij->", rows @ covariance, rows) / len(rows), 0.0)))
