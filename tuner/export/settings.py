"""Weights as JSON, as options of a UCI engine, and as settings for SPSA tuners such as OpenBench."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np

from tuner.export.numbers import Rounded, each_number, factors_of, heading, spin_limits, whole

LEAST_RANGE = 50.0  # centipawns that SPSA may move a weight up or down
RANGE_SHARE = 0.1  # of the range: the perturbation if the standard error is unknown
LEAST_STEP = 0.5  # least perturbation of a whole number
LEARNING_RATE = 0.002  # at the end, as OpenBench proposes


def json_text(r: Rounded, name: str) -> str:
    """JSON by term, parameter and stage, with a number or a list of numbers; one line for each parameter."""
    places = r.parameters.layout.places
    top = {"about": heading(r, name), "game": r.parameters.game, "stages": list(r.stages), "scale": float(f"{r.scale:.6g}"),
           "shapes": {place.path: list(place.shape) for place in places if place.shape}}
    terms: dict[str, list[str]] = {}
    for place in places:
        stages = [[whole(value) if r.decimals == 0 else value for value in stage] for stage in r.numbers(place)]
        plain = {stage: values if place.shape else values[0] for stage, values in zip(r.stages, stages, strict=True)}
        terms.setdefault(place.term, []).append(f"   {json.dumps(place.name)}: {json.dumps(plain, allow_nan=False)}")
    lines = [f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}," for key, value in top.items()]
    inner = ",\n".join(f"  {json.dumps(term)}: {{\n" + ",\n".join(entries) + "\n  }" for term, entries in terms.items())
    return "\n".join(["{", *lines, ' "weights": {', inner, " }", "}"]) + "\n"


def uci_text(r: Rounded, name: str) -> str:
    """The engine's `option name ... type spin ...` lines, then `setoption name ... value ...` for each."""
    low, high = spin_limits(r)
    numbers = each_number(r)
    options = [f"option name {label} type spin default {whole(r.weights[s, i])} min {whole(low[s, i])} max {whole(high[s, i])}"
               for label, s, i in numbers]
    settings = [f"setoption name {label} value {whole(r.weights[s, i])}" for label, s, i in numbers]
    return "\n".join([*(f"info string {line}" for line in heading(r, name, tables=False)), *options, "", *settings]) + "\n"


def spsa_text(r: Rounded, name: str = "") -> str:
    """Lines `name, int, default, min, max, c_end, r_end`, and nothing else, since these tuners accept nothing else.

    c_end, the last perturbation, is twice the standard error if known, otherwise a tenth of the range. The range is that of
    the bounds in the file; without bounds half the weight up and down, but at least 50 centipawns and 2 c_end.
    """
    kind = "int" if r.decimals == 0 else "float"
    errors = np.full(r.weights.shape, np.nan) if r.parameters.standard_errors is None else r.parameters.standard_errors
    bounded = np.zeros(r.weights.shape, np.bool_)
    for pattern, _ in r.parameters.bounds:
        bounded |= r.parameters.mask((pattern,))
    factors = factors_of(r.parameters, r.factor)
    low, high = r.parameters.limits()
    lines = []
    for label, s, i in each_number(r):
        value, error = float(r.weights[s, i]), float(errors[s, i]) * factors[i]
        step = 2 * error if error > 0 else None
        if bounded[s, i]:
            ends = low[s, i] * factors[i], high[s, i] * factors[i]
        else:
            half = max(abs(value) / 2, LEAST_RANGE * factors[i], 2 * (step or 0.0))
            ends = value - half, value + half
        ends = min(_outward(ends[0], r.decimals, math.floor), value), max(_outward(ends[1], r.decimals, math.ceil), value)
        span = ends[1] - ends[0]
        step = RANGE_SHARE * span if step is None else min(step, span / 2)
        step = max(step, LEAST_STEP) if r.decimals == 0 else step
        lines.append(f"{label}, {kind}, {r.text(value)}, {r.text(ends[0])}, {r.text(ends[1])}, {step:.3g}, {LEARNING_RATE:g}")
    return "\n".join(lines) + "\n"


def _outward(value: float, decimals: int, towards: Callable[[float], int]) -> float:
    """A limit rounded outward to this many decimals."""
    unit = 10.0**decimals
    return towards(round(value * unit, 6)) / unit
