"""One `go`: a search in its own thread, with `info` lines during the search and one `bestmove` at the end."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

import numpy as np

from games.search.searcher import Found, Limits, Searcher
from games.shogi.declaration import declares
from games.shogi.movegen import moves_of, play
from games.shogi.notation import move_name
from games.shogi.position import STATE
from games.shogi.usi.go import Go

RESIGN, WIN = "resign", "win"  # without a legal move; by declaration


def score_text(found: Found) -> str:
    """Return the score in USI form: centipawns, or plies to mate."""
    return f"cp {round(found.value)}" if found.win_in is None else f"mate {found.win_in}"


def pv_names(words: np.ndarray, pv: tuple[int, ...]) -> list[str]:
    """Return the names of the moves of a PV, up to the first illegal one."""
    names = []
    for move in pv:
        if move not in moves_of(words):
            break
        names.append(move_name(words, move))
        after = np.empty_like(words)
        play(words, move, after)
        words = after
    return names


class Thinking:
    """A search that starts on construction and writes exactly one `bestmove`, whatever happens.

    `line`: the positions of the game; `started`: the time of the `go`, by `time.monotonic`.
    """

    def __init__(self, searcher: Searcher, line: list[np.ndarray], go: Go, overhead: float, started: float,
                 write: Callable[[str], None]) -> None:
        self._searcher, self._line, self._write, self._started = searcher, line, write, started
        self._moves = moves_of(line[-1])
        self._limits = go.limits(bool(int(line[-1][STATE]) & 1), overhead)
        self._pondering, self._until_stop = go.ponder, go.infinite
        self._halted = self._satisfied = False
        self._released = threading.Event()  # bestmove may be written
        self._timer: threading.Timer | None = None
        self.over = False  # bestmove is written, or being written
        if not go.ponder:
            self._begin_clock(started)
            if not go.infinite:
                self._released.set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the search and write `bestmove`."""
        self._released.set()
        self._halt()

    @property
    def stopped(self) -> bool:
        """Whether the search was stopped, so that it ends soon."""
        return self._halted and self._released.is_set()

    def ponderhit(self) -> None:
        """The opponent played the expected move: start our clock. ValueError unless pondering."""
        if not self._pondering:
            raise ValueError("ponderhit without go ponder")
        self._pondering = False
        self._begin_clock(time.monotonic())
        if not self._until_stop:
            self._released.set()
        if self._satisfied:
            self._halt()

    def wait(self) -> None:
        """Wait until `bestmove` is written."""
        self._thread.join()

    def _halt(self) -> None:
        self._halted = True  # set first: a search that has not begun yet misses the stop
        if not self.over:  # the searcher may already run for another `go`
            self._searcher.stop()

    def _begin_clock(self, started: float) -> None:
        if self._limits.seconds is not None:
            self._timer = threading.Timer(max(0.0, started + self._limits.seconds - time.monotonic()), self._halt)
            self._timer.daemon = True
            self._timer.start()

    def _run(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # the GUI has closed the pipe; the end of the input follows
            names: list[str] = []
            try:
                names = self._search()
                self._released.wait()
            finally:
                if self._timer:
                    self._timer.cancel()
                names = names or [move_name(self._line[-1], move) for move in self._moves[:1]] or [RESIGN]
                self.over = True
                self._write("bestmove " + " ponder ".join(names[:2]))

    def _search(self) -> list[str]:
        """Search; returns the names of the moves of the PV, or what to say instead of a move."""
        if not self._moves:
            return [RESIGN]
        if declares(self._line[-1]):
            return [WIN]
        limits = Limits(depth=self._limits.depth, nodes=self._limits.nodes)
        return self._write_info(self._searcher.search(self._line, limits, report=self._report))

    def _report(self, found: Found) -> None:
        """Report a completed depth, and stop at the soft limit."""
        self._write_info(found)
        soft = self._limits.soft_seconds
        if soft is not None and time.monotonic() - self._started >= soft:
            self._satisfied = True
        if self._satisfied and not self._pondering:
            self._halt()
        if self._halted:
            self._searcher.stop()

    def _write_info(self, found: Found) -> list[str]:
        names = pv_names(self._line[-1], found.pv)
        if found.depth:
            self._write(f"info depth {found.depth} score {score_text(found)} nodes {found.nodes} "
                        f"nps {round(found.nodes / max(found.seconds, 1e-6))} hashfull {round(1000 * self._searcher.hashfull)} "
                        f"time {round(1000 * found.seconds)} pv {' '.join(names)}")
        return names
