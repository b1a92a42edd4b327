"""Weights on the page: which changes are significant, single weights and lists, and tables as
boards."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuner.core.estimates import Estimate, Ratio, estimate_of
from tuner.core.text import plural
from tuner.parameters.diff import Comparison, errors_used, reach
from tuner.parameters.parameters import Parameters, Place
from tuner.report.charts import Chart, Series, line_chart, number, signed, together, whole
from tuner.results.fit import MOST_PRICED, PRICED_DEPTH, NoiseCost, PointsError
from tuner.results.selfplay import WeightsBatch

SURE, CHANCE, UNIDENTIFIED, HELD, UNKNOWN = "yes", "no", "not identified", "held constant", ""
BOUND, UNFINISHED = "at its bound", "unknown, as the fit did not converge"


@dataclass(frozen=True)
class Significance:
    """`marks` (stages, columns): one of the texts above for each change. `sentence` and `detail`
    explain the criterion."""

    marks: np.ndarray
    sentence: str
    detail: str = ""

    @property
    def judged(self) -> bool:
        """Whether a criterion is known."""
        return bool((self.marks != UNKNOWN).any())


def significance_of(found: Comparison) -> Significance:
    """Judge changes by their standard errors, as `tuner diff` does; all are unknown without
    standard errors."""
    marks = np.full(found.change[0].shape, UNKNOWN, dtype=object)
    evidence = found.evidence
    if found.known[0]:
        converged = found.files[1].learned.get("converged", True)
        marks[:] = UNIDENTIFIED if converged else UNFINISHED
        marks[evidence.tested[0]] = CHANCE
        marks[evidence.significant[0]] = SURE
        marks[evidence.error[0] == 0] = HELD
        marks[found.files[1].at_bound != 0] = BOUND
    said = "".join(f"{line[0].upper()}{line[1:]}. " for line in errors_used(found)).rstrip()
    if not found.known[0]:
        return Significance(marks, said)
    tested, beyond, kept = map(
        evidence.count, (evidence.tested, evidence.significant, evidence.supported)
    )
    return Significance(
        marks,
        f"{whole(beyond)} of {plural(tested, 'change')} are significant at the 5 % level (by chance"
        f" alone, up to {whole(0.05 * tested)}); {whole(kept)} remain at a false discovery rate of"
        " 5 %.",
        said,
    )


def significance_of_selfplay(found: Comparison, history: Sequence[WeightsBatch]) -> Significance:
    """Judge no single change of self-play, which gives no standard errors: many small ones together
    may be worth much, though each could be noise."""
    if found.known[0]:
        return significance_of(found)
    games = whole(history[-1].games) if history else "0"
    return Significance(
        np.full(found.change[0].shape, UNKNOWN, dtype=object),
        f"Self-play gives no standard errors: after {games} games any single difference may be"
        " noise, and none is judged. The file as a whole is judged by its matches and by its"
        " values of positions.",
    )


LEAST_SPAN = 20.0  # centipawns, least height of a chart: less would magnify noise


# what a page shows, of those with the largest changes, and the longest list that is drawn
MOST_ROWS, MOST_BOARDS, LONGEST_LIST = 2000, 60, 1024


def weight_rows(found: Comparison, significance: Significance) -> tuple[list[dict], int]:
    """Single weights and those of lists, stage by stage, of many those that changed most; `error`
    is half the 95 % interval of the change, None if unknown, and `sure` its mark of significance.
    And how many there are in all."""
    lines: list[dict] = []
    errors = (found.evidence.reach * found.evidence.error)[0]
    places = [place for place in found.layout.places if len(place.shape) < 2]
    changes = np.abs(
        np.hstack([found.change[0][:, :0], *(found.change[0][:, p.columns] for p in places)])
    )
    least = np.partition(changes.ravel(), -MOST_ROWS)[-MOST_ROWS] if changes.size > MOST_ROWS else 0
    for place in places:
        for i, label in enumerate(place.labels(), place.first):
            for s, stage in enumerate(found.stages):
                if abs(found.change[0, s, i]) < least or len(lines) >= MOST_ROWS:
                    continue
                before, after = (float(p.weights[s, i]) for p in found.files)
                lines.append(
                    {
                        "parameter": label,
                        "stage": stage,
                        "initial": before,
                        "learned": after,
                        "change": float(found.change[0, s, i]),
                        "sure": significance.marks[s, i],
                        "error": (
                            float(errors[s, i])
                            if significance.marks[s, i] in (SURE, CHANCE)
                            and not found.steps(0)
                            and np.isfinite(errors[s, i])
                            else None
                        ),
                    }
                )
    return lines, changes.size


def intervals_of(p: Parameters) -> np.ndarray | None:
    """Half the 95 % intervals of the weights of a file (stages, columns), None without standard
    errors, and where those belong to an optimum elsewhere."""
    if p.standard_errors is None or p.optimum is not None:
        return None
    return reach(p) * p.standard_errors


def list_curves(found: Comparison) -> list[Chart]:
    """A chart for each list of weights and stage; all stages of a list share the scale."""
    charts = []
    initial, learned = found.files
    for place in learned.layout.places:
        if len(place.shape) != 1 or place.size > LONGEST_LIST:
            continue
        before, after = (p.weights[:, place.columns] for p in (initial, learned))
        errors = intervals_of(learned)
        errors = None if errors is None else errors[:, place.columns]
        spread = np.zeros_like(after) if errors is None else np.nan_to_num(errors)
        low = min(before.min(), (after - spread).min())
        high = max(before.max(), (after + spread).max())
        missing = LEAST_SPAN - (high - low)
        if missing > 0:
            low, high = low - missing / 2, high + missing / 2
        margin = 0.06 * (high - low)
        for s, stage in enumerate(learned.stages):
            x, unit = np.arange(place.size), "percent" if place.percent else learned.wording.unit
            name = place.path + (f" · {stage}" if len(learned.stages) > 1 else "")
            band = (
                {}
                if errors is None
                else {"low": after[s] - errors[s], "high": after[s] + errors[s]}
            )
            lost = np.isnan(errors[s]) if errors is not None else np.zeros(place.size, np.bool_)
            lines = [
                Series("initial", x, before[s]),
                Series("learned", x, np.where(lost, np.nan, after[s]), **band),
            ]
            if lost.any():
                lines.append(Series("unknown", x[lost], after[s][lost]))
            charts.append(
                line_chart(
                    name,
                    "index in the list",
                    unit,
                    lines,
                    limits=(low - margin, high + margin),
                    small=True,
                )
            )
    return charts


def headline_values(found: Comparison, ratios: list[Ratio]) -> dict:
    """The weights of the headline: in centipawns for each stage, and in units of the first with
    intervals."""
    initial, learned = found.files
    places, errors = (
        learned.layout.headline if learned.wording.ratios else [],
        intervals_of(learned),
    )
    lines: list[dict[str, Any]] = []
    given = {each.parameter: each.ratio for each in ratios}
    means = {place.path: float(learned.weights[:, place.columns].mean()) for place in places}
    unit = next(iter(means.values()), 0.0)
    for place in places:
        entries = [
            {
                "stage": stage,
                "initial": float(initial.weights[s, place.first]),
                "learned": estimate_of(
                    float(learned.weights[s, place.first]),
                    math.nan if errors is None else float(errors[s, place.first] or math.nan),
                    1.0,
                ),
            }
            for s, stage in enumerate(learned.stages)
        ]
        ratio = Estimate(means[place.path] / unit if unit else math.nan)
        lines.append(
            {
                "name": learned.layout.short(place),
                "stages": entries,
                "ratio": given.get(place.path, ratio),
            }
        )
    terms = dict.fromkeys(place.term for place in places)
    return {
        "term": ", ".join(terms),
        "unit": places[0].name if places else "",
        "rows": lines,
        "stages": list(learned.stages),
        "of_weights": learned.wording.unit,
        "intervals": any(math.isfinite(row["ratio"].low) for row in lines),
    }


def points_tile(error: PointsError | None) -> tuple[str, str, str] | None:
    """Label, value and detail of the error of expected points."""
    if error is None or error.after is None:
        return None
    return (
        "Error in points",
        number(error.after, 3),
        (
            f"from {number(error.before, 3)}, root mean square; the targets "
            f"themselves vary by {number(error.deviation, 3)}"
        ),
    )


def noise_tile(noise: NoiseCost | None, unit: str = "centipawns") -> tuple[str, str, str] | None:
    """Label, value and detail of sampling noise: its cost in Elo, or its size where the cost is
    unknown."""
    if noise is None or noise.evaluations is None:
        return None
    size = f"evaluations ±{number(noise.evaluations)} {unit}"
    if noise.differences is not None:
        size += f", differences between neighboring positions ±{number(noise.differences)}"
    if noise.elo is None:
        return "Sampling noise", f"±{number(noise.evaluations)}", size
    interval = together(f"[{number(noise.elo.low, 0)}, {number(noise.elo.high, 0)}]")
    if noise.elo.value > MOST_PRICED:
        return (
            "Cost of sampling noise",
            f"> {MOST_PRICED:g} Elo",
            f"at depth {PRICED_DEPTH}; {size}",
        )
    return (
        "Cost of sampling noise",
        f"{number(noise.elo.value, 0)} Elo",
        f"{interval} at depth {PRICED_DEPTH}; {size}",
    )


STRONGEST = 0.9  # opacity of the largest number of a board
MIN_DIFFERENCE = 0.5  # centipawns; smaller differences are rounded to 0
WEAK = 0.3  # share of the opacity of a number whose change is not significant


@dataclass(frozen=True)
class Cell:
    """A number: its text, the color of its sign, the opacity of this color, and a mark ("weak":
    not significant, "unknown": not identified). `said` are the details in words."""

    text: str
    colour: str
    strength: float
    mark: str
    said: str


@dataclass(frozen=True)
class BoardTable:
    """Cells of initial values, learned values or their differences; `largest` is the number at full
    strength."""

    kind: str
    rows: list[list[Cell]]
    largest: float


@dataclass(frozen=True)
class Table:
    """The boards of a parameter in one stage."""

    parameter: str
    stage: str
    boards: list[BoardTable]


def tables(found: Comparison, significance: Significance) -> tuple[list[Table], int]:
    """The boards of all parameters with rows and columns, stage by stage, of many those that
    changed most; and how many there are in all."""
    places = [
        (board, s)
        for place in found.layout.places
        if len(place.shape) > 1
        for board in place.boards()
        for s in range(len(found.stages))
    ]
    moved = [float((found.change[0][s, place.columns] ** 2).mean()) for place, s in places]
    shown = sorted(np.argsort(moved, kind="stable")[-MOST_BOARDS:].tolist())
    return [_table(found, significance, *places[i]) for i in shown], len(places)


def _table(found: Comparison, significance: Significance, place: Place, s: int) -> Table:
    shape = (-1, place.shape[-1])
    before, after = (p.weights[s, place.columns].reshape(shape) for p in found.files)
    change, errors, marks = (
        array[s, place.columns].reshape(shape)
        for array in (
            found.change[0],
            (found.evidence.reach * found.evidence.error)[0],
            significance.marks,
        )
    )
    labels = np.array(place.labels()).reshape(shape)
    most, furthest = (
        float(max(np.abs(before).max(), np.abs(after).max())),
        float(np.abs(change).max()),
    )
    boards = []
    for kind, numbers, largest in (
        ("initial", before, most),
        ("learned", after, most),
        ("difference", change, furthest if furthest >= MIN_DIFFERENCE else 0.0),
    ):
        rows = [
            [
                _cell(
                    kind,
                    float(numbers[i, j]),
                    largest,
                    _faint(kind, marks[i, j]),
                    f"{labels[i, j]}: {number(before[i, j])} → {number(after[i, j])}, "
                    f"{signed(change[i, j]) or 'unchanged'}"
                    f"{error_text(marks[i, j], float(errors[i, j]))}",
                )
                for j in range(shape[-1])
            ]
            for i in range(len(numbers) - 1, -1, -1)
        ]
        boards.append(BoardTable(kind, rows, largest))
    return Table(place.path, found.stages[s] if len(found.stages) > 1 else "", boards)


def _faint(kind: str, sure: str) -> str:
    """The mark of a number: changes are weak if not significant."""
    if kind == "initial":
        return ""
    if sure in (UNIDENTIFIED, UNFINISHED):
        return "unknown"
    return "weak" if kind == "difference" and sure == CHANCE else ""


def _cell(kind: str, value: float, largest: float, mark: str, said: str) -> Cell:
    strength = STRONGEST * abs(value) / largest if largest > 0 else 0.0
    if mark == "weak":
        strength *= WEAK
    text = signed(value, 0) if kind == "difference" else number(value, 0)
    return Cell(text, "more" if value > 0 else "less", round(strength, 2), mark, said)


def error_text(sure: str, error: float) -> str:
    """The error of a change as text to append to it."""
    if sure in (CHANCE, SURE) and np.isfinite(error):
        return f" ± {number(error)}"
    return f", {sure}" if sure in (UNIDENTIFIED, UNFINISHED, HELD, BOUND) else ""
