"""Read the numbers of sources into parameters: the way back, so that nobody types them."""

from __future__ import annotations

from collections.abc import Sequence

from games.streams import InputError
from tuner.export.into.plan import Target
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters


def with_numbers(p: Parameters, targets: Sequence[Target]) -> Parameters:
    """Return the parameters with the numbers of the sources, and without what was learned about those before."""
    weights = p.weights.copy()
    for target in targets:
        if abs(target.number.value) > LARGEST_WEIGHT:
            raise InputError(f"{target.source.at(target.number.start)}: {target.label} is {target.number.value:g}, expected "
                             f"centipawns between {-LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}")
        weights[target.stage, target.column] = target.number.value
    return p.with_weights(weights, standard_errors=None, learned={})
