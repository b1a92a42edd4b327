"""TD(lambda) on the CPU: whole games, some thousands of positions at a time, on threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuner.datasets.ranges import BLOCK, prefetch, together
from tuner.device.cpu import temporal_kernels
from tuner.device.cpu.sums import PieceOf, Terms, TermsOf, add_scores, evaluated, score_products, second_moments
from tuner.device.cpu.watched import watched
from tuner.device.model import Model, Piece
from tuner.objectives.temporal import TemporalData
from tuner.parallel import in_order

SMALLER = BLOCK // 8  # positions of a piece, for matrices: each thread has its own sum


class State(NamedTuple):
    """Values, slopes and errors (n,) of the positions that a piece spans; zero outside the chosen games."""

    piece: Piece
    values: np.ndarray
    slopes: np.ndarray
    c: np.ndarray


@dataclass(frozen=True)
class CpuTemporal:
    """See `TemporalPasses`; sums are the same to the bit for any number of threads."""

    model: Model
    extra: TemporalData
    piece_of: PieceOf
    workers: int

    def equation(self, weights: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, float]:
        """See `TemporalPasses`."""
        model, found, squares = self.model, np.zeros(weights.shape), 0.0

        def work(piece: np.ndarray) -> tuple[np.ndarray, float]:
            state, part = self._state(weights, piece), np.zeros((1, *weights.shape))
            add_scores(model, lambda _: _terms(state), piece, np.zeros(len(piece), np.int64), part)
            return part[0], float(state.c @ state.c)

        for part, some in watched(in_order(work, self._pieces(games), self.workers), model, games):
            found += part
            squares += some
        return found.ravel(), squares

    def matrix(self, weights: np.ndarray, games: np.ndarray, exact: bool) -> np.ndarray:
        """See `TemporalPasses`."""
        model, size = self.model, weights.size
        found = np.zeros((size, size))

        def work(some: np.ndarray) -> np.ndarray:
            (arrays, games, offset), values, slopes, c = self._state(weights, some)
            index, count, row, phase, *_ = arrays
            base, part = int(games[0, 0]), np.zeros((size, size))
            end = base + len(values)
            curvature = np.where(slopes > 0, 2 * model.scale * values * slopes * c, 0.0) if exact else np.zeros(len(values))
            temporal_kernels.lambda_gram(index, count, row[base:end + 1], phase[base:end], games - base, slopes,
                                         self.extra.decay[base + offset:end + offset], curvature, model.data.phases,
                                         model.stages, part)
            return part

        for part in watched(in_order(work, self._pieces(games, SMALLER), self.workers), model, games, SMALLER):
            found += part
        return found

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """See `TemporalPasses`."""
        games = self.model.whole_games
        return second_moments(self.model, weights.shape, self._terms_of(weights), games, self.workers, self._pieces(games))

    def score_products(self, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """See `TemporalPasses`."""
        return score_products(self.model, weights.shape, self._terms_of(weights), chosen, self.workers)

    def _terms_of(self, weights: np.ndarray) -> TermsOf:
        return lambda games: _terms(self._state(weights, games))

    def _pieces(self, games: np.ndarray, size: int = BLOCK) -> Iterator[np.ndarray]:
        for some in together(games, size):
            piece = np.ascontiguousarray(games[some])
            prefetch(self.model.data, piece)
            yield piece

    def _state(self, weights: np.ndarray, games: np.ndarray) -> State:
        model, base, end = self.model, int(games[0, 0]), int(games[-1, 1])
        values, slopes, c = np.zeros((3, end - base))
        sizes = games[:, 1] - games[:, 0]
        places = np.repeat(games[:, 1] - np.cumsum(sizes), sizes) + np.arange(sizes.sum()) - base
        piece = self.piece_of(model, weights, games)
        known, found = self.extra.known[base:end][places], np.tanh(model.scale * evaluated(model, weights, piece))
        values[places] = np.where(np.isnan(known), found, known)
        slopes[places] = np.where(np.isnan(known), model.scale * (1 - found**2), 0.0)
        temporal_kernels.scan(games - base, values, model.data.outcome[base:end], self.extra.decay[base:end], c)
        return State(piece, values, slopes, c)


def _terms(state: State) -> Terms:
    """Return terms like those of `tuner.device.cpu.kernels.position_terms`: residuals c v', and their squares as curvatures."""
    residual = state.c * state.slopes
    return Terms(state.piece, int(state.piece.ranges[0, 0]), np.stack([residual, residual**2]))
