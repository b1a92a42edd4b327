"""The result of a tournament: ratings with intervals, the crosstable, and faults."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tuner.core.estimates import AT_LEAST, AT_MOST, ESTIMATED, GIVEN, UNKNOWN, Estimate
from tuner.core.text import aligned, plural
from tuner.options.match import TournamentSettings
from tuner.results.result import RunResult
from tuner.statistics.ratings import Rated

NAME = 1  # column of names in tables
NEAR = 1e-6  # ratings of a fit that are equal
SIGNS = {AT_LEAST: "≥", AT_MOST: "≤"}


@dataclass(frozen=True)
class Counted:
    """What a player scored, against all opponents or one: points are 1 for a win and 1/2 for a
    draw, or points won less points lost in games that win several."""

    games: int
    wins: int
    draws: int
    losses: int
    points: float

    def turned(self, in_points: bool) -> Counted:
        """Return the same for the opponent."""
        points = -self.points if in_points else self.games - self.points
        return Counted(self.games, self.losses, self.draws, self.wins, points)


@dataclass(frozen=True, kw_only=True)
class Standings(RunResult):
    """The players of a tournament by rating: `order` are their numbers from the best on, `against`
    what each scored against each opponent, `faults` the games that each lost by each fault.
    `openings` are in words, `pgn` is the file of games."""

    settings: TournamentSettings
    openings: str
    rated: Rated
    order: list[int]
    against: Mapping[tuple[int, int], Counted]
    faults: Mapping[tuple[int, str], int]
    in_points: bool
    pgn: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the players."""
        return self.settings.names

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(each.games for each in self.against.values()) // 2

    @property
    def ratings(self) -> dict[str, float | None]:
        """The ratings by name, best first; None if the games do not give one."""
        by_name = {self.names[i]: self.rated.rating(i) for i in self.order}
        return {name: each.plain["value"] for name, each in by_name.items()}

    @property
    def unit(self) -> str:
        """The unit of ratings."""
        return "points a game" if self.in_points else "Elo"

    def all_of(self, player: int) -> Counted:
        """Return the score of a player against all opponents."""
        own = [counted for (a, _), counted in self.against.items() if a == player]
        games, wins, draws, losses = (
            sum(getattr(each, name) for each in own)
            for name in ("games", "wins", "draws", "losses")
        )
        return Counted(games, wins, draws, losses, sum(each.points for each in own))

    def rank(self, place: int) -> int:
        """Return the rank of the player at a place: that of the first with an equal rating."""
        here = self.rated.rating(self.order[place])
        first = place
        while first and _are_equal(here, self.rated.rating(self.order[first - 1])):
            first -= 1
        return first + 1

    def superiority(self, place: int) -> float | None:
        """Return the likelihood that the player at a place is better than the next one."""
        if place + 1 == len(self.order):
            return None
        return self.rated.superiority(self.order[place], self.order[place + 1])

    def rating_text(self, player: int) -> str:
        """Return the rating of a player, with its interval."""
        rating = self.rated.rating(player)
        if rating.how == UNKNOWN:
            return "-"
        style = "" if GIVEN in self.rated.how else "+"
        text = rating.text(3 if self.in_points else 1, style)
        for words, sign in SIGNS.items():
            text = text.replace(words, sign)
        return text

    def __repr__(self) -> str:
        return f"<Standings {', '.join(self.ratings)}>"

    @property
    def kind(self) -> str:
        """The kind of the tournament."""
        return "gauntlet" if self.settings.gauntlet else "round robin"

    def found_lines(self) -> list[str]:
        """See `RunResult`."""
        games = plural(self.games, "game")
        about = f"{self.settings.conditions}, {self.openings}"
        lines = [
            f"{self.kind.capitalize()} of {plural(len(self.names), 'player')}, {games} ({about}):",
            *aligned(table_of(self), {NAME}),
            "",
            *aligned(list_of(self, 0) if self.settings.gauntlet else crosstable_of(self), {NAME}),
            "",
            *remarks_of(self),
        ]
        if self.run and not self.interrupted:
            lines.append(f"next: tuner report {shlex.quote(self.run)}")
        return lines

    @property
    def result(self) -> dict[str, Any]:
        """See `RunResult`."""
        settings = self.settings
        return {
            "kind": self.kind,
            "games": self.games,
            "games_of_each_pairing": settings.games,
            "unit": self.unit,
            "players": [self._player(place) for place in range(len(self.order))],
            "pairings": [
                {"players": [self.names[a], self.names[b]], **vars(self.against[a, b])}
                | {"los": self.rated.superiority(a, b)}
                for a, b in settings.pairings
            ],
            "control": [settings.control(i).text for i in range(len(settings.controls))],
            "openings": self.openings,
            "seed": settings.seed,
            "interrupted": self.interrupted,
            "run": self.run,
            "pgn": self.pgn,
        }

    def _player(self, place: int) -> dict[str, Any]:
        """Return the player at a place as plain data."""
        i = self.order[place]
        rating = self.rated.rating(i)
        return {
            "rank": self.rank(place),
            "name": self.names[i],
            "rating": {**rating.plain, "how": rating.how},
            **vars(self.all_of(i)),
            "los_to_next": self.superiority(place),
            "forfeits": {
                fault: number for (j, fault), number in sorted(self.faults.items()) if j == i
            },
        }


