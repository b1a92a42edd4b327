"""Faults of one parameter or term: another factor (twice, half, sign), exchanged stages, or all numbers off by the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from tuner.parameters.layout import Layout
from tuner.rows.faults import Fault, Trial
from tuner.rows.missing import Unused
from tuner.rows.residuals import Group, groups_of

VERIFIED = 4  # best of each kind of correction
SNAPPED = (-1.0, 0.0, 0.5, 2.0, 3.0)  # factors that have a plain cause
NEAR = 0.04  # of those


class _Correction(NamedTuple):
    """Something to add: the squares that remain, the group, the kind, and a number for each stage."""

    remains: float
    group: Group
    kind: str
    numbers: tuple[float, ...]


def _parts(trial: Trial, groups: list[Group], weights: np.ndarray) -> np.ndarray:
    """Return (stages, n, groups): counts · weights of each group alone."""
    columns = np.concatenate([group.columns for group in groups])
    of = np.repeat(np.arange(len(groups)), [len(group.columns) for group in groups])
    shape = (weights.shape[1], len(groups))
    return np.stack([(trial.sample.counts @ csc_array((row[columns], (columns, of)), shape=shape)).toarray() for row in weights])


def _added(trial: Trial, correction: _Correction) -> np.ndarray:
    """Return what a correction adds to the predictions (n,)."""
    ones = np.ones_like(trial.weights)
    parts = _parts(trial, [correction.group], ones if correction.kind == "shift" else trial.weights)[:, :, 0]
    factors, numbers = trial.sample.factors, np.array(correction.numbers)
    if correction.kind == "exchanged":
        return (factors * (parts[::-1] - parts)).sum(axis=0)
    return (numbers[:, None] * factors * parts).sum(axis=0)


def group_faults(searched: Trial, view: Trial, layout: Layout, stages: Sequence[str], unused: Unused) -> tuple[Fault, ...]:
    """Return the fault of one parameter or term that explains the differences, or nothing."""
    groups = groups_of(layout)
    whole = Group("", np.arange(layout.size), layout.places)
    best: list[tuple[float, float, _Correction]] = []
    for correction in _corrections(searched, [*groups, whole]):
        predicted = view.predicted + _added(view, correction)
        # an engine that converts its evaluation to another unit rounds twice
        explained = view.explained(predicted, 0.0 if correction.group.name else 1.0)
        if explained is not None:
            best.append((float(np.abs(view.sample.evaluation - predicted).mean()), explained, correction))
    if not best:
        return ()
    least = min(mean for mean, _, _ in best)
    most = max(explained for _, explained, _ in best)
    # the first in order among those as good: a parameter before its term, a factor before a shift
    equal = [(explained, correction) for mean, explained, correction in best if mean <= 1.02 * least + 0.01
             and explained >= most - 1e-3]
    if not equal:
        equal = [(explained, correction) for mean, explained, correction in best if mean == least]
    explained, correction = equal[0]
    others = [other.group.name for _, other in equal[1:] if other.kind == correction.kind and other.numbers == correction.numbers
              and not set(other.group.columns) & set(correction.group.columns)]
    also = f" (or {', '.join(others)}: these rows do not tell them apart)" if others else ""
    return (Fault("stages" if correction.kind == "exchanged" else "term", correction.group.name,
                  _text(correction, stages, also, _same_weights(correction, view.weights, unused)), explained),)


def _corrections(trial: Trial, groups: list[Group]) -> list[_Correction]:
    """Return the corrections that leave the smallest squares, of each kind, those of the plainest kind first."""
    parts = trial.sample.factors[:, :, None] * _parts(trial, groups, trial.weights)
    difference = trial.without_rounding(trial.difference)
    total = float(difference @ difference)
    both = trial.without_rounding(parts.sum(axis=0))
    size = (both**2).sum(axis=0)
    usable = size > 1e-9 * max(total, 1e-9)
    factor = np.where(usable, difference @ both / np.where(usable, size, 1), 0)
    found = []
    kinds = len(trial.weights)
    remains = np.where(usable, total - factor**2 * size, np.inf)
    for g in np.argsort(remains, kind="stable")[:VERIFIED]:
        if usable[g]:
            snapped = min(SNAPPED, key=lambda value: abs(value - 1 - factor[g]))
            number = snapped - 1 if abs(snapped - 1 - factor[g]) <= NEAR else float(factor[g])
            found.append(_Correction(float(remains[g]), groups[g], "factor", (number,) * kinds))
    if kinds == 1:
        return [*sorted(found, key=lambda one: one.remains), *_shifts(trial, groups, difference)]
    plain = _parts(trial, groups, trial.weights)
    exchange = (trial.sample.factors[:, :, None] * (plain[::-1] - plain)).sum(axis=0)
    remains = ((difference[:, None] - trial.without_rounding(exchange))**2).sum(axis=0)
    remains[(exchange**2).sum(axis=0) == 0] = np.inf
    found += [_Correction(float(remains[g]), groups[g], "exchanged", ()) for g in np.argsort(remains, kind="stable")[:VERIFIED]
              if np.isfinite(remains[g])]
    of_stages = _solved(difference, [trial.without_rounding(part) for part in parts])
    found += [_Correction(one, groups[g], "stages", tuple(_snapped(numbers))) for one, g, numbers in of_stages]
    return [*found, *_shifts(trial, groups, difference)]


def _snapped(numbers: np.ndarray) -> list[float]:
    """Return factors less 1, replaced by a plain one that is near."""
    return [min((snapped - 1 for snapped in (1.0, *SNAPPED)), key=lambda value: abs(value - number))
            if min(abs(snapped - 1 - number) for snapped in (1.0, *SNAPPED)) <= NEAR else float(number) for number in numbers]


def _shifts(trial: Trial, groups: list[Group], difference: np.ndarray) -> list[_Correction]:
    """Return corrections that add the same to all numbers of an array."""
    arrays = [group for group in groups if len(group.places) == 1 and len(group.columns) > 1]
    if not arrays:
        return []
    parts = trial.sample.factors[:, :, None] * _parts(trial, arrays, np.ones_like(trial.weights))
    return [_Correction(one, arrays[g], "shift", tuple(float(np.round(number, 1)) for number in numbers))
            for one, g, numbers in _solved(difference, [trial.without_rounding(part) for part in parts])]


def _solved(difference: np.ndarray, parts: list[np.ndarray]) -> list[tuple[float, int, np.ndarray]]:
    """Return squares that remain, place and solution of the groups that explain most with a number for each stage."""
    found = []
    for g in range(parts[0].shape[1]):
        design = np.stack([part[:, g] for part in parts], axis=1)
        gram = design.T @ design
        if np.linalg.cond(gram) < 1e10:
            numbers = np.linalg.solve(gram, design.T @ difference)
            found.append((float(difference @ difference - numbers @ (design.T @ difference)), g, numbers))
    return sorted(found, key=lambda one: one[0])[:VERIFIED]


def _same_weights(correction: _Correction, weights: np.ndarray, unused: Unused) -> list[str]:
    """Return the numbers that no row counts and whose weights are those that a shift adds."""
    return [name for name, columns in unused if correction.kind == "shift" and len(columns) == 1
            and (np.abs(weights[:, columns[0]] - correction.numbers) <= 1).all()]


def _text(correction: _Correction, stages: Sequence[str], also: str, same: list[str]) -> str:
    name = correction.group.name or "the whole evaluation"
    first, last = stages[0], stages[-1]
    if correction.kind == "exchanged":
        return (f"The stages of {name} are exchanged{also}: the engine uses its {first} weights where the file has {last}. "
                "Exchange them in the parameter file, or in the engine.")
    if correction.kind == "shift":
        numbers = ", ".join(f"{number:+g} {stage}" for number, stage in zip(correction.numbers, stages, strict=True))
        hint = f" {' or '.join(same)}, which no row counts, has just these weights." if same else ""
        return (f"Every number of {name}{also} differs between engine and parameter file by {numbers} centipawns.{hint} Correct "
                "the weights in the file, or count in the rows what is missing.")
    if correction.kind == "stages" and len(set(correction.numbers)) > 1:
        factors = " and ".join(f"{1 + number:.3g} times its {stage} part"
                               for number, stage in zip(correction.numbers, stages, strict=True))
        return (f"The engine's evaluation has {factors} of {name}{also}. Correct the weights of {name} in the parameter file, or "
                "its counts.")
    factor = 1 + correction.numbers[0]
    if factor == 0.5:
        return (f"{name} is counted twice in the rows{also}: the engine's evaluation has half of it. Count it once, or halve its "
                "weights in the parameter file if the engine's are half.")
    if factor == 2:
        return (f"The engine adds {name} twice{also}: its evaluation has two times what the rows count. Count it twice, or "
                "double its weights in the parameter file if the engine's are double.")
    if factor == -1:
        return (f"The sign of {name} is wrong{also}: the engine's evaluation has minus what the rows count. Count the first "
                "player minus the second (for chess White minus Black), or negate its weights in the parameter file.")
    if factor == 0:
        return (f"The engine's evaluation does not contain {name}{also}, although the rows count it. Leave it out of the rows, "
                "or set its weights in the parameter file to 0.")
    return (f"The engine's evaluation has {factor:.4g} times {name}{also}. Multiply its weights in the parameter file by "
            f"{factor:.4g}, or print evaluations in its unit.")

