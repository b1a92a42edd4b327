"""Likeliest ratings of players, from the results of pairs of games between some of them.

The mean result of player i against j is a function of the difference of their ratings: the logistic
one for Elo (Zermelo 1929; Bradley and Terry 1952; draws count half), the difference itself for
points a game. Ratings maximize the quasi-likelihood of all results. Their covariances are a
sandwich (Liang and Zeger 1986) of how pairs of games scatter about their expectation: draws, and
openings that favor one side, then count as they are."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from tuner.core.estimates import (
    AT_LEAST,
    AT_MOST,
    ELO,
    ESTIMATED,
    GIVEN,
    UNKNOWN,
    Estimate,
    estimate_of,
    reach_of,
)
from tuner.statistics.pentanomial import scores_of

UNLIKELY, EVEN = 0.05, 0.5  # chances of results as one-sided: of a bound, and of a middle
LARGEST_STEP, STEPS, TOLERANCE = 300.0, 200, 1e-9  # in ratings
FARTHEST = 1e4  # Elo
NO_ERROR = 1e-9


class PairsBetween(NamedTuple):
    """Pairs of games of players a and b: the mean result (pairs,) of the two games for a, from 0 to
    1 or in points."""

    a: int
    b: int
    results: np.ndarray


@dataclass(frozen=True)
class RatingModel:
    """The mean result by the difference of ratings, and its derivative. `bounded`: the results are
    from 0 to 1, and who wins everything has no likeliest rating."""

    mean: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    bounded: bool


def expected_score(difference: np.ndarray) -> np.ndarray:
    """Return the mean result of a game by the difference in Elo."""
    return 1 / (1 + np.exp(-difference / ELO))


LOGISTIC = RatingModel(
    expected_score, lambda d: expected_score(d) * expected_score(-d) / ELO, bounded=True
)
POINTS_A_GAME = RatingModel(lambda d: d, np.ones_like, bounded=False)


@dataclass(frozen=True)
class Rated:
    """Ratings (players,) with their covariances (players, players); `how` each came about: those
    `at least` or `at most` so high have no error, and those unknown are NaN. `middles` (players,)
    differ from them for these alone: there they won, or lost, everything with an even chance.
    `reach` is how many errors a 95 % interval goes to either side. `played` are the results behind
    them."""

    values: np.ndarray
    middles: np.ndarray
    covariance: np.ndarray
    how: list[str]
    reach: float
    played: Sequence[PairsBetween]

    def rating(self, i: int) -> Estimate:
        """Return a rating, without an interval where results show no spread."""
        value, how, variance = float(self.values[i]), self.how[i], self.covariance[i, i]
        if how != ESTIMATED:
            low = value if how in (AT_LEAST, GIVEN) else math.nan
            high = value if how in (AT_MOST, GIVEN) else math.nan
            return Estimate(value, low=low, high=high, how=how)
        error = math.sqrt(variance) if variance > NO_ERROR else math.nan
        return estimate_of(value, error, self.reach)

    def between(self, i: int, j: int) -> Estimate:
        """Return by how much i is rated above j, of ratings that are estimated or given."""
        both = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        difference = float(self.values[i] - self.values[j])
        return estimate_of(difference, math.sqrt(max(both, 0.0)), self.reach)

    def superiority(self, i: int, j: int) -> float | None:
        """Return the likelihood that i is rated above j; None if unknown. If one of them won every
        pair between them and has no estimate for that, it is the rating of a chance to win a pair
        above 1/2, where all chances were as likely beforehand."""
        if {self.how[i], self.how[j]} <= {ESTIMATED, GIVEN}:
            difference = self.between(i, j)
            known = difference.standard_error > NO_ERROR
            return NormalDist().cdf(difference.value / difference.standard_error) if known else None
        for a, b, results in self.played:
            if {a, b} == {i, j} and len(results):
                own = results if a == i else 1 - results
                sure = 1 - 0.5 ** (len(own) + 1)
                return sure if (own == 1).all() else 1 - sure if (own == 0).all() else None
        return None


def ratings_of(
    players: int,
    played: Sequence[PairsBetween],
    model: RatingModel,
    given: Mapping[int, float] = {},
) -> Rated:
    """Return the ratings of a number of players, with mean 0 unless some are `given`.

    Likeliest ratings exist among players each of whom took points from every opponent, directly or
    indirectly. The largest group of such players is rated; who won everything against those rated
    is as much above them as makes that 5 % likely, at least."""
    played = [each for each in played if len(each.results)]
    groups = _groups(players, played, model.bounded, given)
    rated = groups == _main(groups, given)
    values, covariance = np.full(players, math.nan), np.zeros((players, players))
    pairs = 0
    for player, value in given.items():
        values[player] = value
    free = np.array([i for i in range(players) if rated[i] and i not in given], np.int64)
    inside = [each for each in played if rated[each.a] and rated[each.b]]
    if len(free):
        values[free] = 0.0
        values, spread, pairs = _fit(values, free, inside, model, centred=not given)
        covariance[np.ix_(free, free)] = spread
    how = [GIVEN if i in given else ESTIMATED if rated[i] else UNKNOWN for i in range(players)]
    middles = values.copy()
    if model.bounded:
        _place(middles, list(how), groups, played, EVEN)
        _place(values, how, groups, played, UNLIKELY)
    return Rated(values, middles, covariance, how, reach_of(pairs - len(free) + 1), played)


def _groups(
    players: int, played: Sequence[PairsBetween], bounded: bool, given: Mapping[int, float]
) -> np.ndarray:
    """Return the number of the group (players,) of each player."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    took = [(a, b) for a, b, results in played if not bounded or results.max() > 0]
    took += [(b, a) for a, b, results in played if not bounded or results.min() < 1]
    took += [(i, j) for i in given for j in given if i != j]
    from_, to = np.array(took, np.int64).reshape(-1, 2).T
    links = coo_array((np.ones(len(took)), (from_, to)), shape=(players, players))
    return np.asarray(connected_components(links, connection="strong")[1])


