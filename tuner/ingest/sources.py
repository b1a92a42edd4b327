"""Open or build one dataset from the user's sources: files, folders of files, datasets, `-`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from games.record import ReadOptions, ReadReport, points_of, wording_of
from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.format import is_dataset
from tuner.datasets.merge import merge
from tuner.datasets.reader import open_dataset
from tuner.engine.engine import Engine
from tuner.engine.loading import Evaluator
from tuner.ingest.build import build
from tuner.ingest.search_targets import Retarget


def dataset_of(engine: Engine, sources: Sequence[str], folder: Path, options: ReadOptions,
               quiescence: Evaluator | None, note: Callable[[str], None],
               progress: Callable[[ReadReport], None], retarget: Retarget | None = None) -> tuple[Dataset, ReadReport | None]:
    """Return the dataset of these sources, built in `folder` unless it is one already, and the report of the games read.

    `retarget` replaces outcomes or positions, so it needs games, not datasets.
    """
    ready = [source for source in sources if source != "-" and is_dataset(source)]
    if retarget and ready:
        raise InputError(f"{ready[0]}: a dataset holds counts, not positions that could be searched; name the games, or learn "
                         "from the results with --method logistic")
    files = [source for source in sources if source not in ready]
    datasets = [checked(open_dataset(path), engine) for path in ready]
    report = None
    if files:
        built, whole = build(engine, files, folder / "games", options, quiescence, note, progress, retarget)
        datasets.append(built)
        report = whole.total
    if len(datasets) == 1:
        return datasets[0], report
    return merge(datasets, folder / "merged"), report


def checked(data: Dataset, engine: Engine) -> Dataset:
    """Return the same dataset; InputError if it was counted with other terms than the engine's."""
    name, expected = data.manifest["game"], engine.game.name
    if name != expected:
        raise InputError(f"{data.path}: a dataset of {name}, expected {expected}")
    if data.manifest["layout"] != engine.layout.describe():
        raise InputError(f"{data.path}: counted with other parameters ({data.columns} in place of {engine.layout.size}); "
                         "build the dataset again with these terms")
    if data.manifest["terms"] != engine.composition.name:
        raise InputError(f"{data.path}: counted by another version of the terms; build the dataset again")
    return data


def require_learnable(data: Dataset, what: str = "", results: set[float] | None = None) -> None:
    """InputError for data from which nothing can be learned. `what` is a line about the games read, for the error; `results`
    are the results that occur, if the data have other targets."""
    read = f" ({what})" if what else ""
    first = data.first[:-1][np.diff(data.first) > 0]  # of the games that have positions
    if len(first) < 2:
        raise InputError(f"only {len(first)} game to learn from{read}; expected at least 2, better thousands")
    results = results or set(np.unique(data.outcome[first]).tolist())
    if len(results) == 1:
        result = next(iter(results))
        most, words = points_of(data.manifest["game"]), wording_of(data.manifest["game"])
        kind = {0: "a draw", 1: f"a win of {words.sides[0]}", -1: f"a loss of {words.sides[0]}"}.get(
            result, f"labelled {(1 + result) / 2:g}") if most == 1 else f"worth {most * result:+.2f} points for {words.sides[0]}"
        raise InputError(f"every one of the {len(first):,} games is {kind}{read}: there is nothing to learn; "
                         "expected games with different results")
