"""The pairs of a match as they are counted, and what is said of them during the match."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from games.record import STALL, Game, find
from games.streams import InputError
from tuner.core.estimates import fixed
from tuner.core.text import duration, plural
from tuner.io.run_folder import read_settings
from tuner.options.match import SECTION, MatchSettings
from tuner.play.match.journal import PairLine, read_pairs
from tuner.play.match.setup import AnySettings, Contestants
from tuner.play.players import RANDOM, PlayerSpec
from tuner.results.match import (
    Ladder,
    LadderRow,
    MatchResult,
    PointResults,
)
from tuner.statistics.pentanomial import Results, summarise
from tuner.statistics.sprt import Sprt, decide, expected_pairs_left, log_likelihood_ratio

MOST_FAULTS = 0.05  # share of the games


class Tally:
    """Counts the pairs of one leg, in any order.

    With a test, pairs are counted in the order of their numbers up to the deciding one: the result
    then depends only on the games, not on which of them ended first. `points` are the most that a
    game wins."""

    def __init__(self, test: Sprt | None = None, points: int = 1) -> None:
        self._test = test
        self._most, self._pairs = points, [0] * (4 * points + 1)
        self.games: Counter[int] = Counter()  # by points of the first named player
        self._of_pairs: dict[
            int, tuple[Sequence[int], Sequence[float] | None]
        ] = {}  # points and luck
        self._waiting: dict[int, PairLine] = {}
        self._next = 0
        self.faults: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.plies = 0
        self.decision: str | None = None
        self.llr = 0.0
        self.last: int | None = None  # the pair that decided

    def add(self, line: PairLine) -> None:
        """Add a pair, given as a line of the journal."""
        if self._test is None:
            self._count(line)
            return
        self._waiting[line.pair] = line
        while self.decision is None and self._next in self._waiting:
            self._count(self._waiting.pop(self._next))
            self._next += 1
            self.llr = log_likelihood_ratio(self._test, self._pairs)
            self.decision = decide(self._test, self.llr)
            if self.decision:
                self.last = self._next - 1

    def _count(self, line: PairLine) -> None:
        self._pairs[sum(line.outcomes) + 2 * self._most] += 1
        self.games.update(line.outcomes)
        self._of_pairs[line.pair] = line.outcomes, line.luck
        self.ends.update(line.ends)
        self.reasons.update(line.reasons or line.ends)
        self.plies += sum(line.plies)
        self.faults.update(filter(None, line.forfeits))

    def counts(self, pair: int) -> bool:
        """Whether a finished pair was counted."""
        return self._test is None or pair < self._next

    @property
    def results(self) -> Results:
        won, lost = (
            sum(count for points, count in self.games.items() if sign * points > 0)
            for sign in (1, -1)
        )
        return Results(tuple(self._pairs), won, lost, self.games[0])

    @property
    def point_results(self) -> PointResults:
        """The results in points."""
        return PointResults(tuple(self._pairs), self.games, *ordered(self._of_pairs))


def ordered(
    pairs: dict[int, tuple[Sequence[int], Sequence[float] | None]],
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return points and luck (pairs, 2) by the numbers of the pairs; no luck if any pair lacks
    it."""
    in_order = [pairs[number] for number in sorted(pairs)]
    points = np.array([one for one, _ in in_order], np.int64).reshape(-1, 2)
    lucks = [luck for _, luck in in_order if luck is not None]
    return points, np.array(lucks, np.float64) if lucks and len(lucks) == len(in_order) else None


def progress_text(
    tally: Tally, test: Sprt | None, game: Game, rate: float | None, most: int | None = None
) -> str:
    """The score so far in one line, with the pace, and of a test how long it is expected to go on;
    `rate` are pairs a second, `most` the pairs after which it ends in any case."""
    results = tally.results
    elo = summarise(results.pairs).elo
    if game.in_points:
        mean = sum(points * count for points, count in tally.games.items()) / max(results.games, 1)
        score = f"{fixed(mean, 3, '+')} points a game"
    elif math.isfinite(elo.half_width):
        score = f"Elo {elo.text(1, '+')}"
    else:
        score = f"+{results.wins} -{results.losses} ={results.draws}"
    parts = [plural(results.games, "game"), score]
    if test is not None:
        lower, upper = test.bounds
        parts.append(f"LLR {tally.llr:.2f} ({lower:.2f}, {upper:.2f})")
        left = expected_pairs_left(test, results.pairs)
        if left is not None and rate:
            if most is not None:
                left = min(left, max(most - sum(results.pairs), 0))
            parts.append(f"about {duration(left / rate)} left")
    return "  ".join(parts) + pace_text(rate)


