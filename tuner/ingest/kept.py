"""Data kept with a dataset while it is built: the results of games, if the dataset has other targets, and the positions
themselves, if they will be evaluated again."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np

from games.record import PositionBatch
from tuner.datasets.array_files import ArrayWriter
from tuner.ingest.search_targets import Retarget

RESULTS, POSITIONS = "results.npy", "positions.npy"


class Kept:
    """Records results and positions of batches on their way from games to dataset, around an optional `retarget`.

    Use as a context manager; `results` (n,) float32 and, if `words` are given, `positions` (n, words) uint64 are memory maps of
    files in the folder, in the order of the dataset's positions.
    """

    def __init__(self, folder: Path, retarget: Retarget | None, words: int | None) -> None:
        self._folder, self._retarget, self._words = folder, retarget, words
        self._results = ArrayWriter(folder / RESULTS, np.float32)
        self._positions = ArrayWriter(folder / POSITIONS, np.uint64) if words else None

    def __call__(self, batch: PositionBatch) -> PositionBatch:
        self._results.append(batch.outcomes)
        batch = self._retarget(batch) if self._retarget else batch
        if self._positions:
            self._positions.append(batch.positions.ravel())
        return batch

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        for writer in filter(None, (self._results, self._positions)):
            writer.abandon() if kind else writer.close()

    @property
    def results(self) -> np.ndarray:
        return np.load(self._folder / RESULTS, mmap_mode="r")

    @property
    def positions(self) -> np.ndarray | None:
        return np.load(self._folder / POSITIONS, mmap_mode="r").reshape(-1, self._words) if self._positions else None
