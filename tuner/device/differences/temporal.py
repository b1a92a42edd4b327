"""TD(lambda) by finite differences of the compiled evaluation: the derivatives are those of the values v = tanh(scale * e)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuner.device.cpu import temporal_kernels
from tuner.device.differences.moves import Moved, Moves
from tuner.device.model import Model
from tuner.objectives.temporal import TemporalData


class State(NamedTuple):
    """Whole games with weights moved: for each position its value, its error c, and whether the value comes from the
    evaluation."""

    moved: Moved
    values: np.ndarray
    c: np.ndarray
    own: np.ndarray


@dataclass(frozen=True)
class TemporalDifferences:
    """See `TemporalPasses`."""

    model: Model
    extra: TemporalData
    moves: Moves

    def equation(self, weights: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, float]:
        """See `TemporalPasses`."""
        def work(piece: np.ndarray) -> tuple[np.ndarray, float]:
            state = self._state(weights, piece)
            of = state.moved.of
            factor = np.where(state.own, state.c, 0.0)[of] * self._slopes(state)
            return np.bincount(state.moved.weight, factor, weights.size), float(state.c @ state.c)

        found, squares = np.zeros(weights.size), 0.0
        for part, some in self.moves.over_games(self.model, games, work):
            found += part
            squares += some
        return found, squares

    def matrix(self, weights: np.ndarray, games: np.ndarray, exact: bool) -> np.ndarray:
        """See `TemporalPasses`; includes the second derivative of tanh, not those of the evaluation."""
        scale = self.model.scale

        def work(piece: np.ndarray) -> np.ndarray:
            state = self._state(weights, piece)
            j, x = self._rows(state, weights.size), self.moves.rows(state.moved, weights.size)
            y, dense, decay = np.zeros(j.shape), j.toarray(), self.extra.decay[state.moved.place]
            ends = np.cumsum(piece[:, 1] - piece[:, 0])
            for end, begin in zip(ends, np.concatenate([[0], ends[:-1]]), strict=True):
                later = np.zeros(weights.size)
                for t in range(end - 1, begin - 1, -1):
                    later = dense[t] + decay[t] * later
                    if t + 1 < end:
                        later -= dense[t + 1]
                    y[t] = later
            curvature = 2 * scale * state.values * scale * (1 - state.values**2) * state.c
            part = j.T @ y
            if exact:
                part += (x.T @ x.multiply(np.where(state.own, curvature, 0.0)[:, None]).tocsr()).toarray()
            return part

        return sum(self.moves.over_games(self.model, games, work), np.zeros((weights.size, weights.size)))

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """See `TemporalPasses`."""
        def work(piece: np.ndarray) -> np.ndarray:
            state = self._state(weights, piece)
            j = self._rows(state, weights.size)
            return (j.T @ j.multiply((state.c**2)[:, None]).tocsr()).toarray()

        return sum(self.moves.over_games(self.model, self.model.whole_games, work), np.zeros((weights.size, weights.size)))

    def score_products(self, weights: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, int]:
        """See `TemporalPasses`."""
        def work(piece: np.ndarray) -> np.ndarray:
            state = self._state(weights, piece)
            slopes = np.where(state.own, self.model.scale * (1 - state.values**2), 0.0)
            return self.moves.scores(weights, piece, state.c * slopes, state.moved)

        scores = self.moves.grouped(self.model, weights, self.moves.over_games(self.model, self.model.whole_games, work))
        return scores[:, chosen].T @ scores[:, chosen], len(scores)

    def _state(self, weights: np.ndarray, games: np.ndarray) -> State:
        moved = self.moves.moved(self.model, weights, games)
        known = self.extra.known[moved.place]
        values = np.where(np.isnan(known), np.tanh(self.model.scale * moved.evaluation), known)
        ends = np.cumsum(games[:, 1] - games[:, 0])
        bounds, c = np.stack([ends - (games[:, 1] - games[:, 0]), ends], axis=1), np.zeros(len(values))
        temporal_kernels.scan(np.ascontiguousarray(bounds), values, self.model.data.outcome[moved.place],
                             self.extra.decay[moved.place], c)
        return State(moved, values, c, np.isnan(known))

    def _slopes(self, state: State) -> np.ndarray:
        """Return dv/dw (m,) of each move, by differences of the value itself."""
        return self.moves.derivatives(state.moved, lambda evaluation, of: np.tanh(self.model.scale * evaluation))

    def _rows(self, state: State, size: int):
        """Return dv/dw as a sparse matrix (n, size), zero if a value is known."""
        rows = self.moves.rows(state.moved, size)
        slope = np.where(state.own, self.model.scale * (1 - state.values**2), 0.0)
        return rows.multiply(slope[:, None]).tocsr()
