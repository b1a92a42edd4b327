"""Ctrl-C as something to be asked for, not as an exception between two writes."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def interrupts() -> Iterator[threading.Event]:
    """An event that ctrl-C sets; a second one breaks off at once. An exception might come between two writes."""
    interrupted = threading.Event()

    def handle(number: int, frame: object) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
