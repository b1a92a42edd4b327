"""Messages about compiling, on standard error."""

from __future__ import annotations

import sys
import threading

PATIENCE = 1.0  # seconds of compiling of which nothing is said


def note(text: str) -> None:
    print(f"tuner: {text}", file=sys.stderr, flush=True)


class Compilation:
    """What this process has compiled so far: says so when it takes a while, and tells the total when asked."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._told = False
        self._waiting: threading.Timer | None = None

    def begin(self) -> None:
        """Something is compiled from now on."""
        if not self._told:
            self._waiting = threading.Timer(max(0.0, PATIENCE - self._seconds), self._tell)
            self._waiting.daemon = True
            self._waiting.start()

    def end(self, seconds: float) -> None:
        """It took so long."""
        self._seconds += seconds
        if self._waiting is not None:
            self._waiting.cancel()

    def _tell(self) -> None:
        note("compiling for this machine, once (about 10 s) ...")
        self._told = True

    def finish(self) -> None:
        """Say how long compiling took, if it was said that something is compiled."""
        if self._told and self._seconds:
            note(f"compiled in {self._seconds:.1f} s; later runs start at once")
            self._seconds = 0.0


compilation = Compilation()
