"""Rows as matrices, and how their evaluations differ from rest + counts · weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from tuner.datasets.rows.values import RowBatch
from tuner.parameters.parameters import Stages

BY_ROW = ("phase", "scale", "rest", "evaluation", "outcome", "side")
# An engine rounds the tapered sum to a whole number, so it is off by less than 1. One that also
# rounds the scaled last stage is off by less than 2.
ROUNDING, SCALED_ROUNDING = 1.0, 2.0
FLOAT32 = 2e-6  # relative error of evaluations and of sums of float32


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
