"""Numbers of a parameter file that no row counts, although their weights are not zero: does one explain the differences?"""

from __future__ import annotations

import numpy as np

from tuner.parameters.layout import Layout
from tuner.rows.faults import Fault, Trial

MOST_COUNT = 20  # of a term that is missing in one position
SMALLEST_WEIGHT = 5.0  # centipawns; with smaller ones any difference is nearly a multiple
MOST_TRIED = 64
Unused = list[tuple[str, np.ndarray]]  # name and columns


def never_counted(layout: Layout, weights: np.ndarray, used: np.ndarray) -> Unused:
    """Return the terms of several parameters, or parameters, with weights that are not zero and that no row counts."""
    weighty = (weights != 0).any(axis=0)
    idle = weighty & (used == 0)
    found: Unused = []
    for term in dict.fromkeys(place.term for place in layout.places):
        places = [place for place in layout.places if place.term == term]
        idle_places = [place for place in places if not used[place.columns].any()]
        if len(places) > 1 and idle_places == places and any(idle[place.columns].any() for place in places):
            found.append((term, np.concatenate([np.arange(place.first, place.first + place.size) for place in places])))
            continue
        found += [(place.path, np.arange(place.first, place.first + place.size)) for place in idle_places
                  if idle[place.columns].any()]
    return found


def missing_faults(view: Trial, layout: Layout, unused: Unused) -> tuple[Fault, ...]:
    """Return the fault of a number that no row counts and whose multiples explain the differences, or nothing."""
    names = layout.labels()
    single = [(name if len(columns) == 1 else names[column], column) for name, columns in unused for column in columns.tolist()]
    best: list[tuple[float, float, str]] = []
    for name, column in single[:MOST_TRIED]:
        weight = view.sample.factors.T @ view.weights[:, column]
        usable = np.abs(weight) >= SMALLEST_WEIGHT
        if usable.mean() < 0.5:
            continue
        count = np.where(usable, np.round(view.difference / np.where(usable, weight, 1)), 0).clip(-MOST_COUNT, MOST_COUNT)
        predicted = view.predicted + count * weight
        explained = view.explained(predicted)
        if explained is not None:
            best.append((float(np.abs(view.sample.evaluation - predicted).mean()), explained, name))
    if not best:
        return ()
    _, explained, name = min(best)
    return (Fault("missing", name, f"No row counts {name}, although its weight is not 0, and the differences are whole multiples "
                                   "of it: it is missing in the rows. Count it.", explained),)
