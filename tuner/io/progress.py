"""What people see while they wait, on standard error: a live line in a terminal, nothing but notes elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from games.record import ReadReport
from tuner.io.text import one_line

LARGE = 5_000_000  # positions


class Display:
    """One live line at a time, and notes above it. Use as a context manager."""

    def __init__(self, quiet: bool = False) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._progress = Progress(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24),
                                  TextColumn("{task.fields[text]}"), TimeElapsedColumn(), console=self.console, transient=True,
                                  disable=quiet or not self.console.is_terminal)
        self._quiet = quiet
        self._task = None
        self._started = self._pass_started = time.perf_counter()

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def note(self, text: str) -> None:
        """A line that stays."""
        if self._quiet:
            return
        self.console.print(one_line(text), markup=False, emoji=False)

    def begin(self, description: str, total: int | None = None) -> None:
        """Start a new live line."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(description, total=total, text="")
        self._started = time.perf_counter()

    def reading(self, report: ReadReport) -> None:
        """Games read so far."""
        seconds = max(time.perf_counter() - self._started, 1e-3)
        self._progress.update(self._task, text=f"{report.games:,} games, {report.positions:,} positions, "
                                               f"{report.positions / seconds / 1e6:.2f} M/s")

    def learning(self, line: dict) -> None:
        """An iteration of a learner."""
        text = f"iteration {line['iteration']}  loss {line['objective']:.6f}"
        if "held_out" in line:
            text += f"  held-out {line['held_out']:.6f}"
        if line.get("speed"):
            text += f"  {line['speed'] / 1e6:.1f} M positions/s"
        self._progress.update(self._task, text=text, completed=line["iteration"])

    def passing(self, done: int, total: int) -> None:
        """Positions of a pass over data so large that it takes a while."""
        if total < LARGE:
            return
        now = time.perf_counter()
        if done <= total // 50 or done == total:
            self._pass_started = now
            return
        left = (now - self._pass_started) * (total - done) / done
        self._progress.update(self._task, text=f"pass {done / total:.0%} of {total:,} positions, {left:.0f} s left of it")

    def counting(self, done: int) -> None:
        """So many are done."""
        self._progress.update(self._task, text=f"{done:,}", completed=done)

    def playing(self, text: str, completed: int) -> None:
        """Pairs of games played so far, and how it stands."""
        self._progress.update(self._task, text=text, completed=completed)
