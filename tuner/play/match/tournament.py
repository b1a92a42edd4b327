"""`tuner tournament`: round robin, or one player against all, as a match with many
legs; ratings with intervals, the crosstable, and faults, as text and as
a dict for `--json`."""

from __future__ import annotations

import math
import shlex
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from games.record import Game
from tuner.core.estimates import AT_LEAST, AT_MOST, ESTIMATED, GIVEN, UNKNOWN
from tuner.core.text import plural
from tuner.options.match import TOURNAMENT_SECTION, TournamentSettings
from tuner.play.match.match import PairsRun, Score
from tuner.play.match.results import Tally, openings_text, pace_text
from tuner.play.match.settings import anchors_of
from tuner.play.match.setup import field_of
from tuner.statistics.ratings import (
    LOGISTIC,
    POINTS_A_GAME,
    PairsBetween,
    Rated,
    ratings_of,
)

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


@dataclass(frozen=True)
class Standings:
    """The players of a tournament by rating: `order` are their numbers from the best on, `against`
    what each scored against each opponent, `faults` the games that each lost by each fault."""

    names: tuple[str, ...]
    rated: Rated
    order: list[int]
    against: Mapping[tuple[int, int], Counted]
    faults: Mapping[tuple[int, str], int]
    in_points: bool

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

    def superiority(self, place: int) -> float | None:
        """Return the likelihood that the player at a place is better than the next one."""
        if place + 1 == len(self.order):
            return None
        return self.rated.superiority(self.order[place], self.order[place + 1])

    def rating_text(self, player: int) -> str:
        """Return the rating of a player, with its interval."""
        found = self.rated.rating(player)
        if found.how == UNKNOWN:
            return "-"
        style = "" if GIVEN in self.rated.how else "+"
        text = found.text(3 if self.in_points else 1, style)
        for words, sign in SIGNS.items():
            text = text.replace(words, sign)
        return text


def standings_of(settings: TournamentSettings, game: Game, tallies: Sequence[Tally]) -> Standings:
    """Return the standings after all pairs so far."""
    against: dict[tuple[int, int], Counted] = {}
    faults: Counter[tuple[int, str]] = Counter()
    played = []
    for (a, b), tally in zip(settings.pairings, tallies, strict=True):
        against[a, b] = counted = _counted(tally, game)
        against[b, a] = counted.turned(game.in_points)
        for forfeit, number in tally.forfeits.items():
            faults[(a, b)["ab".index(forfeit[0])], forfeit[2:]] += number
        played.append(PairsBetween(a, b, _results(tally, game)))
    model = POINTS_A_GAME if game.in_points else LOGISTIC
    rated = ratings_of(len(settings.names), played, model, anchors_of(settings))
    order = sorted(
        range(len(settings.names)),
        key=lambda i: (math.isnan(rated.middles[i]), -np.nan_to_num(rated.middles[i]), i),
    )
    return Standings(settings.names, rated, order, against, faults, game.in_points)


def _counted(tally: Tally, game: Game) -> Counted:
    results = tally.results
    net = float(sum(points * count for points, count in tally.games.items()))
    points = net if game.in_points else results.points
    return Counted(results.games, results.wins, results.draws, results.losses, points)


def _results(tally: Tally, game: Game) -> np.ndarray:
    """Return the mean results of the pairs of a leg, in points with luck subtracted where it is
    known."""
    found = tally.point_results
    points = found.points.reshape(-1, 2).astype(np.float64)
    if game.in_points:
        return np.asarray((points if found.luck is None else points - found.luck).mean(1))
    return np.asarray((points.mean(1) + 1) / 2)


def progress_line(standings: Standings, player: int, rate: float | None) -> str:
    """Return the state of a tournament in one line: the games, and the rank of a player; `rate`
    are pairs a second."""
    games = sum(each.games for each in standings.against.values()) // 2
    shown = f"{standings.names[player]} {standings.rating_text(player)}"
    return f"{plural(games, 'game')}  {shown}{pace_text(rate)}"


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
                str(place + 1),
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


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text as lines, all columns right-aligned except the names."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i == 1 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def remarks_of(standings: Standings, settings: TournamentSettings) -> list[str]:
    """Return remarks on the tables: where numbers come from, and faults."""
    rated = standings.rated
    found = []
    if settings.ladder and settings.anchor:
        found.append(f"The ratings of the levels are declared by {settings.ladder[0]}.")
    elif settings.anchor:
        found.append(f"Ratings are relative to {', '.join(settings.anchor)}.")
    elif ESTIMATED in rated.how:
        found.append("The mean of the estimated ratings is 0.")
    errors = [rated.rating(i).standard_error for i in range(len(standings.names))]
    if not all(map(math.isnan, errors)):
        luck = (
            f", luck by {settings.judge} subtracted"
            if standings.in_points and settings.judge
            else ""
        )
        found.append(f"95 % intervals, from pairs of games{luck}.")
    if {AT_LEAST, AT_MOST} & set(rated.how):
        found.append("≥, ≤: all games against the rated players were won or lost; 95 % bound.")
    if any(
        how == ESTIMATED and math.isnan(error) for how, error in zip(rated.how, errors, strict=True)
    ):
        found.append("Without +/-: all pairs of games ended alike, so there is no interval.")
    if UNKNOWN in rated.how:
        found.append("A dash: no games against rated players yet.")
    for (i, fault), number in sorted(standings.faults.items()):
        found.append(f"Forfeits: {standings.names[i]} lost {number} by {fault}")
    return found


