"""A search ready to use: its memory, what limits it, and what it found."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from games.search.context import DECIDED, LINE, MATE, MAX_DEPTH, ROWS, UNIT, Context
from games.search.harvest import MORE
from games.search.iterate import LENGTH, NODES, VALUE, VARIATION

UNLIMITED = 1 << 62
SAMPLED = 1000  # entries of the table looked at to tell how full it is


@dataclass(frozen=True)
class Limits:
    """Where a search ends: at a depth, a number of nodes, a time; the first that is reached."""

    depth: int = MAX_DEPTH
    nodes: int = UNLIMITED
    seconds: float | None = None  # stop, wherever the search is
    enough: float | None = None  # begin no further depth after so long


@dataclass(frozen=True)
class Found:
    """What a search found: values are for the side to move."""

    value: float  # centipawns
    win_in: int | None  # plies to a forced win, or minus those to a loss
    variation: tuple[int, ...]  # principal variation, into quiescence
    depth: int
    nodes: int
    seconds: float

    @property
    def move(self) -> int | None:
        """The best move; None if there is no move."""
        return self.variation[0] if self.variation else None


class Searcher:
    """One search's memory. Use one in each thread; searching releases the GIL.

    `playing`: prune and reduce as in `games.search.alphabeta`; else values are exact. `margin`: centipawns, what pruning
    takes for a small advantage.
    """

    def __init__(self, dtype: np.dtype, deepen: Callable, function: int, weights: int, playing: bool, margin: float,
                 megabytes: int) -> None:
        self._memory = Context(dtype, function, weights)
        self._context = c = self._memory.records
        self._deepen = deepen
        self._reports = np.zeros((MAX_DEPTH + 1, VARIATION + ROWS), np.int64)
        c["playing"], c["margin"] = playing, round(margin * UNIT)
        depths = np.log(np.maximum(np.arange(64), 1))
        c["reductions"] = (0.5 + np.outer(depths, depths) / 2.3).astype(np.int64)
        self.weights: np.ndarray | None = None  # whoever binds an array by its address keeps it alive here
        self.resize(megabytes)
        self.harvest(0)

    def bind(self, function: int, weights: int) -> None:
        """Evaluate by the function and the weights at these addresses from now on."""
        self._memory.bind(function, weights)

    def resize(self, megabytes: int) -> None:
        """A transposition table of at most so many megabytes, empty."""
        entries = 1 << max(10, (megabytes << 20 >> 4).bit_length() - 1)
        self._table = np.zeros(2 * entries, np.uint64)
        self._context["table"], self._context["table_mask"] = self._table.ctypes.data, entries - 1

    def clear(self) -> None:
        """Forget everything that was found before."""
        self._table[:] = 0
        self._context["killers"] = 0
        self._context["worth"] = 0

    def choose_by(self, seed: int) -> None:
        """Choose among moves that are equally good one ply deep by this number; 0: the first."""
        self._context["seed"] = seed

    def harvest(self, room: int, iteration: int | None = None) -> None:
        """Keep what searches find out about the first `room` positions of their trees, in the iteration of this depth or
        else of the search's own. In the first one the tree has the root alone, above quiescence."""
        width = self._context["stack"].shape[2] + MORE
        self._kept = np.zeros((room, width), np.uint64)
        self._context["harvest"], self._context["harvest_room"] = self._kept.ctypes.data, room
        self._iteration = iteration

    @property
    def kept(self) -> np.ndarray:
        """(n, words + MORE) what the last search found out; see games.search.harvest. Valid until the next one."""
        return self._kept[:int(self._context[0]["harvested"])]

    def stop(self) -> None:
        """Make the search that runs in another thread return soon."""
        self._memory.stop(True)

    @property
    def full(self) -> float:
        """Share of the table in use."""
        return float(np.count_nonzero(self._table[:2 * SAMPLED:2])) / min(SAMPLED, len(self._table) // 2)

    def place(self, line: Sequence[np.ndarray]) -> None:
        """Make the last position of a line the root, and the others those that may come back."""
        words = np.asarray(line[-LINE:])
        self._context["before"] = len(words) - 1
        self._context["keys"][0, :len(words)] = words[:, -1]
        self._context["stack"][0, 0] = words[-1]

    def search(self, line: Sequence[np.ndarray], limits: Limits,
               report: Callable[[Found], None] | None = None) -> Found:
        """Search the last position of a line; the earlier ones are those that may come back.

        `report` is called after each depth.
        """
        started = time.monotonic()
        self.place(line)
        c = self._context
        c["nodes"], c["node_limit"], c["stopped"] = 0, limits.nodes, 0
        c["killers"], c["harvested"], c["harvest_depth"] = 0, 0, self._iteration or limits.depth
        self._memory.stop(False)
        timer = None
        if limits.seconds is not None:
            timer = threading.Timer(limits.seconds, self.stop)
            timer.daemon = True
            timer.start()
        try:
            depth = self._through(limits, started, report)
        finally:
            if timer:
                timer.cancel()
        return self._found(depth, started)

    def _through(self, limits: Limits, started: float, report: Callable[[Found], None] | None) -> int:
        """Depth by depth; returns the last one completed."""
        last = min(limits.depth, MAX_DEPTH)
        if report is None and limits.enough is None:
            return self._deepen(self._context, 1, last, self._reports)
        for depth in range(1, last + 1):
            if self._deepen(self._context, depth, depth, self._reports) < depth:
                return depth - 1
            if report:
                report(self._found(depth, started))
            if limits.enough is not None and time.monotonic() - started >= limits.enough:
                return depth
        return last

    def _found(self, depth: int, started: float) -> Found:
        row, c = self._reports[depth], self._context[0]
        variation = row[VARIATION:VARIATION + row[LENGTH]]
        # the depth that was broken off had found something better or confirmed it; an exact value is that of a whole depth
        if c["stopped"] and c["playing"] and c["lengths"][0]:
            variation = c["variations"][0, :c["lengths"][0]]
        value = int(row[VALUE])
        win_in = None
        if abs(value) > DECIDED:
            win_in = MATE - value if value > 0 else -MATE - value
        return Found(value / UNIT, win_in, tuple(int(move) for move in variation), depth,
                     int(c["nodes"] if c["stopped"] else row[NODES]), time.monotonic() - started)
