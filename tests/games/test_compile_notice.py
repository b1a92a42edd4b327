"""A long compilation is announced, a short one is not."""

from __future__ import annotations

import pytest

from games import compile_notice


class Alarm:
    """A timer that goes off when the test says so, unless it was cancelled."""

    def __init__(self, seconds: float, function) -> None:
        self.seconds, self._function, self.cancelled = seconds, function, False

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled = True

    def go_off(self) -> None:
        assert not self.cancelled
        self._function()


def test_a_long_compilation_is_announced_once(capsys, monkeypatch):
    monkeypatch.setattr(compile_notice, "PATIENCE", 0.2)
    alarms = []
    monkeypatch.setattr(compile_notice.threading, "Timer", lambda *given: alarms.append(Alarm(*given)) or alarms[-1])
    short, long = compile_notice.Compilation(), compile_notice.Compilation()
    for _ in range(2):
        short.begin()
        short.end(0.05)
    assert [alarm.seconds for alarm in alarms] == pytest.approx([0.2, 0.15]) and all(alarm.cancelled for alarm in alarms)
    long.begin()
    alarms[-1].go_off()
    long.end(0.5)
    long.begin()  # once is enough
    long.end(0.5)
    assert len(alarms) == 3
    for compilation in (short, long, long):
        compilation.finish()
    assert capsys.readouterr().err == ("tuner: compiling for this machine, once (about 10 s) ...\n"
                                       "tuner: compiled in 1.0 s; later runs start at once\n")
