"""The output of commands: notes and progress on standard error, and the console for tables on
standard output.

In a terminal progress is a live line, elsewhere a plain line every ten seconds.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from games.record import ReadReport
from games.streams import one_line
from games.system import available_cpus
from tuner.core.text import duration, plural
from tuner.io.terminal import Display, Pace
from tuner.options.option import Arguments
from tuner.parallel import Executor, OnThreads
from tuner.results.result import CommandResult, Found

LARGE = 5_000_000  # positions: passes over fewer take too short a time to report
PLAIN_SECONDS = 10.0  # between two lines where there is no terminal
LIVE_SECONDS = 0.1  # between two updates of the live line by positions searched
PIPE_WIDTH = 160  # columns of a table that is printed to a file or a pipe


class TerminalDisplay(Display):
    """One live line at a time, and notes above it. Use as a context manager."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[text]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._live,
        )
        self._lock = threading.Lock()
        self._task: TaskID | None = None
        self._total: int | None = None
        self._description, self._searched = "", 0
        self._state: Callable[[], str] | None = None
        self._pace = Pace(None)
        self._started = self._pass_started = self._said = self._updated = time.monotonic()

    def __enter__(self) -> TerminalDisplay:
        if self._live:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:  # before 14.3, Rich prints an empty line otherwise
            self._progress.stop()

    def note(self, text: str) -> None:
        show_note(text, self._console)

    def begin(self, description: str, total: int | None = None) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(description, total=total, text="")
        self._description, self._total, self._searched = description, total, 0
        self._pace = Pace(total)
        self._started = self._said = time.monotonic()

    def follow(self, state: Callable[[], str]) -> None:
        """Show with the progress what `state` returns, such as the workers of a cluster, and the
        time left."""
        self._state = state

    def reading(self, report: ReadReport) -> None:
        seconds = max(time.monotonic() - self._started, 1e-3)
        speed = report.positions / seconds
        rate = f"{speed / 1e6:.2f} M/s" if speed >= 1e5 else f"{speed:,.0f}/s"
        self._show(
            f"{plural(report.games, 'game')}, {plural(report.positions, 'position')}, {rate}"
        )

    def searched(self) -> None:
        with self._lock:
            self._searched += 1
            done, now = self._searched, time.monotonic()
            if now - self._updated < LIVE_SECONDS and done != self._total:
                return
            self._updated = now
            if self._total is None:
                self._show(plural(done, "position"))
            else:
                self._show(
                    f"{done:,} of {plural(self._total, 'position')}{self._time_left(done)}", done
                )

    def learning(self, line: dict) -> None:
        text = f"iteration {line['iteration']}  loss {line['objective']:.6f}"
        if "held_out" in line:
            text += f"  held-out {line['held_out']:.6f}"
        if line.get("speed"):
            text += f"  {line['speed'] / 1e6:.1f} M positions/s"
        self._show(text, line["iteration"])

    def passing(self, done: int, total: int) -> None:
        if total < LARGE:
            return
        now = time.monotonic()
        if done <= total // 50 or done == total:
            self._pass_started = now
            return
        left = (now - self._pass_started) * (total - done) / done
        self._show(
            f"pass {done / total:.0%} of {plural(total, 'position')}, {duration(left)} left in"
            " this pass"
        )

    def counting(self, done: int) -> None:
        of = "" if self._total is None else f" of {self._total:,}{self._time_left(done)}"
        self._show(f"{done:,}{of}", done)

    def playing(self, text: str, completed: int) -> None:
        self._pace.begin_at(completed - 1)
        share = f"  {completed / self._total:.0%}" if self._total else ""
        self._show(f"{text}{share}{self._time_left(completed)}", completed)

    def _show(self, text: str, completed: int | None = None) -> None:
        """Update the live line; without a terminal, print a line if the last one is ten seconds
        old."""
        if self._state and (self._live or time.monotonic() - self._said >= PLAIN_SECONDS):
            text += f", {self._state()}"
        if self._live and self._task is not None:
            self._progress.update(self._task, text=text, completed=completed)
        elif not self._live and time.monotonic() - self._said >= PLAIN_SECONDS:
            self._said = time.monotonic()
            self.note(f"{self._description}: {text}")

    def _time_left(self, done: int) -> str:
        """Return the time that the step still needs, as text; nothing if that is not known."""
        left = self._pace.left(done)
        return "" if left is None else f", {duration(left)} left"


def output_console() -> Console:
    """Return a console on standard output, as wide as the terminal, or PIPE_WIDTH for a file or a
    pipe."""
    return Console(
        highlight=False,
        markup=False,
        emoji=False,
        width=None if sys.stdout.isatty() else PIPE_WIDTH,
    )


def show_note(text: str, console: Console | None = None) -> None:
    """Print a note on standard error: wrapped at words to the width of a terminal, else on one
    line."""
    console = console or Console(stderr=True, highlight=False, markup=False, emoji=False)
    text = one_line(text)
    if sys.stderr.isatty():
        plain = text.lstrip()
        console.print(Padding(Text(plain), (0, 0, 0, len(text) - len(plain)), expand=False))
    else:
        console.print(text, soft_wrap=True)


def show_found(found: Found) -> None:
    """Print on standard output what a command found; lines are wrapped at words to the width of a
    terminal, except the name of the file written and commands, which are there to be copied."""
    console = output_console()
    if isinstance(found, CommandResult) and found.show is not None:
        found.show(console)
        return
    for line in found.lines:
        console.print(
            line,
            soft_wrap=not sys.stdout.isatty() or ": tuner " in line or line.startswith("wrote "),
        )


def play(
    arguments: Arguments,
    kind: Any,
    new: Callable[[], Any],
    output: Path | None = None,
    folder: Path | None = None,
    resumed: Path | None = None,
    **more: Any,
) -> Any:
    """Begin a run of `new` settings, in a `folder` or that of --run, or continue the one that is
    `resumed` or that of --resume; return its result."""
    from tuner.play.run import new_run, resumed_run

    if arguments.resume is not None:
        arguments.require_resumable()
        resumed = Path(arguments.resume)
    settings = new() if resumed is None else None
    with (
        TerminalDisplay() as display,
        executor_of(arguments.cluster, arguments.workers, display) as executor,
    ):
        if resumed is not None:
            games, make = arguments.given.get("games"), functools.partial(kind, **more)
            return resumed_run(kind, resumed, executor, output, display, games, make)
        place = folder or (arguments.run and Path(arguments.run))
        return new_run(kind(settings, output, display, **more), place, executor, arguments.text)


@contextlib.contextmanager
def executor_of(
    cluster: str | None, workers: int | None, display: TerminalDisplay
) -> Iterator[Executor]:
    """Yield the threads of this process, or the cluster at an address, whose state is shown with
    the progress."""
    if cluster is None:
        yield OnThreads(min(workers or available_cpus(), 512))
        return
    from tuner.cluster.cluster import connect

    display.begin("connecting")
    with connect(cluster, display.note) as found:
        display.follow(found.state)
        yield found
