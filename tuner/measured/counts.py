"""What a number counts in positions: the change of the evaluation, divided by that of the number.

A count that is about the same for steps of several sizes and both signs is that of a weight. What
has another one at another step (a bound of a loop, an index, a threshold, a shift) is part of the
structure of an evaluation, and no weight."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tuner.export.into.source import SourceText
from tuner.export.into.types import limits_at
from tuner.measured.evals import EvalsFault
from tuner.measured.programs import Program
from tuner.measured.table import Site

STEP, OTHER_STEP = 64.0, 24.0
LARGE = 2000.0  # of a divisor or a threshold, which small steps would not show as such
HARDLY = 1.0  # centipawns of the usual step, a change by rounding alone
LOOKED = 500  # positions in which other steps are taken
ROUNDING = 2.1  # centipawns of two evaluations that are rounded, and of divisions within them
# share of the squares of a weight's counts that other steps may not explain: evaluations have caps,
# and factors that depend on which side is ahead
UNEXPLAINED = 0.1
SAME = 0.5  # share of the positions whose exchange may have the same count: that of no weight
LEAST_COUNT, FEWEST = 0.2, 10  # of counts that are compared with those of the exchange
LARGEST_COUNT = 50.0  # of larger ones a number multiplies others


class Sample(NamedTuple):
    """Positions (n,), the `exchanged` ones (m,) that are places in them with the colors exchanged,
    and evaluations (n,) and (m,), first player's view; `signs` are those to that view. `seconds`
    is what one may take."""

    texts: list[str]
    exchanged_of: np.ndarray
    exchanged: list[str]
    base: np.ndarray
    exchanged_base: np.ndarray
    signs: np.ndarray
    exchanged_signs: np.ndarray
    seconds: float


class Count(NamedTuple):
    """The counts of a number: the places (k,) of the positions where it acts and the counts there,
    or why it is no weight, empty if it is one."""

    places: np.ndarray
    counts: np.ndarray
    reason: str = ""


NOTHING = np.zeros(0, np.int64), np.zeros(0)


def steps_of(site: Site, sources: Sequence[SourceText]) -> tuple[float, float]:
    """Return the step of a number, and another one, of the other sign and another size, both within
    the limits of its type. Steps of floats and of large numbers are relative."""
    number = site.number
    if number.is_float or abs(number.value) > LARGE:
        size = abs(number.value) or 1.0
        return size, -OTHER_STEP / STEP * size
    bounds = limits_at(number, site.source, site.definition.types, tuple(sources))
    low, high = (bounds.low, bounds.high) if bounds else (-math.inf, math.inf)
    usual = ((STEP, -OTHER_STEP), (-STEP, OTHER_STEP), (STEP, OTHER_STEP), (-STEP, -OTHER_STEP))
    for steps in usual:
        if all(low <= number.value + step <= high for step in steps):
            return steps
    return (2.0, 1.0) if number.value + 2 <= high else (-2.0, -1.0)


def count(
    program: Program,
    k: int,
    site: Site,
    steps: tuple[float, float],
    sample: Sample,
    known: bool = False,
) -> Count:
    """Measure the counts of a number, and whether it is a weight, unless that is `known`."""
    (step, by), value = steps, site.number.value

    def change(texts: list[str], signs: np.ndarray, base: np.ndarray, by: float) -> np.ndarray:
        changed = program.evaluate({k: value + by}, texts, sample.seconds)
        return (signs * changed - base) / by

    try:
        n = len(sample.texts)
        both = change(
            [*sample.texts, *sample.exchanged],
            np.concatenate([sample.signs, sample.exchanged_signs]),
            np.concatenate([sample.base, sample.exchanged_base]),
            step,
        )
        counts, exchanged = both[:n], both[n:]
        places = np.flatnonzero(counts)
        if STEP * np.abs(both).max(initial=0.0) <= HARDLY:
            return Count(*NOTHING, "changes no evaluation")
        if known:
            return Count(places, counts[places])
        if np.abs(counts).max() > LARGEST_COUNT:
            return Count(*NOTHING, f"multiplies others, with counts above {LARGEST_COUNT:g}")
        some = places
        if len(places) > LOOKED:
            some = np.sort(np.random.default_rng(k).choice(places, LOOKED, replace=False))
        texts = [sample.texts[i] for i in some.tolist()]
        other = change(texts, sample.signs[some], sample.base[some], by)
        reach = ROUNDING / abs(by) + ROUNDING / 2 / abs(step)
        excess = np.maximum(np.abs(other - counts[some]) - reach, 0.0)
        if excess @ excess > UNEXPLAINED * (counts[some] @ counts[some]):
            return Count(*NOTHING, "does not act in proportion")
    except EvalsFault as problem:
        return Count(*NOTHING, problem.reason)
    if _is_of_both(counts[sample.exchanged_of], exchanged):
        return Count(*NOTHING, "counts the same where the colors are exchanged")
    return Count(places, counts[places])


def _is_of_both(counts: np.ndarray, exchanged: np.ndarray) -> bool:
    """Return whether most counts (m,) are the same with the colors exchanged, as those of a sum's
    first value: what a weight adds for one color it takes for the other."""
    acts = np.maximum(np.abs(counts), np.abs(exchanged)) > LEAST_COUNT
    same = np.abs(counts - exchanged)[acts] < LEAST_COUNT / 2
    return len(same) >= FEWEST and bool(same.mean() > SAME)
