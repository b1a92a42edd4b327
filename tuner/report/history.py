"""Read `history.jsonl` of any run, without changing it."""

from __future__ import annotations

import json
import math
from pathlib import Path

from games.streams import InputError
from tuner.report.schema import Needed, Shape, require


def read_history(path: Path, shape: dict[str, Shape], torn: bool) -> list[dict]:
    """Read the lines of a history; with `torn` the last may be incomplete, as a killed process leaves it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the run was not finished, or it was removed") from None
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from None
    lines, count = [], text.count("\n") + 1
    needed = [name for name, inner in shape.items() if isinstance(inner, Needed)]
    for number, line in enumerate(text.split("\n"), 1):
        last = number == count
        if last and not line:
            break
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            if torn and last:
                break
            found = None
        if not isinstance(found, dict) or any(name not in found for name in needed):
            raise InputError(f"{path}:{number}: damaged, expected a JSON object with {', '.join(needed)}")
        require(f"{path}:{number}", found, shape, "")
        lines.append(found)
    return lines


def column(history: list[dict], name: str) -> list[float]:
    """A number of each line, NaN where a line has none."""
    return [number(line.get(name)) for line in history]


def number(value: object) -> float:
    """A number as it is, anything else as NaN."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