def standings_texts(
    standings: Standings, settings: TournamentSettings, game: Game, about: dict
) -> tuple[list[str], dict]:
    """Return the standings as text and as plain data, with remarks `about` them."""
    openings = openings_text(settings, game)
    kind = "gauntlet" if settings.gauntlet else "round robin"
    games = sum(each.games for each in standings.against.values()) // 2
    lines = [
        f"{kind.capitalize()} of {plural(len(settings.names), 'player')}, {plural(games, 'game')}"
        f" ({settings.conditions}, {openings}):",
        *columns(table_of(standings)),
        "",
        *columns(list_of(standings, 0) if settings.gauntlet else crosstable_of(standings)),
        "",
        *remarks_of(standings, settings),
    ]
    plain = {
        "kind": kind,
        "games": games,
        "games_of_each_pairing": settings.games,
        "unit": standings.unit,
        "players": [_player_dict(standings, place) for place in range(len(standings.order))],
        "pairings": [
            {"players": [standings.names[a], standings.names[b]], **vars(standings.against[a, b])}
            | {"los": standings.rated.superiority(a, b)}
            for a, b in settings.pairings
        ],
        "control": [settings.control(i).text for i in range(len(settings.controls))],
        "openings": openings,
        "seed": settings.seed,
        **about,
    }
    return lines, plain


def _player_dict(standings: Standings, place: int) -> dict:
    i = standings.order[place]
    rating = standings.rated.rating(i)
    return {
        "rank": place + 1,
        "name": standings.names[i],
        "rating": {**rating.plain, "how": rating.how},
        **vars(standings.all_of(i)),
        "los_to_next": standings.superiority(place),
        "forfeits": {
            fault: number for (j, fault), number in sorted(standings.faults.items()) if j == i
        },
    }


REFRESH_SECONDS = 1.0  # between two fits of the ratings while games are played
FEWEST_OF_LEVEL = 4  # pairs with a level of a ladder before it may be left
FAR = 0.1  # mean result of a level from which on it is uninformative


class TournamentRun(PairsRun):
    """A tournament of two players or more."""

    command = section = TOURNAMENT_SECTION
    kind, what = TournamentSettings, "tournament"
    settings: TournamentSettings
    _said, _line = -REFRESH_SECONDS, ""

    def made(self, folder: Path | None) -> str | None:
        """See `PairsRun`."""
        found = field_of(self.settings, folder)
        self.game, self.luck = found.game, found.luck
        self.legs = [(found.players[a], found.players[b]) for a, b in self.settings.pairings]
        return found.program

    def wanted(self, score: Score) -> Callable[[int], bool]:
        """See `PairsRun`. Levels of a ladder that the player nearly always beats, or never, tell
        less of its rating than those near it."""
        if self.settings.ladder is None:
            return super().wanted(score)

        def near(leg: int) -> bool:
            results = score.tallies[leg].results
            if results.games < 2 * FEWEST_OF_LEVEL:
                return True
            return FAR <= results.points / results.games <= 1 - FAR

        return near

    def progress(self, score: Score, rate: float | None) -> str:
        """See `PairsRun`."""
        if time.monotonic() - self._said >= REFRESH_SECONDS:
            standings = standings_of(self.settings, self.game, score.tallies)
            shown = 0 if self.settings.gauntlet else standings.order[0]
            self._line = progress_line(standings, shown, rate)
            self._said = time.monotonic()
        return self._line

    def result(self, score: Score, about: dict) -> tuple[list[str], dict]:
        """See `PairsRun`."""
        standings = standings_of(self.settings, self.game, score.tallies)
        lines, plain = standings_texts(standings, self.settings, self.game, about)
        if about["run"] and not about["interrupted"]:
            lines.append(f"next: tuner report {shlex.quote(about['run'])}")
        return lines, plain