def _main(groups: np.ndarray, given: Mapping[int, float]) -> int:
    """Return the group that is rated: the group of the given ratings, else the largest."""
    if given:
        return int(groups[next(iter(given))])
    return int(np.bincount(groups).argmax())


def _fit(
    values: np.ndarray,
    free: np.ndarray,
    played: Sequence[PairsBetween],
    model: RatingModel,
    centred: bool,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the likeliest values, with the `free` players moved, their covariances, and the
    number of pairs; Newton's method on a concave function."""
    contrast = np.zeros((len(played), len(values)))
    for row, each in enumerate(played):
        contrast[row, each.a], contrast[row, each.b] = 1, -1
    design = contrast[:, free]
    counts = np.array([len(each.results) for each in played], np.float64)
    means = np.array([each.results.mean() for each in played])
    known = np.where(np.isnan(values), 0.0, values)
    for _ in range(STEPS):
        at = contrast @ known
        slopes = model.slope(at)
        # logistic: slope = p (1 - p) / ELO is the weight of a result, up to ELO
        information = design.T @ ((counts * slopes)[:, None] * design)
        inverse = np.linalg.pinv(information, hermitian=True)
        step = inverse @ (design.T @ (counts * (means - model.mean(at))))
        known[free] += step * min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < TOLERANCE:
            break
    else:
        raise ArithmeticError("no likeliest ratings found")
    expected = model.mean(contrast @ known)
    scatter = np.array(
        [((each.results - mean) ** 2).sum() for each, mean in zip(played, expected, strict=True)]
    )
    pairs, fitted = int(counts.sum()), len(free) - centred
    covariance = inverse @ (design.T @ (scatter[:, None] * design)) @ inverse
    start = np.where(np.isnan(values), math.nan, known)
    return start, covariance * (pairs / max(pairs - fitted, 1)), pairs


def _place(
    values: np.ndarray,
    how: list[str],
    groups: np.ndarray,
    played: Sequence[PairsBetween],
    chance: float,
) -> None:
    """Place groups that won or lost every game against those that have a value, one after another:
    their members as far from them as gives that this chance."""
    while True:
        unplaced = {int(groups[i]) for i in np.flatnonzero(np.isnan(values))}
        sides = [_against(group, groups, values, played) for group in unplaced]
        known = [side for side in sides if side.placed]
        if not known:
            return
        # a player who beat or lost to players without a place waits for them
        side = next((side for side in known if side.won not in side.others), known[0])
        group, won, same = side.group, side.won, side.placed
        rivals = np.repeat([value for value, _ in same], [2 * len(results) for _, results in same])
        place = _place_of(rivals, won, chance)
        for i in np.flatnonzero(groups == group):
            values[i], how[i] = place, AT_LEAST if won else AT_MOST


class _Side(NamedTuple):
    """A group without a place: whether it won against those placed, the ratings of these and
    its results, and whether it won, or lost, against the rest."""

    group: int
    won: bool
    placed: list[tuple[float, np.ndarray]]
    others: set[bool]


def _against(
    group: int, groups: np.ndarray, values: np.ndarray, played: Sequence[PairsBetween]
) -> _Side:
    """Return what the members of a group, who have no rating, scored against all the rest."""
    rivals = [
        (values[rival], own)
        for a, b, results in played
        for inside, rival, own in ((a, b, results), (b, a, 1 - results))
        if groups[inside] == group != groups[rival]
    ]
    placed = [(value, own) for value, own in rivals if not math.isnan(value)]
    won = bool(placed and placed[0][1].max() > 0)
    others = {bool(own.max() > 0) for value, own in rivals if math.isnan(value)}
    return _Side(group, won, [each for each in placed if (each[1].max() > 0) == won], others)


def _place_of(rivals: np.ndarray, won: bool, chance: float) -> float:
    """Return the rating with which games against all of these are won, or lost, with this
    chance."""
    from scipy.optimize import brentq

    sign = 1 if won else -1

    def surplus(place: float) -> float:
        chances = expected_score(sign * (place - rivals))
        return float(np.log(chances).sum() - math.log(chance))

    return float(brentq(surplus, rivals.min() - FARTHEST, rivals.max() + FARTHEST))


class CountedMatch(NamedTuple):
    """A match: its players, and the counts of its pairs by score (pentanomial)."""

    a: str
    b: str
    pairs: Sequence[int]

    @property
    def results(self) -> np.ndarray:
        """The mean results of the pairs. One pair of either extreme is added where they show no
        spread, so that ratings and errors are finite."""
        scores = np.repeat(scores_of(len(self.pairs)), self.pairs)
        return scores if len(set(scores.tolist())) > 1 else np.append(scores, (0.0, 1.0))


class JointRatings(NamedTuple):
    """The ratings of the players of some matches, each of whom met another."""

    players: list[str]
    rated: Rated

    def difference(self, a: str, b: str) -> Estimate:
        """Return by how much a is rated above b."""
        return self.rated.between(self.players.index(a), self.players.index(b))


def joint_ratings(matches: Sequence[CountedMatch]) -> JointRatings:
    """Return the ratings of all players of some matches."""
    players = list(dict.fromkeys(name for match in matches for name in (match.a, match.b)))
    played = [
        PairsBetween(players.index(match.a), players.index(match.b), match.results)
        for match in matches
    ]
    return JointRatings(players, ratings_of(len(players), played, LOGISTIC))
