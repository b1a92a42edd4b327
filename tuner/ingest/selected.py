"""Write some positions of a dataset as a new one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.datasets.merge import copy_positions, writer_like
from tuner.datasets.ranges import BLOCK
from tuner.datasets.reader import open_dataset

OF_THE_FILE = ("format", "games", "positions", "nonzeros", "wide", "optional", "shares", "checks")  # made by the writer


def selected(data: Dataset, keep: np.ndarray, target: Path) -> Dataset:
    """Return a new dataset at `target` with the positions that `keep` (n,) bool marks; games without any are left out."""
    with writer_like([data], target) as writer:
        for begin in range(0, data.positions, BLOCK):
            end = min(begin + BLOCK, data.positions)
            copy_positions(writer, data, begin, end, keep[begin:end])
            data.release()
        before = np.concatenate([[0], np.cumsum(keep)])[data.first]
        some = np.flatnonzero(np.diff(before))
        writer.add_games(before[some], data.game[some], data.opening[some])
        writer.finish({key: value for key, value in data.manifest.items() if key not in OF_THE_FILE})
    return open_dataset(target, check=False)
