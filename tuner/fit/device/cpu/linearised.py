"""Evaluations that are not linear, on the CPU: each pass makes rows that are linear near its
weights, then runs as usual.

At weights w, e(w + d) = e(w) + J d for small d. A row J in place of counts, with e(w) - J w as the
part that is not tuned, has the same evaluation and derivatives; second derivatives of the
evaluation are left out (Gauss-Newton)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evalterms.framework.compose import Composition
from tuner.datasets.dataset import Dataset, Rows
from tuner.fit.device.base import Model, Piece
from tuner.fit.device.cpu import kernels
from tuner.fit.device.cpu.device import Cpu


@dataclass(frozen=True, kw_only=True)
class Linearised(Cpu):
    """Like `Cpu`, for an evaluation with terms that are not linear."""

    composition: Composition

    def piece(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> Piece:
        """See `Cpu`."""
        data, base, end = model.data, int(ranges[0, 0]), int(ranges[-1, 1])
        rows, shares = (
            Rows(data.index, data.count, data.row, data.phase),
            Dataset.shares(data, model.stages),
        )
        found, _ = linearise(
            self.composition,
            rows,
            ranges,
            np.ascontiguousarray(shares.T @ weights[:, : data.columns]),
        )
        # a slope by phase multiplies the evaluation as a whole
        slope = (model.shares.sum(axis=0) / shares.sum(axis=0)).astype(np.float32)
        local = (
            data.outcome[base:end],
            data.weight[base:end],
            found.rest * slope[data.phase[base:end]],
        )
        return Piece(
            (found.index, found.count, found.row, found.phase, *local), ranges - base, base
        )

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return values(self.composition, rows, table[:, :-1]) + table[rows.phase, -1]


def linearise(
    composition: Composition, rows: Rows, ranges: np.ndarray, table: np.ndarray
) -> tuple[Rows, np.ndarray]:
    """Return wide rows of the positions that ascending ranges span, and their evaluations (n,) in
    centipawns, first player's view; zero between the ranges. `table` (phases + 1, columns) has the
    weights at each phase."""
    form, base, end = composition.form, int(ranges[0, 0]), int(ranges[-1, 1])
    room = int(rows.row[end] - rows.row[base])
    index, count, row = (
        np.empty(room, np.uint16),
        np.empty(room, np.float32),
        np.zeros(end - base + 1, np.int64),
    )
    rest, evaluation = np.zeros(end - base, np.float32), np.zeros(end - base)
    n = kernels.linearise(
        rows.index,
        rows.count,
        rows.row,
        rows.phase,
        np.ascontiguousarray(ranges),
        base,
        table,
        form.column,
        form.sum,
        composition.combine,
        np.empty(form.count),
        np.empty(form.count),
        np.full(table.shape[1], -1, np.int64),
        index,
        count,
        row,
        rest,
        evaluation,
    )
    return (
        Rows(index[:n], count[:n], row, rows.phase[base:end].astype(np.uint16), rest=rest),
        evaluation,
    )


def values(composition: Composition, rows: Rows, table: np.ndarray) -> np.ndarray:
    """Return the evaluations (n,) of positions in centipawns, first player's view; `table` as in
    `linearise`."""
    form, out = composition.form, np.empty(len(rows.phase))
    kernels.values(
        rows.index,
        rows.count,
        rows.row - rows.row[0],
        rows.phase,
        np.ascontiguousarray(table),
        form.column,
        form.sum,
        composition.combine,
        np.empty(form.count),
        np.empty(form.count),
        out,
    )
    return out


def changes(
    composition: Composition,
    rows: Rows,
    table: np.ndarray,
    shares: np.ndarray,
    chosen: np.ndarray,
    ends: np.ndarray,
    step: float,
) -> np.ndarray:
    """Return the changes (k, stages, 2) of `values` if the weight of column chosen[k] moves by a
    step in centipawns, up and down. The columns of position i end at ends[i]; `shares` (stages,
    phases + 1)."""
    form, out = composition.form, np.empty(2 * len(shares) * len(chosen))
    kernels.changes(
        rows.index,
        rows.count,
        rows.row - rows.row[0],
        rows.phase,
        np.ascontiguousarray(table),
        np.ascontiguousarray(shares),
        form.column,
        form.sum,
        composition.combine,
        np.empty(form.count),
        np.empty(form.count),
        np.empty(form.count),
        chosen,
        ends,
        step,
        out,
    )
    return out.reshape(len(chosen), len(shares), 2)
