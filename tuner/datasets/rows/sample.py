"""A sample of rows, and how their evaluations differ from rest + counts · weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from tuner.datasets.rows.values import RowBatch
from tuner.parameters.parameters import Stages

MOST_ROWS = 200_000  # of the sample
SAMPLE_SEED, PART_SEED = 1, 2
BY_ROW = ("phase", "scale", "rest", "evaluation", "outcome", "side")
# An engine rounds the tapered sum to a whole number, so it is off by less than 1. One that also
# rounds the scaled last stage is off by less than 2.
ROUNDING, SCALED_ROUNDING = 1.0, 2.0
FLOAT32 = 2e-6  # relative error of evaluations and of sums of float32
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
    explained: float = 0.0


def tolerance(evaluation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the differences (n,) up to which rows · weights + rest counts as the evaluation, in
    centipawns."""
    return np.where(scale == 1, ROUNDING, SCALED_ROUNDING) + 1e-3 + FLOAT32 * np.abs(evaluation)


def sides_of(text: list[str] | None, n: int, letters: str = "wb") -> np.ndarray:
    """Return 1 where the first player is to move, -1 for the second, by the second word of a
    position, which is one of two letters, else 0."""
    sides = {letters[0]: 1, letters[1]: -1}
    words = [line.split(None, 2) for line in text or [""] * n]
    return np.array([sides.get(word[1], 0) if len(word) > 1 else 0 for word in words], np.int8)


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

    def predicted(self, weights: np.ndarray, factors: np.ndarray | None = None) -> np.ndarray:
        """Return rows · weights + rest (n,) for weights (stages, columns)."""
        return self.rest + (
            (self.factors if factors is None else factors) * (self.counts @ weights.T).T
        ).sum(axis=0)

    def take(self, rows: np.ndarray) -> RowSample:
        """Return some of the rows."""
        values = {name: getattr(self, name)[rows] for name in BY_ROW}
        return RowSample(self.counts[rows], self.factors[:, rows], **values)


def sample_of(batch: RowBatch, columns: int, stages: Stages, letters: str = "wb") -> RowSample:
    """Return all rows of a batch; `letters` are those of the sides in positions."""
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
        sides_of(batch.text, len(batch.phase), letters),
    )


class Sampler:
    """Keeps an even random sample of the rows that it is given, of at most MOST_ROWS."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(SAMPLE_SEED)
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


class Trial:
    """Rows and weights whose evaluations differ, and whether a correction explains that."""

    def __init__(
        self, sample: RowSample, weights: np.ndarray, differed: np.ndarray | None = None
    ) -> None:
        self.sample, self.weights = sample, weights
        self.predicted = sample.predicted(weights)
        self.difference = sample.evaluation - self.predicted
        self.tolerance = tolerance(sample.evaluation, sample.scale)
        # rows that differed as they are, whatever this view changes
        self.differs = np.abs(self.difference) > self.tolerance if differed is None else differed

    def viewed(self, **changed: np.ndarray) -> Trial:
        """Return the trial of the same rows with other fields."""
        return Trial(RowSample(**{**vars(self.sample), **changed}), self.weights, self.differs)

    def part(self, most: int) -> Trial:
        """Return the trial of `most` rows at most, half of them from those that differ."""
        n = len(self.difference)
        if n <= most:
            return self
        random, half = np.random.default_rng(PART_SEED), most // 2
        differs = np.flatnonzero(self.differs)
        some = differs if len(differs) <= half else random.choice(differs, half, replace=False)
        rows = np.union1d(some, random.choice(n, most - len(some), replace=False))
        return Trial(self.sample.take(rows), self.weights, self.differs[rows])

    @cached_property
    def stage_sums(self) -> np.ndarray:
        """The sums (stages, n) of counts · weights of each stage, before they are tapered."""
        return (self.sample.counts @ self.weights.T).T

    def explained(
        self, predicted: np.ndarray, rounding: float = 0.0, least: float = EXPLAINED
    ) -> float | None:
        """Return the share of the differing rows that agree with corrected predictions; None unless
        it is at `least` this and hardly any other row differs then.

        `rounding` is what a correction adds to the rounding: the engine rounds before it.
        """
        agrees = np.abs(self.sample.evaluation - predicted) <= self.tolerance + rounding
        share = float(agrees[self.differs].mean()) if self.differs.any() else 0.0
        fine = ~self.differs
        broken = float((~agrees[fine]).mean()) if fine.any() else 0.0
        return share if share >= least and broken <= BROKEN else None
