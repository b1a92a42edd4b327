"""The row check: compare the evaluations of rows with rest + counts * weights, and name the fault
that explains the differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from tuner.datasets.rows.values import RowBatch
from tuner.parameters.layout import Layout, Place, Stages

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
    """n rows: counts (n, columns) as CSR, the factor (stages, n) of each stage, and per row what
    the file says."""

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
    """What is wrong: `kind` (perspective, stages, term, missing, weight, taper, scale, constant,
    rounded, unknown), the `name` of a term, parameter or number, a sentence with what to do, and
    the share of the differing rows that agree once it is corrected."""

    kind: str
    name: str
    text: str
    explained: float


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

    def explained_by_sign(self) -> float | None:
        """Return the share of the differing rows that agree after a change of sign; None unless
        this explains the differences."""
        opposite = np.abs(self.sample.evaluation + self.predicted) <= self._tolerance
        share = float(opposite[self.differs].mean()) if self.differs.any() else 0.0
        return share if share >= EXPLAINED and self.differs.mean() > 0.1 else None

    def without_rounding(self, values: np.ndarray) -> np.ndarray:
        """Return (n, ...) values less what the rounding of whole numbers explains of them."""
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


class _Correction(NamedTuple):
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


def _added(trial: Trial, correction: _Correction) -> np.ndarray:
    """Return what a correction adds to the predictions (n,)."""
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
    best: list[tuple[float, float, _Correction]] = []
    for correction in _corrections(searched, [*groups, whole]):
        if correction.kind in ("factor", "stages") and (
            max(map(abs, correction.numbers)) < LEAST_FACTOR
        ):
            continue
        predicted = view.predicted + _added(view, correction)
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


def _corrections(trial: Trial, groups: list[ColumnGroup]) -> list[_Correction]:
    """Return the corrections that leave the smallest squares, of each kind, those of the plainest
    kind first."""
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
    remains = ((difference[:, None] - trial.without_rounding(exchange)) ** 2).sum(axis=0)
    remains[(exchange**2).sum(axis=0) == 0] = np.inf
    found += [
        _Correction(float(remains[g]), groups[g], "exchanged", ())
        for g in np.argsort(remains, kind="stable")[:VERIFIED]
        if np.isfinite(remains[g])
    ]
    of_stages = _solved(difference, [trial.without_rounding(part) for part in parts])
    found += [
        _Correction(one, groups[g], "stages", tuple(_snapped(numbers)))
        for one, g, numbers in of_stages
    ]
    return [*found, *_shifts(trial, groups, difference)]


def _snapped(numbers: np.ndarray) -> list[float]:
    """Return factors less 1, replaced by a plain one that is near."""
    return [
        (
            min((snapped - 1 for snapped in (1.0, *SNAPPED)), key=lambda value: abs(value - number))
            if min(abs(snapped - 1 - number) for snapped in (1.0, *SNAPPED)) <= NEAR
            else float(number)
        )
        for number in numbers
    ]


def _shifts(trial: Trial, groups: list[ColumnGroup], difference: np.ndarray) -> list[_Correction]:
    """Return corrections that add the same to all numbers of an array."""
    arrays = [group for group in groups if len(group.places) == 1 and len(group.columns) > 1]
    if not arrays:
        return []
    parts = trial.sample.factors[:, :, None] * _parts(trial, arrays, np.ones_like(trial.weights))
    return [
        _Correction(
            one, arrays[g], "shift", tuple(float(np.round(number, 1)) for number in numbers)
        )
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


def _same_weights(correction: _Correction, weights: np.ndarray, unused: Unused) -> list[str]:
    """Return the numbers that no row counts and whose weights are those that a shift adds."""
    return [
        name
        for name, columns in unused
        if correction.kind == "shift"
        and len(columns) == 1
        and (np.abs(weights[:, columns[0]] - correction.numbers) <= 1).all()
    ]


def _text(correction: _Correction, stages: Sequence[str], also: str, same: list[str]) -> str:
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
            f"The engine adds {name} twice{also}: its evaluation has two times what the rows count."
            " Count it twice, or double its weights in the parameter file if the engine's are"
            " double."
        )
    if factor == -1:
        return (
            f"The sign of {name} is wrong{also}: the engine's evaluation has minus what the rows"
            " count. Count the first player minus the second (for chess White minus Black), or"
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
FEWEST = 8  # such positions of one phase
MOST_STEPS = 1024
FINE = 256  # steps of the taper of many engines, whatever those of their phase
SCALES = 4  # different factors of the last stage
MOST_FACTOR = 1.02  # of the last stage


def taper_faults(view: Trial, stages: Stages) -> tuple[RowFault, ...]:
    """Return the fault of the taper that explains the differences, or nothing."""
    if len(stages.names) < 2:
        return ()
    taper = _shifted(view, stages) if stages.spans else _steps(view, stages.phases, stages.names)
    return taper or _scaled(view, stages.names)


def _shifted(view: Trial, stages: Stages) -> tuple[RowFault, ...]:
    """Return the fault of a phase that is one too large or too small, as of buckets counted from
    1."""
    for shift, what in ((1, "large"), (-1, "small")):
        factors = stages.shares(np.clip(view.sample.phase - shift, 0, stages.phases))
        factors[-1] *= view.sample.scale
        explained = view.explained(view.sample.predicted(view.weights, factors))
        if explained is not None:
            return (
                RowFault(
                    "taper",
                    "",
                    f"The phase of the rows is one too {what}: buckets count from 0 to"
                    f" {stages.phases}. Print it so, or correct the phases of `stages` in the"
                    " parameter file.",
                    explained,
                ),
            )
    return ()


def _steps(view: Trial, phases: int, stages: Sequence[str]) -> tuple[RowFault, ...]:
    """Return the fault of shares of the first stage that depend on the phase in another way."""
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
        if (wide & (phase == value)).sum() >= FEWEST
    ]
    if len(shown) < 2:
        return ()
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
                if (
                    explained := view.explained(sample.rest + shares * first + (1 - shares) * last)
                ) is not None:
                    above = " and at most 1" if limited and phase.max() > other else ""
                    return (
                        RowFault(
                            "taper",
                            "",
                            f"The engine tapers with {other} steps instead of {phases}: its share"
                            f" of {stages[0]} is phase / {other}{above}. Set the number of steps of"
                            f" the phase to {other}, or print the phase in steps of {phases}.",
                            explained,
                        ),
                    )
    shares = np.interp(phase, steps, table)
    if (
        explained := view.explained(sample.rest + shares * first + (1 - shares) * last)
    ) is not None:
        points = ", ".join(
            f"{table[k]:.2f} at phase {shown[k]}"
            for k in sorted({0, len(shown) // 2, len(shown) - 1})
        )
        return (
            RowFault(
                "taper",
                "",
                f"The engine's share of {stages[0]} is not phase / {phases}, but {points}. Print as"
                f" phase the share of {stages[0]} times {phases}, rounded.",
                explained,
            ),
        )
    return ()


def _finer(view: Trial, stages: Stages) -> tuple[RowFault, ...]:
    """Return the fault of a phase that the engine rounds to steps of another number."""
    phases = stages.phases
    if len(stages.names) != 2 or stages.spans or phases >= FINE:
        return ()
    sample, (first, last) = view.sample, view.stage_sums
    share = (sample.phase * FINE + phases // 2) // phases / FINE
    predicted = sample.rest + share * first + (1 - share) * sample.scale * last
    if (explained := view.explained(predicted)) is None:
        return ()
    return (
        RowFault(
            "taper",
            "",
            f"The engine tapers in {FINE} steps: (phase * {FINE} + {phases // 2}) / {phases},"
            f" rounded down. Print that as phase, and set phases: {FINE} in the parameter file.",
            explained,
        ),
    )


def _scaled(view: Trial, stages: Sequence[str]) -> tuple[RowFault, ...]:
    """Return the fault of a last stage that the engine multiplies by a factor in some positions."""
    part = view.sample.factors[-1] * view.stage_sums[-1]
    shown = view.differs & (np.abs(part) >= WIDE)
    if shown.sum() < FEWEST:
        return ()
    factor = 1 + view.difference[shown] / part[shown]
    values, number = np.unique(
        np.round(factor[np.argsort(-np.abs(part[shown]))][:2000], 2), return_counts=True
    )
    if np.quantile(factor, 0.9) > MOST_FACTOR or np.quantile(factor, 0.1) < -0.02:
        return ()
    chosen: list[float] = []
    for value in values[np.argsort(-number, kind="stable")].tolist():
        if all(abs(value - other) > 0.03 for other in chosen) and len(chosen) < SCALES:
            near = np.abs(factor - value) <= 0.015
            chosen.append(float(np.median(factor[near])) if near.any() else value)
    choices = np.stack([view.predicted, *((value - 1) * part + view.predicted for value in chosen)])
    best = np.abs(view.sample.evaluation - choices).argmin(axis=0)
    explained = view.explained(choices[best, np.arange(len(best))], SCALED_ROUNDING - ROUNDING)
    if explained is None:
        return ()
    text = ", ".join(f"{value:.2f}" for value in sorted(chosen))
    return (
        RowFault(
            "scale",
            "",
            f"In {100 * view.differs.mean():.1f} % of the rows the engine multiplies {stages[-1]}"
            f" by a factor (the most common: {text}). Print it as scale in these rows.",
            explained,
        ),
    )


ENOUGH = 0.999  # share of rows within rounding with which the rows fit
MOSTLY = 0.95  # the same where the others are off by one centipawn more, as by whole divisions
FEWEST_SIDES = 0.9  # share of the rows whose side to move must be known
MOST_SEARCHED = 16_384  # rows in which faults are looked for before they are verified in all
CLEAR_CORRELATION = 0.1  # between evaluations and results
FEWEST_RESULTS = 500
SEED = 2


@dataclass(frozen=True)
class Base:
    """A view of the rows: the evaluation from another side, or the stages exchanged."""

    sample: RowSample
    fault: tuple[str, str] | None  # kind and text


def diagnose(
    sample: RowSample,
    weights: np.ndarray,
    layout: Layout,
    stages: Stages,
    used: np.ndarray,
) -> tuple[RowFault, ...]:
    """Return the faults that explain the differences, first the one to mend first; `used`
    (columns,) counts all rows' nonzeros.

    If none does, say so, and name what comes closest.
    """
    trial = Trial(sample, weights)
    if found := _rounded(trial) or _finer(trial, stages):
        return found
    beyond = np.abs(trial.difference) - sample.tolerance
    if (beyond <= ROUNDING).all() and (beyond <= 0).mean() >= MOSTLY:
        return ()
    unused = never_counted(layout, weights, used)
    for base in _bases(sample, stages):
        view = trial.of(base.sample)
        if base.fault and (explained := view.explained(base.sample.predicted(weights))) is not None:
            return (RowFault(base.fault[0], "", base.fault[1], explained),)
        if found := _single(_searched(view), view, layout, stages, unused):
            before = (
                (RowFault(base.fault[0], "", base.fault[1], found[0].explained),)
                if base.fault
                else ()
            )
            return (*before, *found)
    if (explained := trial.explained_by_sign()) is not None:
        text = (
            "In many rows the evaluation agrees after its sign is changed: evaluations are of the"
            " side to move, or counts are. Print both of the first player's view (for chess"
            " White's)."
        )
        return (RowFault("perspective", "", text, explained),)
    return _unexplained(trial, layout, weights, unused)


def _rounded(trial: Trial) -> tuple[RowFault, ...]:
    """Return the finding that the engine has the weights of the parameter file with fewer decimals,
    if that mends the rows that differ."""
    for decimals in (0, 1, 2):
        predicted = trial.sample.predicted(np.round(trial.weights, decimals))
        agrees = np.abs(trial.sample.evaluation - predicted) <= trial.sample.tolerance
        if agrees.mean() >= ENOUGH and (share := trial.explained(predicted)) is not None:
            what = "whole numbers" if decimals == 0 else f"{decimals} decimal{'s' * (decimals > 1)}"
            rest = (
                ": nothing is wrong."
                if agrees.all()
                else (
                    "."
                    if share == 1
                    else (
                        f", except {100 * (1 - share):.2g} % of them, which are wrong in another"
                        " way: see the largest difference."
                    )
                )
            )
            return (
                RowFault(
                    "rounded",
                    "",
                    f"With the weights of the parameter file rounded to {what}, as `tuner export"
                    f" --into` writes them, the rows that differ agree{rest}",
                    share,
                ),
            )
    return ()


def _bases(sample: RowSample, stages: Stages) -> Iterator[Base]:
    yield Base(sample, None)
    views: list[tuple[RowSample, str, str]] = []
    if (sample.side != 0).mean() >= FEWEST_SIDES:
        turned = RowSample(
            **{**vars(sample), "evaluation": sample.evaluation * np.where(sample.side == -1, -1, 1)}
        )
        views.append((turned, "perspective", _perspective(sample)))
    if len(stages.names) > 1:
        turned_phase = stages.shares(np.maximum(stages.phases - sample.phase, 0))
        for view, _, _ in [(sample, "", ""), *views]:
            if (view.scale == 1).all():
                views.append((RowSample(**{**vars(view), "factors": turned_phase}), "stages", ""))
    for view, kind, text in views:
        if kind == "stages":
            first, *_, last = stages.downward
            text = (
                f"The stages are exchanged: phase counts steps of {last}, or the weights of"
                f" {first} and {last} are exchanged in one of the two. phase counts steps"
                f" of {first}, and 0 is all {last}: correct it there."
            )
            if view.evaluation is not sample.evaluation:
                kind, text = "perspective", f"{_perspective(sample)} {text}"
        yield Base(view, (kind, text))


def _perspective(sample: RowSample) -> str:
    """Say which of evaluations and counts are of the side to move, as the results show."""
    advice = "Negate {} where the second player (for chess Black) is to move."
    stated, turned = _correlations(sample)
    if stated - turned > CLEAR_CORRELATION:
        return (
            "The counts are of the side to move, while the evaluations, by the results, are of the"
            " first player's view. " + advice.format("counts and rest")
        )
    if turned - stated > CLEAR_CORRELATION:
        return (
            "The evaluations are of the side to move, the counts of the first player's view. "
            + advice.format("eval")
        )
    return (
        "The evaluations are of the side to move and the counts of the first player's view, or the"
        " reverse. " + advice.format("the one of the side to move")
    )


def _correlations(sample: RowSample) -> tuple[float, float]:
    """Return how evaluations correlate with results, as they are and turned to the first player's
    view if by side to move."""
    known = np.flatnonzero(~np.isnan(sample.outcome) & (sample.side != 0))
    outcome, evaluation = sample.outcome[known], np.clip(sample.evaluation[known], -1000, 1000)
    turned = evaluation * sample.side[known]
    if len(known) < FEWEST_RESULTS or 0 in (outcome.std(), evaluation.std(), turned.std()):
        return 0.0, 0.0
    return float(np.corrcoef(evaluation, outcome)[0, 1]), float(np.corrcoef(turned, outcome)[0, 1])


def side_of_results(sample: RowSample) -> tuple[RowFault, ...]:
    """Return the fault of counts and evaluations that agree, but are both of the side to move, as
    the results show."""
    stated, turned = _correlations(sample)
    if stated > CLEAR_CORRELATION or turned - stated <= CLEAR_CORRELATION:
        return ()
    return (
        RowFault(
            "perspective",
            "",
            f"Counts and evaluations agree, but their correlation with the results is {stated:.2f},"
            f" and {turned:.2f} after the sign is changed where the second player is to move:"
            " results are of the first player's view (for chess White's), counts and evaluations"
            " of the side to move. Negate both there.",
            0.0,
        ),
    )


def _searched(view: Trial) -> Trial:
    """Return a view of fewer rows: half of them at random from those that differ."""
    if len(view.sample.phase) <= MOST_SEARCHED:
        return view
    random, half = np.random.default_rng(SEED), MOST_SEARCHED // 2
    differs = np.flatnonzero(view.differs)
    some = differs if len(differs) <= half else random.choice(differs, half, replace=False)
    rest = random.choice(len(view.sample.phase), MOST_SEARCHED - len(some), replace=False)
    return view.take(np.union1d(some, rest))


def _single(
    searched: Trial, view: Trial, layout: Layout, stages: Stages, unused: Unused
) -> tuple[RowFault, ...]:
    """Return the fault of one kind that explains the differences of a view, or nothing."""
    searches: list[Callable[[], tuple[RowFault, ...]]] = [
        lambda: _constant(view),
        lambda: group_faults(searched, view, layout, stages.names, unused),
        lambda: missing_faults(view, layout, unused),
        lambda: taper_faults(view, stages),
        lambda: wrong_weights(searched, view, layout, stages.names),
    ]
    return next((found for search in searches if (found := search())), ())


def _constant(view: Trial) -> tuple[RowFault, ...]:
    """Return the fault of a constant, for all positions or for the side to move."""
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
        if (
            abs(constant) > 1
            and (explained := view.explained(view.predicted + constant * sign)) is not None
        ):
            return (
                RowFault(
                    "constant",
                    "",
                    f"The engine's evaluation has {constant:+g} centipawns more {what}. {advice},"
                    " or give it a parameter and count it.",
                    explained,
                ),
            )
    return ()


def _unexplained(
    trial: Trial, layout: Layout, weights: np.ndarray, unused: Unused
) -> tuple[RowFault, ...]:
    """Say that no single fault explains the differences, and what comes closest."""
    found = []
    if unused:
        names = [name for name, _ in unused]
        more = f" and {len(names) - 4} others" if len(names) > 4 else ""
        found.append(
            RowFault(
                "missing",
                names[0],
                f"No row counts {', '.join(names[:4])}{more}, although the weights are not 0. If "
                "the engine evaluates it, count it in the rows; if not, take it out of the "
                "parameter file.",
                0.0,
            )
        )
    name, share = trial.closest(layout)
    near = share >= 0.05
    text = f"No {'other ' * bool(unused)}single fault explains the differences."
    if near:
        text += (
            f" Closest is {name}: another factor would explain {100 * share:.0f} % of their"
            " variance."
        )
    found.append(
        RowFault(
            "unknown",
            name if near else "",
            f"{text} Print rest in each row, with what the engine adds and the rows "
            "do not count; or check a position with a large difference term by term.",
            0.0,
        )
    )
    return tuple(found)


@dataclass(frozen=True)
class RowCheck:
    """What the check found. Differences are evaluation - (rest + counts · weights), in centipawns.

    `rows` were read, `checked` of them have an evaluation, `exact` of those agree within rounding,
    and `near` within one centipawn more.
    `largest` is the difference of largest size, in row `largest_row` (from 1) with the position
    `largest_text`. `faults` explain what does not agree."""

    rows: int
    checked: int
    exact: int
    near: int
    largest: float
    largest_row: int
    largest_text: str
    mean: float
    faults: tuple[RowFault, ...]

    @property
    def share(self) -> float:
        """Share of the checked rows that agree."""
        return self.exact / self.checked if self.checked else 0.0

    @property
    def fits(self) -> bool:
        """Whether rows and weights, which the engine may round, are its evaluation; False without
        evaluations, and with rows by side to move."""
        kinds = {fault.kind for fault in self.faults}
        return (
            self.checked > 0
            and (
                self.share >= ENOUGH
                or "rounded" in kinds
                or (self.near >= ENOUGH * self.checked and self.share >= MOSTLY)
            )
            and "perspective" not in kinds
        )

    def lines(self) -> list[str]:
        """Return the findings as lines of text."""
        if not self.checked:
            return [
                f"none of {self.rows:,} rows has an evaluation (eval), so it is unknown whether"
                " counts and weights agree with the engine; print eval in each row"
            ]
        found = [
            f"{self.exact:,} of {self.checked:,} rows ({_percent(self.exact, self.checked)}) agree"
            f" with the engine's evaluation within rounding; mean difference {self.mean:.2f}"
            " centipawns"
        ]
        if self.exact < self.checked:
            text = f": {self.largest_text}" if self.largest_text else ""
            found.append(
                f"largest difference: {self.largest:+.1f} centipawns (engine minus rows) in row "
                f"{self.largest_row:,}{text}"
            )
        if self.checked < self.rows:
            found.append(
                f"{self.rows - self.checked:,} rows have no evaluation and were not checked"
            )
        return [*found, *(fault.text for fault in self.faults)]

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        return {
            **asdict(self),
            "faults": [asdict(fault) for fault in self.faults],
            "share": self.share,
            "fits": self.fits,
        }


def _percent(part: int, whole: int) -> str:
    """Return a share that says 100 % only for all."""
    value = 100 * part / whole
    return f"{value:.0f} %" if part in (0, whole) else f"{min(max(value, 0.01), 99.99):.2f} %"


def check_rows(
    batches: Iterable[RowBatch],
    weights: np.ndarray,
    layout: Layout,
    stages: Stages,
) -> RowCheck:
    """Compare the evaluations of rows with rest + counts · weights, and name the fault that
    explains the difference.

    `weights` is (stages, columns) in centipawns. All rows are compared; faults are looked for in an
    even sample of 200,000, and named only if the correction makes the rows agree that did not."""
    rows = checked = exact = near = 0
    largest, largest_row, largest_text, total = 0.0, 0, "", 0.0
    used, sampler = np.zeros(layout.size, np.int64), Sampler()
    for batch in batches:
        known = np.flatnonzero(~np.isnan(batch.evaluation))
        used += np.bincount(batch.index, minlength=layout.size)
        sample = sample_of(batch, layout.size, stages)
        if len(known) < len(batch.phase):
            sample = sample.take(known)
        if len(known):
            difference = sample.evaluation - sample.predicted(weights)
            size = np.abs(difference)
            beyond = size - tolerance(sample.evaluation, sample.scale)
            exact += int((beyond <= 0).sum())
            near += int((beyond <= ROUNDING).sum())
            total += float(size.sum())
            at = int(size.argmax())
            if size[at] > abs(largest):
                largest, largest_row = float(difference[at]), rows + int(known[at]) + 1
                largest_text = batch.text[known[at]] if batch.text else ""
            sampler.add(sample)
        rows, checked = rows + len(batch.phase), checked + len(known)
    faults: tuple[RowFault, ...] = ()
    taken = sampler.sample()
    if taken is not None:
        faults = (
            diagnose(taken, weights, layout, stages, used) if exact < checked else ()
        ) or side_of_results(taken)
    return RowCheck(
        rows,
        checked,
        exact,
        near,
        largest,
        largest_row,
        largest_text,
        total / max(checked, 1),
        faults,
    )
