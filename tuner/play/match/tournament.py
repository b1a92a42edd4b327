"""`tuner tournament`: round robin, or one player against all, as a match with many legs."""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from games.record import Game
from tuner.core.text import plural
from tuner.options.match import TOURNAMENT_SECTION, TournamentSettings
from tuner.play.match.match import PairsRun, Score
from tuner.play.match.settings import anchors_of
from tuner.play.match.setup import field_of
from tuner.play.match.tally import Tally, openings_text, pace_text
from tuner.results.standings import Counted, Standings
from tuner.statistics.ratings import (
    LOGISTIC,
    POINTS_A_GAME,
    PairsBetween,
    ratings_of,
)


def standings_of(
    settings: TournamentSettings, game: Game, tallies: Sequence[Tally], **more: Any
) -> Standings:
    """Return the standings after all pairs so far; `more` are other fields of the result."""
    against: dict[tuple[int, int], Counted] = {}
    faults: Counter[tuple[int, str]] = Counter()
    played = []
    for (a, b), tally in zip(settings.pairings, tallies, strict=True):
        against[a, b] = counted = _counted(tally, game)
        against[b, a] = counted.turned(game.in_points)
        for forfeit, number in tally.faults.items():
            faults[(a, b)["ab".index(forfeit[0])], forfeit[2:]] += number
        played.append(PairsBetween(a, b, _results(tally, game)))
    model = POINTS_A_GAME if game.in_points else LOGISTIC
    rated = ratings_of(len(settings.names), played, model, anchors_of(settings))
    order = sorted(
        range(len(settings.names)),
        key=lambda i: (math.isnan(rated.middles[i]), -np.nan_to_num(rated.middles[i]), i),
    )
    return Standings(
        settings=settings,
        openings=openings_text(settings, game),
        rated=rated,
        order=order,
        against=against,
        faults=faults,
        in_points=game.in_points,
        **more,
    )


def _counted(tally: Tally, game: Game) -> Counted:
    results = tally.results
    net = float(sum(points * count for points, count in tally.games.items()))
    points = net if game.in_points else results.points
    return Counted(results.games, results.wins, results.draws, results.losses, points)


def _results(tally: Tally, game: Game) -> np.ndarray:
    """Return the mean results of the pairs of a leg, in points with luck subtracted where it is
    known."""
    results = tally.point_results
    points = results.points.reshape(-1, 2).astype(np.float64)
    if game.in_points:
        return np.asarray((points if results.luck is None else points - results.luck).mean(1))
    return np.asarray((points.mean(1) + 1) / 2)


def progress_line(standings: Standings, player: int, rate: float | None) -> str:
    """Return the state of a tournament in one line: the games, and the rank of a player; `rate`
    are pairs a second."""
    shown = f"{standings.names[player]} {standings.rating_text(player)}"
    return f"{plural(standings.games, 'game')}  {shown}{pace_text(rate)}"


REFRESH_SECONDS = 1.0  # between two fits of the ratings while games are played
FEWEST_OF_LEVEL = 4  # pairs with a level of a ladder before it may be left
FAR = 0.1  # mean result of a level from which on it is uninformative


class TournamentRun(PairsRun[Standings]):
    """A tournament of two players or more."""

    command = section = TOURNAMENT_SECTION
    kind, what = TournamentSettings, "tournament"
    settings: TournamentSettings
    _said, _line = -REFRESH_SECONDS, ""

    def make_players(self, folder: Path | None) -> str | None:
        """See `PlayersRun`."""
        field = field_of(self.settings, folder)
        self.game, self.luck = field.game, field.luck
        self.legs = [(field.players[a], field.players[b]) for a, b in self.settings.pairings]
        return field.program

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

    def result(self, score: Score, **about: Any) -> Standings:
        """See `PairsRun`."""
        return standings_of(self.settings, self.game, score.tallies, **about)
