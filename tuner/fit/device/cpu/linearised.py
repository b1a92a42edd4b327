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
        local = found._replace(
            outcome=data.outcome[base:end],
            weight=data.weight[base:end],
            rest=found.rest * slope[data.phase[base:end]],
        )
        return Piece(local.read_only, ranges - base, base)

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return values(self.composition, rows, table[:, :-1]) + table[rows.phase, -1]


def linearise(
    composition: Composition, rows: Rows, ranges: np.ndarray, table: np.ndarray
) -> tuple[Rows, np.ndarray]:
    """Return wide rows of the positions that ascending ranges span, and their evaluations (n,) in
    centipawns, first player's view; zero between the ranges. `table` (phases + 1, columns) has the
    weights at each phase."""
    base, end = int(ranges[0, 0]), int(ranges[-1, 1])
    room = int(rows.row[end] - rows.row[base])
    found = kernels.LinearRows(
        np.empty(room, np.uint16),
        np.empty(room, np.float32),
        np.zeros(end - base + 1, np.int64),
        np.zeros(end - base, np.float32),
        np.zeros(end - base),
    )
    n = kernels.linearise(
        rows.read_only,
        np.ascontiguousarray(ranges),
        base,
        table,
        _curve(composition),
        np.full(table.shape[1], -1, np.int64),
        found,
    )
    phase = rows.phase[base:end].astype(np.uint16)
    return (
        Rows(found.columns[:n], found.slopes[:n], found.ends, phase, rest=found.rest),
        found.evaluation,
    )


def _curve(composition: Composition) -> kernels.Curve:
    form = composition.form
    column, sum_of = form.column.view(), form.sum.view()
    column.flags.writeable = sum_of.flags.writeable = False
    sums, factors = np.empty(form.count), np.empty(form.count)
    return kernels.Curve(column, sum_of, composition.combine, sums, factors)


def values(composition: Composition, rows: Rows, table: np.ndarray) -> np.ndarray:
    """Return the evaluations (n,) of positions in centipawns, first player's view; `table` as in
    `linearise`."""
    out = np.empty(len(rows.phase))
    kernels.values(rows.bare, np.ascontiguousarray(table), _curve(composition), out)
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
    curve, out = _curve(composition), np.empty(2 * len(shares) * len(chosen))
    kernels.changes(
        rows.bare,
        np.ascontiguousarray(table),
        np.ascontiguousarray(shares),
        curve,
        np.empty_like(curve.sums),
        chosen,
        ends,
        step,
        out,
    )
    return out.reshape(len(chosen), len(shares), 2)
