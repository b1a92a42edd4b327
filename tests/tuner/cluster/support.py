"""What the tests of clusters share: small jobs at the top level of a module, as workers need them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from games.streams import InputError
from tuner.parallel import Job


@dataclass(frozen=True)
class Spec:
    """`factor` of the results; `deadly` numbers kill the process that meets them; `unready`: why no task can run."""

    factor: int = 1
    deadly: tuple[int, ...] = ()
    unready: str = ""
    seconds: float = 0.0


class Task(NamedTuple):
    number: int


class Multiplier:
    def __init__(self, spec: Spec, stopped: Callable[[], bool]) -> None:
        self.spec, self.stopped = spec, stopped

    def ready(self) -> None:
        if self.spec.unready:
            raise InputError(self.spec.unready)

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass


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


def named(task: Task) -> str:
    return f"game {task.number}"


def job(**options: object) -> Job:
    return Job(Multiplier, multiply, Spec(**options), named)
