"""Open a dataset: check its manifest, and on request checksums and every value."""

import copyreg
import json
import math
import mmap
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from games.streams import InputError
from games.system import available_cpus
from tuner.core.records import convert
from tuner.datasets.dataset import Dataset, mapped, stages_in
from tuner.datasets.files import (
    ARRAYS,
    FORMAT,
    HEADER,
    LARGE,
    LARGEST_MANIFEST,
    MANIFEST,
    NARROW,
    OPTIONAL,
    PART,
    READABLE,
    WIDE,
)
from tuner.io.files import read_whole
from tuner.parallel import in_order
from tuner.parameters.parameters import MOST_COLUMNS, fault_of_spans

AGAIN = "build the dataset again"


def require_whole(data: Dataset) -> None:
    """InputError that names the first value out of range, which could make compiled code read
    beyond the arrays, or the first damaged part of a file. Datasets without checksums are only
    checked for values out of range."""
    ascending = (lambda v: np.diff(v) < 0, "numbers in ascending order")
    rules: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
        "row": ascending,
        "first": ascending,
        "index": (lambda v: v >= len(data.column), f"a column below {len(data.column)}"),
        "phase": (lambda v: v >= data.codes, f"a phase of at most {data.codes - 1}"),
        "outcome": (lambda v: ~(abs(v) <= 1), "an outcome from -1 to 1"),
        "weight": (lambda v: ~((v >= 0) & (v < np.inf)), "a weight of 0 or more"),
        "rest": (lambda v: ~np.isfinite(v), "a number"),
        "text_end": ascending,
    }
    if data.wide:
        rules["count"] = lambda v: ~np.isfinite(v), "a number"
    if len(data.text_end) and not 0 <= data.text_end[0] <= data.text_end[-1] == len(data.text):
        raise InputError(
            f"{data.path / 'text_end'}.npy: ends at {data.text_end[-1]}, expected {len(data.text)};"
            f" {AGAIN}"
        )
    if (data.phase_scale[:, 0] > data.phases).any():
        raise InputError(
            f"{data.path / 'manifest'}.json: shares have a phase above {data.phases}; {AGAIN}"
        )
    for name, end in (("row", len(data.index)), ("first", data.positions)):
        values = getattr(data, name)
        if values[0] != 0 or values[-1] != end:
            raise InputError(
                f"{data.path / name}.npy: runs from {values[0]} to {values[-1]}, expected 0 to"
                f" {end}; {AGAIN}"
            )
    checks = data.manifest.get("checks", {})
    for name in (*rules, *(name for name in checks if name not in rules)):
        _check(data, name, checks.get(name), *rules.get(name, (None, "")))


