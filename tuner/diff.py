"""What differs between two parameter files: single numbers and lists row by row, tables as grids."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tuner.layout import Layout, Place
from tuner.parameters import Parameters, tapered, untapered


def differences(initial: Parameters, learned: Parameters) -> dict:
    """The difference as plain data: `rows` for single numbers and lists, `grids` for tables, layout order.

    A change in percent is None from a start of zero; a standard error is None where the learned file has none. A start
    with other stages is compared as `--untapered` would take it: by the mean of its stages, or its one stage for all.
    """
    if initial.stages != learned.stages:
        initial = untapered(initial) if len(learned.stages) == 1 else tapered(initial, learned.stages)
    layout = learned.layout
    return {
        "game": learned.game, "stages": list(learned.stages),
        "scale": {"initial": initial.scale, "learned": learned.scale},
        "rows": [row for place in layout.places if len(place.shape) < 2 for row in _rows(place, initial, learned)],
        "grids": [grid for place in layout.places if len(place.shape) == 2 for grid in _grids(place, initial, learned)]}


def _rows(place: Place, initial: Parameters, learned: Parameters) -> Iterator[dict]:
    for i, label in enumerate(place.labels()):
        row: dict = {"parameter": label}
        for s, stage in enumerate(learned.stages):
            before, after = (float(p.weights[s, place.first + i]) for p in (initial, learned))
            error = np.nan if learned.standard_errors is None else float(learned.standard_errors[s, place.first + i])
            row[stage] = {"initial": before, "learned": after, "change": round(after - before, 4),
                          "percent": round(100 * (after - before) / abs(before), 2) if before else None,
                          "standard_error": error if np.isfinite(error) else None}
        yield row


def _grids(place: Place, initial: Parameters, learned: Parameters) -> Iterator[dict]:
    """Last row first, as a board is seen."""
    for s, stage in enumerate(learned.stages):
        before, after = (p.weights[s, place.columns].reshape(place.shape)[::-1] for p in (initial, learned))
        yield {"parameter": place.path, "stage": stage, "initial": before.tolist(), "learned": after.tolist(),
               "change": np.round(after - before, 4).tolist()}


def moved(row: dict, stages: list[str], least: float) -> bool:
    """Whether a number of a row moved by at least so many centipawns."""
    return any(abs(row[stage]["change"]) >= least for stage in stages)


def unlike(initial: Layout, learned: Layout) -> str | None:
    """The first parameter in which two layouts differ."""
    names = {place.path: place.shape for place in initial.places}
    for place in learned.places:
        if names.pop(place.path, None) != place.shape:
            return place.path
    return next(iter(names), None)
