"""`findings.json`: what `tuner tune` found out beside the weights. Any part may be missing; what is there has to be whole."""

from __future__ import annotations

import json
from pathlib import Path

from games.streams import InputError

FINDINGS = "findings.json"

# A shape: a type, a mapping of the keys that are needed to shapes, or a list of one shape. Numbers may be null.
NUMBER = float
BIN = {"predicted": NUMBER, "actual": NUMBER, "low": NUMBER, "high": NUMBER, "positions": NUMBER}
FILE = {"file": str}
SHAPES = {
    "result": {},
    "held_out_change": {"difference": NUMBER, "low": NUMBER, "high": NUMBER},
    "ratios": [{"parameter": str, "to": str, "ratio": NUMBER, "low": NUMBER, "high": NUMBER}],
    "calibration": {},
    "identifiability": {},
    "summary": {},
    "misjudged": {},
    "draws": {},
    "advice": [str],
}
INNER = {
    ("result", "data"): [FILE],
    ("calibration", "before"): [BIN],
    ("calibration", "after"): [BIN],
    ("identifiability", "null_directions"): [{"numbers": [str]}],
    ("identifiability", "never"): [str],
    ("identifiability", "rare"): [{"parameter": str, "positions": NUMBER}],
    ("identifiability", "collinear"): [{"a": str, "b": str, "correlation": NUMBER}],
    ("summary", "results"): {},
    ("summary", "files"): [FILE],
    ("summary", "phases"): [NUMBER],
    ("misjudged", "games"): [FILE],
    ("misjudged", "positions"): [{"position": str}],
    ("draws", "candidates"): [{"model": str}],
}
NUMBERS = {"result": ("loss_before", "loss_after", "held_out_before", "held_out_after", "games", "positions", "held_out_games",
                      "held_out_positions", "scale", "design_effect", "iterations"),
           "identifiability": ("free", "rank", "condition", "effective")}
FILE_NUMBERS = ("games", "positions", "loss_before", "loss_after", "number", "outcome", "predicted", "loss")


def read_findings(folder: Path) -> dict:
    """The findings of a run, {} if it has none; InputError where they are not what `tuner tune` writes."""
    path = folder / FINDINGS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: not what tune writes, expected a JSON object")
    found = {key: value for key, value in found.items() if value is not None}
    for key, shape in SHAPES.items():
        if key in found:
            _check(path, found[key], shape, key)
    for (key, inner), shape in INNER.items():
        if found.get(key, {}).get(inner) is not None:
            _check(path, found[key][inner], shape, f"{key}.{inner}")
    for key, names in NUMBERS.items():
        for name in names:
            _check(path, found.get(key, {}).get(name), NUMBER, f"{key}.{name}")
    for key, inner in (("summary", "files"), ("misjudged", "games"), ("misjudged", "positions")):
        for item in found.get(key, {}).get(inner) or []:
            for name in FILE_NUMBERS:
                _check(path, item.get(name), NUMBER, f"{key}.{inner}.{name}")
    return found


def _check(path: Path, value: object, shape: object, where: str) -> None:
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise InputError(f"{path}: {where} is {_shown(value)}, expected an object")
        for key, inner in shape.items():
            if key not in value:
                raise InputError(f"{path}: {where} lacks {key!r}")
            _check(path, value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise InputError(f"{path}: {where} is {_shown(value)}, expected a list")
        for i, item in enumerate(value):
            _check(path, item, shape[0], f"{where}[{i}]")
    elif shape is NUMBER:
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise InputError(f"{path}: {where} is {_shown(value)}, expected a number or null")
    elif not isinstance(value, str):
        raise InputError(f"{path}: {where} is {_shown(value)}, expected a text")


def _shown(value: object) -> str:
    return {dict: "an object", list: "a list"}.get(type(value)) or json.dumps(value)[:40]
