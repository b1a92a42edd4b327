"""Statistics of a match from pairs of games that share an opening or dice.

The luck of a game has mean zero whoever plays (`tuner.evaluation.networks.players`), so points -
beta * luck has the mean of the points for any beta that does not depend on the game. It is the
slope of a regression on all other pairs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from tuner.core.estimates import (
    ELO,
    TENFOLD,
    Estimate,
    chance_below,
    estimate_of,
    reach_of,
    student,
)
from tuner.statistics.intervals import wilson_interval

NO_ERROR = 1e-9  # points: what rounding leaves of a variance of 0


@dataclass(frozen=True)
class MeanPoints:
    """A mean in points a game, with its standard error; `plain_error` is that of as many games with
    dice of their own and without luck, `slope` the mean slope of points by luck, 0 without."""

    found: Estimate
    plain_error: float
    slope: float

    @property
    def gain(self) -> float:
        """The number of plain games that one game is worth; NaN where games show no spread."""
        return (self.plain_error / self.found.standard_error) ** 2


def slopes_without_own(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return for each entry the slope (n,) of a regression of y on x, with an intercept, on all
    other entries; 0 where x is constant."""
    n, dx, dy = len(x), x - x.mean(), y - y.mean()
    share = n / (n - 1)
    over, under = dx @ dy - share * dx * dy, dx @ dx - share * dx * dx
    least = 1e-12 * max(float(dx @ dx), 1e-300)
    return np.divide(over, under, out=np.zeros(n), where=under > least)


def mean_points(
    points: np.ndarray, luck: np.ndarray | None = None, paired: bool = True
) -> MeanPoints:
    """Return the mean of points (games,) of one player, whose luck was `luck`. `paired`: games 2k
    and 2k + 1 have the same dice.

    At least three games or pairs are needed, an even number of games if they are paired.
    """
    size = 2 if paired else 1
    if len(points) % size or len(points) < 3 * size:
        raise ValueError(
            f"{len(points)} games, expected at least {3 * size}"
            + (", an even number" if paired else "")
        )
    y = np.asarray(points, np.float64).reshape(-1, size).mean(1)
    plain = float(np.std(points, ddof=1) / len(points) ** 0.5)
    slopes = np.zeros(len(y))
    if luck is not None:
        x = np.asarray(luck, np.float64).reshape(-1, size).mean(1)
        slopes = slopes_without_own(y, x)
        y = y - slopes * x
    error = float(np.std(y, ddof=1) / len(y) ** 0.5)
    estimate = estimate_of(
        float(y.mean()), error if error > NO_ERROR else math.nan, reach_of(len(y))
    )
    return MeanPoints(estimate, plain, float(slopes.mean()))


SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Elo for each standard deviation of one game by which the mean score is above 1/2
NORMALIZED_ELO = 2 * ELO


class Results(NamedTuple):
    """Counts of a match. `pairs` are LL, LD, DD or WL, WD, WW; if a game can win more than one
    point, they are pairs by their points, from the fewest to the most. Wins, losses and draws are
    of all games, paired or not."""

    pairs: tuple[int, ...]
    wins: int
    losses: int
    draws: int

    @property
    def games(self) -> int:
        return self.wins + self.losses + self.draws

    @property
    def unpaired(self) -> int:
        """Games whose second is missing: in the score of games, in nothing that is computed from
        pairs."""
        return self.games - 2 * sum(self.pairs)

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2


class Summary(NamedTuple):
    """Statistics of pairs. `score` is their mean and `variance` their mean squared deviation from
    it, with scores in [0, 1].

    `los` is the likelihood of superiority, the chance that the first player is the better one;
    `draw_ratio` the share of pairs that nobody won; `pairs_ratio` is pairs won for each pair lost.
    """

    score: float
    variance: float
    elo: Estimate
    normalized_elo: Estimate
    los: float
    draw_ratio: float
    pairs_ratio: float


def scores_of(kinds: int) -> tuple[float, ...]:
    """Return the scores of the kinds of pairs, from 0 to 1."""
    return SCORES if kinds == len(SCORES) else tuple(k / (kinds - 1) for k in range(kinds))


def mean_and_variance(pairs: Sequence[float]) -> tuple[float, float]:
    """Mean score of a pair and its variance (maximum likelihood: over n, not n - 1); NaN without
    pairs. `pairs` are counts by score, from 0 to 1 in equal steps."""
    total = sum(pairs)
    if not total:
        return math.nan, math.nan
    scores = scores_of(len(pairs))
    mean = sum(count * score for count, score in zip(pairs, scores, strict=True)) / total
    return (
        mean,
        sum(count * (score - mean) ** 2 for count, score in zip(pairs, scores, strict=True))
        / total,
    )


def elo_of(score: float) -> float:
    """Logistic Elo of a mean score: infinite at 0 and 1 and beyond."""
    if math.isnan(score):
        return math.nan
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5)
    return TENFOLD * math.log10(score / (1 - score))


def elo_error(score: float, error: float) -> float:
    """Standard error of a logistic Elo, from that of a mean score."""
    return ELO * error / (score * (1 - score)) if 0 < score < 1 else math.nan


def score_of(elo: float) -> float:
    """Mean score that a logistic Elo difference gives."""
    return 1 / (1 + 10 ** (-elo / TENFOLD))


def normalized_elo_of(score: float, variance: float) -> float:
    """Normalized Elo of a mean score and the variance of a pair."""
    return NORMALIZED_ELO * _ratio(score - 0.5, math.sqrt(2 * variance))


def summarise(pairs: Sequence[int]) -> Summary:
    """Elo, normalized Elo and the rest from counts of pairs by score.

    Intervals and LOS are those of Student's t. Where all pairs are alike, the interval of Elo and
    LOS come from a proportion (Wilson 1927), and there is no interval of normalized Elo.
    """
    total = sum(pairs)
    score, variance = mean_and_variance(pairs)
    error = math.sqrt(variance / (total - 1)) if variance > 0 else math.nan
    side = error * student(total - 1) if total > 1 else math.nan
    normal = (score - side, score + side)
    alike = total > 0 and not variance
    ends = wilson_interval(score * total, total) if alike else normal
    los = math.nan
    if alike:  # the normal approximation that Wilson's interval is the inverse of
        los = NormalDist().cdf(2 * (score - 0.5) * math.sqrt(total))
    elif total:
        los = float(chance_below((score - 0.5) / error, total - 1))
    middle = len(pairs) // 2
    lost, won = sum(pairs[:middle]), sum(pairs[middle + 1 :])
    low, high = map(elo_of, ends)
    normal_low, normal_high = (normalized_elo_of(end, variance) for end in normal)
    normal_error = NORMALIZED_ELO * _ratio(error, math.sqrt(2 * variance))
    return Summary(
        score,
        variance,
        Estimate(elo_of(score), elo_error(score, error), low, high),
        Estimate(normalized_elo_of(score, variance), normal_error, normal_low, normal_high),
        los,
        _ratio(pairs[middle], total),
        _ratio(won, lost),
    )


def _ratio(above: float, below: float) -> float:
    if below:
        return above / below
    return math.copysign(math.inf, above) if above and not math.isnan(above) else math.nan
