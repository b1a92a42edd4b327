"""Rows as readers of files return them: positions that another program counted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class RowBatch(NamedTuple):
    """n positions. The nonzeros of position i are row[i] to row[i + 1] of `index` and `count`.

    The evaluation is rest + share * (counts · first stage) + (1 - share) * scale * (counts · last stage), with share = phase /
    phases. All numbers are of the first player's view, in centipawns of the engine that counted.
    """

    index: Any  # (nonzeros,) int32 columns of the layout, ascending within a position
    count: Any  # (nonzeros,) float32, of the first player minus the second
    row: np.ndarray  # (n + 1,) int64, from 0
    phase: np.ndarray  # (n,) int64 steps of the first stage, at least 0
    outcome: np.ndarray  # (n,) float32 in [-1, 1], NaN if unknown
    rest: np.ndarray  # (n,) float32, the part of the evaluation that is not tuned
    scale: np.ndarray  # (n,) float32, factor of the last stage, at least 0
    evaluation: np.ndarray  # (n,) float32, the engine's static evaluation; NaN if unknown
    score: np.ndarray  # (n,) float32, the score of a search; NaN if unknown, infinite for a mate
    game: np.ndarray  # (n,) uint64 identity of the game; positions of a game follow each other
    text: list[str] | None = None  # the positions, FEN for chess; "" where unknown
    opening: np.ndarray | None = None  # (n,) uint64 identity of the opening of the game; None: each game has its own

    @property
    def openings(self) -> np.ndarray:
        """The identity of the opening (n,) of each position."""
        return self.game if self.opening is None else self.opening
