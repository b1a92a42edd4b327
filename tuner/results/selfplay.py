"""The result of self-play: what was learned, from how many games, and how strong it was measured
to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tuner.core.estimates import Estimate, estimate_within, reach_of
from tuner.core.records import Amount, Count, Number
from tuner.core.text import plural
from tuner.options.selfplay import NetworkSettings, SelfplaySettings
from tuner.results.result import RunResult
from tuner.statistics.intervals import wilson_interval


@dataclass(frozen=True)
class MeasuredGames:
    """Points a game against an opponent, half the 95 % interval of this mean, from pairs, and the
    games played."""

    opponent: str
    points: Number
    error: Amount
    games: Amount

    @property
    def plain(self) -> dict:
        return {
            "opponent": self.opponent,
            "points": round(self.points, 4),
            "error": round(self.error, 4),
            "games": self.games,
        }

    @property
    def result(self) -> dict[str, Any]:
        """What `--json` prints of it."""
        found = self.estimate.plain
        return {"opponent": self.opponent, "points": found, "games": self.games}

    @property
    def text(self) -> str:
        return f"{self.estimate.text(3, '+')} points a game against {self.opponent}"

    @property
    def estimate(self) -> Estimate:
        """The points a game as an estimate."""
        return estimate_within(self.points, self.error, reach_of(self.games // 2))


@dataclass(frozen=True)
class MeasuredMatch:
    """Games against an opponent, and the plies of each that was won."""

    opponent: str
    games: Amount
    wins: Amount
    draws: Amount
    plies: list[Count]

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share won, by Wilson."""
        return wilson_interval(self.wins, self.games)

    @property
    def text(self) -> str:
        low, high = self.interval
        return (
            f"won {self.wins / self.games:.1%} [{100 * low:.1f}, {100 * high:.1f}], drew"
            f" {self.draws / self.games:.1%} of {plural(self.games, 'game')} against"
            f" {self.opponent}"
        )


@dataclass(frozen=True)
class Batch:
    """A line of the history of self-play."""

    batch: Amount
    games: Amount
    cpu_seconds: Amount | None = None
    broken_off: Amount | None = None
    plies: Amount | None = None
    squares: Amount | None = None
    measured: MeasuredGames | None = None
    matches: list[MeasuredMatch] | None = None


@dataclass(frozen=True)
class WeightsBatch(Batch):
    """The same where weights are learned; `values` are the weights of the headline."""

    values: dict[str, Number] = field(kw_only=True)
    draws: Amount | None = None
    duplicates: Amount | None = None
    step: Amount | None = None
    drift: Amount | None = None
    static: Amount | None = None


@dataclass(frozen=True)
class NetworkBatch(Batch):
    """The same where a network is learned."""

    by_points: dict[str, Amount] | None = None
    draws: Amount | None = None  # without dice
    rate: Amount | None = None


@dataclass(frozen=True, kw_only=True)
class SelfPlay(RunResult):
    """What self-play learned: the file `output`, and the `last` line of the history. `before` and
    `now` are the values of the headline of weights, in a game that wins several points
    (`in_points`) as weights. `weights_file` has the numbers of a network. `told` are
    the games whose results were learned now, and those that lacked one before. `shows` is what the
    command `match` shows next, of a run that was not interrupted."""

    settings: SelfplaySettings | NetworkSettings
    output: str | None
    last: Mapping[str, Any]
    in_points: bool
    before: Mapping[str, float] = field(default_factory=dict)
    now: Mapping[str, float] = field(default_factory=dict)
    weights_file: str | None = None
    shows: str = ""
    match: str | None = None
    told: tuple[int, int] | None = None

    @property
    def games(self) -> int:
        """The number of games that were learned from."""
        return int(self.last["games"])

    @property
    def measured(self) -> MeasuredGames | None:
        """What was measured last, in games with dice."""
        return MeasuredGames(**self.last["measured"]) if "measured" in self.last else None

    def found_lines(self) -> list[str]:
        """See `RunResult`."""
        more = "" if self.weights_file is None else f" and {self.weights_file}"
        where = "" if self.output is None else f": {self.output}{more}"
        lines = [
            f"learned from {self.games:,} games in {self.last['cpu_seconds']:.1f} CPU s{where}"
        ]
        if self.told is not None:
            lacking = plural(self.told[1], "game")
            lines.append(f"results learned: of {self.told[0]:,} of {lacking} without one")
        if faults := self.last.get("forfeits"):
            lines.append(f"games that the opponent lost by faults, left out: {faults:,}")
        if self.now:
            lines.append(values_line(self.before, self.now, self.in_points))
        if measured := self.measured:
            games = plural(measured.games, "game")
            lines.append(f"{measured.text}, {games} in pairs with the same dice")
        return lines + ([f"{self.shows}: {self.match}"] if self.match is not None else [])

    @property
    def result(self) -> dict[str, Any]:
        """See `RunResult`."""
        plain = {
            "command": "selfplay",
            "folder": self.run,
            "run": self.run,
            "output": self.output,
            "interrupted": self.interrupted,
            **self.last,
        }
        if measured := self.measured:
            plain["measured"] = measured.result
        if self.told is not None:
            plain["results"] = {"learned": self.told[0], "lacking": self.told[1]}
        return plain | ({"match": self.match} if self.match is not None else {})


def values_line(before: Mapping[str, float], now: Mapping[str, float], in_points: bool) -> str:
    """Return the headline parameters before and after, in units of the first; of a game that wins
    several points, as weights."""
    if in_points:
        values = "  ".join(
            f"{name} {value:.1f} ({before[name]:.1f})" for name, value in now.items()
        )
        return f"some weights, starting values in brackets: {values}"
    units = [next(iter(values.values()), 0.0) or 1.0 for values in (before, now)]
    values = "  ".join(
        f"{name} {value / units[1]:.2f} ({before[name] / units[0]:.2f})"
        for name, value in now.items()
    )
    return f"values in units of the first, starting values in brackets: {values}"
