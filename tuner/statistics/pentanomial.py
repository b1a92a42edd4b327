"""Statistics of a match from pairs of games that share an opening.

The two games of a pair are not independent, and a lopsided opening decides both: the variance is that of pairs, not of
games. A pair scores 0, 1/4, 1/2, 3/4 or 1 for the first named player. Everything here is from that player's view.

Elo = 400 lg(s / (1 - s)) of the mean score s; its interval is that of the score, transformed. Normalized Elo divides by
the spread instead: (s - 1/2) / (sqrt(2) sd) * 800 / ln 10 with sd of a pair, which determines the number of games needed to
detect the difference (M. Van den Bergh, Normalized Elo, 2020). Near 1/2 and without draws the two are the same. Its interval
takes the spread as known, as that of fastchess does: it covers 95 % near 0, 94 % at 150 and 84 % at 300.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
NORMALIZED_ELO = 800 / math.log(10)  # Elo for each standard deviation of one game by which the mean score is above 1/2
CONFIDENCE = 0.95
SIDE = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)  # 1.96


class Results(NamedTuple):
    """Counts of a match. `pairs` are LL, LD, DD or WL, WD, WW; if a game can win more than one point, they are pairs by their
    points, from the fewest to the most. Wins, losses and draws are of all games, paired or not."""

    pairs: tuple[int, ...]
    wins: int
    losses: int
    draws: int

    @property
    def games(self) -> int:
        return self.wins + self.losses + self.draws

    @property
    def unpaired(self) -> int:
        """Games whose second is missing: in the score of games, in nothing that is computed from pairs."""
        return self.games - 2 * sum(self.pairs)

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2


class Interval(NamedTuple):
    """A value and its 95 % interval; infinite where the score is or may be 0 or 1, NaN where the games say nothing."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Half the width: what stands after +/-, although the interval of Elo is wider on the far side of 0."""
        return (self.high - self.low) / 2


class Summary(NamedTuple):
    """Statistics of pairs. `score` is their mean and `variance` their mean squared deviation from it, with scores in [0, 1].

    `los` is the likelihood of superiority, the chance that the first player is the better one; `draw_ratio` the share of
    pairs that nobody won; `pairs_ratio` is pairs won for each pair lost.
    """

    score: float
    variance: float
    elo: Interval
    normalized_elo: Interval
    los: float
    draw_ratio: float
    pairs_ratio: float


def count_games(outcomes: Sequence[int] | np.ndarray, opening: Sequence[int] | np.ndarray | None = None) -> Results:
    """Count games and pairs: outcomes (n,) in -1, 0, +1 for the first named player, whichever side it played.

    Games of the same `opening` (n,) are a pair, in whatever order they ended; without it, they lie pairwise in order.
    A game alone is counted as a game and in no pair.
    """
    games = np.asarray(outcomes)
    openings = np.arange(len(games)) // 2 if opening is None else np.asarray(opening)
    if len(openings) != len(games):
        raise ValueError(f"{len(games)} outcomes, but {len(openings)} openings")
    if wrong := set(games.tolist()) - {-1, 0, 1}:
        raise ValueError(f"outcome {min(wrong)}, expected -1, 0 or 1")
    names, place, played = np.unique(openings, return_inverse=True, return_counts=True)
    if (played > 2).any():
        raise ValueError(f"{played.max()} games of opening {names[played.argmax()]}, expected a pair")
    total = np.zeros(len(names), np.int64)
    np.add.at(total, place, games.astype(np.int64))
    zero, half, one, one_half, two = np.bincount(total[played == 2] + 2, minlength=5).tolist()
    return Results((zero, half, one, one_half, two), *(int((games == kind).sum()) for kind in (1, -1, 0)))


def scores_of(kinds: int) -> tuple[float, ...]:
    """Return the scores of the kinds of pairs, from 0 to 1."""
    return SCORES if kinds == len(SCORES) else tuple(k / (kinds - 1) for k in range(kinds))


def swapped(results: Results) -> Results:
    """The same games from the other player's view."""
    return Results(results.pairs[::-1], results.losses, results.wins, results.draws)


def mean_and_variance(pairs: Sequence[float]) -> tuple[float, float]:
    """Mean score of a pair and its variance (maximum likelihood: over n, not n - 1); NaN without pairs. `pairs` are
    counts by score, from 0 to 1 in equal steps."""
    total = sum(pairs)
    if not total:
        return math.nan, math.nan
    scores = scores_of(len(pairs))
    mean = sum(count * score for count, score in zip(pairs, scores, strict=True)) / total
    return mean, sum(count * (score - mean) ** 2 for count, score in zip(pairs, scores, strict=True)) / total


def elo_of(score: float) -> float:
    """Logistic Elo of a mean score: infinite at 0 and 1 and beyond."""
    if math.isnan(score):
        return math.nan
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def score_of(elo: float) -> float:
    """Mean score that a logistic Elo difference gives."""
    return 1 / (1 + 10 ** (-elo / 400))


def normalized_elo_of(score: float, variance: float) -> float:
    """Normalized Elo of a mean score and the variance of a pair."""
    return NORMALIZED_ELO * _ratio(score - 0.5, math.sqrt(2 * variance))


def summarise(pairs: Sequence[int]) -> Summary:
    """Elo, normalized Elo and the rest from counts of pairs by score.

    There is no interval where the pairs show no spread: with fewer than two, or with all alike.
    """
    total = sum(pairs)
    score, variance = mean_and_variance(pairs)
    error = math.sqrt(variance / total) if variance > 0 else math.nan
    ends = (score, score - SIDE * error, score + SIDE * error)
    if total < 2:
        los = math.nan
    elif variance > 0:
        los = NormalDist().cdf((score - 0.5) / error)
    else:
        los = 0.5 if score == 0.5 else float(score > 0.5)
    middle = len(pairs) // 2
    lost, won = sum(pairs[:middle]), sum(pairs[middle + 1:])
    return Summary(score, variance, Interval(*map(elo_of, ends)),
                   Interval(*(normalized_elo_of(end, variance) for end in ends)), los,
                   _ratio(pairs[middle], total), _ratio(won, lost))


def _ratio(above: float, below: float) -> float:
    if below:
        return above / below
    return math.copysign(math.inf, above) if above and not math.isnan(above) else math.nan
