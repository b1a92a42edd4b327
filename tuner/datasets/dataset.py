"""An open dataset: positions as sparse coefficients on disk, three bytes a nonzero, read through memory maps."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tuner.datasets.array_files import HEADER
from tuner.datasets.format import BY_NONZERO, BY_POSITION
from tuner.datasets.rows import Rows
from tuner.parameters.layout import Layout, Place, shares_of

LARGE = 1 << 24  # bytes above which an array is read in parts


@dataclass(frozen=True)
class Dataset:
    """An open dataset: memory maps named as in ARRAYS and OPTIONAL, and the manifest. Arrays that it lacks are empty."""

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
    rest: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    evaluation: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    score: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    text: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    text_end: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def __repr__(self) -> str:
        return (f"<Dataset {self.path}: {self.manifest['game']}, {self.games:,} games, {self.positions:,} positions, "
                f"{self.columns:,} columns>")

    @property
    def games(self) -> int:
        return len(self.game)

    @property
    def positions(self) -> int:
        return len(self.phase)

    def matrix(self) -> Any:
        """Return the coefficients (positions, columns), first player minus second, as a SciPy CSR array of float64."""
        rows = self.rows(0, self.positions)
        if not self.apart:
            return rows.matrix(self.columns)
        sign = np.where(rows.index < self.columns, 1.0, -1.0)
        return rows._replace(index=self.column[rows.index], count=rows.count * sign).matrix(self.columns)

    def sums(self) -> Any:
        """Return the counts of both players together (positions, k) of the terms that are kept apart, in the order of `column`
        from `columns` on, as a SciPy CSR array of float64."""
        both = self.rows(0, self.positions).matrix(len(self.column))
        return both[:, self.column[self.columns:].astype(np.int64)] + both[:, self.columns:]

    def rows(self, begin: int, end: int) -> Rows:
        """Return positions begin to end, without copying."""
        low, high = int(self.row[begin]), int(self.row[end])
        return Rows(self.index[low:high], self.count[low:high], self.row[begin:end + 1], self.phase[begin:end],
                    self.outcome[begin:end], self.weight[begin:end], self.rest[begin:end])

    def release(self) -> None:
        """Release the memory of pages read so far; they stay in the system's cache."""
        for pages in self._maps:
            if hasattr(pages, "madvise"):
                pages.madvise(mmap.MADV_DONTNEED)

    def prefetch(self, low: int, high: int, names: Sequence[str] = BY_POSITION) -> None:
        """Start reading positions low to high from disk in the background."""
        nonzeros = int(self.row[low]), int(self.row[high])
        for name in names:
            if not len(getattr(self, name)):
                continue
            size = getattr(self, name).itemsize
            a, b = nonzeros if name in BY_NONZERO else (low, high + (name == "row"))
            self.prefetch_bytes(name, a * size, b * size)

    def prefetch_bytes(self, name: str, begin: int, end: int) -> None:
        """Start reading some bytes of an array from disk in the background."""
        pages = self.pages.get(name)
        if pages is not None:
            start = (HEADER + begin) // mmap.PAGESIZE * mmap.PAGESIZE
            stop = min(HEADER + end, len(pages))
            if stop > start:
                pages.madvise(mmap.MADV_WILLNEED, start, stop - start)

    @cached_property
    def pages(self) -> dict[str, mmap.mmap]:
        """Memory maps of the arrays by position that are large enough to be read in parts."""
        found = {}
        for name in BY_POSITION:
            base = mapped(getattr(self, name))
            if base is not None and len(base) > LARGE and hasattr(base, "madvise"):
                found[name] = base
        return found

    @cached_property
    def layout(self) -> Layout:
        """The layout of its columns."""
        places, first = [], 0
        for path, shape in self.manifest["layout"]:
            term, name = path.split(".")
            places.append(Place(term, name, tuple(shape), first))
            first += places[-1].size
        return Layout(tuple(places))

    @cached_property
    def columns(self) -> int:
        return self.layout.size

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of `matrix`, such as "material.pawn" and "piece_square.king[0][6]"."""
        return self.layout.labels()

    @property
    def apart(self) -> list[str]:
        """Names of the terms that are not linear, whose counts are kept for each side."""
        return self.manifest.get("apart", [])

    @cached_property
    def column(self) -> np.ndarray:
        """The column (inputs,) uint16 of each value of `index`: those from `columns` on are counts of the second player of terms
        that are kept apart; see `evalterms.form`."""
        second = [np.arange(place.first, place.first + place.size) for place in self.layout.places if place.term in self.apart]
        return np.concatenate([np.arange(self.columns), *second]).astype(np.uint16)

    @property
    def phases(self) -> int:
        """Steps of the phase: a position of phase f has the share f / phases of the first stage."""
        return self.manifest["phases"]

    @property
    def wide(self) -> bool:
        """Whether counts are float32 and phases uint16."""
        return self.count.dtype == np.float32

    @property
    def scaled(self) -> bool:
        """Whether positions have a scale of the last stage."""
        return "shares" in self.manifest

    @property
    def counted_elsewhere(self) -> bool:
        """Whether it has anything that only positions counted by another program have."""
        return self.wide or self.scaled or any(len(array) for array in (
            self.rest, self.evaluation, self.score, self.text))

    @cached_property
    def phase_scale(self) -> np.ndarray:
        """Phase, in steps of the first stage, and scale of the last stage (codes, 2) for each value of `phase`."""
        given = self.manifest.get("shares")
        if given is not None:
            return np.array(given, np.float64)
        steps = np.arange(self.phases + 1, dtype=np.float64)
        return np.stack([steps, np.ones(len(steps))], axis=1)

    @property
    def codes(self) -> int:
        """Number of values that `phase` can have."""
        return len(self.phase_scale)

    def shares(self, stages: int, scaled: bool = True) -> np.ndarray:
        """Return the share (stages, codes) of each stage in a position for each value of `phase`; the last stage's is
        multiplied by its scale if `scaled`."""
        tapered = len(self.manifest["stages"])
        found = shares_of(self.phase_scale[:, 0], self.phases, tapered)
        if scaled:
            found[-1] *= self.phase_scale[:, 1]
        return found.sum(axis=0, keepdims=True) if stages < tapered else found

    def texts(self, positions: np.ndarray) -> list[str]:
        """Return the text of some positions (indices), "" where there is none."""
        if not len(self.text_end):
            return [""] * len(positions)
        ends = self.text_end[positions]
        begins = np.where(positions > 0, self.text_end[np.maximum(positions, 1) - 1], 0)
        return [bytes(self.text[a:b]).decode("utf-8", "replace") for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]


def mapped(array: Any) -> mmap.mmap | None:
    """Return the memory map that an array is a view of, None for an array in memory."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "base", None)
    return array
