"""`headroom.json` of a run's folder, which `tuner headroom --add-to` writes."""

from __future__ import annotations

import json
from pathlib import Path

from games.streams import InputError
from tuner.io.files import replace_file
from tuner.report.schema import COUNT, NUMBER, TEXT, Needed, require

HEADROOM, PARAMS = "headroom.json", "params.yaml"
LARGEST = 1 << 20  # bytes

INTERVAL = {"value": Needed(NUMBER), "low": NUMBER, "high": NUMBER}
GAIN = {**INTERVAL, "model": Needed(TEXT), "on": Needed(TEXT)}
SHAPES = {
    "start": Needed(TEXT), "values": Needed(TEXT), "loss": Needed(TEXT), "command": TEXT, "first_stage": TEXT, "missing": TEXT,
    "board": TEXT, "points": COUNT, "side": TEXT,
    "not_linear": Needed([TEXT]),
    **{name: Needed(COUNT) for name in ("positions", "held_out_positions", "held_out_games")},
    "models": Needed([{**INTERVAL, "model": Needed(TEXT)}]), "gains": Needed([GAIN]),
    "phases": [{"stage": TEXT, "from": Needed(NUMBER), "to": Needed(NUMBER), "positions": Needed(COUNT), "start": NUMBER,
                "fit": NUMBER, "trees": NUMBER, "network": NUMBER, "gains": Needed([GAIN])}],
    "counts": [{**INTERVAL, "input": Needed(TEXT)}],
    "disagreements": [{"position": Needed(TEXT), **{name: Needed(NUMBER) for name in ("value", "start", "fit")},
                       "trees": NUMBER, "network": NUMBER}],
    "sentences": Needed([Needed(TEXT)])}


def read_headroom(folder: Path) -> dict:
    """Return {"headroom": ...} of a run's folder, {} if it has none; InputError if `tuner headroom` did not write it."""
    path = folder / HEADROOM
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path}: more than {LARGEST >> 20} MB, expected what `tuner headroom` writes")
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{path}: cannot be read: {problem}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: not what `tuner headroom` writes, expected a JSON object")
    require(str(path), found, SHAPES, "")
    return {"headroom": found}


def require_tuned(folder: Path) -> None:
    """InputError unless this is the folder of a run that learned a parameter file."""
    if not (folder / PARAMS).is_file():
        raise InputError(f"{folder}: holds no learned parameter file ({PARAMS}); expected the folder of `tuner tune --run`")


def add_headroom(folder: Path, found: dict) -> None:
    """Write a measurement into a run's folder, in place of an earlier one."""
    replace_file(folder / HEADROOM, json.dumps(found, indent=1, allow_nan=False) + "\n")
