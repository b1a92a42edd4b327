"""Ctrl-C as something to be asked for, not as an exception between two writes."""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

IMPORT_SECONDS = 0.02  # between two looks whether an import is over


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


@contextlib.contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Ctrl-C as KeyboardInterrupt, but not within an import: a module of which half is there may take the exception for
    something else, or swallow it. It waits for the end of the import. Behind the block everything is as it was before it."""
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
