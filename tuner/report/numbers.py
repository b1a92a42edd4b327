"""Single weights and lists of weights: rows of a table, and curves."""

from __future__ import annotations

import numpy as np

from tuner.fit.noise import PRICED_DEPTH
from tuner.parameters.diff import Comparison, reach
from tuner.parameters.parameters import Parameters
from tuner.report.charts import Chart, Series, line_chart
from tuner.report.formatting import known, number, together
from tuner.report.significance import CHANCE, SURE, Significance

LEAST_SPAN = 20.0  # centipawns, least height of a chart: less would magnify noise


def rows(found: Comparison, significance: Significance) -> list[dict]:
    """Single weights and those of lists, stage by stage; `error` is half the 95 % interval of the change, None if unknown,
    and `sure` its mark of significance."""
    lines, errors = [], (found.evidence.reach * found.evidence.error)[0]
    for place in found.layout.places:
        if len(place.shape) > 1:
            continue
        for i, label in enumerate(place.labels(), place.first):
            for s, stage in enumerate(found.stages):
                before, after = (float(p.weights[s, i]) for p in found.files)
                lines.append({"parameter": label, "stage": stage, "initial": before, "learned": after,
                              "change": float(found.change[0, s, i]), "sure": significance.marks[s, i],
                              "error": float(errors[s, i]) if significance.marks[s, i] in (SURE, CHANCE)
                              and np.isfinite(errors[s, i]) else None})
    return lines


def intervals_of(p: Parameters) -> np.ndarray | None:
    """Half the 95 % intervals of the weights of a file (stages, columns), None without standard errors."""
    return None if p.standard_errors is None else reach(p) * p.standard_errors


def curves(found: Comparison) -> list[Chart]:
    """A chart for each list of weights and stage; all stages of a list share the scale."""
    charts = []
    initial, learned = found.files
    for place in learned.layout.places:
        if len(place.shape) != 1:
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
            band = {} if errors is None else {"low": after[s] - errors[s], "high": after[s] + errors[s]}
            said = ", ".join(f"{i}: {b:.0f} to {a:.0f}" for i, (b, a) in enumerate(zip(before[s], after[s], strict=True)))
            lost = np.isnan(errors[s]) if errors is not None else np.zeros(place.size, np.bool_)
            lines = [Series("initial", x, before[s]),
                     Series("learned", x, np.where(lost, np.nan, after[s]), **band)]
            if lost.any():
                lines.append(Series("unknown", x[lost], after[s][lost]))
            charts.append(line_chart(name, "index in the list", unit, lines,
                                     f"Initial to learned {unit} by index in the list. {said}.",
                                     limits=(low - margin, high + margin), small=True))
    return charts


def values(found: Comparison, ratios: list[dict]) -> dict:
    """The weights of the headline: in centipawns for each stage, and in units of the first with intervals."""
    initial, learned = found.files
    places, errors = learned.layout.headline if learned.wording.ratios else [], intervals_of(learned)
    lines = []
    given = {ratio["parameter"]: ratio for ratio in ratios}
    means = {place.path: float(learned.weights[:, place.columns].mean()) for place in places}
    unit = next(iter(means.values()), 0.0)
    for place in places:
        entries = []
        for s, stage in enumerate(learned.stages):
            error = None if errors is None else float(errors[s, place.first])
            entries.append({"stage": stage, "initial": float(initial.weights[s, place.first]),
                            "learned": float(learned.weights[s, place.first]),
                            "error": error if error and np.isfinite(error) else None})
        ratio = given.get(place.path)
        if ratio is None:
            ratio = {"ratio": means[place.path] / unit if unit else None, "low": None, "high": None}
        lines.append({"name": learned.layout.short(place), "stages": entries,
                      **{key: ratio.get(key) for key in ("ratio", "low", "high")}})
    terms = dict.fromkeys(place.term for place in places)
    return {"term": ", ".join(terms), "unit": places[0].name if places else "", "rows": lines,
            "stages": list(learned.stages), "of_weights": learned.wording.unit,
            "intervals": any(row["low"] is not None for row in lines)}


def points(found: object) -> tuple[str, str, str] | None:
    """Label, value and detail of the error of expected points."""
    if not isinstance(found, dict) or not known(found.get("after")):
        return None
    return ("Error in points", number(found["after"], 3), f"from {number(found.get('before'), 3)}, root mean square; the targets "
            f"themselves vary by {number(found.get('deviation'), 3)}")


def noise(found: object, unit: str = "centipawns") -> tuple[str, str, str] | None:
    """Label, value and detail of sampling noise: its cost in Elo, or its size where the cost is unknown."""
    if not isinstance(found, dict) or not known(found.get("evaluations")):
        return None
    size = f"evaluations ±{number(found['evaluations'])} {unit}"
    if known(found.get("differences")):
        size += f", differences between neighbouring positions ±{number(found['differences'])}"
    if not all(known(found.get(name)) for name in ("elo", "low", "high")):
        return "Sampling noise", f"±{number(found['evaluations'])}", size
    interval = together(f"[{number(found['low'], 0)}, {number(found['high'], 0)}]")
    return "Cost of sampling noise", f"{number(found['elo'], 0)} Elo", f"{interval} at depth {PRICED_DEPTH}; {size}"
