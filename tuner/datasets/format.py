"""The format of a dataset on disk.

A dataset is a folder of `.npy` files and a manifest. Position i has the nonzeros row[i]:row[i + 1] of `index` (uint16
columns) and `count` (int8), and `phase` (uint8, steps of the first stage), `outcome` (float32 in [-1, 1], first player)
and `weight` (float32). Game g has the positions first[g]:first[g + 1]; `game` and `opening` (uint64) identify it. The manifest
has a checksum (CRC-32) for each part of each array, so that damage is detected and located.

Positions that another program counted may have more, each for all positions or for none: `rest` (float32 centipawns that are not
tuned), `evaluation` and `score` (float32 centipawns, static and of a search, NaN if unknown), and `text` (uint8, all positions as
text one after the other) with `text_end` (int64, the end of each). If the evaluation scales its last stage, `phase` is an index
into `shares` of the manifest, a list of [phase, scale]. Where counts do not fit into int8, or indices into uint8, the dataset is
wide: `count` is float32 and `phase` uint16.

Terms that are not linear, which `apart` of the manifest names, have counts of the first player in their columns; the counts of
the second follow after all columns, in the same order.

Format 1 had none of this, and is otherwise the same.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

FORMAT, READABLE = 2, (1, 2)
ARRAYS = {"index": np.uint16, "count": np.int8, "row": np.int64, "phase": np.uint8, "outcome": np.float32,
          "weight": np.float32, "first": np.int64, "game": np.uint64, "opening": np.uint64}
WIDE = {"count": np.float32, "phase": np.uint16}
OPTIONAL = {"rest": np.float32, "evaluation": np.float32, "score": np.float32, "text": np.uint8, "text_end": np.int64}
BY_NONZERO = ("index", "count")
BY_POSITION = ("index", "count", "row", "phase", "outcome", "weight", "rest")
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1 << 26  # bytes
FILES = {MANIFEST, *(f"{name}.npy" for name in (*ARRAYS, *OPTIONAL))}


def is_dataset(path: str | Path) -> bool:
    return os.path.isfile(Path(path) / MANIFEST)
