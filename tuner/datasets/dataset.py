"""An open dataset: positions as sparse rows of counts on disk, read through memory maps, by ranges
(m, 2) int64 of positions, each from its first to one past its last."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tuner.core.text import plural
from tuner.datasets.files import BY_NONZERO, BY_POSITION, HEADER, Rows
from tuner.parameters.parameters import Layout, Place, Stages, in_order

BLOCK = 1 << 16  # positions processed at a time, between two releases of memory
APART = 128  # gap in positions above which reading skips it: some pages of each large array


def ranges_of(data: Dataset, games: np.ndarray) -> np.ndarray:
    """Return the ranges (m, 2) of positions of these games (ascending); adjacent games are
    joined."""
    if len(games) == 0:
        return np.zeros((0, 2), np.int64)
    breaks = np.flatnonzero(np.diff(games) != 1) + 1
    first, last = (
        games[np.concatenate([[0], breaks])],
        games[np.concatenate([breaks - 1, [len(games) - 1]])],
    )
    return np.ascontiguousarray(np.stack([data.first[first], data.first[last + 1]], axis=1))


def whole_games(data: Dataset, games: np.ndarray) -> np.ndarray:
    """Return the range of positions (g, 2) of each of these games."""
    return np.ascontiguousarray(np.stack([data.first[games], data.first[games + 1]], axis=1))


def blocks(ranges: np.ndarray, size: int = BLOCK) -> Iterator[np.ndarray]:
    """Split ascending ranges into pieces that each span at most `size` positions."""
    left = ranges[ranges[:, 0] < ranges[:, 1]]
    while len(left):
        end = left[0, 0] + size
        piece = left[: np.searchsorted(left[:, 0], end)].copy()
        left = left[np.searchsorted(left[:, 1], end, side="right") :].copy()
        piece[-1, 1] = min(piece[-1, 1], end)
        if len(left):
            left[0, 0] = max(left[0, 0], end)
        yield piece


def positions_at(ranges: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the positions (n,) at some places among the positions of the ranges, counted from
    0."""
    counts = ranges[:, 1] - ranges[:, 0]
    ends = np.cumsum(counts)
    which = np.searchsorted(ends, places, side="right")
    return ranges[which, 0] + places - (ends - counts)[which]


def ahead(
    data: Dataset, ranges: np.ndarray, names: Sequence[str] = BY_POSITION, larger: int = 1
) -> Iterator[np.ndarray]:
    """Yield pieces of ranges, `larger` times the usual size; the next ones are read from disk while
    one is processed."""
    for piece in blocks(ranges, larger * BLOCK) if larger > 1 else blocks(ranges):
        prefetch(data, piece, names)
        yield piece


def prefetch(data: Dataset, piece: np.ndarray, names: Sequence[str] = BY_POSITION) -> None:
    """Start reading ascending ranges from disk; of the large arrays, wide gaps between ranges are
    skipped."""
    data.prefetch(
        int(piece[0, 0]), int(piece[-1, 1]), [name for name in names if name not in BY_NONZERO]
    )
    apart = np.flatnonzero(piece[1:, 0] - piece[:-1, 1] > APART)
    large = [name for name in names if name in BY_NONZERO]
    for begin, end in (
        zip([0, *(apart + 1).tolist()], [*apart.tolist(), len(piece) - 1], strict=True)
        if large
        else ()
    ):
        data.prefetch(int(piece[begin, 0]), int(piece[end, 1]), large)


def together(ranges: np.ndarray, size: int = BLOCK) -> Iterator[slice]:
    """Yield slices of ascending ranges that together span at most `size` positions; a larger range
    comes alone."""
    begin = 0
    while begin < len(ranges):
        end = max(
            begin + 1, int(np.searchsorted(ranges[:, 1], ranges[begin, 0] + size, side="right"))
        )
        yield slice(begin, end)
        begin = end


def games_ahead(data: Dataset, games: np.ndarray, size: int = BLOCK) -> Iterator[np.ndarray]:
    """Yield the games (g, 2), some at a time as `together`; the next ones are read from disk while
    some are processed."""
    for some in together(games, size):
        piece = np.ascontiguousarray(games[some])
        prefetch(data, piece)
        yield piece


def size_of(ranges: np.ndarray) -> int:
    """Return how many positions ranges (m, 2) have."""
    return int((ranges[:, 1] - ranges[:, 0]).sum())


def places_of(ranges: np.ndarray) -> np.ndarray:
    """Return the positions (n,) of ranges (m, 2), in the order of the ranges."""
    sizes = ranges[:, 1] - ranges[:, 0]
    return np.repeat(ranges[:, 1] - np.cumsum(sizes), sizes) + np.arange(sizes.sum())


LARGE = 1 << 24  # bytes above which an array is read in parts


