"""Samples of datasets for tests, and their content as plain data."""

import json
from pathlib import Path

import numpy as np

from tests.support import refusal
from tests.tuner.support import LAYOUT, PHASES, Sample, random_coefficients, write_sample
from tuner.datasets.dataset import Dataset
from tuner.datasets.files import MANIFEST
from tuner.datasets.reader import open_dataset

COLUMNS = LAYOUT.size


def sample_in(folder: Path, seed: int = 1, games: int = 30, **more) -> Sample:
    """Games of 0 to 9 positions with coefficients over the whole range of a byte."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 10, games)
    lengths[0] = 5
    n = int(lengths.sum())
    x = random_coefficients(random, n, COLUMNS, 100)
    x[0], x[1], x[2] = 127, -128, 0
    return write_sample(
        folder,
        x,
        random.choice([-1, -0.5, 0, 1], n),
        lengths,
        phase=random.integers(0, PHASES + 1, n),
        weight=random.choice([0.5, 1, 3], n),
        layout=LAYOUT,
        **more,
    )


def dense(data: Dataset) -> np.ndarray:
    found = np.zeros((data.positions, data.columns), np.int8)
    for i in range(data.positions):
        places = slice(data.row[i], data.row[i + 1])
        found[i, data.index[places]] = data.count[places]
    return found


def games_of(data: Dataset) -> dict[int, tuple]:
    """Return the content of each game, by index: identity, opening, coefficients, and the other
    arrays."""
    x = dense(data)
    return {
        g: (
            int(data.game[g]),
            int(data.opening[g]),
            x[a:b].tolist(),
            data.phase[a:b].tolist(),
            data.outcome[a:b].tolist(),
            data.weight[a:b].tolist(),
        )
        for g, (a, b) in enumerate(zip(data.first[:-1], data.first[1:], strict=True))
    }


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))


def with_manifest(folder: Path, **changes) -> Path:
    """Change the manifest and return the folder; a change to None removes the entry."""
    manifest = {
        key: value for key, value in (manifest_of(folder) | changes).items() if value is not None
    }
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def refused(folder: Path) -> str:
    text = refusal(open_dataset, folder)
    assert str(folder) in text
    return text