def _are_equal(a: Estimate, b: Estimate) -> bool:
    return a.how == b.how and math.isclose(a.value, b.value, rel_tol=0, abs_tol=NEAR)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _points_text(standings: Standings, counted: Counted) -> str:
    if not counted.games:
        return "-"
    return f"{counted.points:+.0f}" if standings.in_points else f"{counted.points:g}"


def table_of(standings: Standings) -> list[list[str]]:
    """Return the table as rows of text, the first of headings."""
    rows = [["", "player", standings.unit, "games", "points" if standings.in_points else "score %"]]
    rows[0] += ["won %" if standings.in_points else "draws %", "LOS % to next"]
    for place, i in enumerate(standings.order):
        own = standings.all_of(i)
        share = (
            _points_text(standings, own)
            if standings.in_points
            else _percent(own.points / own.games if own.games else None)
        )
        other = own.wins if standings.in_points else own.draws
        rows.append(
            [
                str(standings.rank(place)),
                standings.names[i],
                standings.rating_text(i),
                f"{own.games:,}",
                share,
                _percent(other / own.games if own.games else None),
                _percent(standings.superiority(place)),
            ]
        )
    return rows


def crosstable_of(standings: Standings) -> list[list[str]]:
    """Return the points of each player against each opponent, as rows of text in order of rank, the
    first of headings."""
    order = standings.order
    played = sorted({each.games for each in standings.against.values()})
    of = f"points of {played[0]}" + (f" to {played[-1]}" if len(played) > 1 else "")
    rows = [["", f"{of} games", *(str(place) for place in range(1, len(order) + 1))]]
    for place, i in enumerate(order, 1):
        cells = [
            ""
            if i == j
            else _points_text(standings, standings.against[i, j])
            if (i, j) in standings.against
            else "-"
            for j in order
        ]
        rows.append([str(place), standings.names[i], *cells])
    return rows


def list_of(standings: Standings, player: int) -> list[list[str]]:
    """Return the score of a player against each opponent in order of rank, as rows of text, the
    first of headings."""
    rows = [["", f"{standings.names[player]} against", "games", "points", "LOS %"]]
    for place, i in enumerate(standings.order, 1):
        if i != player:
            own = standings.against[player, i]
            better = _percent(standings.rated.superiority(player, i))
            cells = [standings.names[i], f"{own.games:,}", _points_text(standings, own), better]
            rows.append([str(place), *cells])
    return rows


def remarks_of(standings: Standings) -> list[str]:
    """Return remarks on the tables: where numbers come from, and faults."""
    rated, settings = standings.rated, standings.settings
    remarks = []
    if settings.ladder and settings.anchor:
        remarks.append(f"The ratings of the levels are declared by {settings.ladder[0]}.")
    elif settings.anchor:
        remarks.append(f"Ratings are relative to {', '.join(settings.anchor)}.")
    elif ESTIMATED in rated.how:
        remarks.append("The mean of the estimated ratings is 0.")
    errors = [rated.rating(i).standard_error for i in range(len(standings.names))]
    if not all(map(math.isnan, errors)):
        luck = (
            f", luck by {settings.judge} subtracted"
            if standings.in_points and settings.judge
            else ""
        )
        remarks.append(f"95 % intervals, from pairs of games{luck}.")
    if {AT_LEAST, AT_MOST} & set(rated.how):
        remarks.append("≥, ≤: all games against the rated players were won or lost; 95 % bound.")
    if any(
        how == ESTIMATED and math.isnan(error) for how, error in zip(rated.how, errors, strict=True)
    ):
        remarks.append("Without +/-: all pairs of games ended alike, so there is no interval.")
    if UNKNOWN in rated.how:
        remarks.append("A dash: no games against rated players yet.")
    for (i, fault), number in sorted(standings.faults.items()):
        remarks.append(f"Forfeits: {standings.names[i]} lost {number} by {fault}")
    return remarks
