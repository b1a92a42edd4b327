"""Measurements of speed: medians of CPU time, with a reference measured in the same run.

A measurement is a function of a `Workload` that returns rows: dicts with `what` was measured, value, unit, target (with
`at_most` if less is better) and the reference's value.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Workload:
    """The input of a measurement: a bundled parameter file, a file of games, and a temporary folder."""

    params: str
    games: Path
    folder: Path


def cpu_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the median CPU time of a call."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


def row(what: str, value: float, unit: str, target: float | None = None, at_most: bool = False,
        reference: tuple[str, float] | None = None) -> dict:
    """Return one row of the result; `ratio` is how many times better it is than the reference."""
    result = {"what": what, "value": value, "unit": unit, "target": target, "at_most": at_most, "reference": None,
              "reference_value": None, "ratio": None}
    if reference is not None:
        name, other = reference
        result |= {"reference": name, "reference_value": other, "ratio": other / value if at_most else value / other}
    return result


def met(line: dict) -> bool | None:
    """Return whether the target was reached; None without a target."""
    if line["target"] is None:
        return None
    return line["value"] <= line["target"] if line["at_most"] else line["value"] >= line["target"]
