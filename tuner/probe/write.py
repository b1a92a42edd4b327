"""The parameter file that belongs to the rows of a probe."""

from __future__ import annotations

import numpy as np

from tuner.parameters.layout import Layout
from tuner.parameters.parameters import ENGINE_OPTIONS, Parameters
from tuner.probe.steps import Step


def parameters_of(game: str, layout: Layout, steps: list[Step], learned: dict) -> Parameters:
    """The parameters of options at their current values, bounded by their ranges; one stage. `learned` says which they are."""
    values = np.array([[step.value for step in steps]], float)
    bounds = tuple((place.path, (float(step.low), float(step.high))) for place, step in zip(layout.places, steps, strict=True))
    names = {place.path: step.name for place, step in zip(layout.places, steps, strict=True)}
    return Parameters(game, layout, ("all",), values, bounds=bounds, learned={**learned, ENGINE_OPTIONS: names}, phases=1)
