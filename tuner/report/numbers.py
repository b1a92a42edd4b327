"""The single numbers and lists of an evaluation: rows of a table, and curves."""

from __future__ import annotations

import numpy as np

from tuner.parameters import Parameters
from tuner.quantile import NORMAL
from tuner.report.charts import Chart, Series, line_chart


def rows(initial: Parameters, learned: Parameters) -> list[dict]:
    """Single numbers and those of lists, stage by stage; `error` is half a 95 % interval, None where there is none, and
    `sure` "yes", "no", "not identified", "held" or "" if nothing is known."""
    found = []
    for place in learned.layout.places:
        if len(place.shape) > 1:
            continue
        for i, label in enumerate(place.labels()):
            for s, stage in enumerate(learned.stages):
                before, after = (float(p.weights[s, place.first + i]) for p in (initial, learned))
                error = None if learned.standard_errors is None else float(learned.standard_errors[s, place.first + i])
                found.append({"parameter": label, "stage": stage, "initial": before, "learned": after, "change": after - before,
                              "error": NORMAL * error if error is not None and np.isfinite(error) and error > 0 else None,
                              "sure": sureness(after - before, error)})
    return found


def sureness(change: float, error: float | None) -> str:
    """Whether a change is more than chance, at 95 %."""
    if error is None:
        return ""
    if np.isnan(error):
        return "not identified"
    if error == 0:
        return "held"
    return "yes" if abs(change) > NORMAL * error else "no"


def curves(initial: Parameters, learned: Parameters) -> list[Chart]:
    """A chart for each list of numbers in each stage; the stages of one list have one scale."""
    charts = []
    for place in learned.layout.places:
        if len(place.shape) != 1:
            continue
        before, after = (p.weights[:, place.columns] for p in (initial, learned))
        errors = None if learned.standard_errors is None else NORMAL * learned.standard_errors[:, place.columns]
        spread = np.zeros_like(after) if errors is None else np.nan_to_num(errors)
        low = min(before.min(), (after - spread).min())
        high = max(before.max(), (after + spread).max())
        margin = 0.06 * (high - low) or 1.0
        for s, stage in enumerate(learned.stages):
            x = np.arange(place.size)
            name = place.path + (f" · {stage}" if len(learned.stages) > 1 else "")
            band = {} if errors is None else {"low": after[s] - errors[s], "high": after[s] + errors[s]}
            said = ", ".join(f"{i}: {b:.0f} to {a:.0f}" for i, (b, a) in enumerate(zip(before[s], after[s], strict=True)))
            lost = np.isnan(errors[s]) if errors is not None else np.zeros(place.size, np.bool_)
            lines = [Series("initial", x, before[s]), Series("learned", x, np.where(lost, np.nan, after[s]), **band)]
            if lost.any():
                lines.append(Series("unknown", x[lost], after[s][lost]))
            charts.append(line_chart(name, "place in the list", "centipawns", lines,
                                     f"Initial to learned centipawns by place in the list. {said}.",
                                     limits=(low - margin, high + margin), small=True))
    return charts


def values(initial: Parameters, learned: Parameters, ratios: list[dict]) -> dict:
    """The single numbers of the first term: in centipawns for each stage, and in units of the first with intervals."""
    places = learned.layout.headline
    found = []
    given = {ratio["parameter"]: ratio for ratio in ratios}
    means = {place.path: float(learned.weights[:, place.columns].mean()) for place in places}
    unit = next(iter(means.values()), 0.0)
    for place in places:
        entries = []
        for s, stage in enumerate(learned.stages):
            error = None if learned.standard_errors is None else float(learned.standard_errors[s, place.first])
            entries.append({"stage": stage, "initial": float(initial.weights[s, place.first]),
                            "learned": float(learned.weights[s, place.first]),
                            "error": NORMAL * error if error and np.isfinite(error) else None})
        ratio = given.get(place.path)
        if ratio is None:
            ratio = {"ratio": means[place.path] / unit if unit else None, "low": None, "high": None}
        found.append({"name": place.name, "stages": entries, **{key: ratio.get(key) for key in ("ratio", "low", "high")}})
    return {"term": places[0].term if places else "", "unit": places[0].name if places else "", "rows": found,
            "stages": list(learned.stages), "intervals": any(row["low"] is not None for row in found)}
