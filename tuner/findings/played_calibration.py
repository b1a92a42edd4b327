"""Calibration of values of positions beside the results of games that were played for it."""

from __future__ import annotations

import math

import numpy as np

from games.record import in_points
from tuner.findings.records import Bin, PlayedCalibration, SquaresChange
from tuner.play.selfplay.values import PlayedValues
from tuner.statistics.intervals import equal_results_interval, quantile

BINS = 20
RESAMPLES = 400
FEWEST = 10  # games with a result


def calibration_of(found: PlayedValues, points: int) -> PlayedCalibration | None:
    """Return bins of about equal numbers of positions and errors; None with fewer than FEWEST
    games. Errors are in points: `points` stand for a value of 1, and of a game that is just won or
    lost, a win is 1 and a draw 1/2."""
    if found.games < FEWEST or not len(found.value):
        return None
    unit, level = (float(points), 0.0) if in_points(points) else (0.5, 0.5)
    which = _bins(found.value)
    bins, games = int(which.max()) + 1, found.games
    cells = found.game * bins + which
    counts = np.bincount(cells, minlength=games * bins).reshape(games, bins)
    values, results = (
        np.bincount(cells, of, games * bins).reshape(games, bins)
        for of in (found.value, found.result)
    )
    share = counts.sum(0) / counts.sum()
    mean, actual = values.sum(0) / counts.sum(0), results.sum(0) / counts.sum(0)
    errors = np.array(
        [_error(results[:, k] - counts[:, k] * actual[k], counts[:, k]) for k in range(bins)]
    )
    resampled = _resampled(counts, values - results)
    side = np.sign(found.value)
    excess, reach = _mean(
        np.bincount(found.game, side * (found.value - found.result), games),
        np.bincount(found.game, minlength=games),
    )
    present = (counts > 0).sum(0)
    half = [
        quantile(int(n)) * error if n > 1 else np.nan
        for n, error in zip(present, errors, strict=True)
    ]
    ends = [
        _interval((1 + mean_) / 2, half_, int(n), same)
        for mean_, half_, n, same in zip(
            actual, half, present, _all_equal(found.result, which), strict=True
        )
    ]
    return PlayedCalibration(
        games=games,
        broken_off=found.broken_off,
        positions=len(found.value),
        bins=[
            Bin(
                predicted=(1 + mean[k]) / 2,
                actual=(1 + actual[k]) / 2,
                low=ends[k][0],
                high=ends[k][1],
                positions=int(counts[:, k].sum()),
                games=int(present[k]),
            )
            for k in range(bins)
        ],
        error=unit * float(share @ np.abs(mean - actual)),
        low=unit * float(np.quantile(resampled, 0.025)),
        high=unit * float(np.quantile(resampled, 0.975)),
        by_chance=unit * float(share @ np.nan_to_num(errors)) * math.sqrt(2 / math.pi),
        favoured=level + unit * float(np.abs(found.value).mean()),
        won=level + unit * float((side * found.result).mean()),
        excess=unit * excess,
        excess_low=unit * (excess - reach),
        excess_high=unit * (excess + reach),
        squares=None if found.before is None else _squares(found, found.before, unit),
    )


def _squares(found: PlayedValues, before: np.ndarray, unit: float) -> SquaresChange:
    """Return the mean squares of results less values before and after the run, and their change."""
    old, new = (unit**2 * (found.result - value) ** 2 for value in (before, found.value))
    change, reach = _mean(
        np.bincount(found.game, new - old, found.games),
        np.bincount(found.game, minlength=found.games),
    )
    return SquaresChange(
        float(old.mean()), float(new.mean()), change, change - reach, change + reach
    )


def _bins(value: np.ndarray) -> np.ndarray:
    """Return the bin (n,) of each value, numbered without gaps."""
    edges = np.quantile(value, np.linspace(0, 1, BINS + 1)[1:-1])
    return np.unique(np.searchsorted(edges, value), return_inverse=True)[1]


def _all_equal(result: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return whether all results of each bin are the same."""
    least, most = np.full((2, int(which.max()) + 1), [[np.inf], [-np.inf]])
    np.minimum.at(least, which, result)
    np.maximum.at(most, which, result)
    return least == most


def _interval(
    actual: float, half: float, games: int, same: bool
) -> tuple[float | None, float | None]:
    """Return the interval of a bin in expected scores; `half` its width as a value. Games that all
    ended alike show no variance."""
    if np.isnan(half):
        return None, None
    if same:
        return equal_results_interval(round(actual, 9), games) or (None, None)
    return max(0.0, actual - half / 2), min(1.0, actual + half / 2)


def _error(sums: np.ndarray, counts: np.ndarray) -> float:
    """Return the standard error of a ratio of sums of games (g,), whose residuals are `sums`."""
    n = int((counts > 0).sum())
    return float(np.sqrt((sums**2).sum() * n / (n - 1)) / counts.sum()) if n > 1 else np.nan


def _mean(sums: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Return the mean of a ratio of sums of games (g,), and half the width of its interval."""
    mean = float(sums.sum() / counts.sum())
    return mean, quantile(int((counts > 0).sum())) * _error(sums - mean * counts, counts)


def _resampled(counts: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Return calibration errors of games (g, bins) drawn with replacement, moved so that their mean
    is the error of the games themselves: resampling adds noise, which alone makes errors larger."""
    random, games = np.random.default_rng(1), len(counts)
    drawn = random.multinomial(games, np.full(games, 1 / games), RESAMPLES).astype(float)
    found = np.abs(drawn @ differences).sum(1) / (drawn @ counts).sum(1)
    own = np.abs(differences.sum(0)).sum() / counts.sum()
    return np.maximum(found - (found.mean() - own), 0.0)
