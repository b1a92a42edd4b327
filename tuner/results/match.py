"""The result of a match: Elo in the format of fastchess, or points a game in games that win
several."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from tuner.core.estimates import Estimate, fixed
from tuner.options.match import MatchSettings
from tuner.results.result import RunResult, finite
from tuner.statistics.intervals import wilson_interval
from tuner.statistics.pentanomial import Results, Summary, mean_points, summarise
from tuner.statistics.sprt import Sprt, decide, log_likelihood_ratio

FEWEST_PAIRS = 3  # that a mean with an error needs
HALVES = ("0", "½", "1", "1½", "2")


@dataclass(frozen=True)
class PointResults:
    """Counts of a match for the player named first: `pairs` (4 points + 1,) by the points of both
    games, from the fewest on, `games` by points, and points and luck (pairs, 2) of the games in the
    order of the pairs; without luck it is None."""

    pairs: tuple[int, ...]
    games: Counter[int]
    points: np.ndarray
    luck: np.ndarray | None

    @property
    def most(self) -> int:
        """The most points that a game wins."""
        return (len(self.pairs) - 1) // 4


def estimates(results: PointResults) -> tuple[Estimate, Estimate | None, float | None]:
    """Return the points a game from pairs; the same with luck subtracted, None without; and how
    many games with dice of their own and without luck one game counts as, None if unknown. Pairs
    that are all equal show no variance, so there is no interval."""
    pairs, points = len(results.points), results.points.ravel().astype(np.float64)
    if not pairs:
        return Estimate(), None, None
    if pairs < FEWEST_PAIRS:
        return Estimate(float(points.mean())), None, None
    mean = mean_points(points).found
    if results.luck is None:
        return mean, None, None
    less_luck = mean_points(points, results.luck.ravel())
    return mean, less_luck.found, less_luck.gain if math.isfinite(less_luck.gain) else None


def interval_text(estimate: Estimate, pairs: int) -> str:
    """Return how the interval of the points a game was found, or why there is none."""
    if not pairs:
        return "no pair of games has ended"
    if pairs < FEWEST_PAIRS:
        return (
            f"no interval: {pairs} {'pair' if pairs == 1 else 'pairs'}, at least {FEWEST_PAIRS} are"
            " needed"
        )
    if math.isnan(estimate.standard_error):
        return f"no interval: all {pairs} pairs have the same points"
    return "95 %, from pairs"


def superiority(estimate: Estimate) -> float | None:
    """Return the likelihood of superiority: the chance that the first player wins more points than
    it loses."""
    if not estimate.standard_error > 0:
        return None
    return NormalDist().cdf(estimate.value / estimate.standard_error)


class Moment(NamedTuple):
    """A match after some games: the difference, and the LLR, NaN without a test."""

    games: int
    difference: Estimate
    llr: float


class LadderRow(NamedTuple):
    """A player's wins of its games against the opponent of a ladder."""

    player: str
    wins: int
    games: int

    @property
    def plain(self) -> dict[str, Any]:
        """As plain data, with the 95 % interval (Wilson) of the share of wins."""
        low, high = wilson_interval(self.wins, self.games)
        share = self.wins / self.games if self.games else None
        return {**self._asdict(), "share": share, "low": low, "high": high}


@dataclass(frozen=True)
class Ladder:
    """Wins within some plies of the player and of baselines against an opponent with its limits."""

    plies: int
    opponent: str
    control: str
    rows: list[LadderRow]

    @property
    def lines(self) -> list[str]:
        """As lines of text."""
        width = max(len(row.player) for row in self.rows)
        lines = [
            f"Wins within {self.plies} plies against {self.opponent}, {self.control} (95 %,"
            " Wilson):"
        ]
        for row in self.rows:
            plain = row.plain
            share = "-" if plain["share"] is None else f"{100 * plain['share']:.1f} %"
            lines.append(
                f"  {row.player:<{width}}  {row.wins:>5} of {row.games:<5}  {share:>7}  "
                f"[{100 * plain['low']:.1f}, {100 * plain['high']:.1f}]"
            )
        return lines

    @property
    def plain(self) -> dict[str, Any]:
        """As plain data."""
        rows = [row.plain for row in self.rows]
        return {"plies": self.plies, "opponent": self.opponent, "rows": rows}


