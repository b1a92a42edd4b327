"""Datasets: positions as sparse coefficients on disk, three bytes a nonzero, read through memory maps.

A dataset is a folder of `.npy` files and a manifest. Position i has the nonzeros row[i]:row[i + 1] of `index` (uint16
columns) and `count` (int8), and `phase` (uint8, steps of the first stage), `outcome` (float32 in [-1, 1], first player)
and `weight` (float32). Game g has the positions first[g]:first[g + 1]; `game` and `opening` (uint64) name it. The manifest
has a checksum (CRC-32) for each part of each array, so that damage is found and named.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType

import numpy as np

from games.streams import InputError
from tuner.datasets.array_files import HEADER, ArrayWriter
from tuner.datasets.integrity import require_whole
from tuner.io.files import read_whole, require_other
from tuner.parameters.layout import Layout, Place

FORMAT = 1
ARRAYS = {"index": np.uint16, "count": np.int8, "row": np.int64, "phase": np.uint8, "outcome": np.float32,
          "weight": np.float32, "first": np.int64, "game": np.uint64, "opening": np.uint64}
BY_NONZERO = ("index", "count")
BY_POSITION = ("index", "count", "row", "phase", "outcome", "weight")
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1 << 26  # bytes
FILES = {MANIFEST, *(f"{name}.npy" for name in ARRAYS)}
# of the manifest; whole numbers are 1 or more, nonzeros may be 0
ENTRIES = {"program": str, "game": str, "sources": list, "options": dict, "layout": list, "terms": str, "phases": int,
           "stages": list, "games": int, "positions": int, "nonzeros": int}
MOST = {"phases": 255}  # what fits into the arrays
MOST_COLUMNS, MOST_DIMENSIONS = 1 << 16, 8
LARGE = 1 << 24  # bytes of an array of which parts are read


class DatasetWriter:
    """Writes a dataset to a temporary folder and puts it in place when all of it is there.

    Use as a context manager and call `finish`; leaving without it removes what was written.
    """

    def __init__(self, target: Path) -> None:
        self.target = Path(target)
        self._folder = self.target.with_name(f".{self.target.name}.{os.getpid()}.tmp")
        self._finished = False

    def __enter__(self) -> DatasetWriter:
        require_replaceable(self.target)  # now rather than when all of it is written
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            self._arrays = {name: ArrayWriter(self._folder / f"{name}.npy", kind) for name, kind in ARRAYS.items()}
            self._arrays["row"].append(np.zeros(1))
        except OSError as problem:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise InputError(f"{self.target}: cannot be written: {problem.strerror}") from None
        self._nonzeros = 0
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if not self._finished:
            for array in self._arrays.values():
                array.abandon()
            shutil.rmtree(self._folder, ignore_errors=True)
        if isinstance(value, OSError):  # the disk is full
            raise InputError(f"{self.target}: cannot be written: {value.strerror}") from None

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
        manifest = {"format": FORMAT, **manifest, "games": games, "positions": self.positions, "nonzeros": nonzeros,
                    "checks": {name: array.checks for name, array in self._arrays.items()}}
        (self._folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        replace_folder(self._folder, self.target)
        self._finished = True


def require_replaceable(target: Path, reads: Sequence[str] = ()) -> None:
    """InputError for a target that is there and is anything but a dataset, or one that the command `reads`."""
    require_other(target, reads)
    if os.path.lexists(target) and not _is_ours(target):
        raise InputError(f"{target}: exists and is not a dataset; choose another name")
    if os.path.islink(target):
        raise InputError(f"{target}: is a link to a dataset, which is not replaced; name its folder")


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds a dataset and nothing else: it may be removed."""
    if not is_dataset(folder) or any(name not in FILES for name in os.listdir(folder)):
        return False
    try:
        manifest = json.loads(read_whole(folder / MANIFEST, LARGEST_MANIFEST, "a manifest"))
    except (InputError, OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and str(manifest.get("program")).startswith("evaltune ")


def replace_folder(new: Path, target: Path) -> None:
    """Put a folder in place of another, which must be a dataset or absent."""
    require_replaceable(target)
    if target.exists():
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

    def prefetch(self, low: int, high: int, names: Sequence[str] = BY_POSITION) -> None:
        """Have what there is of positions low to high read from the disk while something else is done."""
        nonzeros = int(self.row[low]), int(self.row[high])
        for name in names:
            size = getattr(self, name).itemsize
            a, b = nonzeros if name in BY_NONZERO else (low, high + (name == "row"))
            self.prefetch_bytes(name, a * size, b * size)

    def prefetch_bytes(self, name: str, begin: int, end: int) -> None:
        """The same for some bytes of an array."""
        pages = self._pages.get(name)
        if pages is not None:
            start = (HEADER + begin) // mmap.PAGESIZE * mmap.PAGESIZE
            stop = min(HEADER + end, len(pages))
            if stop > start:
                pages.madvise(mmap.MADV_WILLNEED, start, stop - start)

    @cached_property
    def _pages(self) -> dict[str, mmap.mmap]:
        """The maps of the arrays by position, if they are so large that parts of them are read."""
        found = {}
        for name in BY_POSITION:
            base = getattr(self, name)
            while base is not None and not isinstance(base, mmap.mmap):
                base = getattr(base, "base", None)
            if base is not None and len(base) > LARGE and hasattr(base, "madvise"):
                found[name] = base
        return found

    @cached_property
    def layout(self) -> Layout:
        """The layout that its positions were counted with."""
        places, first = [], 0
        for path, shape in self.manifest["layout"]:
            term, name = path.split(".")
            places.append(Place(term, name, tuple(shape), first))
            first += places[-1].size
        return Layout(tuple(places))

    @property
    def columns(self) -> int:
        return self.layout.size

    @property
    def phases(self) -> int:
        """Steps of the phase: a position of phase f has the first stage with weight f / phases."""
        return self.manifest["phases"]


def is_dataset(path: str | Path) -> bool:
    return os.path.isfile(Path(path) / MANIFEST)


def open_dataset(path: str | Path, check: bool = True) -> Dataset:
    """Open a dataset; InputError for a folder that is none or is damaged.

    `check` that every number is in its range and what was written, see `tuner.datasets.integrity`.
    """
    path = Path(path)
    manifest = _read_manifest(path)
    arrays = {}
    for name, kind in ARRAYS.items():
        try:
            array = np.lib.format.open_memmap(path / f"{name}.npy", mode="r")
        except Exception as problem:  # a damaged header is read as Python source: there is no end of what may be raised
            reason = getattr(problem, "strerror", None) or str(problem).partition("\n")[0]
            raise InputError(f"{path / name}.npy: damaged ({reason}); build the dataset again") from None
        if array.dtype != kind or array.ndim != 1:
            raise InputError(f"{path / name}.npy: holds {array.dtype} of {array.ndim} dimensions, expected "
                             f"{np.dtype(kind)} of 1; build the dataset again")
        arrays[name] = array
    n, games = manifest["positions"], manifest["games"]
    sizes = {"row": n + 1, "phase": n, "outcome": n, "weight": n, "first": games + 1, "game": games, "opening": games,
             "index": manifest["nonzeros"], "count": manifest["nonzeros"]}
    for name, size in sizes.items():
        if len(arrays[name]) != size:
            raise InputError(f"{path / name}.npy: {len(arrays[name])} entries, expected {size}; build the dataset again")
    maps = tuple(array._mmap for array in arrays.values() if getattr(array, "_mmap", None) is not None)
    data = Dataset(path, manifest, maps, **{name: array.view(np.ndarray) for name, array in arrays.items()})
    for pages in data._pages.values():
        pages.madvise(mmap.MADV_RANDOM)  # what will be read is told: some systems read megabytes round every page
    if check:
        require_whole(data)
    return data


def _read_manifest(path: Path) -> dict:
    """The manifest, with everything in it that a dataset needs."""
    try:
        manifest = json.loads(read_whole(path / MANIFEST, LARGEST_MANIFEST, "a manifest"), parse_constant=_finite,
                              parse_float=_finite)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: not a dataset (no {MANIFEST}); make one with `tuner dataset GAMES -o DIR`") from None
    except InputError:
        if (path / MANIFEST).exists():
            raise
        raise InputError(f"{path}: not a dataset (no {MANIFEST}); make one with `tuner dataset GAMES -o DIR`") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path / MANIFEST}: damaged; build the dataset again") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{path / MANIFEST}: damaged; build the dataset again")
    if manifest.get("format") != FORMAT:
        raise InputError(f"{path}: dataset format {str(manifest.get('format'))[:20]}, expected {FORMAT}; build it again")
    for key, kind in ENTRIES.items():
        # true is an int of its own kind
        if type(manifest.get(key)) is not kind or (kind is int and not (key != "nonzeros") <= manifest[key] <= MOST.get(
                key, 2**63)):
            raise InputError(f"{path / MANIFEST}: {key} is {'damaged' if key in manifest else 'missing'}; "
                             "build the dataset again")
    for key, fine in (("layout", _is_layout), ("stages", _is_stages), ("checks", _are_checks), ("sources", _are_sources)):
        if not fine(manifest.get(key, {} if key == "checks" else None)):
            raise InputError(f"{path / MANIFEST}: {key} is damaged; build the dataset again")
    return manifest


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _is_layout(entries: list) -> bool:
    """Whether these are [name, shape], with as many numbers as an index of 16 bits can tell apart."""
    columns, names = 0, set()
    for entry in entries:
        match entry:
            case [str(name), [*shape]] if name.count(".") == 1 and len(shape) <= MOST_DIMENSIONS and all(
                    type(n) is int and 0 < n <= MOST_COLUMNS for n in shape):
                names.add(name)
                columns += math.prod(shape)
            case _:
                return False
    return len(names) == len(entries) and 0 < columns <= MOST_COLUMNS


def _is_stages(names: list) -> bool:
    return len(names) in (1, 2) and all(isinstance(name, str) for name in names)


def _are_checks(checks: object) -> bool:
    return isinstance(checks, dict) and checks.keys() <= ARRAYS.keys() and all(
        isinstance(parts, list) and all(type(part) is int for part in parts) for parts in checks.values())


def _are_sources(sources: list) -> bool:
    return all(isinstance(source, dict) and isinstance(source.get("file"), str) for source in sources)


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
