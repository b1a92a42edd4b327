"""What there is to say of a fit beside the learned file: what `findings.json` of a run's folder holds, for `tuner report`."""

from __future__ import annotations

import math

import numpy as np

from tuner.dataset import Dataset
from tuner.fit import FitResult
from tuner.identify import identify
from tuner.judge import calibration, change_of_loss
from tuner.layout import Layout
from tuner.quantile import FEW_GAMES
from tuner.uncertainty import Uncertainty, ratios

HALF = 4  # times as many games have half the error


def ratios_of(found: Uncertainty | None, weights: np.ndarray, layout: Layout) -> list[dict]:
    """The single numbers of the first term as multiples of the first one, with 95 % intervals."""
    places = layout.headline
    if found is None or len(places) < 2:
        return []
    names = {place.first: place.path for place in places}
    return [{"parameter": names[line.column], "to": places[0].path, "ratio": round(line.ratio, 4), "low": round(line.low, 4),
             "high": round(line.high, 4)} for line in ratios(found, weights, [place.first for place in places])]


def held_out_change(result: FitResult) -> dict | None:
    """How much the mean loss of held-out positions changed, with its interval."""
    if result.held_out is None or not result.held_out.positions:
        return None
    change = change_of_loss(result.held_out, result.problem.start, result.weights)
    return {"difference": round(change.value, 7), "low": _known(change.low), "high": _known(change.high)}


def draws_of(result: FitResult, stages: tuple[str, ...]) -> dict | None:
    """Widths of a draw by stage in centipawns, where draws are an outcome of their own."""
    if result.width is None:
        return None
    errors = result.uncertainty.standard_errors[:, -1] if result.uncertainty else [math.nan] * len(stages)
    return {"model": result.problem.objective, "scale": round(result.problem.scale, 8),
            "width": {stage: round(float(width), 2) for stage, width in zip(stages, result.width, strict=True)},
            "errors": {stage: _known(error, 2) for stage, error in zip(stages, errors, strict=True)}}


def findings(result: FitResult, plain: dict, data: Dataset, layout: Layout) -> dict:
    """Everything but what needs the games themselves, as plain data; `plain` is what is said of the fit already."""
    judged = result.held_out if result.held_out and result.held_out.positions else result.problem
    stages = result.parameters.stages
    return {"result": plain, **{key: plain.get(key) for key in ("held_out_change", "ratios", "draws", "advice")},
            "calibration": {"before": calibration(judged, result.problem.start), "after": calibration(judged, result.weights)},
            "identifiability": identify(result.problem, result.matrix, result.gauge, layout, stages),
            "summary": summary_of(data)}


def summary_of(data: Dataset) -> dict:
    """Results of the games, and how many positions there are of each phase."""
    first = np.sign(data.outcome[data.first[:-1][np.diff(data.first) > 0]]).astype(int)
    return {"results": {"win": int((first > 0).sum()), "draw": int((first == 0).sum()), "loss": int((first < 0).sum())},
            "phases": np.bincount(data.phase, minlength=data.manifest["phases"] + 1).tolist()}


def advice(result: FitResult, change: dict | None) -> list[str]:
    """What a reader should know before believing the numbers; `change` is that of the held-out loss."""
    lines, games = [], result.games
    if result.uncertainty and games:
        lines.append(f"halving the standard errors takes about {(HALF - 1) * games:,} more games of this kind")
        inflation = _inflation(result.uncertainty)
        if inflation:
            lines.append(f"errors that took positions for independent would be {max(inflation, 1 / inflation):.1f} times too "
                         + ("small" if inflation >= 1 else "large"))
        if games < FEW_GAMES:
            lines.append(f"only {games} games: intervals reach further (Student's t), and are rough all the same")
    if change and change["high"] is not None:
        if change["low"] <= 0 <= change["high"]:
            lines.append("the held-out games do not tell whether the learned values predict better")
        elif change["low"] > 0:
            lines.append("the learned values predict the held-out games worse: do not use them")
    return lines


def _inflation(found: Uncertainty) -> float | None:
    """The median ratio of clustered to naive errors."""
    known = (found.naive > 0) & (found.sampling > 0)
    return float(np.median(found.sampling[known] / found.naive[known])) if known.any() else None


def _known(value: float, digits: int = 7) -> float | None:
    return round(float(value), digits) if math.isfinite(value) else None
