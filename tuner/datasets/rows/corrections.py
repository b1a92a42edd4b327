"""Faults of rows that are no changes of the weights: numbers that no row counts, other tapers, and
factors of the last stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tuner.datasets.rows.sample import ROUNDING, SCALED_ROUNDING, RowFault, Trial
from tuner.parameters.parameters import Layout, Stages


class Correction(NamedTuple):
    """A possible fault, and the predictions (n,) once it is corrected; `rounding` is what an
    engine with this fault adds to the rounding."""

    kind: str
    predicted: np.ndarray
    text: str
    rounding: float = 0.0


MOST_COUNT = 20  # of a term that is missing in one position
SMALLEST_WEIGHT = 5.0  # centipawns; with smaller ones any difference is nearly a multiple
MOST_TRIED = 64


def never_counted(
    layout: Layout, weights: np.ndarray, used: np.ndarray
) -> list[tuple[str, np.ndarray]]:
    """Return the terms of several parameters, or parameters, with weights that are not zero and
    that no row counts."""
    weighty = (weights != 0).any(axis=0)
    idle = weighty & (used == 0)
    found = []
    for term in dict.fromkeys(place.term for place in layout.places):
        places = [place for place in layout.places if place.term == term]
        idle_places = [place for place in places if not used[place.columns].any()]
        if (
            len(places) > 1
            and idle_places == places
            and any(idle[place.columns].any() for place in places)
        ):
            found.append(
                (
                    term,
                    np.concatenate(
                        [np.arange(place.first, place.first + place.size) for place in places]
                    ),
                )
            )
            continue
        found += [
            (place.path, np.arange(place.first, place.first + place.size))
            for place in idle_places
            if idle[place.columns].any()
        ]
    return found


def missing_numbers(
    view: Trial, layout: Layout, used: np.ndarray
) -> Iterator[tuple[RowFault, Trial]]:
    """Yield the faults of numbers that no row counts, by `used` (columns,), the largest weights
    first, each with the rows once they have the multiples of it that come closest."""
    names, sample = layout.labels(), view.sample
    idle = np.flatnonzero((np.abs(view.weights) >= SMALLEST_WEIGHT).any(axis=0) & (used == 0))
    sizes = np.abs(view.weights[:, idle]).max(axis=0)
    for column in idle[np.argsort(-sizes, kind="stable")][:MOST_TRIED].tolist():
        weight = sample.factors.T @ view.weights[:, column]
        usable = np.abs(weight) >= SMALLEST_WEIGHT
        if usable.mean() >= 0.5:
            count = np.round(view.difference / np.where(usable, weight, np.inf))
            text = (
                f"No row counts {names[column]}, although its weight is not 0, and the differences"
                " are whole multiples of it: it is missing in the rows. Count it."
            )
            counted = view.viewed(rest=sample.rest + count.clip(-MOST_COUNT, MOST_COUNT) * weight)
            yield RowFault("missing", names[column], text), counted


WIDE = 40.0  # centipawns between the stages of a position that shows its share
LEAST_PHASES = 3  # of which one may be taken for the next
MIN_POSITIONS = 8  # such positions of one phase
MOST_STEPS = 1024
FINE = 256  # steps of the taper of many engines, whatever the steps of their phase
SCALES = 4  # different factors of the last stage
MOST_FACTOR = 1.02  # of the last stage


def tapers(view: Trial, stages: Stages) -> Iterator[Correction]:
    """Yield different tapers, and factors of the last stage."""
    if len(stages.names) >= 2:
        yield from _shifted(view, stages)
        if not stages.spans:
            yield from _steps(view, stages.phases, stages.names)
        yield from _scaled(view, stages.names)


def _shifted(view: Trial, stages: Stages) -> Iterator[Correction]:
    """Yield a phase that is one too large or too small, as of buckets counted from 1."""
    if stages.phases < LEAST_PHASES:
        return
    for shift, what in ((1, "large"), (-1, "small")):
        factors = stages.shares(np.clip(view.sample.phase - shift, 0, stages.phases))
        factors[-1] *= view.sample.scale
        yield Correction(
            "taper",
            view.sample.predicted(view.weights, factors),
            f"The phase of the rows is one too {what}: it counts from 0 to {stages.phases}. Print"
            " it so, or correct the phases in the parameter file.",
        )


def _steps(view: Trial, phases: int, stages: Sequence[str]) -> Iterator[Correction]:
    """Yield shares of the first stage that depend on the phase in another way."""
    sample, (first, last) = view.sample, view.stage_sums
    last = last * sample.scale
    width = first - last
    wide = np.abs(width) >= WIDE
    share = np.where(
        wide, (sample.evaluation - sample.rest - last) / np.where(wide, width, 1), np.nan
    )
    phase = sample.phase
    shown = [
        value
        for value in np.unique(phase[wide]).tolist()
        if (wide & (phase == value)).sum() >= MIN_POSITIONS
    ]
    if len(shown) < 2:
        return
    table = np.array([np.median(share[wide & (phase == value)]) for value in shown])
    steps = np.array(shown, np.float64)
    if (steps @ table) > 0:
        inside = (table > 0.02) & (table < 0.98)
        ratio = (
            (steps[inside] @ table[inside]) / (steps[inside] @ steps[inside])
            if steps[inside].any()
            else 0.0
        )
        if ratio > 0 and (other := round(1 / ratio)) != phases and other <= MOST_STEPS:
            for limited in (True, False):
                shares = np.minimum(phase / other, 1) if limited else phase / other
                above = " and at most 1" if limited and phase.max() > other else ""
                yield Correction(
                    "taper",
                    sample.rest + shares * first + (1 - shares) * last,
                    f"The engine tapers with {other} steps instead of {phases}: its share of"
                    f" {stages[0]} is phase / {other}{above}. Set the number of steps of the phase"
                    f" to {other}, or print the phase in steps of {phases}.",
                )
    shares = np.interp(phase, steps, table)
    points = ", ".join(
        f"{table[k]:.2f} at phase {shown[k]}" for k in sorted({0, len(shown) // 2, len(shown) - 1})
    )
    yield Correction(
        "taper",
        sample.rest + shares * first + (1 - shares) * last,
        f"The engine's share of {stages[0]} is not phase / {phases}, but {points}. Print as phase"
        f" the share of {stages[0]} times {phases}, rounded.",
    )


def finer(view: Trial, stages: Stages) -> Iterator[Correction]:
    """Yield a phase that the engine rounds to steps of another number."""
    phases = stages.phases
    if len(stages.names) == 2 and not stages.spans and phases < FINE:
        sample, (first, last) = view.sample, view.stage_sums
        share = (sample.phase * FINE + phases // 2) // phases / FINE
        yield Correction(
            "taper",
            sample.rest + share * first + (1 - share) * sample.scale * last,
            f"The engine tapers in {FINE} steps: (phase * {FINE} + {phases // 2}) / {phases},"
            f" rounded down. Print that as phase, and set phases: {FINE} in the parameter file.",
        )


def _scaled(view: Trial, stages: Sequence[str]) -> Iterator[Correction]:
    """Yield a last stage that the engine multiplies by a factor in some positions."""
    part = view.sample.factors[-1] * view.stage_sums[-1]
    shown = view.differs & (np.abs(part) >= WIDE)
    if shown.sum() < MIN_POSITIONS:
        return
    factor = 1 + view.difference[shown] / part[shown]
    values, number = np.unique(
        np.round(factor[np.argsort(-np.abs(part[shown]))][:2000], 2), return_counts=True
    )
    if np.quantile(factor, 0.9) > MOST_FACTOR or np.quantile(factor, 0.1) < -0.02:
        return
    chosen: list[float] = []
    for value in values[np.argsort(-number, kind="stable")].tolist():
        if all(abs(value - other) > 0.03 for other in chosen) and len(chosen) < SCALES:
            near = np.abs(factor - value) <= 0.015
            chosen.append(float(np.median(factor[near])) if near.any() else value)
    choices = np.stack([view.predicted, *((value - 1) * part + view.predicted for value in chosen)])
    best = np.abs(view.sample.evaluation - choices).argmin(axis=0)
    text = ", ".join(f"{value:.2f}" for value in sorted(chosen))
    yield Correction(
        "scale",
        choices[best, np.arange(len(best))],
        f"In {100 * view.differs.mean():.1f} % of the rows the engine multiplies {stages[-1]} by a"
        f" factor (the most common: {text}). Print it as scale in these rows.",
        SCALED_ROUNDING - ROUNDING,
    )
