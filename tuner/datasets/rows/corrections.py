"""Possible faults of rows, counts and weights: corrections, and whether they
explain the differences between evaluations and rest + counts * weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from tuner.datasets.rows.values import RowBatch
from tuner.parameters.parameters import Layout, Place, Stages


def constants(view: Trial) -> Iterator[Correction]:
    """Yield a constant, for all positions and for the side to move."""
    side = view.sample.side
    for sign, what, advice in (
        (np.ones(len(side)), "in every row", "Add it to rest"),
        (
            side.astype(np.float64),
            "for the side to move (a tempo)",
            "Add it to rest, with minus where the second player is to move",
        ),
    ):
        if not sign.any():
            continue
        constant = float(np.round(np.median((view.difference * sign)[sign != 0]), 1))
        if abs(constant) > 1:
            yield Correction(
                "constant",
                "",
                view.predicted + constant * sign,
                f"The engine's evaluation has {constant:+g} centipawns more {what}. {advice}, or"
                " give it a parameter and count it.",
            )


MOST_COUNT = 20  # of a term that is missing in one position
SMALLEST_WEIGHT = 5.0  # centipawns; with smaller ones any difference is nearly a multiple
MOST_TRIED = 64
Unused = list[tuple[str, np.ndarray]]  # name and columns


def never_counted(layout: Layout, weights: np.ndarray, used: np.ndarray) -> Unused:
    """Return the terms of several parameters, or parameters, with weights that are not zero and
    that no row counts."""
    weighty = (weights != 0).any(axis=0)
    idle = weighty & (used == 0)
    found: Unused = []
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


def missing_faults(view: Trial, layout: Layout, unused: Unused) -> tuple[RowFault, ...]:
    """Return the fault of a number that no row counts and whose multiples explain the differences,
    or nothing."""
    names = layout.labels()
    single = [
        (name if len(columns) == 1 else names[column], column)
        for name, columns in unused
        for column in columns.tolist()
    ]
    best: list[tuple[float, float, str]] = []
    for name, column in single[:MOST_TRIED]:
        weight = view.sample.factors.T @ view.weights[:, column]
        usable = np.abs(weight) >= SMALLEST_WEIGHT
        if usable.mean() < 0.5:
            continue
        count = np.where(usable, np.round(view.difference / np.where(usable, weight, 1)), 0).clip(
            -MOST_COUNT, MOST_COUNT
        )
        predicted = view.predicted + count * weight
        explained = view.explained(predicted)
        if explained is not None:
            best.append((float(np.abs(view.sample.evaluation - predicted).mean()), explained, name))
    if not best:
        return ()
    _, explained, name = min(best)
    return (
        RowFault(
            "missing",
            name,
            f"No row counts {name}, although its weight is not 0, and the differences are whole"
            " multiples of it: it is missing in the rows. Count it.",
            explained,
        ),
    )


MOST_ROWS = 200_000  # of the sample
RESIDUALS_SEED = 1
BY_ROW = ("phase", "scale", "rest", "evaluation", "outcome", "side")
# An engine rounds the tapered sum to a whole number, so it is off by less than 1. One that also
# rounds the scaled last stage is off by less than 2.
ROUNDING, SCALED_ROUNDING = 1.0, 2.0
FLOAT32 = 2e-6  # relative error of evaluations and of sums of float32


def tolerance(evaluation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the differences (n,) up to which rows · weights + rest counts as the evaluation, in
    centipawns."""
    return np.where(scale == 1, ROUNDING, SCALED_ROUNDING) + 1e-3 + FLOAT32 * np.abs(evaluation)


def sides_of(text: list[str] | None, n: int) -> np.ndarray:
    """Return 1 where the first player is to move, -1 for the second, by the second word of a
    position (w or b), else 0."""
    if text is None:
        return np.zeros(n, np.int8)
    sides = {"w": 1, "b": -1}
    return np.fromiter(
        (
            sides.get(words[1], 0) if len(words) > 1 else 0
            for words in (line.split(None, 2) for line in text)
        ),
        np.int8,
        n,
    )


