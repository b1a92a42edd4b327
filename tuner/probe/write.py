"""Write rows and the parameter file that belongs to them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tuner import __version__
from tuner.io.files import ROWS_MARK, replaced
from tuner.parameters.layout import Layout
from tuner.parameters.parameters import Parameters
from tuner.probe.steps import Step
from tuner.rows.batch import RowBatch


def parameters_of(game: str, layout: Layout, steps: list[Step], learned: dict) -> Parameters:
    """The parameters of options at their current values, bounded by their ranges; one stage."""
    values = np.array([[step.value for step in steps]], float)
    bounds = tuple((place.path, (float(step.low), float(step.high))) for place, step in zip(layout.places, steps, strict=True))
    return Parameters(game, layout, ("all",), values, bounds=bounds, learned=learned)


def write_rows(path: Path, layout: Layout, batches: Iterable[RowBatch]) -> int:
    """Write rows as one .npz file: a matrix of counts that scipy.sparse.load_npz reads, and an array for each other field;
    returns the number of rows. Results are shares of a win for the first player, from 0 to 1."""
    parts = list(batches)
    counts = np.concatenate([np.diff(part.row) for part in parts]) if parts else np.zeros(0, np.int64)

    def joined(name: str, dtype: type) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype), *(getattr(part, name) for part in parts)]).astype(dtype)

    texts = [text for part in parts for text in part.text or [""] * len(part.phase)]
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"), "shape": np.array([len(counts), layout.size]), "data": joined("count", np.float32),
        "indices": joined("index", np.int32), "indptr": np.append(0, np.cumsum(counts)),
        "result": (1 + joined("outcome", np.float32)) / 2, "game": joined("game", np.uint64), "rest": joined("rest", np.float32),
        "scale": joined("scale", np.float32), "eval": joined("evaluation", np.float32), "fen": np.array(texts, np.bytes_)}
    with replaced(path) as temporary:
        with open(temporary, "wb") as stream:
            np.savez_compressed(stream, **arrays)
        with zipfile.ZipFile(temporary, "a") as archive:
            archive.comment = ROWS_MARK + b" " + __version__.encode()
    return len(counts)
