"""Open a dataset: check its manifest, and on request every value."""

from __future__ import annotations

import copyreg
import json
import math
import mmap
import os
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset, mapped
from tuner.datasets.format import ARRAYS, FORMAT, LARGEST_MANIFEST, MANIFEST, OPTIONAL, READABLE, WIDE
from tuner.datasets.integrity import require_whole
from tuner.io.files import read_whole

# of the manifest; integers are 1 or more, nonzeros may be 0
ENTRIES = {"program": str, "game": str, "sources": list, "options": dict, "layout": list, "terms": str, "phases": int,
           "stages": list, "games": int, "positions": int, "nonzeros": int}
MOST = {"phases": (1 << 16) - 1}  # limits of the types of the arrays
NOTHING = {"apart": [], "checks": {}, "optional": [], "wide": False, "shares": [[0, 1]]}  # what may be missing
MOST_COLUMNS, MOST_DIMENSIONS = 1 << 16, 8


def open_dataset(path: str | Path, check: bool = True) -> Dataset:
    """Open a dataset; InputError for a folder that is not a dataset or is damaged.

    `check`: check also value ranges and checksums, see `tuner.datasets.integrity`.
    """
    path = Path(path)
    manifest = _read_manifest(path)
    wide, optional = manifest.get("wide", False), manifest.get("optional", [])
    kinds = {**ARRAYS, **(WIDE if wide else {}), **{name: OPTIONAL[name] for name in optional}}
    arrays = {name: np.zeros(0, kind) for name, kind in OPTIONAL.items()}
    for name, kind in kinds.items():
        try:
            array = np.lib.format.open_memmap(path / f"{name}.npy", mode="r")
        except Exception as problem:  # NumPy evaluates the header as Python source: a damaged one may raise anything
            reason = getattr(problem, "strerror", None) or str(problem).partition("\n")[0]
            raise InputError(f"{path / name}.npy: damaged ({reason}); build the dataset again") from None
        if array.dtype != kind or array.ndim != 1:
            raise InputError(f"{path / name}.npy: holds {array.dtype} of {array.ndim} dimensions, expected "
                             f"{np.dtype(kind)} of 1; build the dataset again")
        arrays[name] = array
    n, games = manifest["positions"], manifest["games"]
    sizes = {"row": n + 1, "phase": n, "outcome": n, "weight": n, "first": games + 1, "game": games, "opening": games,
             "index": manifest["nonzeros"], "count": manifest["nonzeros"], **{name: n for name in optional if name != "text"}}
    for name, size in sizes.items():
        if len(arrays[name]) != size:
            raise InputError(f"{path / name}.npy: {len(arrays[name])} entries, expected {size}; build the dataset again")
    maps = tuple(array._mmap for array in arrays.values() if getattr(array, "_mmap", None) is not None)
    data = Dataset(path, manifest, maps, **{name: array.view(np.ndarray) for name, array in arrays.items()})
    for pages in data.pages.values():
        pages.madvise(mmap.MADV_RANDOM)  # prefetching is explicit: some systems would read megabytes around every page
    if check:
        require_whole(data)
    return data


def _reduced(data: Dataset) -> tuple:
    """A dataset is pickled as the path of its folder, and what differs from the folder."""
    others = {f.name: getattr(data, f.name) for f in fields(data) if f.name not in ("path", "_maps")}
    changed = {name: value for name, value in others.items()
               if not isinstance(value, np.ndarray) or len(value) and mapped(value) is None}
    return _reopened, (os.path.abspath(data.path), changed)


def _reopened(path: str, changed: dict) -> Dataset:
    return replace(open_dataset(path, check=False), **changed)


copyreg.pickle(Dataset, _reduced)


def _read_manifest(path: Path) -> dict:
    """Read and check the manifest."""
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
    if manifest.get("format") not in READABLE:
        raise InputError(f"{path}: dataset format {str(manifest.get('format'))[:20]}, expected {FORMAT}; build it again")
    for key, kind in ENTRIES.items():
        # bool is a subclass of int
        if type(manifest.get(key)) is not kind or (kind is int and not (key != "nonzeros") <= manifest[key] <= MOST.get(
                key, 2**63)):
            raise InputError(f"{path / MANIFEST}: {key} is {'damaged' if key in manifest else 'missing'}; "
                             "build the dataset again")
    for key, fine in (("layout", _is_layout), ("stages", _is_stages), ("checks", _are_checks), ("sources", _are_sources),
                      ("optional", _are_optional), ("wide", lambda wide: isinstance(wide, bool)), ("shares", _are_shares)):
        if not fine(manifest.get(key, NOTHING.get(key))):
            raise InputError(f"{path / MANIFEST}: {key} is damaged; build the dataset again")
    if not _are_terms(manifest.get("apart", []), manifest["layout"]):
        raise InputError(f"{path / MANIFEST}: apart is damaged; build the dataset again")
    return manifest


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _is_layout(entries: list) -> bool:
    """Return whether entries are [name, shape], with at most as many columns as an index of 16 bits can hold."""
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


def _are_terms(names: object, layout: list) -> bool:
    """Return whether these are names of terms of a layout, which is valid, whose inputs fit into an index of 16 bits."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        return False
    sizes: dict[str, int] = {}
    for path, shape in layout:
        term = path.split(".")[0]
        sizes[term] = sizes.get(term, 0) + math.prod(shape)
    return set(names) <= sizes.keys() and sum(sizes.values()) + sum(sizes[name] for name in names) <= MOST_COLUMNS


def _are_checks(checks: object) -> bool:
    return isinstance(checks, dict) and checks.keys() <= {*ARRAYS, *OPTIONAL} and all(
        isinstance(parts, list) and all(type(part) is int for part in parts) for parts in checks.values())


def _are_optional(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names) and set(names) <= OPTIONAL.keys() and len(
        set(names)) == len(names) and ("text" in names) == ("text_end" in names)


def _are_shares(pairs: object) -> bool:
    """Return whether these are pairs of a phase and a scale, which must not be negative."""
    return isinstance(pairs, list) and 0 < len(pairs) <= MOST["phases"] + 1 and all(
        isinstance(pair, list) and len(pair) == 2 and all(type(value) in (int, float) and value >= 0 for value in pair)
        for pair in pairs)


def _are_sources(sources: list) -> bool:
    return all(isinstance(source, dict) and isinstance(source.get("file"), str) for source in sources)
