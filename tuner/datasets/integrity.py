"""Check a dataset's checksums and value ranges, one pass over each array, on all CPUs."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from games.streams import InputError
from tuner.datasets.array_files import HEADER, PART
from tuner.parallel import available_cpus, in_order

if TYPE_CHECKING:
    from tuner.datasets.dataset import Dataset

AGAIN = "build the dataset again"


def require_whole(data: Dataset) -> None:
    """InputError that names the first value out of range, which could make compiled code read beyond the arrays, or the first
    damaged part of a file. Datasets without checksums are only checked for values out of range."""
    ascending = (lambda v: np.diff(v) < 0, "numbers in ascending order")
    rules: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
        "row": ascending, "first": ascending, "index": (lambda v: v >= len(data.column), f"a column below {len(data.column)}"),
        "phase": (lambda v: v >= data.codes, f"a phase of at most {data.codes - 1}"),
        "outcome": (lambda v: ~(abs(v) <= 1), "an outcome from -1 to 1"),
        "weight": (lambda v: ~((v >= 0) & (v < np.inf)), "a weight of 0 or more"),
        "rest": (lambda v: ~np.isfinite(v), "a number"), "text_end": ascending}
    if data.wide:
        rules["count"] = lambda v: ~np.isfinite(v), "a number"
    if len(data.text_end) and not 0 <= data.text_end[0] <= data.text_end[-1] == len(data.text):
        raise InputError(f"{data.path / 'text_end'}.npy: ends at {data.text_end[-1]}, expected {len(data.text)}; {AGAIN}")
    if (data.phase_scale[:, 0] > data.phases).any():
        raise InputError(f"{data.path / 'manifest'}.json: shares have a phase above {data.phases}; {AGAIN}")
    for name, end in (("row", len(data.index)), ("first", data.positions)):
        values = getattr(data, name)
        if values[0] != 0 or values[-1] != end:
            raise InputError(f"{data.path / name}.npy: runs from {values[0]} to {values[-1]}, expected 0 to {end}; {AGAIN}")
    checks = data.manifest.get("checks", {})
    for name in (*rules, *(name for name in checks if name not in rules)):
        _check(data, name, checks.get(name), *rules.get(name, (None, "")))


def _check(data: Dataset, name: str, checks: list[int] | None, wrong: Callable[[np.ndarray], np.ndarray] | None,
           expected: str) -> None:
    values = getattr(data, name)
    if not len(values):
        return
    content, step = memoryview(values).cast("B"), PART // values.itemsize
    parts = -(-len(content) // PART)
    if checks is not None and len(checks) != parts:
        raise InputError(f"{data.path / name}.npy: {parts} parts, expected {len(checks)}; {AGAIN}")

    def problem(part: int) -> str | None:
        begin, end = part * PART, min((part + 1) * PART, len(content))
        if wrong is not None:
            found = wrong(values[part * step:(part + 1) * step + 1])  # one more, because order is checked between neighbours
            if found.any():
                return f"entry {part * step + int(np.argmax(found))} is damaged, expected {expected}"
        if checks is not None and zlib.crc32(content[begin:end]) != checks[part]:
            return f"damaged between bytes {HEADER + begin} and {HEADER + end}"
        return None

    def ahead() -> Iterator[int]:
        for part in range(parts):
            data.prefetch_bytes(name, part * PART, (part + 1) * PART)
            yield part

    for found in in_order(problem, ahead(), available_cpus()):
        if found:
            raise InputError(f"{data.path / name}.npy: {found}; {AGAIN}")
        data.release()
