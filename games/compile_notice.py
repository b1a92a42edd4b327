"""Messages on standard error about long compilations."""

from __future__ import annotations

import sys
import threading

PATIENCE = 1.0  # seconds of compiling before the first message


def note(text: str) -> None:
    print(f"tuner: {text}", file=sys.stderr, flush=True)


class Compilation:
    """The compile time of this process so far; announces a long compilation and reports the total at the end."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._announced = False
        self._waiting: threading.Timer | None = None

    def begin(self) -> None:
        """Start of a compilation."""
        if not self._announced:
            self._waiting = threading.Timer(max(0.0, PATIENCE - self._seconds), self._announce)
            self._waiting.daemon = True
            self._waiting.start()

    def end(self, seconds: float) -> None:
        """End of a compilation that took `seconds` of CPU time."""
        self._seconds += seconds
        if self._waiting is not None:
            self._waiting.cancel()

    def _announce(self) -> None:
        note("compiling for this machine, once (about 10 s) ...")
        self._announced = True

    def finish(self) -> None:
        """Report the total compile time, if a compilation was announced."""
        if self._announced and self._seconds:
            note(f"compiled in {self._seconds:.1f} s; later runs start at once")
            self._seconds = 0.0


compilation = Compilation()
