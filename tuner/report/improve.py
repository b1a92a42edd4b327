"""The page of `tuner improve`: all rounds, their matches, and the ratings of all versions."""

from pathlib import Path
from typing import Any, NamedTuple

from tuner.core.estimates import estimate_of
from tuner.core.records import InputError, convert
from tuner.core.store import DATABASE, RESULT, read_records
from tuner.core.text import plural
from tuner.evaluation.loading import load_parameters
from tuner.report.charts import number, points_chart, shown, whole
from tuner.report.run import run_of
from tuner.report.sections import Page, Section, Tile, options_section
from tuner.report.verdict import Verdict
from tuner.results.improved import TAKEN, LoopStep, StepFindings, spent_text

IMPROVE = "improve"  # the section of config.yaml
PATCH, LEARNED, START = "improve.patch", "learned.yaml", "first/params.yaml"
MOST_CHANGED = 30
MOST_NAMED = 6  # numbers that are left out, for each reason
FINAL = "final"  # the step that decides


class ShownStep(NamedTuple):
    """A step of the history, and what it found."""

    step: LoopStep
    found: StepFindings


def read_steps(folder: Path) -> list[ShownStep]:
    """Read the steps of a loop so far; InputError for damage."""
    steps = []
    for line, plain in enumerate(read_records(folder)):
        place = f"{folder / DATABASE}: {RESULT} {line}"
        step: LoopStep = convert(plain, LoopStep, place)
        steps.append(ShownStep(step, convert(step.found, StepFindings, place, "found")))
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
        _left_out(steps),
        _steps(steps),
        options_section(run),
    ]
    return Page(run, folder.resolve().name, sections, _tiles(steps), [_verdict(folder, steps)])


def _verdicts_of(steps: list[ShownStep]) -> list[ShownStep]:
    return [step for step in steps if step.step.kind == "verdict"]


def _taken(steps: list[ShownStep]) -> dict[str, float | None]:
    """The versions that were taken, each with the expected Elo a minute that its round brought."""
    return {found.version: found.elo_a_minute for step, found in steps if step.step == TAKEN}


def _verdict(folder: Path, steps: list[ShownStep]) -> Verdict:
    """Return the verdict of the final match."""
    names = (folder.name, "the first version")
    final = next((step.found for step in reversed(steps) if step.step.step == FINAL), None)
    if final is None:
        judged = len(_verdicts_of(steps))
        return Verdict(
            "not decided",
            names,
            "The match that decides has not been played",
            f"Versions judged in the rounds: {judged}",
        )
    rating = final.rating
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


def _rounds(steps: list[ShownStep]) -> Section | None:
    """The rounds as a table: games, matches and versions kept."""
    by = {(shown.step.round, shown.step.step): shown.found for shown in steps}
    rows = []
    taken = _taken(steps)
    for judged in _verdicts_of(steps):
        number, share = judged.step.round, judged.step.step.partition(" ")[0]
        learned = by.get((number, "learn"), StepFindings())
        matches = [
            (step.step.partition(" match ")[2], found)
            for step, found in steps
            if step.round == number and step.step.startswith(f"{share} match")
        ]
        rows.append(
            {
                "name": judged.found.version,
                "games": by.get((number, "games"), StepFindings()).games,
                "positions": learned.positions,
                "losses": (learned.loss_before, learned.loss_after),
                "noise": learned.noise.elo and learned.noise.elo.value if learned.noise else None,
                "matches": [_match_text(rival, found) for rival, found in matches],
                "rating": shown(judged.found.rating, 0, "+,"),
                "expected": judged.found.expected,
                "kept": judged.found.version in taken,
                "pace": taken.get(judged.found.version),
            }
        )
    return Section("rounds", "Rounds", "improve", {"rows": rows}) if rows else None


def _match_text(rival: str, found: StepFindings) -> str:
    """A match in words: against whom, Elo, games and pentanomial."""
    against = {"before": "the previous version", "first": "the first version"}.get(
        rival, f"player {rival} of the pool"
    )
    pairs = ", ".join(whole(count) for count in found.pentanomial or [])
    return f"{against}: {shown(found.elo, 0, '+,')} Elo, {plural(found.games, 'game')} [{pairs}]"


def _ratings(steps: list[ShownStep]) -> Section | None:
    """All versions and players of the pool with their joint ratings."""
    judged = _verdicts_of(steps)
    if not judged:
        return None
    ratings = judged[-1].found.ratings
    first = sorted(ratings.items(), key=lambda pair: pair[0] != "the first version")
    chart = points_chart(
        "Joint ratings of the pool",
        "Elo above the first version, with 95 % interval",
        dict(first),
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


def _left_out(steps: list[ShownStep]) -> Section | None:
    """The numbers of the sources that are no weights, by the reasons."""
    weighed = next((found for _, found in steps if found.weights is not None), None)
    if weighed is None:
        return None
    by_reason: dict[str, list[str]] = {}
    for name, reason in weighed.left_out.items():
        by_reason.setdefault(reason, []).append(name)
    rows = [
        {"reason": reason, "numbers": len(own), "first": ", ".join(own[:MOST_NAMED])}
        for reason, own in sorted(by_reason.items(), key=lambda each: -len(each[1]))
    ]
    data = {"rows": rows, "weights": weighed.weights}
    return Section("left_out", "Numbers that are no weights", "left_out", data)


def _steps(steps: list[ShownStep]) -> Section:
    """Every step with its time and its command."""
    rows = [
        {
            "round": step.round,
            "name": step.step,
            "seconds": step.seconds,
            "command": ": ".join(filter(None, (step.command, found.remark))),
        }
        for step, found in steps
    ]
    return Section("steps", "Steps", "steps", {"rows": rows})


def _tiles(steps: list[ShownStep]) -> list[Tile]:
    judged = _verdicts_of(steps)
    games = sum(found.games or 0 for step, found in steps if step.kind in ("games", "match"))
    return [
        Tile("Rounds", whole(max((each.step.round for each in judged), default=0))),
        Tile("Versions taken", whole(len(_taken(steps)))),
        Tile("Games played", whole(games), "to learn from, and in matches"),
        Tile(
            "Time",
            f"{number(sum(each.step.seconds for each in steps) / 60, 0)} min",
            spent_text([each.step for each in steps]).removeprefix("time: "),
        ),
    ]
