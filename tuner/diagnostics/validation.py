"""Loss before and after, and predicted against actual scores, with intervals clustered by game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tuner.datasets.ranges import ahead
from tuner.fit.problem import Problem
from tuner.statistics.intervals import quantile
from tuner.statistics.wilson import equal_results_interval

BINS = 20
LARGEST = 1 << 20  # positions used: some hundred thousand give two digits of an error


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float


class Predictions(NamedTuple):
    """Positions by index (n,), their expected scores for the first player, from 0 to 1, and their losses."""

    place: np.ndarray
    score: np.ndarray
    loss: np.ndarray


def predictions(problem: Problem, weights: np.ndarray, games: np.ndarray) -> Iterator[Predictions]:
    """Yield the predictions for the positions of some games, a block at a time."""
    part = problem.on(games)
    for piece in ahead(problem.data, part.ranges):
        sizes = piece[:, 1] - piece[:, 0]
        place = np.repeat(piece[:, 1] - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        evaluation = problem.evaluations(weights, piece)
        outcome = problem.data.outcome[place].astype(float)
        objective, scale = problem.objective, problem.scale
        width = weights[:, -1] @ problem.model.unscaled[:, problem.data.phase[place]]  # of a draw, if the loss models draws
        yield Predictions(place, objective.expected_score(scale, evaluation, width),
                   objective.loss(scale, evaluation, width, outcome))
        problem.data.release()


def some_games(problem: Problem) -> np.ndarray:
    """Return its games, or every k-th if they hold more than LARGEST positions."""
    return problem.games[::max(1, problem.positions // LARGEST)]


class Change(NamedTuple):
    """Mean losses per position before and after, their difference, and the numbers of games and positions."""

    before: float
    after: float
    difference: Interval
    games: int
    positions: int


def change_of_loss(problem: Problem, before: np.ndarray, after: np.ndarray) -> Change:
    """Return the mean losses per position with two sets of weights, and the change between them."""
    games = some_games(problem)
    sums, counts = np.zeros((2, len(games))), np.diff(problem.data.first)[games].astype(float)
    starts = problem.data.first[games]
    for both in zip(predictions(problem, before, games), predictions(problem, after, games), strict=True):
        for line, part in zip(sums, both, strict=True):
            np.add.at(line, np.searchsorted(starts, part.place, side="right") - 1, part.loss)
    difference = mean_of_clusters(*by_identity(problem.data.game[games], sums[1] - sums[0], counts))
    old, new = sums.sum(axis=1) / counts.sum()
    return Change(float(old), float(new), difference, len(games), int(counts.sum()))


def by_identity(names: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums and counts of games, added up for games of one identity."""
    _, group = np.unique(names, return_inverse=True)
    return np.bincount(group, sums), np.bincount(group, counts)


def mean_of_clusters(sums: np.ndarray, counts: np.ndarray) -> Interval:
    """Return the mean over positions from the sums and counts (g,) of games, a ratio of means (Cochran 1977, section 6.3)."""
    kept = counts > 0
    sums, counts = sums[kept], counts[kept]
    n, total = len(counts), counts.sum()
    mean = float(sums.sum() / total)
    if n < 2:
        return Interval(mean, np.nan, np.nan)
    error = np.sqrt(((sums - mean * counts) ** 2).sum() * n / (n - 1)) / total
    return Interval(mean, mean - quantile(n) * error, mean + quantile(n) * error)


def calibration(problem: Problem, weights: np.ndarray) -> list[dict]:
    """Return predicted and actual scores of the first player, in bins of the prediction with about equal positions.
    `low` and `high` are None where all games of a bin ended alike, but not by wins of one side alone."""
    games = some_games(problem)
    found = list(predictions(problem, weights, games))
    place, score = (np.concatenate([getattr(part, name) for part in found]) for name in ("place", "score"))
    actual = 0.5 + 0.5 * problem.data.outcome[place].astype(float)
    game = problem.data.game[games][np.searchsorted(problem.data.first[games], place, side="right") - 1]
    edges = np.quantile(score, np.linspace(0, 1, BINS + 1)[1:-1])
    which = np.searchsorted(edges, score)
    lines = []
    for number in range(BINS):
        chosen = which == number
        if chosen.any():
            _, group = np.unique(game[chosen], return_inverse=True)
            mean = mean_of_clusters(np.bincount(group, actual[chosen]), np.bincount(group).astype(float))
            n, results = int(group.max()) + 1, actual[chosen]
            same = bool((results == results[0]).all())
            ends = equal_results_interval(float(results[0]), n) if same else (max(0.0, mean.low), min(1.0, mean.high))
            low, high = ends or (None, None)
            lines.append({"predicted": float(score[chosen].mean()), "actual": mean.value, "low": low, "high": high,
                          "positions": int(chosen.sum()), "games": n})
    return lines
