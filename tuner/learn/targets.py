"""Scores of searches as numbers: their scale in values, and blends of them with results.

A centipawn of another engine is not ours, so scores are turned into values by a fit of the results
on them: value = tanh(scale * score), by least squares on the values, so that a few drawn games with
huge scores do not decide it. A target is the blend (1 - lambda) * value + lambda * result. All
arrays are of positions (n,): `scores` in centipawns of the first player's view, infinite for forced
wins, NaN if unknown; `results` in [-1, 1]; `games` any identity of the game, as results of one game
are one observation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from games.streams import InputError
from tuner.options.option import no_use

LOWEST, HIGHEST = 1e-5, 0.1  # plausible scales, as for evaluations
STEPS = 41  # of the grid on which the fit begins: the sum of squares may have several minima
FEWEST_GAMES = 20
CERTAIN = 3.0  # standard errors from zero
SAMPLE = 1_000_000  # positions: enough for three digits
UNDECIDED = 1.5  # scale * score up to which a position is not decided: a score of 95 %
SHOWN = 100.0  # centipawns, in lines for people
TARGETS = "choose --method logistic or rootstrap"  # in place of scores


class Unscored(InputError):
    """Positions without scores to learn from, or with scores that cannot be used. `found` says so;
    other `targets`, and an engine as `teacher`, are what to do."""

    def __init__(self, found: str, targets: str, teacher: str = "") -> None:
        super().__init__(
            "; ".join(filter(None, (found, ", or ".join(filter(None, (targets, teacher))))))
        )
        self.found = found


class ScoreScale(NamedTuple):
    """The scale of scores: `value` and its standard error, clustered by game, in 1 / centipawns;
    from so many games and finite scores."""

    value: float
    error: float
    games: int
    scores: int


def fit_score_scale(
    scores: np.ndarray, results: np.ndarray, games: np.ndarray, what: str = "recorded scores"
) -> ScoreScale:
    """Return the scale at which scores predict results best. InputError if there are too few games,
    or if scores do not predict the results; `what` names them there."""
    scores, results, group = _finite(scores, results, games)
    count = int(group.max(initial=-1)) + 1
    if count < FEWEST_GAMES:
        raise Unscored(
            f"{what}: only {count} games with scores that are not mates, expected at least"
            f" {FEWEST_GAMES} to scale scores by the results of the games",
            TARGETS,
        )

    def loss(log_scale: float) -> float:
        return float(((results - np.tanh(np.exp(log_scale) * scores)) ** 2).mean())

    grid = np.linspace(np.log(LOWEST), np.log(HIGHEST), STEPS)
    best = int(np.argmin([loss(point) for point in grid]))
    if 0 < best < STEPS - 1:
        found = minimize_scalar(
            loss, bounds=(grid[best - 1], grid[best + 1]), method="bounded", options={"xatol": 1e-7}
        )
        scale = float(np.exp(found.x))
        error = _error(scale, scores, results, group, count)
        if scale >= CERTAIN * error:
            return ScoreScale(scale, error, count, len(scores))
    raise Unscored(
        f"{what}: do not predict the results of these {count:,} games, so they cannot be scaled;"
        " expected scores of the first player's view in centipawns",
        TARGETS,
    )


def _finite(
    scores: np.ndarray, results: np.ndarray, games: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the finite scores, their results as float64, and the number of the game of each; of
    whole games if there are more than SAMPLE."""
    known = np.isfinite(scores)
    _, group = np.unique(games[known], return_inverse=True)
    some = slice(None)
    if (every := len(group) // SAMPLE) > 1:
        some = group % every == 0
        _, group = np.unique(group[some], return_inverse=True)
    return scores[known][some].astype(np.float64), results[known][some].astype(np.float64), group


def _error(
    scale: float, scores: np.ndarray, results: np.ndarray, group: np.ndarray, count: int
) -> float:
    """Return the cluster-robust standard error of a fitted scale (sandwich estimator)."""
    values = np.tanh(scale * scores)
    slope = scores * (1 - values**2)
    sums = np.bincount(group, slope * (results - values), count)
    return float(np.sqrt((sums**2).sum() * count / (count - 1)) / (slope**2).sum())


def scale_line(found: ScoreScale, what: str = "recorded scores") -> str:
    """Return a line about a fitted scale, with a 95 % interval."""
    value = np.tanh(found.value * SHOWN)
    half = 1.96 * found.error * SHOWN * (1 - value**2) / 2
    return (
        f"{what}: +{SHOWN:g} centipawns score {100 * (1 + value) / 2:.1f} +/- {100 * half:.1f} % in"
        f" these games ({found.scores:,} scores of {found.games:,} games)"
    )


def blended(scores: np.ndarray, results: np.ndarray, scale: float, lambda_: float) -> np.ndarray:
    """Return the targets (n,) float32: (1 - lambda) * tanh(scale * score) + lambda * result; NaN
    where the score is unknown, but for lambda 1, which needs none."""
    if lambda_ == 1:
        return results.astype(np.float32)
    return ((1 - lambda_) * np.tanh(scale * scores.astype(np.float64)) + lambda_ * results).astype(
        np.float32
    )


def later_blended(
    scores: np.ndarray, results: np.ndarray, scale: float, lambda_: float, first: np.ndarray
) -> np.ndarray:
    """Return the targets (n,) float32 of the positions of whole games, which begin at `first`
    (games + 1,): (1 - lambda) * tanh(scale * score) + lambda * target of the next position of the
    game, and of the last one the result: the lambda-returns of Sutton (1988)."""
    if lambda_ == 1:
        return results.astype(np.float32)
    targets = np.tanh(scale * scores.astype(np.float64))
    begins, ends = first[:-1], first[1:]
    for back in range(1, int((ends - begins).max(initial=0)) + 1):  # the last positions first
        places = ends[ends - begins >= back] - back
        later = results[places] if back == 1 else targets[places + 1]
        targets[places] = (1 - lambda_) * targets[places] + lambda_ * later
    return targets.astype(np.float32)


def close(scores: np.ndarray, evaluations: np.ndarray, scale: float, most: float) -> np.ndarray:
    """Return which positions (n,) bool have a score that differs by at most `most` centipawns from
    our static evaluation (n,).

    Scores are brought to the unit of the evaluation by the factor with the least sum of absolute
    differences, over positions that are not decided; `scale` is that of the scores. A mate differs
    from every evaluation."""
    used = (np.abs(scores) * scale < UNDECIDED) & (scores != 0)  # without unknown scores too
    ratios, weights = evaluations[used] / scores[used], np.abs(scores[used].astype(np.float64))
    order = np.argsort(ratios, kind="stable")
    sums = np.cumsum(weights[order])
    factor = float(ratios[order[np.searchsorted(sums, sums[-1] / 2)]]) if len(sums) else 0.0
    if factor <= 0:
        raise InputError(
            no_use(
                "--max-difference",
                "the evaluations of the starting values do not rise with the scores",
                "start from other values",
            )
        )
    return np.abs(scores * factor - evaluations) <= most
