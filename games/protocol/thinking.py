"""One `go`: the game set by `position`, and a search in its own thread, with `info` lines and one
answer at the end."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from games.search.alphabeta_searcher import search_root_moves
from games.search.searcher import Found, Limits, Searcher


class EngineEvaluation(Protocol):
    """The evaluation to play with, whose weights may be options."""

    def searcher(self, name: str | None) -> Searcher:
        """Read the evaluation of that name, None for the default, and return its search; ValueError
        if that fails."""

    def value(self, words: np.ndarray) -> float:
        """Return the static evaluation of a position in centipawns, the first player's view."""

    def spins(self) -> dict[str, tuple[int, int, int]]:
        """Return the names of the weights that are options, each with its value, least and
        greatest."""

    def set(self, name: str, value: int) -> None:
        """Change a weight that is an option."""

    def bind(self, searcher: Searcher) -> None:
        """Let a searcher use the changed weights."""


class Line:
    """A start position and the positions after each move.

    `start`: the text of the initial position; the functions are those of `games.record.Game` with
    these names."""

    def __init__(
        self,
        start: str,
        position: Callable[[str], np.ndarray],
        move_named: Callable[[np.ndarray, str], int],
        play: Callable[[np.ndarray, int], np.ndarray],
    ) -> None:
        self._position, self._move_named, self._play = position, move_named, play
        self._start = start
        self._names: list[str] = []
        self.positions = [position(start)]

    def set(self, start: str, names: Sequence[str]) -> None:
        """Set start and moves; after a ValueError, which names the fault, the game is unchanged.

        Moves shared with the current game are not replayed, because each `position` command repeats
        the whole game."""
        shared = 0
        if start == self._start:
            pairs = zip(names, self._names, strict=False)
            shared = next(
                (i for i, (new, old) in enumerate(pairs) if new != old),
                min(len(names), len(self._names)),
            )
            positions = self.positions[: shared + 1]
        else:
            positions = [self._position(start)]
        for i, name in enumerate(names[shared:], shared):
            try:
                move = self._move_named(positions[-1], name)
            except ValueError:
                raise ValueError(f"illegal move {name[:40]!a} at ply {i + 1}") from None
            positions.append(self._play(positions[-1], move))
        self._start, self._names, self.positions = start, list(names), positions


MAX_TIMER_SECONDS = 1_000_000.0  # seconds; longer timers overflow
Report = Callable[..., None]  # with a result, and others behind it
Search = Callable[[Searcher, Sequence[np.ndarray], Limits, Report, Callable[[], bool]], Found]


def search_all(
    searcher: Searcher,
    line: Sequence[np.ndarray],
    limits: Limits,
    report: Report,
    halted: Callable[[], bool],
) -> Found:
    """Search all moves of the last position."""
    return searcher.search(line, limits, report=report)


def search_among(
    moves: Sequence[int],
    play: Callable[[np.ndarray, int], np.ndarray],
    drawn: Callable[[list[np.ndarray]], bool],
) -> Search:
    """Return the search of these moves of the last position, or of all if there are none; see
    `search_root_moves`."""

    def search(
        searcher: Searcher,
        line: Sequence[np.ndarray],
        limits: Limits,
        report: Report,
        halted: Callable[[], bool],
    ) -> Found:
        return search_root_moves(searcher, line, moves, play, drawn, limits, report, halted)

    return search if moves else search_all


def legal_names(
    words: np.ndarray,
    pv: Sequence[int],
    legal_moves: Callable[[np.ndarray], Sequence[int]],
    name: Callable[[np.ndarray, int], str],
    play: Callable[[np.ndarray, int], np.ndarray],
) -> list[str]:
    """Return the names of the moves of a PV, up to the first illegal one."""
    names = []
    for move in pv:
        if move not in legal_moves(words):
            break
        names.append(name(words, move))
        words = play(words, move)
    return names


@dataclass(frozen=True, kw_only=True)
class Task:
    """The request of a `go`, in the words of its protocol."""

    line: Sequence[np.ndarray]  # the positions of the game
    limits: Limits  # of the search, its time from the `go`
    ponder: bool = False
    infinite: bool = False
    score: Callable[[Found], str]  # `cp 31`
    # of the moves of a PV, up to the first illegal one
    names: Callable[[tuple[int, ...]], list[str]]
    first: str = ""  # the move to answer if the search was stopped before its first result
    answer: str | None = None  # what to answer without a search
    info: str = ""  # what to write before that answer
    enough: Callable[[Found], bool] = lambda found: False  # whether a result ends the search
    search: Search = search_all
    lines: int = 1  # to write after each depth


