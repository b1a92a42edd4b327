"""Ctrl-C as a flag to be polled, so that no exception is raised between two writes. Requests to end
(SIGTERM) and the end of the terminal (SIGHUP) are taken like Ctrl-C: no engine outlives its tuner.
"""

import _thread
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from games.system import ENDINGS, without_interrupts

INTERRUPTED = 130  # exit status, as shells have it for Ctrl-C
last_signal = [int(signal.SIGINT)]
_polled: list[threading.Event] = []  # the events that blocks under way poll
_over: list[threading.Event] = []  # of the blocks that end after some time
AGAIN_SECONDS = 0.02  # between two checks whether what must not be interrupted has ended
# functions whose exceptions are printed and lost: those of llvmlite that LLVM calls while it
# compiles, and what ends an object
LOST_IN = ("_raw_object_cache_notify", "_raw_object_cache_getbuffer", "__del__")
Handler = Callable[[int, "FrameType | None"], Any]


def status_of_interrupt() -> int:
    """Return the exit status of a program that was interrupted, as shells have it: 130 for Ctrl-C,
    143 for SIGTERM."""
    return 128 + last_signal[0]


@contextlib.contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets; a second Ctrl-C raises KeyboardInterrupt."""
    interrupted = threading.Event()

    def handle(number: int, frame: object) -> None:
        last_signal[0] = number
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    _polled.append(interrupted)
    if any(over.is_set() for over in _over):
        interrupted.set()
    try:
        with _handled(
            handle, [number for number in ENDINGS if signal.getsignal(number) != signal.SIG_IGN]
        ):
            yield interrupted
    finally:
        _polled.remove(interrupted)


@contextlib.contextmanager
def ended_after(seconds: float) -> Iterator[threading.Event]:
    """End what polls `interrupts` within the block after this time, as Ctrl-C would; yield an event
    that is set then."""
    over = threading.Event()

    def end() -> None:
        over.set()
        for interrupted in tuple(_polled):
            interrupted.set()

    timer = threading.Timer(max(seconds, 0.0), end)
    timer.daemon = True
    _over.append(over)
    timer.start()
    try:
        yield over
    finally:
        timer.cancel()
        _over.remove(over)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl-C when the block has ended; processes that are started
    meanwhile never see it."""
    with interrupts() as interrupted:
        try:
            with without_interrupts():
                yield
        finally:
            if interrupted.is_set():
                raise KeyboardInterrupt


@contextlib.contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C, but not within an import, where a half-imported module may
    misinterpret or swallow it, nor in functions that lose it: then it is raised when these have
    ended. The handlers before the block are restored after it."""

    def handle(number: int, frame: FrameType | None) -> None:
        last_signal[0] = number
        while frame is not None and not (
            frame.f_code.co_filename.startswith("<frozen importlib")
            or frame.f_code.co_name in LOST_IN
        ):
            frame = frame.f_back
        if frame is None:
            raise KeyboardInterrupt
        again = threading.Timer(AGAIN_SECONDS, _thread.interrupt_main, [number])
        again.daemon = True
        again.start()

    usual = (signal.SIG_DFL, signal.default_int_handler)
    with _handled(handle, [number for number in ENDINGS if signal.getsignal(number) in usual]):
        yield


@contextlib.contextmanager
def _handled(handle: Handler, numbers: list[signal.Signals]) -> Iterator[None]:
    """Handle signals during the block; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
