"""The format of a dataset on disk.

A dataset is a folder of `.npy` files and a manifest. Position i has the nonzeros row[i]:row[i + 1] of `index` (uint16
columns) and `count` (int8), and `phase` (uint8, steps of the first stage), `outcome` (float32 in [-1, 1], first player)
and `weight` (float32). Game g has the positions first[g]:first[g + 1]; `game` and `opening` (uint64) identify it. The manifest
has a checksum (CRC-32) for each part of each array, so that damage is detected and located.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

FORMAT = 1
ARRAYS = {"index": np.uint16, "count": np.int8, "row": np.int64, "phase": np.uint8, "outcome": np.float32,
          "weight": np.float32, "first": np.int64, "game": np.uint64, "opening": np.uint64}
BY_NONZERO = ("index", "count")
BY_POSITION = ("index", "count", "row", "phase", "outcome", "weight")
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1 << 26  # bytes
FILES = {MANIFEST, *(f"{name}.npy" for name in ARRAYS)}


def is_dataset(path: str | Path) -> bool:
    return os.path.isfile(Path(path) / MANIFEST)
