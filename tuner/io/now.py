"""The state of a run, in its store, that `tuner watch` shows: a display that writes it.

A thread writes it once a second, so that it is as old as the run's last sign of life."""

from __future__ import annotations

import itertools
import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from games.record import ReadReport
from tuner.core.records import Count, InputError, Number, to_json
from tuner.core.store import Store, read_record
from tuner.core.text import plural
from tuner.io.terminal import Display, Pace

RUNNING, ENDED, INTERRUPTED, FAILED = "running", "ended", "interrupted", "failed"
SECONDS = 1.0  # between two writes
NOW = "now"  # its name in the store
MOST_CURVE = 400  # iterations of a fit


@dataclass(frozen=True)
class GameNow:
    """A game under way: its rules, the players (without names: none), the position, the plies
    played, and the last move."""

    game: str
    players: list[str]
    position: str
    plies: Count
    last: str = ""


@dataclass(frozen=True)
class CurvePoint:
    """The loss after an iteration of a fit, and that of held-out games, if any are held out."""

    iteration: Count
    loss: Number
    held_out: Number | None = None


@dataclass(frozen=True)
class Now:
    """The state of a run: since when, when this was written (seconds since 1970), its step with
    what is said of it, how much of it is done, of how much, how many seconds it still takes, the
    last note, the games that threads of its process play, the curve of a fit, and how many CPUs its
    process used on average."""

    state: str
    began: Number
    written: Number
    step: str = ""
    text: str = ""
    done: Count | None = None
    total: Count | None = None
    left: Number | None = None
    note: str = ""
    games: list[GameNow] = field(default_factory=list)
    curve: list[CurvePoint] = field(default_factory=list)
    cpus: Number = 1.0


def read_now(folder: Path) -> Now | None:
    """Read the state of the run in a folder; None if unknown. InputError for damage."""
    return read_record(folder, NOW, Now)


class NowDisplay(Display):
    """Passes everything on to another display, and keeps the state. A context manager."""

    def __init__(self, store: Store, shown: Display, games: Callable[[], list[GameNow]]) -> None:
        """`games` returns the games under way; there is no state in the first second."""
        self._store, self._shown, self._games = store, shown, games
        self._now = Now(RUNNING, time.time(), time.time())
        self._pace, self._searches, self._searched = Pace(None), itertools.count(1), 0
        self._curve: list[CurvePoint] = []
        self._end, self._written = threading.Event(), False
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> NowDisplay:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()
        if kind is None:
            self._finish(self._now.state if self._now.state != RUNNING else ENDED)
        elif self._written:  # what fails at once changes nothing
            self._finish(INTERRUPTED if kind is KeyboardInterrupt else FAILED, str(value))

    def interrupt(self) -> None:
        """Note that the run was interrupted: it is not at its end."""
        self._now = replace(self._now, state=INTERRUPTED)

    def note(self, text: str) -> None:
        self._now = replace(self._now, note=text)
        self._shown.note(text)

    def begin(self, description: str, total: int | None = None) -> None:
        self._pace, self._searches, self._searched = Pace(total), itertools.count(1), 0
        self._curve = []
        self._now = replace(self._now, step=description, text="", total=total, done=None)
        self._shown.begin(description, total)

    def reading(self, report: ReadReport) -> None:
        self._say(f"{plural(report.games, 'game')}, {plural(report.positions, 'position')}")
        self._shown.reading(report)

    def searched(self) -> None:
        self._searched = next(self._searches)  # by many threads
        self._shown.searched()

    def learning(self, line: dict[str, Any]) -> None:
        loss, held_out = line["objective"], line.get("held_out")
        if math.isfinite(loss):
            known = held_out is not None and math.isfinite(held_out)
            point = CurvePoint(line["iteration"], loss, held_out if known else None)
            curve = [*self._curve, point]
            self._curve = curve if len(curve) <= MOST_CURVE else [*curve[:-1:2], point]
        self._say(f"iteration {line['iteration']}, loss {loss:.6f}", line["iteration"])
        self._shown.learning(line)

    def passing(self, done: int, total: int) -> None:
        self._shown.passing(done, total)

    def counting(self, done: int) -> None:
        self._say("", done)
        self._shown.counting(done)

    def playing(self, text: str, completed: int) -> None:
        self._pace.begin_at(completed - 1)
        self._say(text, completed)
        self._shown.playing(text, completed)

    def _say(self, text: str, done: int | None = None) -> None:
        self._now = replace(self._now, text=text, done=done)

    def _keep(self) -> None:
        try:
            while not self._end.wait(SECONDS):
                self._write(RUNNING, self._games())
        except InputError as problem:
            self._shown.note(f"{problem}: tuner watch shows the run as it was before")

    def _write(self, state: str, games: Sequence[GameNow] = ()) -> None:
        now = self._now
        done = self._searched or now.done
        report = replace(
            now,
            state=state,
            written=time.time(),
            done=done,
            left=None if done is None else self._pace.left(done),
            games=list(games),
            curve=self._curve,
            cpus=time.process_time() / max(time.time() - now.began, SECONDS),
        )
        text = json.dumps(to_json(report), separators=(",", ":"), allow_nan=False)
        self._store.put(NOW, text.encode())
        self._written = True

    def _finish(self, state: str, why: str = "") -> None:
        """Write how the run ended."""
        if why:
            self._now = replace(self._now, note=why)
        self._write(state)
