"""Read `findings.json`, what `tuner tune` found out beside the weights: parts may be missing, but not incomplete."""

from __future__ import annotations

import json
from pathlib import Path

from games.streams import InputError
from tuner.report.schema import COUNT, NUMBER, SCALAR, TEXT, WHOLE, YES, Each, Needed, require

FINDINGS = "findings.json"
LARGEST = 64 << 20  # bytes
MOST_PHASES = 1000

BIN = {name: Needed(NUMBER, null=True) for name in ("predicted", "actual", "low", "high")} | {"positions": COUNT, "games": COUNT}
SIDES = {"before": [BIN], "after": [BIN]}
CHANGE = {"difference": NUMBER, "low": NUMBER, "high": NUMBER}
GAME = {"file": Needed(TEXT), "number": WHOLE, "outcome": NUMBER, "positions": COUNT, "predicted": NUMBER, "loss": NUMBER}
SHAPES = {
    "result": {
        "data": [{"file": Needed(TEXT), "sha256": TEXT}], "method": TEXT, "loss": TEXT, "start": TEXT, "match": TEXT,
        "seed": SCALAR, "prior": SCALAR, "depth": NUMBER, "converged": YES,
        **{name: NUMBER for name in ("loss_before", "loss_after", "held_out_before", "held_out_after", "gradient_norm",
                                     "design_effect", "scale")},
        **{name: COUNT for name in ("games", "positions", "held_out_games", "held_out_positions", "iterations")},
        "held_out_results": CHANGE | {"before": NUMBER, "after": NUMBER, "games": COUNT, "positions": COUNT},
        "own_games": COUNT, "own_rounds": WHOLE,
        "own_matches": [{"games": Needed(COUNT), "score": Needed(COUNT), "elo": NUMBER, "error": COUNT, "moved": COUNT,
                         "held_out": {"before": NUMBER, "after": NUMBER}}],
        "noise": {name: COUNT for name in ("evaluations", "differences", "of_classic", "elo", "low", "high")}},
    "held_out_change": CHANGE,
    "ratios": [{"parameter": Needed(TEXT), "to": TEXT, "ratio": NUMBER, "low": NUMBER, "high": NUMBER}],
    "calibration": {"results": SIDES, "targets": SIDES},
    "identifiability": {
        **{name: COUNT for name in ("free", "rank", "condition", "effective")}, "never": [Needed(TEXT)],
        "null_directions": [{"numbers": [Needed(TEXT)], "text": TEXT}],
        "rare": [{"parameter": Needed(TEXT), "positions": COUNT}],
        "collinear": [{"a": Needed(TEXT), "b": Needed(TEXT), "correlation": NUMBER}]},
    "summary": {"results": {name: COUNT for name in ("win", "draw", "loss")}, "phases": [COUNT], "files": [{
        "file": Needed(TEXT), "games": COUNT, "positions": COUNT, "loss_before": NUMBER, "loss_after": NUMBER, "sha256": TEXT}]},
    "misjudged": {"games": [GAME], "positions": [GAME | {"file": TEXT, "position": Needed(TEXT)}]},
    "draws": {"model": TEXT, "width": Each(NUMBER), "errors": Each(NUMBER),
              "candidates": [{"model": Needed(TEXT), "held_out": NUMBER}]},
    "advice": [Needed(TEXT)],
}


def read_findings(folder: Path) -> dict:
    """Read the findings of a run, {} if it has none; InputError if `tuner tune` did not write them."""
    path = folder / FINDINGS
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path}: more than {LARGEST >> 20} MB, expected what tune writes")
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deep, expected what tune writes") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: not what tune writes, expected a JSON object")
    require(str(path), found, SHAPES, "")
    phases = (found.get("summary") or {}).get("phases") or []
    if len(phases) > MOST_PHASES:
        raise InputError(f"{path}: summary.phases is a list of {len(phases)}, expected at most {MOST_PHASES}")
    return without_null(found)


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def without_null(found: dict) -> dict:
    """The same without null values at the first two levels, except for results, where null means unknown."""
    return {key: {inner: one for inner, one in value.items() if one is not None or inner in ("results", "held_out_results")}
            if isinstance(value, dict) else value for key, value in found.items() if value is not None}
