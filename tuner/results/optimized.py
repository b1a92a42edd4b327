"""The result of `tuner optimize`: the best values with their intervals, what each is worth, and the
match that decides."""

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tuner.core.estimates import Estimate, fixed
from tuner.core.records import Count, Number, to_json
from tuner.core.text import aligned, plural
from tuner.options.match import OptimizeSettings
from tuner.results.match import MatchResult
from tuner.results.result import RunResult

BETTER = "H1"  # the decision of a test for the best values
MATTERS, NOTHING, UNKNOWN = "matters", "does not matter", "not known yet"


@dataclass(frozen=True)
class TunedNumber:
    """What is known of a number of `tuner optimize`: its given and best value, with the interval of
    its optimum, and what the change is worth."""

    name: str
    given: Number
    best: Estimate = Estimate()
    worth: Estimate = Estimate()
    verdict: str = ""

    @property
    def known_worth(self) -> float:
        """What the change is worth, 0 if that is not known."""
        return 0.0 if math.isnan(self.worth.value) else self.worth.value


@dataclass(frozen=True)
class TunedEstimate:
    """What the games of `tuner optimize` say at a time; strength in the unit. `forfeits` are games
    lost by faults of each kind and side, such as `a crash`."""

    pairs: Count
    games: Count
    unit: str = "Elo"
    gain: Estimate = Estimate()
    left: Number | None = None
    left_later: Number | None = None
    doubt: str = ""
    numbers: list[TunedNumber] = field(default_factory=list)
    forfeits: dict[str, Count] = field(default_factory=dict)

    @property
    def digits(self) -> int:
        """Digits of strength after the point."""
        return 1 if self.unit == "Elo" else 3

    @property
    def by_worth(self) -> list[TunedNumber]:
        """The numbers, those that are worth most first; what is not known counts as 0."""
        return sorted(self.numbers, key=lambda one: -one.known_worth)


@dataclass(frozen=True, kw_only=True)
class Optimized(RunResult):
    """What an optimization found: its last `estimate`, the `best` values by name, and the `match`
    that decides, None if none was played. `digits` are those of values after the point by name,
    `files` were written. `sources` are to get the best weights if these win; `into` is what was
    written there."""

    settings: OptimizeSettings
    estimate: TunedEstimate
    best: Mapping[str, float]
    digits: Mapping[str, int]
    files: tuple[str, ...]
    match: MatchResult | None = None
    sources: tuple[str, ...] = ()
    into: Mapping[str, Any] | None = None

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return Path(str(self.run))

    @property
    def games(self) -> int:
        """The number of games."""
        return self.estimate.games

    @property
    def as_given(self) -> bool:
        """Whether the best values are the given ones."""
        return all(self.best[number.name] == number.given for number in self.estimate.numbers)

    @property
    def better(self) -> bool | None:
        """Whether the best values are better than the given ones, None if no match was played."""
        if self.match is not None:
            return self.match.decision == BETTER
        asked = self.settings.match_games and not self.interrupted
        return False if asked and self.as_given else None

    def __repr__(self) -> str:
        numbers, games = plural(len(self.best), "number"), plural(self.games, "game")
        return f"<Optimized {numbers}: {games}>"

    def found_lines(self) -> list[str]:
        """See `RunResult`."""
        faults = ", ".join(f"{n} {what[2:]}" for what, n in self.estimate.forfeits.items())
        lines = [
            *estimate_lines(self.estimate, self.digits),
            *([f"games lost by faults: {faults}"] if faults else []),
            *(f"wrote {path}" for path in self.files),
        ]
        if not self.interrupted or self.match is not None:
            lines.append(f"next: tuner report {shlex.quote(str(self.run))}")
        if self.match is not None:
            verdict = [] if self.match.interrupted else [verdict_of_match(self.match.decision)]
            lines += ["", *self.match.lines, *verdict]
        elif self.better is False:
            lines.append("the best values are the given ones: there is no match to play")
        if self.sources and not self.interrupted:
            names = ", ".join(self.sources)
            lines.append(
                f"{names}: nothing was written there"
                if self.into is None
                else f"wrote {names}: {self.into['changed']} numbers changed"
            )
        return lines

    @property
    def result(self) -> dict[str, Any]:
        """See `RunResult`."""
        plain = {
            **to_json(self.estimate),
            "best": dict(self.best),
            "interrupted": self.interrupted,
            "run": self.run,
            "files": list(self.files),
        }
        if self.match is not None:
            plain["match"] = self.match.result
        if self.better is not None:
            plain["better"] = self.better
        return plain | ({"into": self.into} if self.into is not None else {})


def verdict_of_match(decision: str | None) -> str:
    """Return what the decision of the match says."""
    if decision == BETTER:
        return "the best values are better than the given ones"
    why = (
        "the match rejected the gain that it tested for"
        if decision
        else "the match was inconclusive"
    )
    return f"{why}; keep the original values"


def estimate_lines(found: TunedEstimate, digits: Mapping[str, int]) -> list[str]:
    """Return the gain so far, the gain expected of more games, and a table of all numbers, those
    that are worth most first."""
    unit, games = found.unit, f"{found.games:,}"
    left, later = (
        fixed(math.nan if elo is None else elo, found.digits)
        for elo in (found.left, found.left_later)
    )
    lines = [
        f"after {games} games: gain over the original values"
        f" {found.gain.text(found.digits, '+')} {unit}, by the model",
        f"estimated {unit} still to gain: {left} now, after {games} more games {later}",
        *([f"not reliable yet: {found.doubt}"] if found.doubt else []),
    ]
    heads = ("number", "given", "best", "95 % interval", f"worth in {unit}", "")
    rows: list[tuple[str, ...]] = [heads]
    for number in found.by_worth:
        best = number.best
        shown = [
            fixed(value, digits[number.name])
            for value in (number.given, best.value, best.low, best.high)
        ]
        worth = number.worth.text(found.digits, "+")
        rows.append((number.name, *shown[:2], " .. ".join(shown[2:]), worth, number.verdict))
    return lines + aligned(rows, {0, len(heads) - 1})
