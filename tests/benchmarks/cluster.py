"""What a cluster costs: CPU time beside threads, bytes on the wire, memory of the client; and many schedules of killed workers.

    python -m tests.benchmarks.cluster [overhead] [bytes] [memory] [kills]

Costs are slopes between a short and a long run, so that the start of processes is not counted. `bytes` counts all traffic of the
loopback device, so it wants a network of its own: unshare -n sh -c 'ip link set lo up; python -m tests.benchmarks.cluster bytes'.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.games.support import REPOSITORY
from tests.tuner.cluster.support import Killer, Task, job

GAMES = {
    "selfplay": ("selfplay material --batch 16 --lag 2 --run {folder}/s{games} --games {games}", "--workers 2", (40, 160)),
    "match": ("match classic material --depth 4 --seed 7 --games {games}", "--concurrency 2", (6, 36)),
    "games": ("games classic --depth 3 -o {folder}/g{games} --games {games}", "--threads 2", (40, 120)),
}
SCHEDULES = 20


def spent(command: str) -> tuple[float, float, float]:
    """Run a command; return its CPU seconds and those of its children, seconds by the clock, and bytes received over loopback."""
    before, received, begun = resource.getrusage(resource.RUSAGE_CHILDREN), loopback(), time.monotonic()
    subprocess.run([sys.executable, "-m", "tuner", *command.split()], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
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
    """Print what a game costs on two threads and on two workers."""
    for name, (_, threads, _) in GAMES.items():
        one, other = slopes(name, threads), slopes(name, "--cluster local:2")
        print(f"{name}: {1e3 * one[0]:.1f} CPU ms a game on threads, {1e3 * other[0]:.1f} on local:2, "
              f"{100 * (other[0] / one[0] - 1):+.1f} %; by the clock {1e3 * one[1]:.1f} and {1e3 * other[1]:.1f} ms", flush=True)


def traffic() -> None:
    """Print the bytes that a game sends over loopback."""
    for name in GAMES:
        print(f"{name}: {slopes(name, '--cluster local:2')[2] / 1e3:.1f} kB a game over loopback", flush=True)


def memory() -> None:
    """Print the memory of the client, which has the scheduler in it, over 10,000 games."""
    import psutil

    from tuner.cluster.cluster import connect
    from tuner.match.match import Ways, new_match
    from tuner.match.settings import settings_of

    class Watched:
        """Shows the memory as games end."""

        def __init__(self) -> None:
            self._next = 500

        def note(self, text: str) -> None:
            pass

        def begin(self, description: str, total: int | None = None) -> None:
            pass

        def playing(self, text: str, completed: int) -> None:
            if completed >= self._next:
                print(f"  {2 * completed:,} games: {psutil.Process().memory_info().rss / 1e6:.1f} MB", flush=True)
                self._next += 500

    with connect("local:2", print) as cluster:
        new_match(settings_of("tictactoe/classic", "tictactoe/random", games=10_000, controls=({"depth": 2},) * 2, random_plies=0,
                              plies=9), None, Ways(cluster), "benchmark", Watched())


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
        print(f"seed {seed}: {len(killed)} workers killed, all 200 results in {time.monotonic() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(REPOSITORY))
    with contextlib.suppress(KeyboardInterrupt):
        for chosen in sys.argv[1:] or ["overhead", "bytes", "memory", "kills"]:
            {"overhead": overhead, "bytes": traffic, "memory": memory, "kills": kills}[chosen]()