@dataclass(frozen=True)
class Dataset:
    """An open dataset: memory maps named as in ARRAYS and OPTIONAL, and the manifest. Arrays that
    it lacks are empty."""

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
        return (
            f"<Dataset {self.path}: {self.manifest['game']}, {plural(self.games, 'game')},"
            f" {plural(self.positions, 'position')}, {plural(self.columns, 'column')}>"
        )

    @property
    def games(self) -> int:
        return len(self.game)

    @property
    def positions(self) -> int:
        return len(self.phase)

    def matrix(self) -> Any:
        """Return the coefficients (positions, columns), first player minus second, as a SciPy CSR
        array of float64."""
        rows = self.rows(0, self.positions)
        if not self.apart:
            return rows.matrix(self.columns)
        sign = np.where(rows.index < self.columns, 1.0, -1.0)
        return rows._replace(index=self.column[rows.index], count=rows.count * sign).matrix(
            self.columns
        )

    def sums(self) -> Any:
        """Return the counts of both players together (positions, k) of the terms that are kept
        apart, in the order of `column` from `columns` on, as a SciPy CSR array of float64."""
        both = self.rows(0, self.positions).matrix(len(self.column))
        return both[:, self.column[self.columns :].astype(np.int64)] + both[:, self.columns :]

    def rows(self, begin: int, end: int) -> Rows:
        """Return positions begin to end, without copying."""
        low, high = int(self.row[begin]), int(self.row[end])
        return Rows(
            self.index[low:high],
            self.count[low:high],
            self.row[begin : end + 1],
            self.phase[begin:end],
            self.outcome[begin:end],
            self.weight[begin:end],
            self.rest[begin:end],
        )

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
        maps = {}
        for name in BY_POSITION:
            base = mapped(getattr(self, name))
            if base is not None and len(base) > LARGE and hasattr(base, "madvise"):
                maps[name] = base
        return maps

    @cached_property
    def layout(self) -> Layout:
        """The layout of its columns."""
        named = ((*path.split("."), tuple(shape)) for path, shape in self.manifest["layout"])
        return Layout(in_order(Place(term, name, shape) for term, name, shape in named))

    @cached_property
    def columns(self) -> int:
        return self.layout.size

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of `matrix`, such as "material.pawn" and
        "piece_square.king[0][6]"."""
        return self.layout.labels()

    @property
    def apart(self) -> list[str]:
        """Names of the terms that are not linear, whose counts are kept for each side."""
        return self.manifest.get("apart", [])

    @cached_property
    def column(self) -> np.ndarray:
        """The column (inputs,) of each value of `index`: those from `columns` on are counts
        of the second player of terms that are kept apart; see `evalterms.term`."""
        second = [
            np.arange(place.first, place.first + place.size)
            for place in self.layout.places
            if place.term in self.apart
        ]
        return np.concatenate([np.arange(self.columns), *second]).astype(self.index.dtype)

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
        return (
            self.wide
            or self.scaled
            or any(len(array) for array in (self.rest, self.evaluation, self.score, self.text))
        )

    @cached_property
    def phase_scale(self) -> np.ndarray:
        """Phase, in steps of the first stage, and scale of the last stage (codes, 2) for each value
        of `phase`."""
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
        """Return the share (stages, codes) of each stage in a position for each value of `phase`;
        the last stage's is multiplied by its scale if `scaled`."""
        found = self.staging.shares(self.phase_scale[:, 0])
        if scaled:
            found[-1] *= self.phase_scale[:, 1]
        return found.sum(axis=0, keepdims=True) if stages < len(found) else found

    @property
    def staging(self) -> Stages:
        """How its stages share the steps of the phase."""
        return stages_in(self.manifest)

    def staged(self, stages: Stages) -> Dataset:
        """Return the same positions with different stages; one stage is the mean of those it
        has."""
        if len(stages.names) == 1 or stages == self.staging:
            return self
        return replace(self, manifest={**self.manifest, **of_stages(stages)})

    def texts(self, positions: np.ndarray) -> list[str]:
        """Return the text of some positions (indices), "" where there is none."""
        if not len(self.text_end):
            return [""] * len(positions)
        ends = self.text_end[positions]
        begins = np.where(positions > 0, self.text_end[np.maximum(positions, 1) - 1], 0)
        return [
            bytes(self.text[a:b]).decode("utf-8", "replace")
            for a, b in zip(begins.tolist(), ends.tolist(), strict=True)
        ]


def stages_in(manifest: dict) -> Stages:
    """Return the stages of a manifest."""
    spans = tuple((low, high) for low, high in manifest.get("spans", []))
    return Stages(tuple(manifest["stages"]), manifest["phases"], spans)


def of_stages(stages: Stages) -> dict:
    """Return stages as entries of a manifest; `spans` only if they are not the usual ones."""
    spans = {"spans": [list(span) for span in stages.spans]}
    return {
        "stages": list(stages.names),
        "phases": stages.phases,
        **(spans if stages.spans else {}),
    }


def mapped(array: Any) -> mmap.mmap | None:
    """Return the memory map that an array is a view of, None for an array in memory."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "base", None)
    return array
