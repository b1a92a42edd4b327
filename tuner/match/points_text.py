"""The result of a match in points a game, as text and as a dict for `--json`: for games that win more than one point."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tuner.statistics.intervals import quantile
from tuner.statistics.luck import MeanPoints, mean_points
from tuner.statistics.sprt import Sprt, decide, log_likelihood_ratio

FEWEST_PAIRS = 3  # that a mean with an error needs
NO_ERROR = 1e-9  # points: what rounding leaves of a variance of 0


@dataclass(frozen=True)
class PointResults:
    """Counts of a match for the player named first: `pairs` (4 points + 1,) by the points of both games, from the fewest on,
    `games` by points, and points and luck (pairs, 2) of the games in the order of the pairs; without luck it is None."""

    pairs: tuple[int, ...]
    games: Counter[int]
    points: np.ndarray
    luck: np.ndarray | None

    @property
    def most(self) -> int:
        """The most points that a game wins."""
        return (len(self.pairs) - 1) // 4


@dataclass(frozen=True)
class Estimate:
    """Mean points a game with a 95 % interval; None: unknown."""

    value: float | None
    error: float | None

    @property
    def text(self) -> str:
        return "-" if self.value is None else f"{signed(self.value)}" + (
            "" if self.error is None else f" +/- {self.error:.3f}")

    @property
    def plain(self) -> dict:
        if self.value is None or self.error is None:
            return {"value": self.value, "low": None, "high": None, "error": self.error}
        return {"value": self.value, "low": self.value - self.error, "high": self.value + self.error, "error": self.error}


def signed(number: float) -> str:
    """Return a number of points with its sign; no -0."""
    return f"{round(number, 3) + 0.0:+.3f}"


def estimates(results: PointResults) -> tuple[Estimate, Estimate | None, float | None]:
    """Return the points a game from pairs; the same with luck subtracted, None without; and how many games with dice of their own
    and without luck one game counts as, None if unknown. Pairs that are all equal show no variance, so there is no interval."""
    pairs, points = len(results.points), results.points.ravel().astype(np.float64)
    if not pairs:
        return Estimate(None, None), None, None
    if pairs < FEWEST_PAIRS:
        return Estimate(float(points.mean()), None), None, None
    half_width = quantile(pairs)
    plain = mean_points(points)
    found = _estimate(plain, half_width)
    if results.luck is None:
        return found, None, None
    less_luck = mean_points(points, results.luck.ravel())
    gain = less_luck.gain if math.isfinite(less_luck.gain) else None
    return found, _estimate(less_luck, half_width), gain


def _estimate(found: MeanPoints, half_width: float) -> Estimate:
    return Estimate(found.mean, half_width * found.error if found.error > NO_ERROR else None)


def interval_text(estimate: Estimate, pairs: int) -> str:
    """Return where the interval of the points a game is from, or why there is none."""
    if not pairs:
        return "no pair of games has ended"
    if pairs < FEWEST_PAIRS:
        return f"no interval: {pairs} {'pair' if pairs == 1 else 'pairs'}, at least {FEWEST_PAIRS} are needed"
    if estimate.error is None:
        return f"no interval: all {pairs} pairs have the same points"
    return "95 %, from pairs"


def superiority(estimate: Estimate, pairs: int) -> float | None:
    """Return the likelihood of superiority: the chance that the first player wins more points than it loses."""
    if estimate.value is None or not estimate.error:
        return None
    return NormalDist().cdf(estimate.value / estimate.error * quantile(pairs))


def points_block(results: PointResults, names: tuple[str, str], test: Sprt | None = None, judge: str | None = None) -> str:
    """Lines of a result; the first names the players and the last has the LLR, if given. `judge` measured the luck."""
    found, less_luck, gain = estimates(results)
    chance = superiority(found, len(results.points))
    about = interval_text(found, len(results.points))
    lines = [f"Results of {names[0]} vs {names[1]}:", f"Points a game: {found.text} ({about})"]
    if less_luck is not None:
        more = "" if gain is None else f"; each game counts as {gain:.1f} with dice of their own"
        lines.append(f"Less luck:     {less_luck.text} (luck by {judge}{more})")
    if chance is not None:
        lines.append(f"LOS: {100 * chance:.2f} %")
    games = sum(results.games.values())
    parts = [f"Games: {games}", *(_won_text(results, word, sign) for word, sign in (("Won", 1), ("Lost", -1)))]
    if results.games[0]:
        parts.append(f"Drawn: {results.games[0]}")
    lines.append(", ".join(parts))
    lines.append(f"Pairs by points, {-2 * results.most} to {2 * results.most}: {list(results.pairs)}")
    if test is not None:
        llr, (lower, upper) = log_likelihood_ratio(test, results.pairs), test.bounds
        lines.append(f"LLR: {llr + 0.0:.2f} ({lower:.2f}, {upper:.2f}) for {test.elo1:g} rather than {test.elo0:g} points a game")
    return "\n".join(lines)


def _won_text(results: PointResults, word: str, sign: int) -> str:
    counts = [results.games[sign * points] for points in range(1, results.most + 1)]
    by_points = ", ".join(f"{count} by {points}" for points, count in enumerate(counts, 1) if count)
    return f"{word}: {sum(counts)}" + (f" ({by_points})" if by_points else "")


def points_dict(results: PointResults, names: tuple[str, str], test: Sprt | None = None, judge: str | None = None) -> dict:
    """The same as plain numbers, unrounded; unknown ones are None."""
    found, less_luck, gain = estimates(results)
    won, lost = (sum(count for points, count in results.games.items() if sign * points > 0) for sign in (1, -1))
    plain: dict = {
        "players": list(names), "games": sum(results.games.values()), "wins": won, "losses": lost, "draws": results.games[0],
        "by_points": {str(points): results.games[points] for points in range(-results.most, results.most + 1)},
        "pairs_by_points": list(results.pairs), "points_a_game": found.plain,
        "less_luck": None if less_luck is None else less_luck.plain | {"judge": judge, "games_each_counts_as": gain},
        "los": superiority(found, len(results.points))}
    if test is not None:
        llr = log_likelihood_ratio(test, results.pairs)
        plain["sprt"] = {"model": test.model, "points0": test.elo0, "points1": test.elo1, "alpha": test.alpha, "beta": test.beta,
                         "llr": llr, "bounds": list(test.bounds), "decision": decide(test, llr)}
    return plain


def ordered(pairs: dict[int, tuple[Sequence[int], Sequence[float] | None]]) -> tuple[np.ndarray, np.ndarray | None]:
    """Return points and luck (pairs, 2) by the numbers of the pairs; no luck if any pair lacks it."""
    found = [pairs[number] for number in sorted(pairs)]
    points = np.array([one for one, _ in found], np.int64).reshape(-1, 2)
    lucks = [luck for _, luck in found if luck is not None]
    return points, np.array(lucks, np.float64) if lucks and len(lucks) == len(found) else None
