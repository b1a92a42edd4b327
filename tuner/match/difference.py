"""How much better the first player of a match is, in the unit of its game: Elo, or points a game."""

from __future__ import annotations

import math
from dataclasses import dataclass

from games.record import Game
from tuner.match.points_text import PointResults, estimates
from tuner.match.tally import Tally
from tuner.statistics.intervals import quantile
from tuner.statistics.pentanomial import Results, summarise

HALVES = ("0", "½", "1", "1½", "2")


@dataclass(frozen=True)
class Difference:
    """`value`, `low` and `high` are in the `unit`, with a 95 % interval; None: unknown or infinite. `surplus` is the mean result
    of a game less that of equal players, `variance` that of the means of pairs; `pairs` are counts by result, from the fewest
    points on, with a label each."""

    unit: str
    digits: int  # after the point, in texts
    value: float | None
    low: float | None
    high: float | None
    surplus: float | None
    variance: float | None
    pairs: tuple[int, ...]
    labels: tuple[str, ...]
    about: str = ""  # what the unit does not say

    @property
    def interval(self) -> tuple[float | None, float | None, float | None]:
        return self.value, self.low, self.high


def difference_of(tally: Tally, game: Game) -> Difference:
    """Return the difference of the pairs counted so far."""
    return point_difference(tally.point_results) if game.points > 1 else elo_difference(tally.results)


def elo_difference(results: Results) -> Difference:
    """Return the difference of a match in wins, draws and losses."""
    found = summarise(results.pairs)
    value, low, high = map(_known, found.elo[:3])
    return Difference("Elo", 0, value, low, high, _known(found.score - 0.5), _known(found.variance), tuple(results.pairs), HALVES)


def point_difference(results: PointResults) -> Difference:
    """Return the difference of a match in points, with luck subtracted where it is known."""
    plain, less_luck, _ = estimates(results)
    found, pairs = less_luck or plain, len(results.points)
    low, high = found.plain["low"], found.plain["high"]
    variance = None if found.error is None else (found.error / quantile(pairs)) ** 2 * pairs
    most = 2 * results.most
    return Difference("points a game", 3, found.value, low, high, found.value, variance, results.pairs,
                      tuple(str(points) for points in range(-most, most + 1)), "" if less_luck is None else "luck subtracted")


def _known(number: float) -> float | None:
    return number if math.isfinite(number) else None
