"""Processes of engines."""

from __future__ import annotations

import shlex
import sys

from games.process import EngineProcess, cpu_seconds


def test_the_cpu_time_of_another_process_is_that_of_the_system():
    """Beside what the process itself says."""
    busy = "import time\nwhile time.process_time() < 0.5: pass\nprint(time.process_time(), flush=True)\ninput()"
    process = EngineProcess(shlex.join([sys.executable, "-c", busy]))
    try:
        said = float(process.until(b"0", 60)[-1])
        assert said <= cpu_seconds(process.number) + 0.05 and cpu_seconds(process.number) < said + 0.2
    finally:
        process.kill()
    assert cpu_seconds(1 << 30) is None
