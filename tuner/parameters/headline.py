"""What a parameter file comes to: the single numbers of its first term in units of the first of them."""

from __future__ import annotations

import math

from tuner.parameters.parameters import Parameters

AGREES = 0.01  # how far a ratio that was written down may be from that of the weights
LARGEST = 1e6


def headline(p: Parameters) -> dict | None:
    """`unit` and `values`: how many units each number is, the mean over the stages; None where there is nothing to compare.

    `low` and `high` are the 95 % interval that the file brings along in `learned`, None where it has none or where it no
    longer belongs to the weights. A ratio is None where the unit is not positive.
    """
    places = p.layout.headline
    if len(places) < 2:
        return None
    unit, *others = [(place.path, float(p.weights[:, place.first].mean())) for place in places]
    known = _intervals(p.learned, unit[0])
    values = []
    for path, value in others:
        ratio = value / unit[1] if unit[1] > 0 else None
        told, low, high = known.get(path, (math.nan, None, None))
        agrees = ratio is not None and abs(told - ratio) <= AGREES * max(1.0, abs(ratio))
        values.append({"parameter": path, "ratio": None if ratio is None else round(ratio, 4),
                       "low": low if agrees else None, "high": high if agrees else None})
    return {"unit": unit[0], "values": values}


def _intervals(learned: object, unit: str) -> dict[str, tuple[float, float, float]]:
    """Ratio, low and high by parameter; entries that are not of this form are passed over, since people edit files."""
    lines = learned.get("ratios") if isinstance(learned, dict) else None
    found = {}
    for line in lines if isinstance(lines, list) else []:
        if isinstance(line, dict) and line.get("to") == unit and isinstance(line.get("parameter"), str):
            numbers = [line.get(key) for key in ("ratio", "low", "high")]
            if all(isinstance(number, (int, float)) and abs(number) < LARGEST for number in numbers):
                found[line["parameter"]] = tuple(float(number) for number in numbers)
    return found
