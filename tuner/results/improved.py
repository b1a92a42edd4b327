"""The result of `tuner improve`: the version that is kept, the match that decided, and all
steps."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tuner.core.estimates import Estimate
from tuner.core.records import Count, Number, Settings
from tuner.core.text import duration
from tuner.results.fit import NoiseCost
from tuner.results.result import RunResult

FINAL_MATCH, TAKEN = "final match first", "taken"  # steps


class Judgement(NamedTuple):
    """By how much a version is rated above another one, the likelihood that it is the better one,
    and the gain that is expected by this and by what such steps gained before."""

    rating: Estimate
    los: float
    expected: float

    @property
    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {"rating": self.rating.plain, "los": self.los, "expected": self.expected}

    def __str__(self) -> str:
        return f"{self.rating.text(0, '+')} Elo"


@dataclass(frozen=True)
class LoopStep:
    """A step that was done: of a round, its name, how long it took, the command, and what was
    found."""

    round: Count
    step: str
    seconds: Number
    command: str
    found: dict

    @property
    def kind(self) -> str:
        """What was done, without the part of the round: `match`, `build`, ..."""
        words = self.step.split()
        return "match" if "match" in words else words[-1]


SPENT_ON = {  # what steps are for, by their kinds
    "measuring": ("copy", "pace"),
    "games": ("games",),
    "learning": ("rows", "learn"),
    "building and checking": ("build", "numbers", "check", "player"),
    "matches": ("match",),
}


def spent_text(steps: Sequence[LoopStep]) -> str:
    """Return in words what the time of a loop was spent on."""
    parts = []
    for what, kinds in SPENT_ON.items():
        seconds = sum(s.seconds for s in steps if s.kind in kinds and s.step != FINAL_MATCH)
        parts.append(f"{what} {duration(seconds)}")
    final = sum(step.seconds for step in steps if step.step == FINAL_MATCH)
    return f"time: {', '.join(parts)}, final match {duration(final)}"


@dataclass(frozen=True)
class StepFindings:
    """What steps found, as far as it is shown; each has a few of these."""

    games: Number | None = None
    positions: Number | None = None
    loss_before: Number | None = None
    loss_after: Number | None = None
    noise: NoiseCost | None = None
    pentanomial: list[Number] | None = None
    elo: Estimate = Estimate()
    rating: Estimate = Estimate()
    los: Number | None = None
    expected: Number | None = None
    version: str = ""
    text: str = ""
    remark: str = ""
    elo_a_minute: Number | None = None
    ratings: dict[str, Estimate] = field(default_factory=dict)
    weights: Number | None = None
    left_out: dict[str, str] = field(default_factory=dict)  # reasons by number


@dataclass(frozen=True, kw_only=True)
class Improved(RunResult):
    """What a loop found. `first` and `best` name the author's version and the last one that was
    kept, the same if none was, where `judged` says whether matches said so. `verdict` is that
    of the final match, described by `final`; `rounds` has a sentence on each round. `patch` is the
    file that was written, None if nothing was, for the `repository` of the `source` folder."""

    settings: Settings
    first: str
    best: str
    judged: bool
    rounds: Sequence[str]
    seconds: float
    steps: Sequence[LoopStep]
    source: str
    repository: str
    verdict: Judgement | None = None
    final: str = ""
    patch: Path | None = None
    learned: str = ""

    @property
    def version(self) -> str:
        """The version that won the match that decides, the first one if none did."""
        return self.first if self.patch is None else self.best

    def __repr__(self) -> str:
        return f"<Improved: {self.version} is kept>"

    def found_lines(self) -> list[str]:
        """See `RunResult`."""
        run = shlex.quote(str(self.run))
        if self.best == self.first:
            said = "no version is expected to gain" if self.judged else "no version differs"
            stay = f"{said}: the numbers of {self.source} stay as they are"
            return [*self.rounds, spent_text(self.steps), stay]
        lines = [*self.rounds, spent_text(self.steps)]
        if self.verdict is None:
            lines.append(f"{self.best} is kept so far; the final match has not been played")
        else:
            lines += [
                f"{self.best}: {self.verdict} against {self.first} in the final match",
                self.final,
            ]
        if self.patch is not None:
            patch = shlex.quote(str(self.patch))
            return [
                *lines,
                f"wrote {patch} and {self.learned} next to it; nothing in {self.source} was"
                " changed",
                f"next: tuner report {run}",
                f"next: git -C {shlex.quote(self.repository)} apply {patch}",
            ]
        if self.verdict is not None:
            lines += [
                "the gain is not significant, so nothing was written",
                f"next: tuner improve --resume {run} --write, to write the patch anyway",
            ]
        return lines

    @property
    def result(self) -> dict[str, Any]:
        """See `RunResult`."""
        plain: dict[str, Any] = {
            "run": self.run,
            "rounds": max(step.round for step in self.steps),
            "kept": self.version,
            "seconds": self.seconds,
            "steps": [asdict(step) for step in self.steps],
        }
        if self.verdict is not None:
            plain["rating"] = {**self.verdict.rating.plain, "los": self.verdict.los}
        return plain | ({} if self.patch is None else {"patch": str(self.patch)})
