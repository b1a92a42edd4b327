"""What a pass over much data says of the time that is left."""

from __future__ import annotations

import time

from tuner.io import progress
from tuner.io.progress import Display


def test_the_time_left_of_a_pass_is_told_for_large_data_alone(monkeypatch):
    clock = iter(range(1000))
    with Display(quiet=True) as display:
        display.begin("learning")
        monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
        texts = []
        monkeypatch.setattr(display._progress, "update", lambda task, text: texts.append(text))
        display.passing(10, progress.LARGE - 1)
        assert texts == []
        for part in range(1, 101):
            display.passing(part * 1_000_000, 100_000_000)
    # a second for each percent, from the second percent on
    assert texts[0] == "pass 3% of 100,000,000 positions, 32 s left of it" and len(texts) == 97
    assert texts[47] == "pass 50% of 100,000,000 positions, 48 s left of it"
