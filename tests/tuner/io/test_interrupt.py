"""Ctrl-C is heard, whatever runs when it comes."""

import signal
import time

import pytest

from tuner.io.interrupt import interrupts, prompt_interrupts


@pytest.fixture(autouse=True)
def heard():
    """Ctrl-C, which a program under nohup or in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Ending:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_what_ends_an_object_is_not_lost(capfd):
    with pytest.raises(KeyboardInterrupt), prompt_interrupts():
        Ending()
        for _ in range(1000):
            time.sleep(0.01)
    assert "Exception ignored" not in capfd.readouterr().err


def test_a_second_interrupt_is_an_exception():
    with interrupts() as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