def _check(
    data: Dataset,
    name: str,
    checks: list[int] | None,
    wrong: Callable[[np.ndarray], np.ndarray] | None,
    expected: str,
) -> None:
    values = getattr(data, name)
    if not len(values):
        return
    content, step = memoryview(values).cast("B"), PART // values.itemsize
    parts = -(-len(content) // PART)
    if checks is not None and len(checks) != parts:
        raise InputError(f"{data.path / name}.npy: {parts} parts, expected {len(checks)}; {AGAIN}")

    def problem(part: int) -> str | None:
        begin, end = part * PART, min((part + 1) * PART, len(content))
        if wrong is not None:
            # one more, because order is checked between neighbors
            found = wrong(values[part * step : (part + 1) * step + 1])
            if found.any():
                return (
                    f"entry {part * step + int(np.argmax(found))} is damaged, expected {expected}"
                )
        if checks is not None and zlib.crc32(content[begin:end]) != checks[part]:
            return f"damaged between bytes {HEADER + begin} and {HEADER + end}"
        return None

    def ahead() -> Iterator[int]:
        for part in range(parts):
            data.prefetch_bytes(name, part * PART, (part + 1) * PART)
            yield part

    for found in in_order(problem, ahead(), available_cpus()):
        if found:
            raise InputError(f"{data.path / name}.npy: {found}; {AGAIN}")
        data.release()


MOST_DIMENSIONS, MOST_STAGES = 8, 64
MOST_PHASES = (1 << 16) - 1  # a limit of the type of the array
KINDS: dict[str, Any] = {  # of the values of the manifest
    "program": str,
    "game": str,
    "sources": list[dict],
    "options": dict,
    "layout": list[tuple[str, list[int]]],
    "terms": str,
    "phases": int,
    "stages": list[str],
    "games": int,
    "positions": int,
    "nonzeros": int,
    "apart": list[str],
    "checks": dict[str, list[int]],
    "optional": list[str],
    "wide": bool,
    "shares": list[tuple[float, float]],
    "spans": list[tuple[int, int]],
}
# what may be missing
NOTHING = {
    "apart": [],
    "checks": {},
    "optional": [],
    "wide": False,
    "shares": [[0, 1]],
    "spans": [],
}
LIMITS: dict[str, Callable[[Any], bool]] = {
    "phases": lambda n: 0 < n <= MOST_PHASES,
    "games": lambda n: 0 < n < 2**63,
    "positions": lambda n: 0 < n < 2**63,
    "nonzeros": lambda n: 0 <= n < 2**63,
    "stages": lambda names: 0 < len(names) <= MOST_STAGES,
    "sources": lambda files: all(isinstance(file.get("file"), str) for file in files),
    "layout": lambda layout: (
        0 < sum(_sizes(layout)) <= MOST_COLUMNS
        and len({name for name, _ in layout}) == len(layout)
        and all(
            name.count(".") == 1 and len(shape) <= MOST_DIMENSIONS and all(n > 0 for n in shape)
            for name, shape in layout
        )
    ),
    "checks": lambda checks: checks.keys() <= {*ARRAYS, *OPTIONAL},
    "optional": lambda names: (
        set(names) <= OPTIONAL.keys()
        and _are_unique(names)
        and ("text" in names) == ("text_end" in names)
    ),
    "shares": lambda pairs: (
        0 < len(pairs) <= MOST_PHASES + 1 and all(value >= 0 for pair in pairs for value in pair)
    ),
}


def open_dataset(path: str | Path, check: bool = True) -> Dataset:
    """Open a dataset; InputError for a folder that is not a dataset or is damaged.

    `check`: check also value ranges and checksums, see `tuner.datasets.reader`.
    """
    path = Path(path)
    manifest = _read_manifest(path)
    wide, optional = manifest.get("wide", False), manifest.get("optional", [])
    large = sum(_sizes(manifest["layout"])) > NARROW
    kinds = {**ARRAYS, **(LARGE if large else WIDE if wide else {})}
    kinds |= {name: OPTIONAL[name] for name in optional}
    arrays = {name: np.zeros(0, kind) for name, kind in OPTIONAL.items()}
    for name, kind in kinds.items():
        try:
            array = np.lib.format.open_memmap(path / f"{name}.npy", mode="r")
        # NumPy evaluates the header as Python source: a damaged one may raise anything
        except Exception as problem:
            reason = getattr(problem, "strerror", None) or str(problem).partition("\n")[0]
            raise InputError(f"{path / name}.npy: damaged ({reason}); {AGAIN}") from None
        if array.dtype != kind or array.ndim != 1:
            raise InputError(
                f"{path / name}.npy: holds {array.dtype} of {array.ndim} dimensions, expected "
                f"{np.dtype(kind)} of 1; {AGAIN}"
            )
        arrays[name] = array
    n, games = manifest["positions"], manifest["games"]
    sizes = {
        "row": n + 1,
        "phase": n,
        "outcome": n,
        "weight": n,
        "first": games + 1,
        "game": games,
        "opening": games,
        "index": manifest["nonzeros"],
        "count": manifest["nonzeros"],
        **{name: n for name in optional if name != "text"},
    }
    for name, size in sizes.items():
        if len(arrays[name]) != size:
            raise InputError(
                f"{path / name}.npy: {len(arrays[name])} entries, expected {size}; {AGAIN}"
            )
    maps = tuple(pages for pages in map(mapped, arrays.values()) if pages is not None)
    data = Dataset(
        path, manifest, maps, **{name: array.view(np.ndarray) for name, array in arrays.items()}
    )
    for pages in data.pages.values():
        pages.madvise(
            mmap.MADV_RANDOM
        )  # prefetching is explicit: some systems would read megabytes around every page
    if check:
        require_whole(data)
    return data


def _reduced(data: Dataset) -> tuple:
    """A dataset is pickled as the path of its folder, and what differs from the folder."""
    others = {
        f.name: getattr(data, f.name) for f in fields(data) if f.name not in ("path", "_maps")
    }
    changed = {
        name: value
        for name, value in others.items()
        if not isinstance(value, np.ndarray) or len(value) and mapped(value) is None
    }
    return _reopened, (os.path.abspath(data.path), changed)


def _reopened(path: str, changed: dict) -> Dataset:
    return replace(open_dataset(path, check=False), **changed)


copyreg.pickle(Dataset, _reduced)


def _read_manifest(path: Path) -> dict:
    """Read and check the manifest."""
    try:
        manifest = json.loads(
            read_whole(path / MANIFEST, LARGEST_MANIFEST, "a manifest"),
            parse_constant=_finite,
            parse_float=_finite,
        )
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{path}: not a dataset (no {MANIFEST}); make one with `tuner dataset GAMES -o DIR`"
        ) from None
    except InputError:
        if (path / MANIFEST).exists():
            raise
        raise InputError(
            f"{path}: not a dataset (no {MANIFEST}); make one with `tuner dataset GAMES -o DIR`"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path / MANIFEST}: damaged; {AGAIN}") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{path / MANIFEST}: damaged; {AGAIN}")
    if manifest.get("format") not in READABLE:
        raise InputError(
            f"{path}: dataset format {str(manifest.get('format'))[:20]}, expected {FORMAT}; build"
            " it again"
        )
    for key, kind in KINDS.items():
        value = manifest.get(key, NOTHING.get(key))
        if not _is(value, kind) or not LIMITS.get(key, lambda value: True)(value):
            raise InputError(
                f"{path / MANIFEST}: {key} is {'damaged' if key in manifest else 'missing'};"
                f" {AGAIN}"
            )
    stages = stages_in(manifest)
    spanned = len(stages.spans) == len(stages.names) > 1 and not fault_of_spans(stages)
    if not (spanned if stages.spans else len(stages.names) <= 2):
        raise InputError(f"{path / MANIFEST}: spans are damaged; {AGAIN}")
    if not _can_be_apart(manifest.get("apart", []), manifest["layout"]):
        raise InputError(f"{path / MANIFEST}: apart is damaged; {AGAIN}")
    return manifest


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _is(value: object, kind: Any) -> bool:
    try:
        convert(value, kind, "")
    except InputError:
        return False
    return True


def _sizes(layout: list) -> list[int]:
    return [math.prod(shape) for _, shape in layout]


def _are_unique(names: list[str]) -> bool:
    return len(set(names)) == len(names)


def _can_be_apart(names: list[str], layout: list) -> bool:
    """Return whether these are terms of a layout, and all inputs, including the second player's,
    fit into 16 bits."""
    terms = [path.split(".")[0] for path, _ in layout]
    inputs = sum(
        size * (1 + (term in names)) for term, size in zip(terms, _sizes(layout), strict=True)
    )
    return _are_unique(names) and set(names) <= set(terms) and (inputs <= NARROW or not names)
