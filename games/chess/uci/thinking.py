"""One `go`: a search in its own thread, with `info` lines during the search and one `bestmove` at the end."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from games.chess.coordinates import move_name, move_named
from games.chess.fen import START
from games.chess.game import after, in_check, moves_of, result
from games.chess.uci.go import Go
from games.chess.uci.line import Line
from games.search.clock import Clock, limits_of, limits_of_move
from games.search.root_moves import search_root_moves
from games.search.searcher import Found, Limits, Searcher

ONLY_MOVE_DEPTH = 6  # on the clock, with a single legal move: enough for a ponder move
MATE_MARGIN = 4  # extra plies for a pruning search to find a mate
LONGEST = 1_000_000.0  # seconds; longer timers overflow


def limits_of_go(go: Go, white: bool, overhead: float) -> Limits:
    """Return the limits of the search for a `go`; `overhead` in seconds."""
    remaining, increment = go.clock(white)
    limits = Limits()
    if go.infinite:
        pass
    elif go.movetime is not None:
        limits = limits_of_move(go.movetime / 1000, overhead)
    elif remaining is not None:
        limits = limits_of(Clock(remaining / 1000, increment / 1000, go.movestogo or None), overhead)
    depth = go.depth
    if go.mate is not None and not go.infinite and not replace(go, mate=None).ends(white):
        depth = 2 * go.mate - 1 + MATE_MARGIN  # the mate may not exist
    return replace(limits, depth=min(depth or limits.depth, limits.depth), nodes=min(go.nodes or limits.nodes, limits.nodes))


def sensible(go: Go, faults: list[str], root: np.ndarray) -> tuple[Go, list[str]]:
    """Return the `go` to search, and its faults with those found in the position. A faulty `go` is still answered: its valid
    arguments apply, and without any limit left the search is one ply deep."""
    legal, faults = [], list(faults)
    for name in go.searchmoves:
        try:
            move_named(root, name)
        except ValueError:
            faults.append(f"searchmoves: illegal move {name[:40]!a}; ignored")
        else:
            legal.append(name)
    white = not int(root[8]) & 1
    clocks = go.clock(white)[0], go.clock(not white)[0]
    if clocks[0] is None and clocks[1] is not None and not go.ends(white):
        faults.append(f"{'wtime' if white else 'btime'} is missing, the clock of the side to move")
    if faults and not (go.infinite or go.ends(white)):
        go = replace(go, depth=1)
    return replace(go, searchmoves=tuple(legal)), faults


def score_text(found: Found) -> str:
    """Return the score in UCI form: centipawns, or moves (not plies) to mate."""
    if found.win_in is None:
        return f"cp {round(found.value)}"
    return f"mate {(found.win_in + 1) // 2 if found.value > 0 else -((1 - found.win_in) // 2)}"


def pv_names(words: np.ndarray, pv: tuple[int, ...], chess960: bool) -> list[str]:
    """Return the names of the moves of a PV, up to the first illegal one."""
    names = []
    for move in pv:
        if move not in moves_of(words):
            break
        names.append(move_name(words, move, chess960))
        words = after(words, move)
    return names


def warm_up(searcher: Searcher) -> None:
    """Run a short search: compiled functions load at their first call, which takes a fraction of a second."""
    line = Line()
    line.set(START, ["e2e4"])
    in_check(line.playable()[-1])
    Thinking(searcher, line.playable(), Go(depth=2, searchmoves=("e7e5",)), False, 0.0, time.monotonic(), lambda _: None).wait()


class Thinking:
    """A search that starts on construction and writes exactly one `bestmove`, whatever happens.

    `line`: the positions of the game, see `Line.playable`; `go`: the result of `sensible`; `started`: the time of the `go`, by
    `time.monotonic`.
    """

    def __init__(self, searcher: Searcher, line: list[np.ndarray], go: Go, chess960: bool, overhead: float, started: float,
                 write: Callable[[str], None]) -> None:
        self._searcher, self._line, self._chess960, self._write, self._started = searcher, line, chess960, write, started
        root = line[-1]
        self._moves = moves_of(root)
        self._chosen = list(dict.fromkeys(move_named(root, name) for name in go.searchmoves))
        self._limits = limits_of_go(go, not int(root[8]) & 1, overhead)
        self._mate = go.mate
        if self._limits.soft_seconds is not None and len(self._chosen or self._moves) == 1:
            self._limits = replace(self._limits, depth=min(self._limits.depth, ONLY_MOVE_DEPTH))
        self._pondering, self._until_stop = go.ponder, go.infinite
        self._halted = self._satisfied = False
        self._released = threading.Event()  # bestmove may be written
        self._timer: threading.Timer | None = None
        self._reported = (0, 0)  # depth and nodes of the last info line
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
            left = started + self._limits.seconds - time.monotonic()
            self._timer = threading.Timer(max(0.0, min(left, LONGEST)), self._halt)
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
                fallback = (self._chosen or self._moves)[:1]  # stopped before the first result
                names = names or [move_name(self._line[-1], move, self._chess960) for move in fallback]
                self.over = True
                self._write("bestmove " + (" ponder ".join(names[:2]) or "(none)"))

    def _search(self) -> list[str]:
        """Search; returns the names of the moves of the PV."""
        root = self._line[-1]
        if not self._moves:
            self._write(f"info depth 0 score {'mate' if in_check(root) else 'cp'} 0")
            return []
        limits = Limits(depth=self._limits.depth, nodes=self._limits.nodes)
        if self._chosen:
            found = search_root_moves(self._searcher, self._line, self._chosen, after, lambda line: result(line) == 0, limits,
                                 self._report, lambda: self._halted)
        else:
            found = self._searcher.search(self._line, limits, report=self._report)
        return self._write_info(found)

    def _report(self, found: Found) -> None:
        """Report a completed depth, and stop at the soft limit or at the requested mate."""
        self._write_info(found)
        limits = self._limits
        if limits.soft_seconds is not None and time.monotonic() - self._started >= limits.soft_seconds:
            self._satisfied = True
        if self._mate is not None and found.win_in is not None and 0 < found.win_in < 2 * self._mate:
            self._satisfied = True
        if self._satisfied and not self._pondering:
            self._halt()
        if self._halted:
            self._searcher.stop()

    def _write_info(self, found: Found) -> list[str]:
        names = pv_names(self._line[-1], found.pv, self._chess960)
        if found.depth and self._reported != (found.depth, found.nodes):
            self._reported = found.depth, found.nodes
            seconds = max(found.seconds, 1e-6)
            self._write(f"info depth {found.depth} score {score_text(found)} nodes {found.nodes} "
                        f"nps {round(found.nodes / seconds)} hashfull {round(1000 * self._searcher.hashfull)} "
                        f"time {round(1000 * found.seconds)} pv {' '.join(names)}")
        return names
