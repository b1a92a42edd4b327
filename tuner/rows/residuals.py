"""A sample of rows with their evaluations, and how far rows · weights + rest is from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from tuner.parameters.layout import Layout, Place, shares_of
from tuner.rows.batch import RowBatch

MOST_ROWS = 200_000  # of the sample
SEED = 1
BY_ROW = ("phase", "scale", "rest", "evaluation", "outcome", "side")
# An engine rounds the tapered sum to a whole number, so it is off by less than 1. One that also rounds the scaled last stage is
# off by less than 2.
ROUNDING, SCALED_ROUNDING = 1.0, 2.0
FLOAT32 = 2e-6  # relative error of evaluations and of sums of float32


def tolerance(evaluation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the differences (n,) up to which rows · weights + rest counts as the evaluation, in centipawns."""
    return np.where(scale == 1, ROUNDING, SCALED_ROUNDING) + 1e-3 + FLOAT32 * np.abs(evaluation)


def sides_of(text: list[str] | None, n: int) -> np.ndarray:
    """Return 1 where the first player is to move, -1 for the second, by the second word of a position (w or b), else 0."""
    if text is None:
        return np.zeros(n, np.int8)
    sides = {"w": 1, "b": -1}
    return np.fromiter((sides.get(words[1], 0) if len(words) > 1 else 0 for words in (line.split(None, 2) for line in text)),
                       np.int8, n)


@dataclass
class Sample:
    """n rows: counts (n, columns) as CSR, the factor (stages, n) of each stage, and per row what the file says."""

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
        return self.rest + ((self.factors if factors is None else factors) * (self.counts @ weights.T).T).sum(axis=0)

    def take(self, rows: np.ndarray) -> Sample:
        """Return some of the rows."""
        values = {name: getattr(self, name)[rows] for name in BY_ROW}
        return Sample(self.counts[rows], self.factors[:, rows], **values)


def sample_of(batch: RowBatch, columns: int, stages: int, phases: int) -> Sample:
    """Return all rows of a batch."""
    factors = shares_of(batch.phase, phases, stages)
    factors[-1] *= batch.scale
    counts = csr_array((batch.count.astype(np.float64), batch.index, batch.row), shape=(len(batch.phase), columns))
    return Sample(counts, factors, batch.phase, batch.scale.astype(np.float64), batch.rest.astype(np.float64),
                  batch.evaluation.astype(np.float64), batch.outcome.astype(np.float64), sides_of(batch.text, len(batch.phase)))


class Sampler:
    """Keeps an even random sample of the rows that it is given, of at most MOST_ROWS."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(SEED)
        self._parts: list[tuple[np.ndarray, Sample]] = []
        self._share, self._rows = 1.0, 0

    def add(self, rows: Sample) -> None:
        """Take some of these rows."""
        draw = self._random.random(len(rows.phase))
        self._keep(draw, rows)
        while self._rows > MOST_ROWS:
            self._share /= 2
            parts, self._parts, self._rows = self._parts, [], 0
            for draw, rows in parts:
                self._keep(draw, rows)

    def _keep(self, draw: np.ndarray, rows: Sample) -> None:
        kept = np.flatnonzero(draw < self._share)
        if len(kept):
            self._parts.append((draw[kept], rows.take(kept)))
            self._rows += len(kept)

    def sample(self) -> Sample | None:
        """Return the sample, or None without any row."""
        if not self._parts:
            return None
        samples = [sample for _, sample in self._parts]
        values = {name: np.concatenate([getattr(sample, name) for sample in samples]) for name in BY_ROW}
        return Sample(vstack([sample.counts for sample in samples], format="csr"),
                      np.concatenate([sample.factors for sample in samples], axis=1), **values)


@dataclass(frozen=True)
class Group:
    """Columns whose counts may be wrong together: a parameter, or a term of several."""

    name: str
    columns: np.ndarray
    places: tuple[Place, ...] = field(repr=False)


def groups_of(layout: Layout) -> list[Group]:
    """Return a group for each parameter, then one for each term of several parameters."""
    groups = [Group(place.path, np.arange(place.first, place.first + place.size), (place,)) for place in layout.places]
    for term in dict.fromkeys(place.term for place in layout.places):
        places = tuple(place for place in layout.places if place.term == term)
        if len(places) > 1:
            groups.append(Group(term, np.concatenate([np.arange(place.first, place.first + place.size) for place in places]),
                                places))
    return groups
