"""The result of self-play: what was learned, from how many games, and how strong it was measured
to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tuner.core.estimates import Estimate
from tuner.core.records import Amount, Count, Number, Unit, convert
from tuner.core.text import plural
from tuner.options.selfplay import NetworkSettings, SelfplaySettings
from tuner.results.result import Found, RunResult
from tuner.statistics.intervals import wilson_interval


@dataclass(frozen=True)
class MeasuredGames:
    """Points a game against an opponent, from pairs, and the games played."""

    opponent: str
    points: Estimate
    games: Amount

    @property
    def text(self) -> str:
        return f"{self.points.text(3, '+')} points a game against {self.opponent}"


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
class PlayedAgainst:
    """A game of the learner as one player: its own `points` from 0 to 1, None without a result; the
    opponent's name and rating, None if they are unknown."""

    game: Count
    opponent: str | None = None
    rating: Number | None = None
    points: Unit | None = None


@dataclass(frozen=True)
class Mistake:
    """A move of an opponent that gave something away: the position in which it was played, the
    answer, the scores of the learner's searches before and after in centipawns, its view, None for
    a forced win, and the gain in expected score."""

    game: Count
    ply: Count
    position: str
    move: str
    answer: str
    before: Number
    after: Number | None
    gain: Unit


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
    played: list[PlayedAgainst] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)


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
    the games whose results a file told, and those that lacked one before. `shows` is what the
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
        plain = self.last.get("measured")
        return plain and convert(plain, MeasuredGames, "measured")

    def found_lines(self) -> list[str]:
        """See `RunResult`."""
        more = "" if self.weights_file is None else f" and {self.weights_file}"
        where = "" if self.output is None else f": {self.output}{more}"
        lines = [
            f"learned from {self.games:,} games in {self.last['cpu_seconds']:.1f} CPU s{where}"
        ]
        if self.told is not None:
            lacking = plural(self.told[1], "game")
            lines.append(f"results found: of {self.told[0]:,} of {lacking} without one")
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
        if self.told is not None:
            plain["results"] = {"found": self.told[0], "lacking": self.told[1]}
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


class Spread(NamedTuple):
    """The mean and the standard deviation of a number in several runs."""

    mean: float
    deviation: float

    def text(self, digits: int) -> str:
        """Return both as text."""
        return f"{self.mean:,.{digits}f} +/- {self.deviation:,.{digits}f}"

    @property
    def plain(self) -> dict[str, float]:
        """As plain data."""
        return {"mean": self.mean, "standard_deviation": self.deviation}


@dataclass(frozen=True, kw_only=True)
class RepeatedRuns(Found):
    """What runs of different seeds learned from as many `games` each: their folders, the `loss` of
    their last games, and each of the weights. `moved` is by how much the weights are away from the
    start in the mean of the runs, `apart` by how much that differs between runs, root mean squares;
    None for networks, which have `pieces` where their worth is known."""

    runs: Sequence[str]
    games: int
    loss: Spread
    weights: Mapping[str, Spread] = field(default_factory=dict)
    headline: Sequence[str] = ()
    pieces: Mapping[str, Spread] = field(default_factory=dict)
    moved: float | None = None
    apart: float | None = None

    @property
    def lines(self) -> list[str]:
        """See `Found`."""
        shown = {name: self.weights[name] for name in self.headline} | dict(self.pieces)
        width = max(map(len, shown), default=0)
        lines = [
            f"{len(self.runs)} runs of {plural(self.games, 'game')}, mean +/- standard deviation:",
            f"squared error of values, last games: {self.loss.text(5)}",
            *(f"  {name:<{width}}  {spread.text(1)}" for name, spread in shown.items()),
        ]
        if self.moved is not None and self.apart is not None:
            lines.append(
                f"weights moved by {self.moved:.2f}, and their moves differ by {self.apart:.2f}"
                " between runs (root mean squares)"
            )
            if self.apart > self.moved:
                lines.append(
                    "they differ by more than the weights moved: the learning rate is too large for"
                    " so few games"
                )
        return lines

    @property
    def result(self) -> dict[str, Any]:
        """See `Found`."""
        return {
            "runs": list(self.runs),
            "games": self.games,
            "loss": self.loss.plain,
            "weights": {name: spread.plain for name, spread in self.weights.items()},
            "pieces": {name: spread.plain for name, spread in self.pieces.items()},
            "moved": self.moved,
            "apart": self.apart,
        }
