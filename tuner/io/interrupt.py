"""Ctrl-C as a flag to be polled, so that no exception is raised between two writes."""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

IMPORT_SECONDS = 0.02  # between two checks whether an import has ended


@contextlib.contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets; a second Ctrl-C raises KeyboardInterrupt."""
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


@contextlib.contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C, but not within an import, where a half-imported module may misinterpret or swallow it:
    then it is raised when the import has ended. The handler before the block is restored after it."""
    if threading.current_thread() is not threading.main_thread() or (
            before := signal.getsignal(signal.SIGINT)) not in (signal.SIG_DFL, signal.default_int_handler):
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame is None:
            raise KeyboardInterrupt
        again = threading.Timer(IMPORT_SECONDS, _thread.interrupt_main)
        again.daemon = True
        again.start()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