@dataclass(frozen=True, kw_only=True)
class MatchResult(RunResult):
    """The result of a match, of the player named first. `counts` are wins, draws, losses and pairs
    by score; `points` is the same where games win several points (`in_points`).

    `ends` are numbers of games by how they ended, `reasons` by why in the words of the game,
    `faults` by the side that lost and its fault ("a crash"). `openings` are in words, `pgn` is the
    file of games; `hints` explain faults. `course` are moments of a match that was read from its
    folder."""

    settings: MatchSettings
    openings: str
    in_points: bool
    counts: Results
    points: PointResults
    test: Sprt | None = None
    total_plies: int = 0
    ends: Mapping[str, int] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    faults: Mapping[str, int] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    ladder: Ladder | None = None
    pgn: str | None = None
    course: Sequence[Moment] = ()

    @property
    def names(self) -> tuple[str, str]:
        """The names of both players."""
        return self.settings.names

    @property
    def games(self) -> int:
        """The number of games that count."""
        return self.counts.games

    @property
    def wins(self) -> int:
        """Of the player named first."""
        return self.counts.wins

    @property
    def draws(self) -> int:
        """Drawn games."""
        return self.counts.draws

    @property
    def losses(self) -> int:
        """Of the player named first."""
        return self.counts.losses

    @property
    def llr(self) -> float:
        """The log-likelihood ratio of the test; NaN without one."""
        return log_likelihood_ratio(self.test, self.counts.pairs) if self.test else math.nan

    @property
    def decision(self) -> str | None:
        """The hypothesis that the test accepted, None before it decides and without one."""
        return decide(self.test, self.llr) if self.test else None

    @property
    def mean_plies(self) -> float:
        """The mean length of a game; NaN without games."""
        return self.total_plies / self.games if self.games else math.nan

    @property
    def summary(self) -> Summary:
        """Statistics of the pairs."""
        return summarise(self.counts.pairs)

    @property
    def difference(self) -> Estimate:
        """By how much the player named first is better, in the `unit`; in points with luck
        subtracted, where it is known."""
        return points_difference(self.points) if self.in_points else self.summary.elo

    @property
    def unit(self) -> str:
        """The unit of the difference."""
        return "points a game" if self.in_points else "Elo"

    @property
    def digits(self) -> int:
        """Digits of the difference after the point."""
        return 3 if self.in_points else 0

    @property
    def luck_subtracted(self) -> bool:
        """Whether luck is known, and subtracted from the difference."""
        return self.in_points and estimates(self.points)[1] is not None

    @property
    def faults_by_side(self) -> dict[str, dict[str, int]]:
        """How often each side lost by each fault."""
        return faults_by_side(self.faults)

    def __repr__(self) -> str:
        return f"<MatchResult +{self.wins} ={self.draws} -{self.losses}>"

    def found_lines(self) -> list[str]:
        """See `RunResult`."""
        heading, *lines = self.block
        lines = [
            f"{heading[:-1]} ({self.settings.conditions}, {self.openings}):",
            *lines,
            *([f"{self.decision} accepted"] if self.decision else []),
        ]
        for side, kinds in self.faults_by_side.items():
            for kind, count in kinds.items():
                name, hint = self.names["ab".index(side)], self.hints.get(f"{side} {kind}", "")
                lines.append(f"Forfeits: {name} lost {count} by {kind}{hint}")
        return lines + (["", *self.ladder.lines] if self.ladder else [])

    @property
    def block(self) -> list[str]:
        """The names of the players and the numbers, as lines of text."""
        lines = self._points_lines() if self.in_points else self._elo_lines()
        return [f"Results of {self.names[0]} vs {self.names[1]}:", *lines]

    @property
    def result(self) -> dict[str, Any]:
        """See `RunResult`; unknown and infinite numbers are None."""
        plain: dict[str, Any] = {
            "players": list(self.names),
            "games": self.games,
            "wins": self.wins,
            "losses": self.losses,
            "draws": self.draws,
            **(self._points_plain() if self.in_points else self._elo_plain()),
            "control": [self.settings.control(side).text for side in (0, 1)],
            "openings": self.openings,
            "seed": self.settings.seed,
            "total_plies": self.total_plies,
            "ends": dict(sorted(self.ends.items())),
            "reasons": dict(sorted(self.reasons.items())),
            "forfeits": self.faults_by_side,
            "interrupted": self.interrupted,
            "run": self.run,
            "pgn": self.pgn,
        }
        if self.test is not None:
            plain["sprt"] = self._test_plain(self.test)
        if self.ladder is not None:
            plain["ladder"] = self.ladder.plain
        return plain

    def _elo_lines(self) -> list[str]:
        """Lines as fastchess has them. Where all pairs are alike, Elo has a bound or an interval
        that they leave. The percentage after the LLR is its share of the bound it approaches,
        negative towards H0."""
        counts, summary = self.counts, self.summary
        share = counts.points / counts.games if counts.games else math.nan
        lines = [
            f"Elo: {summary.elo.text()}"
            + (f", nElo: {summary.normalized_elo.text()}" if summary.variance > 0 else ""),
            (
                f"LOS: {fixed(100 * summary.los, 2)} %,"
                f" DrawRatio: {fixed(100 * summary.draw_ratio, 2)} %,"
                f" PairsRatio: {fixed(summary.pairs_ratio, 2)}"
            ),
            (
                f"Games: {counts.games}, Wins: {counts.wins}, Losses: {counts.losses}, Draws:"
                f" {counts.draws}, Points: {counts.points:.1f} ({fixed(100 * share, 2)} %)"
            ),
            f"Ptnml(0-2): {list(counts.pairs)}",
        ]
        if self.test is not None:
            llr, (lower, upper) = self.llr, self.test.bounds
            way = 100 * (llr / upper if llr >= 0 else -llr / lower)
            lines.append(
                f"LLR: {fixed(llr, 2)} ({fixed(way, 1)}%) ({lower:.2f}, {upper:.2f}) "
                f"[{fixed(self.test.elo0, 2)}, {fixed(self.test.elo1, 2)}]"
            )
        return lines

    def _elo_plain(self) -> dict[str, Any]:
        summary = self.summary
        return {
            "points": self.counts.points,
            "pentanomial": list(self.counts.pairs),
            "unpaired": self.counts.unpaired,
            "score": finite(summary.score),
            "variance": finite(summary.variance),
            "elo": summary.elo.plain,
            "normalized_elo": summary.normalized_elo.plain,
            "los": finite(summary.los),
            "draw_ratio": finite(summary.draw_ratio),
            "pairs_ratio": finite(summary.pairs_ratio),
        }

    def _points_lines(self) -> list[str]:
        points, test = self.points, self.test
        mean, less_luck, gain = estimates(points)
        chance = superiority(mean)
        about = interval_text(mean, len(points.points))
        lines = [f"Points a game: {mean.text(3, '+')} ({about})"]
        if less_luck is not None:
            more = (
                "" if gain is None else f"; each game counts as {gain:.1f} with dice of their own"
            )
            judge = self.settings.judge
            lines.append(f"Less luck:     {less_luck.text(3, '+')} (luck by {judge}{more})")
        if chance is not None:
            lines.append(f"LOS: {100 * chance:.2f} %")
        parts = [
            f"Games: {self.games}",
            *(_won_text(points, word, sign) for word, sign in (("Won", 1), ("Lost", -1))),
            *([f"Drawn: {points.games[0]}"] if points.games[0] else []),
        ]
        lines.append(", ".join(parts))
        most = 2 * points.most
        lines.append(f"Pairs by points, {-most} to {most}: {list(points.pairs)}")
        if test is not None:
            lower, upper = test.bounds
            lines.append(
                f"LLR: {fixed(self.llr, 2)} ({lower:.2f}, {upper:.2f}) for {test.elo1:g} rather"
                f" than {test.elo0:g} points a game"
            )
        return lines

    def _points_plain(self) -> dict[str, Any]:
        points = self.points
        mean, less_luck, gain = estimates(points)
        judged = {"judge": self.settings.judge, "games_each_counts_as": gain}
        return {
            "by_points": {
                str(point): points.games[point] for point in range(-points.most, points.most + 1)
            },
            "pairs_by_points": list(points.pairs),
            "points_a_game": mean.plain,
            "less_luck": None if less_luck is None else less_luck.plain | judged,
            "los": superiority(mean),
        }

    def _test_plain(self, test: Sprt) -> dict[str, Any]:
        unit = "points" if self.in_points else "elo"
        return {
            "model": test.model,
            f"{unit}0": test.elo0,
            f"{unit}1": test.elo1,
            "alpha": test.alpha,
            "beta": test.beta,
            "llr": self.llr,
            "bounds": list(test.bounds),
            "decision": self.decision,
        }


def points_difference(points: PointResults) -> Estimate:
    """Return by how many points a game the player named first is better, with luck subtracted where
    it is known."""
    plain, less_luck, _ = estimates(points)
    return less_luck or plain


def faults_by_side(faults: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return how often each side lost by each fault, from the numbers of "a crash" and the like."""
    sides: dict[str, dict[str, int]] = {}
    for fault, number in sorted(faults.items()):
        side, _, kind = fault.partition(" ")
        sides.setdefault(side, {})[kind] = number
    return sides


def _won_text(results: PointResults, word: str, sign: int) -> str:
    counts = [results.games[sign * points] for points in range(1, results.most + 1)]
    by_points = ", ".join(f"{count} by {points}" for points, count in enumerate(counts, 1) if count)
    return f"{word}: {sum(counts)}" + (f" ({by_points})" if by_points else "")
