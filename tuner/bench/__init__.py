"""Measurements of speed: CPU time, medians, and a reference measured beside them in the same run.

A measurement is a function of a `Workload` that returns rows: dicts with what was done, value, unit, the value wanted
(`target`, with `at_most` where less is better) and the reference's value.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Workload:
    """What to measure with: a bundled parameter file, a file of games, and a folder to work in."""

    params: str
    games: Path
    folder: Path


def cpu_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median CPU time of a call."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


def row(what: str, value: float, unit: str, target: float | None = None, at_most: bool = False,
        reference: tuple[str, float] | None = None) -> dict:
    """One line of the result; `ratio` is how many times better than the reference."""
    result = {"what": what, "value": value, "unit": unit, "target": target, "at_most": at_most, "reference": None,
              "reference_value": None, "ratio": None}
    if reference is not None:
        name, other = reference
        result |= {"reference": name, "reference_value": other, "ratio": other / value if at_most else value / other}
    return result


def met(line: dict) -> bool | None:
    """Whether the target was reached; None without one."""
    if line["target"] is None:
        return None
    return line["value"] <= line["target"] if line["at_most"] else line["value"] >= line["target"]
