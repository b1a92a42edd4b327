"""Ranges of positions: (m, 2) int64, each from its first position to one past its last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.datasets.format import BY_NONZERO, BY_POSITION

BLOCK = 1 << 16  # positions processed at a time, between two releases of memory
APART = 128  # gap in positions above which reading skips it: some pages of each large array


def ranges_of(data: Dataset, games: np.ndarray) -> np.ndarray:
    """Return the ranges (m, 2) of positions of these games (ascending); adjacent games are joined."""
    if len(games) == 0:
        return np.zeros((0, 2), np.int64)
    breaks = np.flatnonzero(np.diff(games) != 1) + 1
    first, last = games[np.concatenate([[0], breaks])], games[np.concatenate([breaks - 1, [len(games) - 1]])]
    return np.ascontiguousarray(np.stack([data.first[first], data.first[last + 1]], axis=1))


def whole_games(data: Dataset, games: np.ndarray) -> np.ndarray:
    """Return the range of positions (g, 2) of each of these games."""
    return np.ascontiguousarray(np.stack([data.first[games], data.first[games + 1]], axis=1))


def blocks(ranges: np.ndarray, size: int = BLOCK) -> Iterator[np.ndarray]:
    """Split ranges into pieces that each span at most `size` positions."""
    piece: list[tuple[int, int]] = []
    for low, high in ranges.tolist():
        while low < high:
            start = piece[0][0] if piece else low
            stop = min(high, start + size)
            if stop > low:
                piece.append((low, stop))
                low = stop
            if low < high or stop == start + size:
                yield np.array(piece, np.int64)
                piece = []
    if piece:
        yield np.array(piece, np.int64)


def ahead(data: Dataset, ranges: np.ndarray, names: Sequence[str] = BY_POSITION, larger: int = 1) -> Iterator[np.ndarray]:
    """Yield pieces of ranges, `larger` times the usual size; the next ones are read from disk while one is processed."""
    for piece in blocks(ranges, larger * BLOCK) if larger > 1 else blocks(ranges):
        prefetch(data, piece, names)
        yield piece


def prefetch(data: Dataset, piece: np.ndarray, names: Sequence[str] = BY_POSITION) -> None:
    """Start reading ascending ranges from disk; of the large arrays, wide gaps between ranges are skipped."""
    data.prefetch(int(piece[0, 0]), int(piece[-1, 1]), [name for name in names if name not in BY_NONZERO])
    apart = np.flatnonzero(piece[1:, 0] - piece[:-1, 1] > APART)
    large = [name for name in names if name in BY_NONZERO]
    for begin, end in zip([0, *(apart + 1).tolist()], [*apart.tolist(), len(piece) - 1], strict=True) if large else ():
        data.prefetch(int(piece[begin, 0]), int(piece[end, 1]), large)


def together(ranges: np.ndarray, size: int = BLOCK) -> Iterator[slice]:
    """Yield slices of ascending ranges that together span at most `size` positions; a larger range comes alone."""
    begin = 0
    while begin < len(ranges):
        end = max(begin + 1, int(np.searchsorted(ranges[:, 1], ranges[begin, 0] + size, side="right")))
        yield slice(begin, end)
        begin = end
