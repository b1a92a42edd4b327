"""Merge datasets, or copy some games of one, into a new dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset
from tuner.datasets.wide_writer import WideWriter
from tuner.datasets.writer import DatasetWriter


def merge(datasets: Sequence[Dataset], target: Path) -> Dataset:
    """Merge datasets into one; a game that occurs in several is copied once."""
    first = datasets[0].manifest
    for data in datasets[1:]:
        for key in ("game", "layout", "terms", "phases", "stages"):
            if data.manifest[key] != first[key]:
                raise InputError(f"{data.path}: differs in {key} from {datasets[0].path}; build both with the same terms")
    seen, chosen = np.zeros(0, np.uint64), []
    for data in datasets:
        _, place = np.unique(data.game, return_index=True)
        place = place[~np.isin(data.game[place], seen)]
        seen = np.union1d(seen, data.game[place])
        chosen.append((data, np.sort(place)))
    checks = [data.manifest.get("row_check") for data in datasets]
    check = next((check for check in checks if isinstance(check, dict) and not check.get("fits")), checks[0])
    checked = {"row_check": check} if check else {}
    copy_games(chosen, target, {**_common(first), **checked, "sources": _sources(datasets),
                                "options": {"merged": [data.manifest["options"] for data in datasets]}})
    return open_dataset(target, check=False)


def part(data: Dataset, games: np.ndarray, target: Path, what: str) -> Dataset:
    """Copy some games (indices, ascending) of a dataset into a new dataset."""
    if len(games) == 0:
        raise InputError(f"{target}: would hold no game; choose another share or seed")
    copy_games([(data, games)], target, {**_common(data.manifest), "sources": data.manifest["sources"],
                                         "options": {**data.manifest["options"], "part": what}})
    return open_dataset(target, check=False)


def _common(manifest: dict) -> dict:
    always, sometimes = ("program", "game", "layout", "terms", "phases", "stages"), ("apart", "row_check")
    return {key: manifest[key] for key in (*always, *(key for key in sometimes if key in manifest))}


def _sources(datasets: Sequence[Dataset]) -> list[dict]:
    return [source for data in datasets for source in data.manifest["sources"]]


def copy_games(sources: Iterable[tuple[Dataset, np.ndarray]], target: Path, manifest: dict) -> None:
    """Write the chosen games (indices, ascending) of datasets of one layout as a new dataset."""
    chosen = list(sources)
    with writer_for((data for data, _ in chosen), target) as writer:
        for data, games in chosen:
            for run in np.split(games, np.flatnonzero(np.diff(games) != 1) + 1):
                if len(run):
                    _copy_run(writer, data, int(run[0]), int(run[-1]) + 1)
        writer.finish(manifest)


def _copy_run(writer: DatasetWriter, data: Dataset, begin: int, end: int, most: int = 1 << 16) -> None:
    first = data.first[begin:end]
    writer.add_games(first - first[0] + writer.positions, data.game[begin:end], data.opening[begin:end])
    for a in range(int(first[0]), int(data.first[end]), most):
        b = min(a + most, int(data.first[end]))
        copy_positions(writer, data, a, b)


def writer_for(datasets: Iterable[Dataset], target: Path) -> DatasetWriter:
    """Return a writer of positions of these datasets."""
    return WideWriter(target) if any(data.counted_elsewhere for data in datasets) else DatasetWriter(target)


def copy_positions(writer: DatasetWriter, data: Dataset, begin: int, end: int, keep: np.ndarray | None = None) -> None:
    """Append positions begin to end of a dataset, or those of them that `keep` (n,) bool marks."""
    rows = data.rows(begin, end)
    chosen = np.arange(begin, end) if keep is None else begin + np.flatnonzero(keep)
    if keep is not None:
        rows = rows.only(keep)
    if not isinstance(writer, WideWriter):
        writer.add_positions(rows)
        return
    steps, scale = data.phase_scale[rows.phase].T
    unknown = np.full(len(chosen), np.nan, np.float32)
    evaluation, score = (array[chosen] if len(array) else unknown for array in (data.evaluation, data.score))
    writer.add_rows(rows._replace(phase=steps, rest=rows.rest if len(rows.rest) else None), scale, evaluation, score,
                    data.texts(chosen))
