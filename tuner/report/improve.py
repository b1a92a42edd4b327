"""The page of `tuner improve`: all rounds, their matches, and the ratings of all versions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tuner.core.estimates import estimate_of
from tuner.core.records import Count, InputError, Number, convert
from tuner.core.store import DATABASE, RESULT, read_records
from tuner.core.text import plural
from tuner.evaluation.loading import load_parameters
from tuner.findings.records import Interval
from tuner.report.charts import number, points_chart, shown, whole
from tuner.report.run import run_of
from tuner.report.sections import Page, Section, Tile, options_section
from tuner.report.verdict import Verdict

IMPROVE = "improve"  # the section of config.yaml
PATCH, LEARNED, START = "improve.patch", "learned.yaml", "first/params.yaml"
MOST_CHANGED = 30
FINAL = "final"  # the step that decides


@dataclass(frozen=True)
class CostOfNoise:
    """What the sampling noise of learned weights costs."""

    elo: Number | None = None


@dataclass(frozen=True)
class StepFound:
    """What a step found; each has a few of these."""

    games: Number | None = None
    positions: Number | None = None
    loss_before: Number | None = None
    loss_after: Number | None = None
    noise: CostOfNoise | None = None
    pentanomial: list[Number] | None = None
    elo: Interval | None = None
    rating: Interval | None = None
    los: Number | None = None
    version: str = ""
    text: str = ""
    remark: str = ""
    kept: bool | None = None
    ratings: dict[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True)
class StepLine:
    """A step of the history."""

    round: Count
    step: str
    seconds: Number
    command: str
    found: StepFound


def read_steps(folder: Path) -> list[StepLine]:
    """Read the steps of a loop so far; InputError for damage."""
    steps = [
        convert(plain, StepLine, f"{folder / DATABASE}: {RESULT} {number}")
        for number, plain in enumerate(read_records(folder))
    ]
    if not steps:
        raise InputError(f"{folder}: no step of the loop is done yet")
    return steps


def improve_page(folder: Path) -> Page:
    """Return the page of a loop, which may still be running."""
    steps, run = read_steps(folder), run_of(folder)
    sections = [
        _rounds(steps),
        _ratings(steps),
        _changed(folder),
        _steps(steps),
        options_section(run),
    ]
    return Page(run, folder.resolve().name, sections, _tiles(steps), [_verdict(folder, steps)])


def _verdicts_of(steps: list[StepLine]) -> list[StepLine]:
    return [step for step in steps if step.step.endswith(" verdict")]


def _taken(steps: list[StepLine]) -> list[StepLine]:
    """The steps that say whether a version was taken: by matches, or without."""
    return [step for step in steps if step.step.endswith((" verdict", " taken"))]


def _verdict(folder: Path, steps: list[StepLine]) -> Verdict:
    """Return the verdict of the final match."""
    names = (folder.name, "the first version")
    final = next((step.found for step in reversed(steps) if step.step == FINAL), None)
    if final is None:
        judged = len(_verdicts_of(steps))
        return Verdict(
            "not decided",
            names,
            "The match that decides has not been played",
            f"Versions judged in the rounds: {judged}",
        )
    rating = (final.rating or Interval()).estimate
    kind = "better" if rating.low > 0 else "worse" if rating.high < 0 else "not decided"
    patch = folder / PATCH
    return Verdict(
        kind,
        names,
        f"{final.version.capitalize()}: {shown(rating, 0, '+,')} Elo against the first version",
        final.text or "By the match after the rounds alone",
        f"In your repository: git apply {patch.resolve()}"
        if patch.exists()
        else "Nothing was written.",
    )


def _rounds(steps: list[StepLine]) -> Section | None:
    """The rounds as a table: games, matches and versions kept."""
    by = {(step.round, step.step): step.found for step in steps}
    rows = []
    for judged in _taken(steps):
        share = judged.step.partition(" ")[0]
        learned = by.get((judged.round, "learn"), StepFound())
        matches = [
            (step.step.partition(" match ")[2], step.found)
            for step in steps
            if step.round == judged.round and step.step.startswith(f"{share} match")
        ]
        rows.append(
            {
                "name": judged.found.version,
                "games": by.get((judged.round, "games"), StepFound()).games,
                "positions": learned.positions,
                "losses": (learned.loss_before, learned.loss_after),
                "noise": learned.noise.elo if learned.noise else None,
                "matches": [_match_text(rival, found) for rival, found in matches],
                "rating": "not played"
                if judged.found.rating is None
                else shown(judged.found.rating.estimate, 0, "+,"),
                "los": judged.found.los,
                "kept": judged.found.kept,
            }
        )
    return Section("rounds", "Rounds", "improve", {"rows": rows}) if rows else None


def _match_text(rival: str, found: StepFound) -> str:
    """A match in words: against whom, Elo, games and pentanomial."""
    against = {"before": "the previous version", "first": "the first version"}.get(
        rival, f"player {rival} of the pool"
    )
    elo = (found.elo or Interval()).estimate
    pairs = ", ".join(whole(count) for count in found.pentanomial or [])
    return f"{against}: {shown(elo, 0, '+,')} Elo, {plural(found.games, 'game')} [{pairs}]"


def _ratings(steps: list[StepLine]) -> Section | None:
    """All versions and players of the pool with their joint ratings."""
    judged = _verdicts_of(steps)
    if not judged:
        return None
    ratings = judged[-1].found.ratings
    first = sorted(ratings.items(), key=lambda pair: pair[0] != "the first version")
    found = {name: rating.estimate for name, rating in first}
    chart = points_chart(
        "Joint ratings of the pool",
        "Elo above the first version, with 95 % interval",
        list(found),
        [rating.value for rating in found.values()],
        [rating.low for rating in found.values()],
        [rating.high for rating in found.values()],
        level=0.0,
    )
    return Section("ratings", "Ratings", "charts", {"charts": [chart]})


def _changed(folder: Path) -> Section | None:
    """The numbers that the result changes most."""
    if not (folder / LEARNED).exists():
        return None
    first, learned = (load_parameters(folder / path) for path in (START, LEARNED))
    labels, several = first.layout.labels(), len(first.stages) > 1
    errors = learned.standard_errors if learned.optimum is None else None
    rows: list[dict[str, Any]] = [
        {
            "name": f"{label} {stage}" if several else label,
            "before": float(first.weights[i, j]),
            "after": float(learned.weights[i, j]),
            "change": float(learned.weights[i, j] - first.weights[i, j]),
            "error": None if errors is None else estimate_of(0.0, float(errors[i, j])).half_width,
        }
        for i, stage in enumerate(first.stages)
        for j, label in enumerate(labels)
        if learned.weights[i, j] != first.weights[i, j]
    ]
    rows.sort(key=lambda row: -abs(row["change"]))
    data = {"rows": rows[:MOST_CHANGED], "changed": len(rows), "numbers": first.weights.size}
    return Section("changed", "Numbers that changed most", "changed", data)


def _steps(steps: list[StepLine]) -> Section:
    """Every step with its time and its command."""
    rows = [
        {
            "round": step.round,
            "name": step.step,
            "seconds": step.seconds,
            "command": ": ".join(filter(None, (step.command, step.found.remark))),
        }
        for step in steps
    ]
    return Section("steps", "Steps", "steps", {"rows": rows})


def _tiles(steps: list[StepLine]) -> list[Tile]:
    judged = _taken(steps)
    games = sum(
        step.found.games or 0 for step in steps if step.step == "games" or " match " in step.step
    )
    return [
        Tile("Rounds", whole(max((step.round for step in judged), default=0))),
        Tile("Versions taken", whole(sum(bool(step.found.kept) for step in judged))),
        Tile("Games played", whole(games), "to learn from, and in matches"),
        Tile("Time", f"{number(sum(step.seconds for step in steps) / 60, 0)} min"),
    ]
