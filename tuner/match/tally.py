"""Counts of the pairs of a match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tuner.match.points_text import PointResults, ordered
from tuner.statistics.pentanomial import Results
from tuner.statistics.sprt import Sprt, decide, log_likelihood_ratio


class Tally:
    """Counts the pairs of one leg, in any order.

    With a test, pairs are counted in the order of their numbers up to the deciding one: the result then depends only on the
    games, not on which of them ended first. `points` are the most that a game wins.
    """

    def __init__(self, test: Sprt | None = None, points: int = 1) -> None:
        self._test = test
        self._most, self._pairs = points, [0] * (4 * points + 1)
        self.games: Counter[int] = Counter()  # by points of the first named player
        self._of_pairs: dict[int, tuple[Sequence[int], Sequence[float] | None]] = {}  # points and luck
        self._waiting: dict[int, dict] = {}
        self._next = 0
        self.forfeits: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.plies = 0
        self.decision: str | None = None
        self.llr = 0.0
        self.last: int | None = None  # the pair that decided

    def add(self, line: dict) -> None:
        """Add a pair, given as a line of the journal."""
        if self._test is None:
            self._count(line)
            return
        self._waiting[line["pair"]] = line
        while self.decision is None and self._next in self._waiting:
            self._count(self._waiting.pop(self._next))
            self._next += 1
            self.llr = log_likelihood_ratio(self._test, self._pairs)
            self.decision = decide(self._test, self.llr)
            if self.decision:
                self.last = self._next - 1

    def _count(self, line: dict) -> None:
        self._pairs[sum(line["outcomes"]) + 2 * self._most] += 1
        self.games.update(line["outcomes"])
        self._of_pairs[line["pair"]] = line["outcomes"], line.get("luck")
        self.ends.update(line["ends"])
        self.plies += sum(line["plies"])
        self.forfeits.update(forfeit for forfeit in line.get("forfeits", ()) if forfeit)

    def counts(self, pair: int) -> bool:
        """Whether a finished pair was counted."""
        return self._test is None or pair < self._next

    @property
    def results(self) -> Results:
        won, lost = (sum(count for points, count in self.games.items() if sign * points > 0) for sign in (1, -1))
        return Results(tuple(self._pairs), won, lost, self.games[0])

    @property
    def point_results(self) -> PointResults:
        """The results in points."""
        return PointResults(tuple(self._pairs), self.games, *ordered(self._of_pairs))
