"""Datasets: positions as sparse coefficients on disk, three bytes a nonzero, read through memory maps.

A dataset is a folder of `.npy` files and a manifest. Position i has the nonzeros row[i]:row[i + 1] of `index` (uint16
columns) and `count` (int8), and `phase` (uint8, steps of the first stage), `outcome` (float32 in [-1, 1], first player)
and `weight` (float32). Game g has the positions first[g]:first[g + 1]; `game` and `opening` (uint64) name it.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from games.streams import InputError

FORMAT = 1
ARRAYS = {"index": np.uint16, "count": np.int8, "row": np.int64, "phase": np.uint8, "outcome": np.float32,
          "weight": np.float32, "first": np.int64, "game": np.uint64, "opening": np.uint64}
MANIFEST = "manifest.json"
HEADER = 128


class ArrayWriter:
    """A one-dimensional `.npy` file that grows; its header is written last, into room kept for it."""

    def __init__(self, path: Path, dtype: type) -> None:
        self.dtype, self.length = np.dtype(dtype), 0
        self._file = open(path, "wb")
        self._file.write(b"\0" * HEADER)

    def append(self, values: np.ndarray) -> None:
        values = np.ascontiguousarray(values, self.dtype)
        self._file.write(values.data)
        self.length += len(values)

    def close(self) -> None:
        text = f"{{'descr': {self.dtype.str!r}, 'fortran_order': False, 'shape': ({self.length},), }}"
        self._file.seek(0)
        self._file.write(b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little"))
        self._file.write(text.encode().ljust(HEADER - 11) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        self._file.close()


class DatasetWriter:
    """Writes a dataset to a temporary folder and puts it in place when all of it is there.

    Use as a context manager and call `finish`; leaving without it removes what was written.
    """

    def __init__(self, target: Path) -> None:
        self.target = Path(target)
        self._folder = self.target.with_name(f".{self.target.name}.{os.getpid()}.tmp")
        self._finished = False

    def __enter__(self) -> DatasetWriter:
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            self._arrays = {name: ArrayWriter(self._folder / f"{name}.npy", kind) for name, kind in ARRAYS.items()}
        except OSError as problem:
            raise InputError(f"{self.target}: cannot be written: {problem.strerror}") from None
        self._arrays["row"].append(np.zeros(1))
        self._nonzeros = 0
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if not self._finished:
            for array in self._arrays.values():
                array.abandon()
            shutil.rmtree(self._folder, ignore_errors=True)

    def add_positions(self, index: np.ndarray, count: np.ndarray, ends: np.ndarray, phase: np.ndarray,
                      outcome: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Append positions; ends[i] is where position i's nonzeros end within `index` and `count`."""
        arrays = self._arrays
        arrays["index"].append(index)
        arrays["count"].append(count)
        arrays["row"].append(ends + self._nonzeros)
        arrays["phase"].append(phase)
        arrays["outcome"].append(outcome)
        arrays["weight"].append(np.ones(len(phase), np.float32) if weight is None else weight)
        self._nonzeros += len(index)

    def add_games(self, first: np.ndarray, game: np.ndarray, opening: np.ndarray) -> None:
        """Append games by their first position, counted over the whole dataset."""
        self._arrays["first"].append(first)
        self._arrays["game"].append(game)
        self._arrays["opening"].append(opening)

    @property
    def positions(self) -> int:
        return self._arrays["phase"].length

    def finish(self, manifest: dict) -> None:
        """Close the files and put the dataset in place, over an older dataset of that name."""
        games, nonzeros = self._arrays["first"].length, self._nonzeros
        self._arrays["first"].append(np.array([self.positions]))
        for array in self._arrays.values():
            array.close()
        manifest = {"format": FORMAT, **manifest, "games": games, "positions": self.positions, "nonzeros": nonzeros}
        (self._folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        replace_folder(self._folder, self.target)
        self._finished = True


def replace_folder(new: Path, target: Path) -> None:
    """Put a folder in place of another, which must be a dataset or absent."""
    if target.exists():
        if not (target / MANIFEST).is_file():
            shutil.rmtree(new, ignore_errors=True)
            raise InputError(f"{target}: exists and is not a dataset; choose another name")
        old = target.with_name(f".{target.name}.{os.getpid()}.old")
        os.rename(target, old)
        os.rename(new, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(new, target)


@dataclass(frozen=True)
class Dataset:
    """An open dataset: memory maps named as in ARRAYS, and the manifest."""

    path: Path
    manifest: dict
    _maps: tuple[mmap.mmap, ...]
    index: np.ndarray
    count: np.ndarray
    row: np.ndarray
    phase: np.ndarray
    outcome: np.ndarray
    weight: np.ndarray
    first: np.ndarray
    game: np.ndarray
    opening: np.ndarray

    @property
    def games(self) -> int:
        return len(self.game)

    @property
    def positions(self) -> int:
        return len(self.phase)

    def release(self) -> None:
        """Give back the memory of pages read so far; they stay in the system's cache."""
        for pages in self._maps:
            if hasattr(pages, "madvise"):
                pages.madvise(mmap.MADV_DONTNEED)

    @property
    def columns(self) -> int:
        return sum(int(np.prod(shape, dtype=int)) for _, shape in self.manifest["layout"])


def is_dataset(path: str | Path) -> bool:
    return (Path(path) / MANIFEST).is_file()


def open_dataset(path: str | Path) -> Dataset:
    """Open a dataset; InputError for a folder that is none or is damaged."""
    path = Path(path)
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"{path}: not a dataset (no {MANIFEST}); make one with `tuner dataset GAMES -o DIR`") from None
    except ValueError:
        raise InputError(f"{path / MANIFEST}: damaged; build the dataset again") from None
    if manifest.get("format") != FORMAT:
        raise InputError(f"{path}: dataset format {manifest.get('format')}, expected {FORMAT}; build it again")
    arrays = {}
    for name, kind in ARRAYS.items():
        try:
            array = np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as problem:
            raise InputError(f"{path / name}.npy: damaged ({problem}); build the dataset again") from None
        if array.dtype != kind or array.ndim != 1:
            raise InputError(f"{path / name}.npy: holds {array.dtype}, expected {np.dtype(kind)}; build the dataset again")
        arrays[name] = array
    n, games = manifest["positions"], manifest["games"]
    sizes = {"row": n + 1, "phase": n, "outcome": n, "weight": n, "first": games + 1, "game": games, "opening": games,
             "index": manifest["nonzeros"], "count": manifest["nonzeros"]}
    for name, size in sizes.items():
        if len(arrays[name]) != size:
            raise InputError(f"{path / name}.npy: {len(arrays[name])} entries, expected {size}; build the dataset again")
    maps = tuple(array._mmap for array in arrays.values() if getattr(array, "_mmap", None) is not None)
    return Dataset(path, manifest, maps, **{name: array.view(np.ndarray) for name, array in arrays.items()})


def copy_games(sources: Iterable[tuple[Dataset, np.ndarray]], target: Path, manifest: dict) -> None:
    """Write the chosen games (indices, ascending) of datasets of one layout as a new dataset."""
    with DatasetWriter(target) as writer:
        for data, games in sources:
            for run in np.split(games, np.flatnonzero(np.diff(games) != 1) + 1):
                if len(run):
                    _copy_run(writer, data, int(run[0]), int(run[-1]) + 1)
        writer.finish(manifest)


def _copy_run(writer: DatasetWriter, data: Dataset, begin: int, end: int, most: int = 1 << 16) -> None:
    first = data.first[begin:end]
    writer.add_games(first - first[0] + writer.positions, data.game[begin:end], data.opening[begin:end])
    for a in range(int(first[0]), int(data.first[end]), most):
        b = min(a + most, int(data.first[end]))
        low, high = int(data.row[a]), int(data.row[b])
        writer.add_positions(data.index[low:high], data.count[low:high], data.row[a + 1:b + 1] - low, data.phase[a:b],
                             data.outcome[a:b], data.weight[a:b])
