"""Write a dataset to a temporary folder, which then replaces the target as a whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from games.streams import InputError
from tuner.datasets.array_files import ArrayWriter
from tuner.datasets.format import ARRAYS, FILES, FORMAT, LARGEST_MANIFEST, MANIFEST, OPTIONAL, WIDE, is_dataset
from tuner.datasets.rows import Rows
from tuner.io.files import read_whole, require_other


class DatasetWriter:
    """Writes a dataset to a temporary folder and renames it when it is complete.

    Use as a context manager and call `finish`; leaving it without `finish` removes the temporary folder.
    """

    def __init__(self, target: Path, kinds: Mapping[str, type] = ARRAYS) -> None:
        self.target, self._kinds = Path(target), kinds
        self._folder = self.target.with_name(f".{self.target.name}.{os.getpid()}.tmp")
        self._finished = False
        self._informed: set[str] = set()  # optional arrays with information

    def __enter__(self) -> DatasetWriter:
        require_replaceable(self.target)  # before writing anything
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            self._arrays = {name: ArrayWriter(self._folder / f"{name}.npy", kind) for name, kind in self._kinds.items()}
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

    def add_positions(self, rows: Rows) -> None:
        """Append positions with their outcomes; those without weights have weight 1."""
        arrays = self._arrays
        arrays["index"].append(rows.index)
        arrays["count"].append(rows.count)
        arrays["row"].append(rows.row[1:] - rows.row[0] + self._nonzeros)
        arrays["phase"].append(rows.phase)
        arrays["outcome"].append(rows.outcome)
        arrays["weight"].append(np.ones(len(rows.phase), np.float32) if rows.weight is None else rows.weight)
        self._nonzeros += len(rows.index)

    def add_optional(self, name: str, values: np.ndarray, informs: bool) -> None:
        """Append values of an optional array; it is written if any of them `informs`."""
        self._arrays[name].append(values)
        if informs:
            self._informed.add(name)

    def add_games(self, first: np.ndarray, game: np.ndarray, opening: np.ndarray) -> None:
        """Append games by the index of their first position in the dataset."""
        self._arrays["first"].append(first)
        self._arrays["game"].append(game)
        self._arrays["opening"].append(opening)

    @property
    def positions(self) -> int:
        return self._arrays["phase"].length

    def finish(self, manifest: dict) -> None:
        """Close the files and rename the folder to the target, replacing an older dataset. Optional arrays without information
        are left out."""
        for name in [name for name in self._arrays if name in OPTIONAL and name not in self._informed]:
            self._arrays.pop(name).abandon()
            (self._folder / f"{name}.npy").unlink()
        games, nonzeros = self._arrays["first"].length, self._nonzeros
        self._arrays["first"].append(np.array([self.positions]))
        for array in self._arrays.values():
            array.close()
        wide = self._arrays["count"].dtype == WIDE["count"]
        manifest = {**manifest, "format": FORMAT, "wide": wide, "games": games, "positions": self.positions, "nonzeros": nonzeros,
                    "optional": [name for name in OPTIONAL if name in self._arrays],
                    "checks": {name: array.checks for name, array in self._arrays.items()}}
        (self._folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        replace_folder(self._folder, self.target)
        self._finished = True


def require_replaceable(target: Path, reads: Sequence[str] = ()) -> None:
    """InputError for a target that exists and is not a dataset, or that the command `reads`."""
    require_other(target, reads)
    if os.path.lexists(target) and not _is_ours(target):
        raise InputError(f"{target}: exists and is not a dataset; choose another name")
    if os.path.islink(target):
        raise InputError(f"{target}: is a link to a dataset; links are not replaced, name the folder itself")


def _is_ours(folder: Path) -> bool:
    """Return whether a folder holds a dataset and nothing else, so that it may be removed."""
    if not is_dataset(folder) or any(name not in FILES for name in os.listdir(folder)):
        return False
    try:
        manifest = json.loads(read_whole(folder / MANIFEST, LARGEST_MANIFEST, "a manifest"))
    except (InputError, OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and str(manifest.get("program")).startswith("evaltune ")


def replace_folder(new: Path, target: Path) -> None:
    """Rename a folder to the target, which must be a dataset or absent."""
    require_replaceable(target)
    if target.exists():
        old = target.with_name(f".{target.name}.{os.getpid()}.old")
        os.rename(target, old)
        os.rename(new, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(new, target)
