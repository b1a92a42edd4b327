"""What a cluster costs: CPU time beside threads, bytes on the wire, memory of the client; and many
schedules of killed workers.

    python -m tests.benchmarks.cluster [overhead] [bytes] [memory] [passes] [kills]

Costs are slopes between a short and a long run, so that the start of processes is not counted.
`bytes` counts all traffic of the loopback device, so it wants a network of its own: unshare -n sh
-c 'ip link set lo up; python -m tests.benchmarks.cluster bytes'."""

import contextlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.games.support import REPOSITORY
from tests.tuner.cluster.support import Killer, Task, job

GAMES = {
    "selfplay": (
        "selfplay material --batch 16 --lag 2 --run {folder}/s{games} --games {games}",
        "--workers 2",
        (64, 448),
    ),
    "match": (
        "match classic material --depth 4 --seed 7 --games {games}",
        "--workers 2",
        (40, 440),
    ),
    "games": (
        "games classic --depth 3 --run {folder}/g{games} --games {games}",
        "--workers 2",
        (40, 240),
    ),
}
REPEATS = 3
TUNER = (sys.executable, "-m", "tuner")
LONG = {
    "match": "match classic material --depth 1 --seed 7 --games 10000",
    "selfplay": "selfplay material --depth 1 --batch 16 --lag 2 --run {folder}/s --games 10000",
}
SCHEDULES, POSITIONS = 20, 100_000_000


def spent(command: str) -> tuple[float, float, float]:
    """Run a command; return its CPU seconds and those of its children, seconds by the clock, and
    bytes received over loopback."""
    before, received, begun = (
        resource.getrusage(resource.RUSAGE_CHILDREN),
        loopback(),
        time.monotonic(),
    )
    subprocess.run(
        [sys.executable, "-m", "tuner", *command.split()],
        cwd=REPOSITORY,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - begun, loopback() - received


def loopback() -> int:
    """Return the bytes received by the loopback device so far."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name.strip() == "lo":
            return int(rest.split()[0])
    return 0


def slopes(name: str, where: str) -> list[float]:
    """Return CPU seconds, seconds and bytes a game."""
    command, _, (few, many) = GAMES[name]
    found = []
    for games in (few, many):
        with tempfile.TemporaryDirectory() as folder:
            found.append(spent(f"{command.format(folder=folder, games=games)} {where}"))
    return [(after - before) / (many - few) for before, after in zip(*found, strict=True)]


def overhead() -> None:
    """Print what a game costs on two threads and on two workers, in turn: the medians of some
    runs."""
    for name, (_, threads, _) in GAMES.items():
        runs = [(slopes(name, threads), slopes(name, "--cluster local:2")) for _ in range(REPEATS)]
        one, other = (
            [1e3 * statistics.median(run[side][i] for run in runs) for i in (0, 1)]
            for side in (0, 1)
        )
        ratio = statistics.median(after[0] / before[0] for before, after in runs)
        print(
            f"{name}: {one[0]:.1f} CPU ms a game on threads, {other[0]:.1f} on local:2,"
            f" {100 * (ratio - 1):+.1f} %; by the clock {one[1]:.1f} and {other[1]:.1f} ms",
            flush=True,
        )


def traffic() -> None:
    """Print the bytes that a game sends over loopback."""
    for name in GAMES:
        print(
            f"{name}: {slopes(name, '--cluster local:2')[2] / 1e3:.1f} kB a game over loopback",
            flush=True,
        )


def memory() -> None:
    """Print the memory of a command, client and scheduler in one, at each tenth of the time of
    10,000 games."""
    import psutil

    for name, command in LONG.items():
        with tempfile.TemporaryDirectory() as folder:
            process = psutil.Popen(
                [*TUNER, *command.format(folder=folder).split(), "--cluster", "local:2"],
                cwd=REPOSITORY,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            begun, found = time.monotonic(), []
            while process.poll() is None:
                with contextlib.suppress(psutil.Error):
                    found.append(process.memory_info().rss / 1e6)
                time.sleep(0.5)
            assert process.returncode == 0, name
        tenths = ", ".join(f"{found[len(found) * i // 10]:.0f}" for i in range(1, 10))
        print(
            f"{name}: {tenths}, {found[-2]:.0f} MB in {time.monotonic() - begun:.0f} s", flush=True
        )


def passes() -> None:
    """Fit 100 million positions, copies of the bundled games, on two workers; print the largest
    memory of each process."""
    import psutil

    from tests.conftest import SAMPLES
    from tuner.datasets.reader import open_dataset
    from tuner.datasets.writing import copy_games

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [*TUNER, "dataset", SAMPLES, "-o", str(folder / "a.ds")], cwd=REPOSITORY, check=True
        )
        one = open_dataset(folder / "a.ds")
        games = np.arange(one.games)
        copy_games(
            [(one, games)] * -(-POSITIONS // one.positions), folder / "many.ds", one.manifest
        )
        begun, most = time.monotonic(), {}
        process = psutil.Popen(
            [
                *TUNER,
                "tune",
                "classic",
                str(folder / "many.ds"),
                "--method",
                "logistic",
                "--prior",
                "none",
                "--device",
                "cpu",
                "-o",
                str(folder / "a.yaml"),
                "--cluster",
                "local:2",
            ],
            cwd=REPOSITORY,
            stdout=subprocess.DEVNULL,
        )
        while process.poll() is None:
            for part in (process, *process.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    most[part.pid] = max(most.get(part.pid, 0.0), part.memory_info().rss / 1e9)
            time.sleep(0.5)
        assert process.returncode == 0
        print(
            f"{POSITIONS:,} positions in {time.monotonic() - begun:.0f} s; processes of at most "
            f"{', '.join(f'{size:.2f}' for size in most.values() if size > 0.1)} GB",
            flush=True,
        )


def kills() -> None:
    """Kill workers at the moments of many seeds; every result must come, and be right."""
    from tuner.cluster.cluster import connect
    from tuner.parallel import run

    for seed in range(SCHEDULES):
        with connect("local:2", lambda text: None) as cluster:
            killer = Killer(cluster._client.cluster, seed, times=1 + seed % 4)
            killer.start()
            begun = time.monotonic()
            with cluster.start(job(factor=3, seconds=0.02)) as running:
                found = sorted(run(running, map(Task, range(200))))
            killed = killer.stop()
        assert found == [(number, 3 * number) for number in range(200)], seed
        print(
            f"seed {seed}: {len(killed)} workers killed, all 200 results in"
            f" {time.monotonic() - begun:.1f} s",
            flush=True,
        )


CHOICES = {
    "overhead": overhead,
    "bytes": traffic,
    "memory": memory,
    "passes": passes,
    "kills": kills,
}

if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(REPOSITORY))
    with contextlib.suppress(KeyboardInterrupt):
        for chosen in sys.argv[1:] or list(CHOICES):
            CHOICES[chosen]()
