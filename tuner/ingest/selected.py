"""Write some positions of a dataset as a new one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.datasets.ranges import BLOCK
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows import Rows
from tuner.datasets.writer import DatasetWriter

OF_THE_FILE = ("format", "games", "positions", "nonzeros", "checks")  # entries of a manifest that the writer makes


def selected(data: Dataset, keep: np.ndarray, target: Path) -> Dataset:
    """Return a new dataset at `target` with the positions that `keep` (n,) bool marks; games without any are left out."""
    with DatasetWriter(target) as writer:
        for begin in range(0, data.positions, BLOCK):
            end = min(begin + BLOCK, data.positions)
            writer.add_positions(_only(data.rows(begin, end), keep[begin:end]))
            data.release()
        before = np.concatenate([[0], np.cumsum(keep)])[data.first]
        some = np.flatnonzero(np.diff(before))
        writer.add_games(before[some], data.game[some], data.opening[some])
        writer.finish({key: value for key, value in data.manifest.items() if key not in OF_THE_FILE})
    return open_dataset(target, check=False)


def _only(rows: Rows, keep: np.ndarray) -> Rows:
    """Return the rows that `keep` (n,) marks."""
    lengths = np.diff(rows.row)
    nonzeros = np.repeat(keep, lengths)
    parts = {name: None if (array := getattr(rows, name)) is None else array[keep]
             for name in rows._fields if name not in ("index", "count", "row")}
    return Rows(index=rows.index[nonzeros], count=rows.count[nonzeros], row=np.concatenate([[0], np.cumsum(lengths[keep])]),
                **parts)
