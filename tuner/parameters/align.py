"""Bring parameter files with different terms to one layout, to compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tuner.parameters.layout import Layout, Place
from tuner.parameters.parameters import Parameters


def union_of(layouts: Sequence[Layout]) -> Layout:
    """Return the layout of all parameters, in the order of the first layout, then of the others. ValueError names a parameter
    of two shapes."""
    shapes: dict[str, tuple[int, ...]] = {}
    by_term: dict[str, list[Place]] = {}
    for layout in layouts:
        for place in layout.places:
            if shapes.setdefault(place.path, place.shape) != place.shape:
                raise ValueError(place.path)
            some = by_term.setdefault(place.term, [])
            if all(other.name != place.name for other in some):
                some.append(place)
    places, first = [], 0
    for place in (place for some in by_term.values() for place in some):
        places.append(replace(place, first=first))
        first += place.size
    return Layout(tuple(places), layouts[0].files)


def aligned(p: Parameters, layout: Layout) -> Parameters:
    """Return the parameters in another layout, with zeros for those that they lack, without constraints."""
    if p.layout == layout:
        return p
    known = {place.path: place for place in p.layout.places}
    weights = np.zeros((len(p.stages), layout.size))
    errors = None if p.standard_errors is None else weights.copy()
    for place in layout.places:
        own = known.get(place.path)
        if own is not None and own.shape == place.shape:
            weights[:, place.columns] = p.weights[:, own.columns]
            if errors is not None and p.standard_errors is not None:
                errors[:, place.columns] = p.standard_errors[:, own.columns]
    return replace(p, layout=layout, weights=weights, standard_errors=errors, fixed=(), bounds=(), prior=())
