"""What the minutes of a loop are spent on: the shares of its rounds, and games that are played for
as long as a share lasts."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tuner.core.records import InputError
from tuner.core.text import duration
from tuner.results.improved import LoopStep

GAMES_SHARE = 0.45  # of a round: its own games
MATCH_SHARE = 0.35  # of a round: its matches, at least, however long it took to learn
FINAL_SHARE = 0.35  # of all minutes: the final match
FINAL_LEAST = 0.1  # the same, however long the rounds took
FEWEST_JUDGED = 100  # games of a match that judges a round; fewer rounds are played where it takes
PASSES = 0.6, 1.0  # of a share: the games of the last pass follow from the pace of the first
LOOKS = 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0  # the same of a match that may end
SHORTER = 0.5  # of the time of a planned round, that another one has at least
FEW = 20  # games at least of a pass: as many as are a file of own games, or two blocks of a match
SHORTEST = 1e-3  # seconds of a game
PACE = "pace"  # the step that measures the pace first


@dataclass
class Budget:
    """The seconds of a loop, without end if the plan names numbers of games, the rounds that have
    them, and the steps so far."""

    seconds: float
    rounds: int
    steps: Mapping[tuple[int, str], LoopStep]

    def spent(self, first: int = 0, last: float = math.inf) -> float:
        """Return the seconds that the steps of these rounds took."""
        return sum(step.seconds for step in self.steps.values() if first <= step.round <= last)

    def pace(self, kind: str) -> float:
        """Return the seconds that a game of a round takes: one to learn from ("games"), or one of a
        match ("match")."""
        played = [step for step in self.steps.values() if step.kind == kind and step.round]
        games = sum(step.found["games"] for step in played)
        if not games:
            return max(float(self.steps[0, PACE].found[kind]), SHORTEST)
        return max(sum(step.seconds for step in played) / games, SHORTEST)

    def round(self, number: int) -> float:
        """Return how long a round takes, in seconds from its begin."""
        left = max((1 - FINAL_SHARE) * self.seconds - self.spent(0, number - 1), 0.0)
        fit = MATCH_SHARE * left / (FEWEST_JUDGED * self.pace("match"))
        return left / max(min(self.rounds - number + 1, int(min(fit, self.rounds))), 1)

    def has_round(self, number: int) -> bool:
        """Return whether there is time for a round that is not much shorter than planned, and whose
        match can judge it; for the first one there is."""
        least = FEWEST_JUDGED * self.pace("match") / MATCH_SHARE
        planned = (1 - FINAL_SHARE) * self.seconds / self.rounds
        return number == 1 or self.round(number) >= max(least, SHORTER * planned)

    def own_games(self, number: int) -> float:
        """Return for how long own games are played."""
        return GAMES_SHARE * self.round(number)

    def matches(self, number: int, share: float) -> float:
        """Return for how long the matches of a version are played, which have a `share` of the
        time that the round has left, or at least of their own."""
        whole = self.round(number)
        return share * max(whole - self.spent(number, number), MATCH_SHARE * whole)

    @property
    def final(self) -> float:
        """How long the final match is played at most."""
        return max(self.seconds - self.spent(), FINAL_LEAST * self.seconds)


def undecided(found: dict, most: float) -> bool:
    """Return that games go on whatever was found."""
    return False


class Length(NamedTuple):
    """How long games are played: some seconds, or, if these have no end, a number of games. At
    each of the `looks`, which are shares, they end if `decided` by what was found and by the number
    of games that are possible."""

    games: int
    seconds: float
    looks: Sequence[float] = ()
    decided: Callable[[dict, float], bool] = undecided

    def __str__(self) -> str:
        return "" if math.isinf(self.seconds) else f", for about {duration(self.seconds)}"

    def play(self, perform: Callable[[int, float], dict], pace: float, before: int = 0) -> dict:
        """Play by `perform`, which plays up to a total number of games and ends after some seconds
        in any case; return what it found last. `pace` is about how long a game takes; `before`
        games were played earlier."""
        begun, games, took = time.monotonic(), before, 0.0
        played: dict = {}
        if math.isinf(self.seconds):
            totals = {FEW * max(round(share * self.games / FEW), 1) for share in self.looks}
            for total in sorted({min(total, self.games) for total in totals} | {self.games}):
                if total >= before:
                    played = perform(total, self.seconds)
                    if self.decided(played, self.games):
                        break
            return played
        for share in self.looks or PASSES:
            more = FEW * int((share * self.seconds - took) / pace / FEW)
            if played and more < FEW:
                continue
            played = perform(games + max(more, FEW), self.seconds - took)
            games, took = played["games"], time.monotonic() - begun
            pace = max(took / max(games - before, 1), SHORTEST)
            if games and self.decided(played, games + max(self.seconds - took, 0.0) / pace):
                break
        if not games:
            raise InputError(
                f"no game ended in {duration(self.seconds)}; give more minutes or a smaller limit"
            )
        return played