def pace_text(rate: float | None) -> str:
    """Return pairs a second as text to follow the score: games a second."""
    return "" if rate is None else f"  {2 * rate:.1f} games/s"


def first_forfeit_text(forfeit: str, players: tuple[PlayerSpec, PlayerSpec]) -> str:
    """A remark during the match, about the first game that a player lost by this fault: "a
    crash"."""
    side, _, kind = forfeit.partition(" ")
    player = players["ab".index(side)]
    return f"{player.name} lost a game by {kind}; the match continues{_forfeit_hint(kind, player)}"


def require_few_faults(
    forfeits: Mapping[str, Mapping[str, int]], games: float, sides: str, folder: Path | None = None
) -> None:
    """InputError if players of these sides, "a" or "ab", lost more than 5 % of the games by faults;
    the `folder` of a match has its games."""
    faults = [fault for side, kinds in forfeits.items() if side in sides for fault in kinds.items()]
    if (lost := sum(number for _, number in faults)) > MOST_FAULTS * games:
        kinds = ", ".join(sorted({kind for kind, _ in faults}))
        where = f"; {folder}: {_first_fault(folder, sides)}" if folder else ""
        raise InputError(
            f"{lost} of {games} games were lost by faults of the engine ({kinds}), expected at most"
            f" {100 * MOST_FAULTS:.0f} %{where}"
        )


def _first_fault(folder: Path, sides: str) -> str:
    """Return in words which game a player of these sides lost first by a fault."""
    points = find(read_settings(folder, SECTION, MatchSettings).game).points
    for line in sorted(read_pairs(folder, points), key=lambda line: line.pair):
        for turn, forfeit in enumerate(line.forfeits):
            if forfeit and forfeit[0] in sides:
                return f"round {line.pair + 1}.{turn + 1} of the games there is the first"
    return "no game there was lost by a fault"


def _forfeit_hint(kind: str, player: PlayerSpec) -> str:
    """Return a likely reason why a player loses by a fault."""
    if kind == STALL and player.control.nodes is not None:
        return (
            ". Some engines ignore a limit of nodes and search without end: give --depth or"
            " --movetime"
        )
    return ""


def result_of(
    settings: MatchSettings,
    game: Game,
    tally: Tally,
    test: Sprt | None,
    **more: Any,
) -> MatchResult:
    """Return the result of a match so far; `more` are other fields of it."""
    return MatchResult(
        settings=settings,
        openings=openings_text(settings, game),
        in_points=game.in_points,
        counts=tally.results,
        points=tally.point_results,
        test=test,
        total_plies=tally.plies,
        ends=tally.ends,
        reasons=tally.reasons,
        faults=tally.faults,
        **more,
    )


def ladder_of(
    settings: MatchSettings, contestants: Contestants, tallies: Sequence[Tally]
) -> Ladder | None:
    """Return the wins of each player of the ladder against the same opponent; None if nobody plays
    one."""
    if len(tallies) == 1 and not (settings.plies and RANDOM in settings.names):
        return None
    side, rows = contestants.opponent, []
    for leg, tally in zip(contestants.legs, tallies, strict=True):
        results = tally.results
        wins = results.wins if side else results.losses
        rows.append(LadderRow(leg[1 - side].name, wins, results.games))
    control = settings.control(1 - side).text
    return Ladder(settings.plies, settings.names[side], control, rows)


def fault_hints(
    faults: Mapping[str, int], players: tuple[PlayerSpec, PlayerSpec]
) -> dict[str, str]:
    """Return likely reasons of faults, by "a crash" and the like."""
    hints = {
        fault: _forfeit_hint(fault.partition(" ")[2], players["ab".index(fault[0])])
        for fault in faults
    }
    return {fault: hint for fault, hint in hints.items() if hint}


def openings_text(settings: AnySettings, game: Game) -> str:
    """Return the openings of games in words."""
    if game.has_dice:
        return "the same dice in both games of a pair"
    if settings.openings is not None:
        return Path(settings.openings).name
    if settings.random_plies == 0:
        return "initial position"
    return f"{settings.random_plies} random plies"
