"""Passes on the CPU: compiled, on threads, over data that may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tuner.datasets.ranges import ahead
from tuner.datasets.rows import Rows
from tuner.device.base import TemporalPasses
from tuner.device.cpu import kernels
from tuner.device.cpu.sums import Terms, TermsOf, evaluations, over_games, position_terms, score_products, second_moments
from tuner.device.cpu.temporal import CpuTemporal
from tuner.device.cpu.tree import GRADIENT_GROUP, TreeSum
from tuner.device.cpu.watched import watched
from tuner.device.model import Model, Piece
from tuner.objectives.temporal import TemporalData
from tuner.parallel import in_order


@dataclass(frozen=True)
class Cpu:
    """The CPU with some threads; sums are bit for bit the same for any number of threads."""

    workers: int = 1

    @property
    def name(self) -> str:
        return f"cpu ({self.workers} thread{'s' if self.workers > 1 else ''})"

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """See `Device`."""
        losses, per_phase, table = TreeSum(GRADIENT_GROUP), TreeSum(GRADIENT_GROUP), model.table(weights)
        work = partial(self.piece_loss_gradient, model, weights, table)
        for loss, part in watched(in_order(work, ahead(model.data, ranges), self.workers), model, ranges):
            losses.add(loss)
            per_phase.add(part)
        return float(losses.total(())), model.by_stage(per_phase.total((model.codes, weights.shape[1])))

    def piece_loss_gradient(self, model: Model, weights: np.ndarray, table: np.ndarray,
                            some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of loss () and gradient (codes, width) over the positions of a piece, by value of `phase`."""
        piece, part = self.piece(model, weights, some), np.zeros((model.codes, weights.shape[1]))
        loss = kernels.loss_gradient(*piece.arrays, table, model.data.columns, piece.ranges, model.objective.block.address(),
                                     model.scale, part)
        return np.array(loss), part

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return second_moments(model, weights.shape, self.terms_of(model, weights), ranges, self.workers)

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """See `Device`."""
        def squares(batches: Iterator[np.ndarray]) -> np.ndarray:
            return sum(((scores**2).sum(axis=0) for scores in batches), np.zeros(weights.size))

        return over_games(model, weights.shape, self.terms_of(model, weights), squares, self.workers)

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """See `Device`."""
        return score_products(model, weights.shape, self.terms_of(model, weights), chosen, self.workers)

    def position_products(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return second_moments(model, weights.shape, self.squares_of(model, weights), ranges, self.workers)

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return evaluations(model, weights, self.piece, ranges, self.workers)

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """See `Device`."""
        n = len(rows.phase)
        out, nothing = np.empty(n), np.zeros(n, np.float32)  # outcomes and weights are not used
        rest = nothing[:0] if rows.rest is None else rows.rest
        kernels.evaluations(rows.index, rows.count, rows.row - rows.row[0], rows.phase, nothing, nothing, rest, table,
                            np.array([[0, n]]), out)
        return out

    def temporal(self, model: Model, extra: TemporalData) -> TemporalPasses:
        """See `Device`."""
        return CpuTemporal(model, extra, self.piece, self.workers)

    def piece(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> Piece:
        """Return positions as rows that are linear in the weights, near these weights. ValueError for an evaluation that is not
        linear: `tuner.device.cpu.linearised` has one."""
        if model.data.apart:
            raise ValueError(f"{model.data.path}: term {model.data.apart[0]} is not linear")
        return Piece(model.arrays, ranges)

    def terms_of(self, model: Model, weights: np.ndarray) -> TermsOf:
        """Return a function from ranges to the derivatives of the objective."""
        return lambda ranges: position_terms(model, weights, self.piece(model, weights, ranges))

    def squares_of(self, model: Model, weights: np.ndarray) -> TermsOf:
        """Return the same with products of first derivatives in place of second derivatives, by evaluation and width."""

        def squares(some: np.ndarray) -> Terms:
            found = position_terms(model, weights, self.piece(model, weights, some))
            terms = found.terms
            if model.objective.widths:
                terms[1], terms[3], terms[4] = terms[0]**2, terms[0] * terms[2], terms[2]**2
            else:
                terms[1] = terms[0]**2
            return found

        return squares


CPU = Cpu()
