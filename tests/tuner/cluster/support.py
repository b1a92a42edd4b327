"""What the tests of clusters share: small jobs at the top level of a module, as workers need
them."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from games.streams import InputError
from tuner.parallel import Job, JobState

if TYPE_CHECKING:
    from distributed import LocalCluster

PATIENCE = 60.0  # seconds, on a busy machine


@dataclass(frozen=True)
class Spec:
    """`factor` of the results; `deadly` numbers kill the process that meets them; `unready`: why no
    task can run; `folder`: where the first `unlucky` processes that prepare the job leave a file,
    and die."""

    factor: int = 1
    deadly: tuple[int, ...] = ()
    unready: str = ""
    folder: Path = Path()
    unlucky: int = 0
    seconds: float = 0.0


class Task(NamedTuple):
    number: int


class Multiplier(JobState):
    def __init__(self, spec: Spec, stopped: Callable[[], bool]) -> None:
        self.spec, self.stopped = spec, stopped

    def ready(self) -> None:
        if self.spec.unready:
            raise InputError(self.spec.unready)
        if self.spec.unlucky > len(list(self.spec.folder.iterdir())):
            (self.spec.folder / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)


def multiply(state: Multiplier, task: Task, *shared: int) -> tuple[int, int] | None:
    """Return the number of a task, and its product with the factor and what is shared."""
    if task.number in state.spec.deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    deadline = time.monotonic() + state.spec.seconds
    while time.monotonic() < deadline:
        if state.stopped():
            return None
        time.sleep(0.01)
    if task.number < 0:
        raise ZeroDivisionError(task.number)
    return task.number, task.number * state.spec.factor * (shared[0] if shared else 1)


class Deadly:
    """A result that kills the worker that has it, once it is asked for."""

    def __reduce__(self):
        os.kill(os.getpid(), signal.SIGKILL)


def lose(state: Multiplier, task: Task) -> Deadly:
    """Return a result that is lost with its worker; where it is to be made again, kill that
    one."""
    if list(state.spec.folder.iterdir()):
        os.kill(os.getpid(), signal.SIGKILL)
    (state.spec.folder / "made").touch()
    return Deadly()


def named(task: Task) -> str:
    return f"game {task.number}"


def job(**options: object) -> Job:
    return Job(Multiplier, multiply, Spec(**options), named)


class Killer(threading.Thread):
    """Kills a worker of a local cluster at each of some moments, given by a seed: soon after it has
    begun a task. Those that are just starting are spared, because Dask takes ten seconds to replace
    them; so are those whose tasks were hit before, because a task at which several workers die is
    taken for what kills them."""

    def __init__(
        self, workers: LocalCluster, seed: int, times: int = 3, longest: float = 0.3
    ) -> None:
        super().__init__(daemon=True)
        self._workers, self._dice, self._times, self._longest = (
            workers,
            random.Random(seed),
            times,
            longest,
        )
        self.killed: list[int] = []
        self._stop_asked = threading.Event()

    def run(self) -> None:
        while len(self.killed) < self._times and not self._stop_asked.wait(0.005):
            alive = {
                nanny.worker_address: nanny.process.pid
                for nanny in self._workers.workers.values()
                if nanny.process is not None
                and nanny.process.status.name == "running"
                and nanny.process.pid not in (None, *self.killed)
            }
            busy = sorted((self._working() - self._working(hit=True)) & set(alive))
            if not busy:
                continue
            chosen = self._dice.choice(busy)
            self._stop_asked.wait(self._dice.random() * self._longest)
            if chosen in self._working(hit=True):
                continue
            with contextlib.suppress(ProcessLookupError):
                os.kill(alive[chosen], signal.SIGKILL)
                self.killed.append(alive[chosen])

    def _working(self, hit: bool = False) -> set[str]:
        """Return the addresses of workers that have tasks, or tasks at which one died."""
        return {
            state.address
            for state in list(self._workers.scheduler.workers.values())
            if any(task.suspicious or not hit for task in list(state.processing))
        }

    def stop(self) -> list[int]:
        """Kill no more; return the processes that were killed."""
        self._stop_asked.set()
        self.join()
        return self.killed


def wait_for_workers(workers: LocalCluster, number: int) -> None:
    """Wait until so many workers are there."""
    deadline = time.monotonic() + PATIENCE
    while len(workers.scheduler.workers) != number:
        assert time.monotonic() < deadline, "the workers did not come"
        time.sleep(0.05)