class Thinking:
    """A search that starts on construction and writes exactly one answer, whatever happens.

    `started`: the time of the `go`, by `time.monotonic`. `watched` is called with the line and
    what was found, before the answer.
    """

    def __init__(
        self,
        searcher: Searcher,
        task: Task,
        started: float,
        write: Callable[[str], None],
        watched: Callable[[Sequence[np.ndarray], Found], None] | None = None,
    ) -> None:
        self._searcher, self._task, self._write, self._started = searcher, task, write, started
        self._watched = watched
        self._pondering, self._until_stop = task.ponder, task.infinite
        self._halted = self._satisfied = False
        self._released = threading.Event()  # the answer may be written
        self._timer: threading.Timer | None = None
        self._reported = (0, 0)  # depth and nodes of the last info line
        self.over = False  # the answer is written, or being written
        if not task.ponder:
            self._begin_clock(started)
            if not task.infinite:
                self._released.set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the search and write its answer."""
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
        """Wait until the answer is written."""
        self._thread.join()

    def _halt(self) -> None:
        self._halted = True  # set first: a search that has not begun yet misses the stop
        if not self.over:  # the searcher may already run for another `go`
            self._searcher.stop()

    def _begin_clock(self, started: float) -> None:
        if self._task.limits.seconds is not None:
            left = started + self._task.limits.seconds - time.monotonic()
            self._timer = threading.Timer(max(0.0, min(left, MAX_TIMER_SECONDS)), self._halt)
            self._timer.daemon = True
            self._timer.start()

    def _run(self) -> None:
        task = self._task
        with contextlib.suppress(
            BrokenPipeError
        ):  # the GUI has closed the pipe; the end of the input follows
            answer = f"bestmove {task.first}"
            try:
                if task.answer is not None:
                    answer = task.answer
                    if task.info:
                        self._write(task.info)
                elif names := self._search():
                    answer = "bestmove " + " ponder ".join(names[:2])
                self._released.wait()
            finally:
                if self._timer:
                    self._timer.cancel()
                self.over = True
                self._write(answer)

    def _search(self) -> list[str]:
        """Search; returns the names of the moves of the PV."""
        task = self._task
        limits = Limits(depth=task.limits.depth, nodes=task.limits.nodes)
        searched = task.search(
            self._searcher, task.line, limits, self._report, lambda: self._halted
        )
        if self._watched is not None:
            self._watched(task.line, searched)
        return self._write_info(searched)

    def _report(self, found: Found, *others: Found) -> None:
        """Report a completed depth, and stop at the soft limit or at a result that is enough."""
        self._write_info(found)
        for number, other in enumerate(others[: self._task.lines - 1], 2):
            line = replace(other, nodes=found.nodes, seconds=found.seconds)
            self._write(self._info(line, self._task.names(other.pv), number))
        soft = self._task.limits.soft_seconds
        if (
            soft is not None
            and time.monotonic() - self._started >= soft
            or self._task.enough(found)
        ):
            self._satisfied = True
        if self._satisfied and not self._pondering:
            self._halt()
        if self._halted:
            self._searcher.stop()

    def _write_info(self, found: Found) -> list[str]:
        names = self._task.names(found.pv)
        if found.depth and self._reported != (found.depth, found.nodes):
            self._reported = found.depth, found.nodes
            self._write(self._info(found, names, 1))
        return names

    def _info(self, found: Found, names: list[str], number: int) -> str:
        """The line of information on a result, the best one or one with a larger number."""
        multipv = f" multipv {number}" if self._task.lines > 1 else ""
        return (
            f"info depth {found.depth}{multipv} score {self._task.score(found)} nodes {found.nodes}"
            f" nps {round(found.nodes / max(found.seconds, 1e-6))} hashfull"
            f" {round(1000 * self._searcher.hashfull)} time {round(1000 * found.seconds)} pv"
            f" {' '.join(names)}"
        )
