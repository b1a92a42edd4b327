"""`tuner tournament`: all players against each other, or one against all, as a match with many
legs."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path

from tuner.options.tournament import SECTION, TournamentSettings
from tuner.play.match.match import PairsRun, Score
from tuner.play.match.setup import field_of
from tuner.play.match.standings import progress_line, standings_of, standings_texts

REFRESH_SECONDS = 1.0  # between two fits of the ratings while games are played
FEWEST_OF_LEVEL = 4  # pairs with a level of a ladder before it may be left
FAR = 0.1  # mean result of a level from which on it says little


class TournamentRun(PairsRun):
    """A tournament of two players or more."""

    command = section = SECTION
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
