"""What a pass over a dataset computes with: some games, a loss, and which weights may move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.datasets.ranges import ranges_of, whole_games
from tuner.objectives.base import Objective
from tuner.parameters.layout import shares_of

SMALL = 48 << 20  # bytes of nonzeros that may stay in memory


@dataclass(frozen=True)
class Model:
    """The positions of `games` of a dataset and the loss of their evaluations, v = tanh(scale * e). Weights have shape (stages,
    columns + 1), or columns + 2 with the width of a draw; `free` (same shape, bool) may move. A device reads it and calls nothing
    but `progress`, with the positions of a pass that are done, 0 when it begins, and all of them."""

    data: Dataset
    games: np.ndarray
    objective: Objective
    scale: float
    free: np.ndarray
    progress: Callable[[int, int], None] = lambda done, total: None

    @property
    def stages(self) -> int:
        return len(self.free)

    @property
    def phases(self) -> int:
        return self.data.phases

    @cached_property
    def ranges(self) -> np.ndarray:
        """(m, 2) ranges of the positions of its games, neighbours joined."""
        return ranges_of(self.data, self.games)

    @property
    def whole_games(self) -> np.ndarray:
        """(g, 2) the range of positions of each game."""
        return whole_games(self.data, self.games)

    @cached_property
    def shares(self) -> np.ndarray:
        """(stages, phases + 1): how much of each stage a position of a phase has."""
        return shares_of(np.arange(self.phases + 1), self.phases, self.stages)

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Names (g,) of the games' identities, and the place (n,) of each game's own among them: in the order in which they
        come, so that neighbours are read together."""
        names, first, group = np.unique(self.data.game[self.games], return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return names[order], rank[group]

    @cached_property
    def by_group(self) -> np.ndarray:
        """Places (n,) of the games, in the order of their groups."""
        return np.argsort(self.groups[1], kind="stable")

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The dataset's arrays in the order in which kernels take them."""
        data = self.data
        return data.index, data.count, data.row, data.phase, data.outcome, data.weight

    def table(self, weights: np.ndarray) -> np.ndarray:
        """(phases + 1, columns + 1 or 2) the weights of each phase."""
        return np.ascontiguousarray(self.shares.T @ weights)

    @property
    def nonzero_bytes(self) -> int:
        """Bytes of the data's nonzeros, which are most of it."""
        return 3 * len(self.data.index)

    def release(self) -> None:
        """Give back memory of large data that were read."""
        if self.nonzero_bytes > SMALL:
            self.data.release()
