"""How long commands take that do little: cold and warm starts."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.speed import Row, Workload
from tuner.evaluation.loading import load_engine


def _cpu_seconds_of(arguments: list[str], cache: str | None = None) -> float:
    environment = {**os.environ, **({"EVALTUNE_CACHE": cache} if cache else {})}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "tuner", *arguments],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starts(work: Workload) -> list[Row]:
    """Measure compiling everything that a dataset and an evaluation need, a warm start, and `tuner
    --help`."""
    with tempfile.TemporaryDirectory() as folder:
        whole = ["tune", work.params, str(work.games), "-o", str(Path(folder) / "learned.yaml")]
        command = [*whole, "--method", "logistic"]  # searching takes far longer than compiling it
        cold = _cpu_seconds_of(command, folder)
        warm = min(_cpu_seconds_of(command, folder) for _ in range(2))
        searched = _cpu_seconds_of(whole) if load_engine(work.params)[0].game.searchable else None
    show = ["params", work.params]
    _cpu_seconds_of(show)
    return [
        Row(
            "compiling `tuner tune --method logistic`, empty cache", cold - warm, "CPU s", 8.0, True
        ),
        Row("  the same with a warm cache, bundled games", warm, "CPU s", None, True),
        *(
            [
                Row(
                    "`tuner tune` on the bundled games, with its searches",
                    searched,
                    "CPU s",
                    None,
                    True,
                )
            ]
            if searched
            else []
        ),
        Row(
            "warm start (`tuner params`)",
            min(_cpu_seconds_of(show) for _ in range(3)),
            "CPU s",
            0.6,
            True,
        ),
        Row("tuner --help", min(_cpu_seconds_of(["--help"]) for _ in range(3)), "CPU s", 0.3, True),
    ]
