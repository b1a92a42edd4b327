"""Read the numbers of sources into parameters: the way back, so that nobody types them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from games.streams import InputError
from tuner.export.into.plan import Target
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters
from tuner.parameters.reader import read_parameters
from tuner.parameters.writer import to_text


def with_numbers(p: Parameters, targets: Sequence[Target]) -> Parameters:
    """Return the parameters with the numbers of the sources, and without what was learned about those before."""
    weights = p.weights.copy()
    for target in targets:
        if abs(target.number.value) > LARGEST_WEIGHT:
            raise InputError(f"{target.source.at(target.number.start)}: {target.label} is {target.number.value:g}, expected "
                             f"centipawns between {-LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}")
        weights[target.stage, target.column] = target.number.value
    return p.with_weights(weights, standard_errors=None, learned={})


def has_other_numbers_alone(path: Path, p: Parameters) -> bool:
    """Return whether a file differs from the parameters in numbers alone, as those that are written from a source do."""
    try:
        there = read_parameters(path, None if p.of_rows else p.layout, p.game)
    except InputError:
        return False
    wanted = p.with_weights(p.weights, standard_errors=None, learned={})
    return to_text(replace(there, weights=p.weights), path.parent) == to_text(wanted, path.parent)
