"""Data kept with a dataset while it is built: the results of games and the scores of positions, if the dataset has other targets,
and the positions themselves, if they will be evaluated again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import numpy as np

from games.record import Game, PositionBatch
from tuner.datasets.array_files import ArrayWriter
from tuner.ingest.build import NothingLeft
from tuner.ingest.recorded import TARGETS, Unscored
from tuner.ingest.search_targets import Retarget

RESULTS, POSITIONS, SCORES = "results.npy", "positions.npy", "scores.npy"
# the scores (n,) of a batch: centipawns of the first player's view, infinite for forced wins, NaN if unknown
Scores: TypeAlias = Callable[[PositionBatch], np.ndarray]


def unscored(game: Game, positions: int) -> Unscored:
    """Return the error for positions of a game of which none has a score."""
    where, targets = game.wording.scores, TARGETS if game.searchable else "choose --targets results"
    found = f"none of {positions:,} positions has a score; " + (
        f"expected {where}" if where else f"files of {game.name} record none")
    engines = game.contest is not None and game.contest.evaluator
    return Unscored(found, targets, "name an engine with --teacher" if engines else "")


class Kept:
    """Records results, and `positions` if they are wanted, of batches on their way from games to dataset, around an optional
    `retarget`; and `scores`, if they are given, without the positions whose score is unknown (unless those are `optional`).

    Use as a context manager. `results` (n,) float32, `scores` (n,) float32 if they are given, and `positions` (n, words) uint64
    if they are wanted, are memory maps of files in the folder, in the order of the dataset's positions. `unknown` counts the
    positions left out. InputError if none is left.
    """

    def __init__(self, folder: Path, game: Game, retarget: Retarget | None, positions: bool, scores: Scores | None = None,
                 optional: bool = False) -> None:
        self._folder, self._game, self._retarget = folder, game, retarget
        self._scores_of, self._optional = scores, optional
        self._results = ArrayWriter(folder / RESULTS, np.float32)
        self._scores = ArrayWriter(folder / SCORES, np.float32) if scores else None
        self._positions = ArrayWriter(folder / POSITIONS, np.uint64) if positions else None
        self.unknown = 0

    def __call__(self, batch: PositionBatch) -> PositionBatch:
        if self._scores_of and self._scores:
            scores = self._scores_of(batch)
            known = np.full(len(scores), self._optional) | ~np.isnan(scores)
            self._scores.append(scores[known])
            self.unknown += int((~known).sum())
            batch = batch if known.all() else batch.only(known)
        self._results.append(batch.outcomes)
        batch = self._retarget(batch) if self._retarget else batch
        if self._positions:
            self._positions.append(batch.positions.ravel())
        return batch

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        for writer in filter(None, (self._results, self._scores, self._positions)):
            writer.abandon() if kind else writer.close()
        if isinstance(value, NothingLeft) and self.unknown:
            raise unscored(self._game, self.unknown) from None

    @property
    def results(self) -> np.ndarray:
        return np.load(self._folder / RESULTS, mmap_mode="r")

    @property
    def scores(self) -> np.ndarray:
        return np.load(self._folder / SCORES, mmap_mode="r")

    @property
    def positions(self) -> np.ndarray | None:
        return np.load(self._folder / POSITIONS, mmap_mode="r").reshape(-1, self._game.words) if self._positions else None