@dataclass
class RowSample:
    """n rows: counts (n, columns) as CSR, the factor (stages, n) of each stage, and per row the
    fields of the file."""

    counts: Any
    factors: np.ndarray
    phase: np.ndarray
    scale: np.ndarray
    rest: np.ndarray
    evaluation: np.ndarray
    outcome: np.ndarray
    side: np.ndarray

    @property
    def tolerance(self) -> np.ndarray:
        return tolerance(self.evaluation, self.scale)

    def predicted(self, weights: np.ndarray, factors: np.ndarray | None = None) -> np.ndarray:
        """Return rows · weights + rest (n,) for weights (stages, columns)."""
        return self.rest + (
            (self.factors if factors is None else factors) * (self.counts @ weights.T).T
        ).sum(axis=0)

    def take(self, rows: np.ndarray) -> RowSample:
        """Return some of the rows."""
        values = {name: getattr(self, name)[rows] for name in BY_ROW}
        return RowSample(self.counts[rows], self.factors[:, rows], **values)


def sample_of(batch: RowBatch, columns: int, stages: Stages) -> RowSample:
    """Return all rows of a batch."""
    factors = stages.shares(batch.phase)
    factors[-1] *= batch.scale
    counts = csr_array(
        (batch.count.astype(np.float64), batch.index, batch.row), shape=(len(batch.phase), columns)
    )
    return RowSample(
        counts,
        factors,
        batch.phase,
        batch.scale.astype(np.float64),
        batch.rest.astype(np.float64),
        batch.evaluation.astype(np.float64),
        batch.outcome.astype(np.float64),
        sides_of(batch.text, len(batch.phase)),
    )


