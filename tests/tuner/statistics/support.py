"""Pairs drawn at a known strength, made without the formulas under test, and pairs counted from
games."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from tuner.statistics.pentanomial import Results

POINTS = np.linspace(0, 1, 5)
EVEN = np.array([0.05, 0.2, 0.5, 0.2, 0.05])


def shares_of(elo: float, model: str) -> np.ndarray:
    """Shares of pairs (5,), EVEN with an exponential weight, of exactly this strength in either
    sense of Elo."""

    def shares(slope):
        weights = EVEN * np.exp(slope * POINTS)
        return weights / weights.sum()

    def excess(slope):
        mean = shares(slope) @ POINTS
        if model == "logistic":
            return mean - 1 / (1 + 10 ** (-elo / 400))
        deviation = math.sqrt(2 * (shares(slope) @ (POINTS - mean) ** 2))
        return (mean - 0.5) / deviation - elo * math.log(10) / 800

    return shares(brentq(excess, -20, 20, xtol=1e-14))


def count_games(outcomes: Sequence[int] | np.ndarray) -> Results:
    """Count games and pairs, which lie pairwise in order: -1, 0, +1 for the first named player,
    whichever side it played. A game alone is counted as a game and in no pair."""
    games = np.asarray(outcomes, np.int64)
    sums = games[: len(games) // 2 * 2].reshape(-1, 2).sum(axis=1)
    return Results(
        tuple(np.bincount(sums + 2, minlength=5).tolist()),
        *(int((games == kind).sum()) for kind in (1, -1, 0)),
    )


def swapped(results: Results) -> Results:
    """The same games from the other player's view."""
    return Results(results.pairs[::-1], results.losses, results.wins, results.draws)
