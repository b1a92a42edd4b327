"""Ratios of a parameter file: the single numbers of its first term in units of the first, such as pieces in pawns."""

from __future__ import annotations

import math

from tuner.parameters.parameters import Parameters

AGREES = 0.01  # largest difference of a recorded ratio from that of the weights
LARGEST = 1e6


def headline(p: Parameters) -> dict | None:
    """Return `unit`, the first number, and `values`, the ratios of the others to it, as means over the stages.

    `low` and `high` are the 95 % interval recorded in `learned`, None if there is none or if it does not belong to these
    weights. A ratio is None if the unit is not positive. Returns None for fewer than two numbers, and for games
    whose first term has no unit.
    """
    places = p.layout.headline
    if len(places) < 2 or not p.wording.ratios:
        return None
    unit, *others = [(place.path, float(p.weights[:, place.first].mean())) for place in places]
    known = _intervals(p.learned, unit[0])
    values = []
    for path, value in others:
        ratio = value / unit[1] if unit[1] > 0 else None
        recorded, low, high = known.get(path, (math.nan, None, None))
        agrees = ratio is not None and abs(recorded - ratio) <= AGREES * max(1.0, abs(ratio))
        values.append({"parameter": path, "ratio": None if ratio is None else round(ratio, 4),
                       "low": low if agrees else None, "high": high if agrees else None})
    return {"unit": unit[0], "values": values}


def _intervals(learned: object, unit: str) -> dict[str, tuple[float, float, float]]:
    """Return ratio, low and high by parameter; entries of another form are ignored, because people edit files."""
    lines = learned.get("ratios") if isinstance(learned, dict) else None
    found: dict[str, tuple[float, float, float]] = {}
    for line in lines if isinstance(lines, list) else []:
        if isinstance(line, dict) and line.get("to") == unit and isinstance(line.get("parameter"), str):
            given = [line.get(key) for key in ("ratio", "low", "high")]
            numbers = [float(number) for number in given if isinstance(number, (int, float)) and abs(number) < LARGEST]
            if len(numbers) == 3:
                ratio, low, high = numbers
                found[line["parameter"]] = ratio, low, high
    return found