class Sampler:
    """Keeps an even random sample of the rows that it is given, of at most MOST_ROWS."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(RESIDUALS_SEED)
        self._parts: list[tuple[np.ndarray, RowSample]] = []
        self._share, self._rows = 1.0, 0

    def add(self, rows: RowSample) -> None:
        """Take some of these rows."""
        draw = self._random.random(len(rows.phase))
        self._keep(draw, rows)
        while self._rows > MOST_ROWS:
            self._share /= 2
            parts, self._parts, self._rows = self._parts, [], 0
            for draw, rows in parts:
                self._keep(draw, rows)

    def _keep(self, draw: np.ndarray, rows: RowSample) -> None:
        kept = np.flatnonzero(draw < self._share)
        if len(kept):
            self._parts.append((draw[kept], rows.take(kept)))
            self._rows += len(kept)

    def sample(self) -> RowSample | None:
        """Return the sample, or None without any row."""
        if not self._parts:
            return None
        samples = [sample for _, sample in self._parts]
        values = {
            name: np.concatenate([getattr(sample, name) for sample in samples]) for name in BY_ROW
        }
        return RowSample(
            vstack([sample.counts for sample in samples], format="csr"),
            np.concatenate([sample.factors for sample in samples], axis=1),
            **values,
        )


@dataclass(frozen=True)
class ColumnGroup:
    """Columns whose counts may be wrong together: a parameter, or a term of several."""

    name: str
    columns: np.ndarray
    places: tuple[Place, ...] = field(repr=False)


def groups_of(layout: Layout) -> list[ColumnGroup]:
    """Return a group for each parameter, then one for each term of several parameters."""
    groups = [
        ColumnGroup(place.path, np.arange(place.first, place.first + place.size), (place,))
        for place in layout.places
    ]
    for term in dict.fromkeys(place.term for place in layout.places):
        places = tuple(place for place in layout.places if place.term == term)
        if len(places) > 1:
            groups.append(
                ColumnGroup(
                    term,
                    np.concatenate(
                        [np.arange(place.first, place.first + place.size) for place in places]
                    ),
                    places,
                )
            )
    return groups


EXPLAINED = 0.95  # share of the differing rows that must agree after a correction
BROKEN = 0.01  # share of the agreeing rows that may differ after it


@dataclass(frozen=True)
class RowFault:
    """A fault: `kind` (perspective, stages, term, missing, weight, taper, scale, constant,
    rounded, unknown), the `name` of a term, parameter or number, a sentence with what to do, and
    the share of the differing rows that agree once it is corrected."""

    kind: str
    name: str
    text: str
    explained: float


class Correction(NamedTuple):
    """A possible fault, and the predictions (n,) once it is corrected; `rounding` is what an
    engine with this fault adds to the rounding."""

    kind: str
    name: str
    predicted: np.ndarray
    text: str
    rounding: float = 0.0


class Trial:
    """Rows and weights whose evaluations differ, and what corrections make of them."""

    def __init__(
        self, sample: RowSample, weights: np.ndarray, differed: np.ndarray | None = None
    ) -> None:
        self.sample, self.weights = sample, weights
        self.predicted = sample.predicted(weights)
        self.difference = sample.evaluation - self.predicted
        self._tolerance = sample.tolerance
        # rows that differed as they are, whatever this view changes
        self.differs = np.abs(self.difference) > self._tolerance if differed is None else differed

    def of(self, sample: RowSample) -> Trial:
        """Return the trial of another view of the same rows."""
        return self if sample is self.sample else Trial(sample, self.weights, self.differs)

    def take(self, rows: np.ndarray) -> Trial:
        """Return the trial of some of the rows."""
        return Trial(self.sample.take(rows), self.weights, self.differs[rows])

    @cached_property
    def stage_sums(self) -> np.ndarray:
        """The sums (stages, n) of counts · weights of each stage, before they are tapered."""
        return (self.sample.counts @ self.weights.T).T

    @cached_property
    def rounding(self) -> np.ndarray:
        """(n,) the sign of the evaluation: engines that divide whole numbers round towards 0."""
        return np.sign(self.sample.evaluation)

    def explained(self, predicted: np.ndarray, rounding: float = 0.0) -> float | None:
        """Return the share of the differing rows that agree with corrected predictions; None unless
        they explain the differences.

        `rounding` is what a correction adds to the rounding: the engine rounds before it.
        """
        agrees = np.abs(self.sample.evaluation - predicted) <= self._tolerance + rounding
        share = float(agrees[self.differs].mean()) if self.differs.any() else 0.0
        fine = ~self.differs
        broken = float((~agrees[fine]).mean()) if fine.any() else 0.0
        return share if share >= EXPLAINED and broken <= BROKEN else None

    def first(self, corrections: Iterable[Correction]) -> tuple[RowFault, ...]:
        """Return the fault of the first correction that explains the differences, or nothing."""
        for kind, name, predicted, text, rounding in corrections:
            if (share := self.explained(predicted, rounding)) is not None:
                return (RowFault(kind, name, text, share),)
        return ()

    def explained_by_sign(self) -> float | None:
        """Return the share of the differing rows that agree after a change of sign; None unless
        this explains the differences."""
        opposite = np.abs(self.sample.evaluation + self.predicted) <= self._tolerance
        share = float(opposite[self.differs].mean()) if self.differs.any() else 0.0
        return share if share >= EXPLAINED and self.differs.mean() > 0.1 else None

    def without_rounding(self, values: np.ndarray) -> np.ndarray:
        """Return values (n, ...) minus the part that the rounding of whole numbers explains."""
        total = self.rounding @ self.rounding
        return (
            values
            if total == 0
            else values - np.multiply.outer(self.rounding, self.rounding @ values / total)
        )

    def closest(self, layout: Layout) -> tuple[str, float]:
        """Return the parameter whose part of the evaluation explains most of the differences'
        variance, and that share."""
        best, most = "", 0.0
        total = float(self.difference @ self.difference)
        for group in groups_of(layout):
            part = (
                self.sample.factors
                * (self.sample.counts[:, group.columns] @ self.weights[:, group.columns].T).T
            ).sum(axis=0)
            size = float(part @ part)
            share = (
                float(part @ self.difference) ** 2 / size / total if size > 0 and total > 0 else 0.0
            )
            if share > most:
                best, most = group.name, share
        return best, most


MOST_WEIGHTS = 8  # columns that are corrected together
# a correction this near to a whole number is one, since engines have whole weights
NEAR_WHOLE = 0.25


def wrong_weights(
    searched: Trial, view: Trial, layout: Layout, stages: Sequence[str]
) -> tuple[RowFault, ...]:
    """Return the few weights whose correction explains the differences, or nothing."""
    sample, kinds = searched.sample, len(searched.weights)
    counts = sample.counts
    squares = counts.multiply(counts).tocsc()
    factors = sample.factors
    # (kinds, kinds, columns)
    gram = np.stack(
        [[squares.T @ (factors[a] * factors[b]) for b in range(kinds)] for a in range(kinds)]
    )
    gram = np.moveaxis(gram, 2, 0) + 1e-6 * np.eye(kinds)
    left = searched.without_rounding(searched.difference)
    chosen: list[int] = []
    transposed = counts.T.tocsr()
    for _ in range(MOST_WEIGHTS):
        # (columns, kinds)
        products = np.stack([transposed @ (factor * left) for factor in factors], axis=1)
        gain = (products * np.linalg.solve(gram, products[:, :, None])[:, :, 0]).sum(axis=1)
        gain[chosen] = 0
        at = int(gain.argmax())
        if gain[at] <= 0:
            return ()
        chosen.append(at)
        dense = counts[:, chosen].toarray()
        design = np.concatenate(
            [factor[:, None] * dense for factor in factors] + [searched.rounding[:, None]], axis=1
        )
        normal = design.T @ design
        normal[np.diag_indices_from(normal)] += 1e-6
        numbers = np.linalg.solve(normal, design.T @ searched.difference)
        left = searched.difference - design @ numbers
        change = np.zeros_like(searched.weights)
        change[:, chosen] = numbers[:-1].reshape(kinds, len(chosen))
        whole = np.round(change)
        change = np.where(np.abs(change - whole) <= NEAR_WHOLE, whole, change)
        explained = view.explained(view.sample.predicted(view.weights + change))
        if explained is not None:
            return _named(change, view.weights, layout, stages, explained)
    return ()


def _named(
    change: np.ndarray, weights: np.ndarray, layout: Layout, stages: Sequence[str], explained: float
) -> tuple[RowFault, ...]:
    names, found = layout.labels(), []
    for column in np.flatnonzero((change != 0).any(axis=0)).tolist():
        both = [
            (stage, weights[s, column], weights[s, column] + change[s, column])
            for s, stage in enumerate(stages)
            if change[s, column]
        ]
        texts = [
            f"{names[column]}{f'.{stage}' if len(stages) > 1 else ''} is {ours:g} in the parameter"
            f" file, {theirs:.4g} in the engine"
            for stage, ours, theirs in both
        ]
        found.append(
            RowFault(
                "weight",
                names[column],
                f"{'; '.join(texts)}. Correct the weight in the file, or the counts of "
                f"{names[column]}.",
                explained,
            )
        )
    return tuple(found)


VERIFIED = 4  # best of each kind of correction
LEAST_FACTOR = 0.005  # from 1: less is rounding
SNAPPED = (-1.0, 0.0, 0.5, 2.0, 3.0)  # factors that have a plain cause
NEAR = 0.04  # of those


class _Added(NamedTuple):
    """Something to add: the squares that remain, the group, the kind, and a number for each
    stage."""

    remains: float
    group: ColumnGroup
    kind: str
    numbers: tuple[float, ...]


def _parts(trial: Trial, groups: list[ColumnGroup], weights: np.ndarray) -> np.ndarray:
    """Return (stages, n, groups): counts · weights of each group alone."""
    columns = np.concatenate([group.columns for group in groups])
    of = np.repeat(np.arange(len(groups)), [len(group.columns) for group in groups])
    shape = (weights.shape[1], len(groups))
    return np.stack(
        [
            (trial.sample.counts @ csc_array((row[columns], (columns, of)), shape=shape)).toarray()
            for row in weights
        ]
    )


def _sum_of(trial: Trial, correction: _Added) -> np.ndarray:
    """Return the change of the predictions by a correction (n,)."""
    ones = np.ones_like(trial.weights)
    parts = _parts(
        trial, [correction.group], ones if correction.kind == "shift" else trial.weights
    )[:, :, 0]
    factors, numbers = trial.sample.factors, np.array(correction.numbers)
    if correction.kind == "exchanged":
        return (factors * (parts[::-1] - parts)).sum(axis=0)
    return (numbers[:, None] * factors * parts).sum(axis=0)


def group_faults(
    searched: Trial, view: Trial, layout: Layout, stages: Sequence[str], unused: Unused
) -> tuple[RowFault, ...]:
    """Return the fault of one parameter or term that explains the differences, or nothing."""
    groups = groups_of(layout)
    whole = ColumnGroup("", np.arange(layout.size), layout.places)
    best: list[tuple[float, float, _Added]] = []
    for correction in _corrections(searched, [*groups, whole]):
        if correction.kind in ("factor", "stages") and (
            max(map(abs, correction.numbers)) < LEAST_FACTOR
        ):
            continue
        predicted = view.predicted + _sum_of(view, correction)
        # an engine that converts its evaluation to another unit rounds twice
        explained = view.explained(predicted, 0.0 if correction.group.name else 1.0)
        if explained is not None:
            best.append(
                (float(np.abs(view.sample.evaluation - predicted).mean()), explained, correction)
            )
    if not best:
        return ()
    least = min(mean for mean, _, _ in best)
    most = max(explained for _, explained, _ in best)
    # the first in order among those as good: a parameter before its term, a factor before a shift
    equal = [
        (explained, correction)
        for mean, explained, correction in best
        if mean <= 1.02 * least + 0.01 and explained >= most - 1e-3
    ]
    if not equal:
        equal = [(explained, correction) for mean, explained, correction in best if mean == least]
    explained, correction = equal[0]
    others = [
        other.group.name
        for _, other in equal[1:]
        if other.kind == correction.kind
        and other.numbers == correction.numbers
        and not set(other.group.columns) & set(correction.group.columns)
    ]
    also = f" (or {', '.join(others)}: these rows do not tell them apart)" if others else ""
    return (
        RowFault(
            "stages" if correction.kind == "exchanged" else "term",
            correction.group.name,
            _text(correction, stages, also, _same_weights(correction, view.weights, unused)),
            explained,
        ),
    )


def _corrections(trial: Trial, groups: list[ColumnGroup]) -> list[_Added]:
    """Return the corrections that leave the smallest squares, of each kind, the plainest kind
    first."""
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
            found.append(_Added(float(remains[g]), groups[g], "factor", (number,) * kinds))
    if kinds == 1:
        return [*sorted(found, key=lambda one: one.remains), *_shifts(trial, groups, difference)]
    plain = _parts(trial, groups, trial.weights)
    exchange = (trial.sample.factors[:, :, None] * (plain[::-1] - plain)).sum(axis=0)
    remains = ((difference[:, None] - trial.without_rounding(exchange)) ** 2).sum(axis=0)
    remains[(exchange**2).sum(axis=0) == 0] = np.inf
    found += [
        _Added(float(remains[g]), groups[g], "exchanged", ())
        for g in np.argsort(remains, kind="stable")[:VERIFIED]
        if np.isfinite(remains[g])
    ]
    of_stages = _solved(difference, [trial.without_rounding(part) for part in parts])
    found += [
        _Added(one, groups[g], "stages", tuple(_snapped(numbers))) for one, g, numbers in of_stages
    ]
    return [*found, *_shifts(trial, groups, difference)]


def _snapped(numbers: np.ndarray) -> list[float]:
    """Return factors minus 1, replaced by a plain one that is near."""
    return [
        (
            min((snapped - 1 for snapped in (1.0, *SNAPPED)), key=lambda value: abs(value - number))
            if min(abs(snapped - 1 - number) for snapped in (1.0, *SNAPPED)) <= NEAR
            else float(number)
        )
        for number in numbers
    ]


def _shifts(trial: Trial, groups: list[ColumnGroup], difference: np.ndarray) -> list[_Added]:
    """Return corrections that add the same to all numbers of an array."""
    arrays = [group for group in groups if len(group.places) == 1 and len(group.columns) > 1]
    if not arrays:
        return []
    parts = trial.sample.factors[:, :, None] * _parts(trial, arrays, np.ones_like(trial.weights))
    return [
        _Added(one, arrays[g], "shift", tuple(float(np.round(number, 1)) for number in numbers))
        for one, g, numbers in _solved(difference, [trial.without_rounding(part) for part in parts])
    ]


def _solved(difference: np.ndarray, parts: list[np.ndarray]) -> list[tuple[float, int, np.ndarray]]:
    """Return squares that remain, place and solution of the groups that explain most with a number
    for each stage."""
    found = []
    for g in range(parts[0].shape[1]):
        design = np.stack([part[:, g] for part in parts], axis=1)
        gram = design.T @ design
        if np.linalg.cond(gram) < 1e10:
            numbers = np.linalg.solve(gram, design.T @ difference)
            found.append(
                (float(difference @ difference - numbers @ (design.T @ difference)), g, numbers)
            )
    return sorted(found, key=lambda one: one[0])[:VERIFIED]


def _same_weights(correction: _Added, weights: np.ndarray, unused: Unused) -> list[str]:
    """Return the numbers that no row counts and whose weights are those that a shift adds."""
    return [
        name
        for name, columns in unused
        if correction.kind == "shift"
        and len(columns) == 1
        and (np.abs(weights[:, columns[0]] - correction.numbers) <= 1).all()
    ]


def _text(correction: _Added, stages: Sequence[str], also: str, same: list[str]) -> str:
    name = correction.group.name or "the whole evaluation"
    first, last = stages[0], stages[-1]
    if correction.kind == "exchanged":
        return (
            f"The stages of {name} are exchanged{also}: the engine uses its {first} weights where"
            f" the file has {last}. Exchange them in the parameter file, or in the engine."
        )
    if correction.kind == "shift":
        numbers = ", ".join(
            f"{number:+g} {stage}" for number, stage in zip(correction.numbers, stages, strict=True)
        )
        hint = f" {' or '.join(same)}, which no row counts, has just these weights." if same else ""
        return (
            f"Every number of {name}{also} differs between engine and parameter file by {numbers}"
            f" centipawns.{hint} Correct the weights in the file, or count in the rows what is"
            " missing."
        )
    if correction.kind == "stages" and len(set(correction.numbers)) > 1:
        factors = " and ".join(
            f"{1 + number:.3g} times its {stage} part"
            for number, stage in zip(correction.numbers, stages, strict=True)
        )
        return (
            f"The engine's evaluation has {factors} of {name}{also}. Correct the weights of {name}"
            " in the parameter file, or its counts."
        )
    factor = 1 + correction.numbers[0]
    if factor == 0.5:
        return (
            f"{name} is counted twice in the rows{also}: the engine's evaluation has half of it."
            " Count it once, or halve its weights in the parameter file if the engine's are half."
        )
    if factor == 2:
        return (
            f"The engine adds {name} twice{also}: its evaluation is twice the rows'."
            " Count it twice, or double its weights in the parameter file if the engine's are"
            " double."
        )
    if factor == -1:
        return (
            f"The sign of {name} is wrong{also}: the engine's evaluation is minus the rows'. Count"
            " the first player minus the second (for chess White minus Black), or"
            " negate its weights in the parameter file."
        )
    if factor == 0:
        return (
            f"The engine's evaluation does not contain {name}{also}, although the rows count it."
            " Leave it out of the rows, or set its weights in the parameter file to 0."
        )
    return (
        f"The engine's evaluation has {factor:.4g} times {name}{also}. Multiply its weights in the"
        f" parameter file by {factor:.4g}, or print evaluations in its unit."
    )


WIDE = 40.0  # centipawns between the stages of a position that shows its share
MIN_POSITIONS = 8  # such positions of one phase
MOST_STEPS = 1024
FINE = 256  # steps of the taper of many engines, whatever the steps of their phase
SCALES = 4  # different factors of the last stage
MOST_FACTOR = 1.02  # of the last stage


def tapers(view: Trial, stages: Stages) -> Iterator[Correction]:
    """Yield different tapers, and factors of the last stage."""
    if len(stages.names) >= 2:
        if stages.spans:
            yield from _shifted(view, stages)
        else:
            yield from _steps(view, stages.phases, stages.names)
        yield from _scaled(view, stages.names)


def _shifted(view: Trial, stages: Stages) -> Iterator[Correction]:
    """Yield a phase that is one too large or too small, as of buckets counted from 1."""
    for shift, what in ((1, "large"), (-1, "small")):
        factors = stages.shares(np.clip(view.sample.phase - shift, 0, stages.phases))
        factors[-1] *= view.sample.scale
        yield Correction(
            "taper",
            "",
            view.sample.predicted(view.weights, factors),
            f"The phase of the rows is one too {what}: buckets count from 0 to {stages.phases}."
            " Print it so, or correct the phases of `stages` in the parameter file.",
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
                    "",
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
        "",
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
            "",
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
        "",
        choices[best, np.arange(len(best))],
        f"In {100 * view.differs.mean():.1f} % of the rows the engine multiplies {stages[-1]} by a"
        f" factor (the most common: {text}). Print it as scale in these rows.",
        SCALED_ROUNDING - ROUNDING,
    )
