"""Run work on threads: compiled passes and searches release Python's lock.

`Threads` is the only executor: it takes tasks and yields results as they are ready; each thread has its own state.
`in_order` yields results in the order of the tasks, so that sums do not depend on the number of threads.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

State = TypeVar("State")
Task = TypeVar("Task")
Result = TypeVar("Result")

POLL_SECONDS = 0.1
END_SECONDS = 15.0  # to wait for threads after aborting their work


def available_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads(Generic[State, Task, Result]):
    """Threads that call work(state, task), one thread for each state. A result of None means that the work was aborted.

    Use as a context manager. Leaving it drops tasks that have not begun, sets `stop`, which work may check, calls `abort` with
    each state, repeatedly until its thread has ended, then `close`.
    """

    def __init__(self, work: Callable[[State, Task], Result | None], states: Sequence[State],
                 abort: Callable[[State], None] = lambda state: None, close: Callable[[State], None] = lambda state: None,
                 stop: threading.Event | None = None) -> None:
        self._work, self._states, self._abort, self._close = work, states, abort, close
        self._stop = threading.Event() if stop is None else stop
        self._tasks: queue.SimpleQueue[tuple[Task] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Result | None, BaseException | None]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self.pending = 0  # tasks without a result yet

    def __enter__(self) -> Threads[State, Task, Result]:
        self._threads = [threading.Thread(target=self._run, args=(state,), daemon=True) for state in self._states]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.end()

    def submit(self, task: Task) -> None:
        """Queue a task for the next free thread."""
        self.pending += 1
        self._tasks.put((task,))

    def completed(self, interrupted: threading.Event | None = None) -> Iterator[Result]:
        """Yield results as they come, until none is pending; more tasks may be submitted meanwhile. Exceptions of tasks are
        raised here. Once `interrupted` is set, abort all work and yield the results that are ready."""
        while self.pending:
            if interrupted is not None and interrupted.is_set():
                self.end()
                yield from self._ready()
                return
            try:
                result, problem = self._results.get(timeout=None if interrupted is None else POLL_SECONDS)
            except queue.Empty:
                continue
            self.pending -= 1
            if problem is not None:
                raise problem
            if result is not None:
                yield result

    def end(self) -> None:
        """Abort all work and wait for the threads to end."""
        if not self._threads:
            return
        self._stop.set()
        for _ in self._threads:
            self._tasks.put(None)
        deadline = time.monotonic() + END_SECONDS
        for thread, state in zip(self._threads, self._states, strict=True):
            while thread.is_alive() and time.monotonic() < deadline:
                self._abort(state)  # repeatedly: a search may begin after the first call
                thread.join(0.05)
            if not thread.is_alive():
                self._close(state)
        self._threads = []

    def _run(self, state: State) -> None:
        while not self._stop.is_set() and (entry := self._tasks.get()) is not None:
            if self._stop.is_set():
                return
            try:
                self._results.put((self._work(state, *entry), None))
            except BaseException as problem:  # raised by `completed`, in the thread that waits
                self._results.put((None, problem))

    def _ready(self) -> Iterator[Result]:
        while not self._results.empty():
            result, problem = self._results.get()
            if problem is None and result is not None:
                yield result


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task], workers: int) -> Iterator[Result]:
    """Yield work(task) for each task, in order, on `workers` threads; few tasks run ahead of the result taken, so that memory
    is bounded."""
    if workers < 2:
        yield from map(work, tasks)
        return
    def numbered(_: None, task: tuple[int, Task]) -> tuple[int, Result]:
        return task[0], work(task[1])

    with Threads(numbered, [None] * workers) as threads:
        waiting, wanted = enumerate(tasks), 0
        done: dict[int, Result] = {}
        for task in itertools.islice(waiting, workers + 1):
            threads.submit(task)
        for number, result in threads.completed():
            done[number] = result
            while wanted in done:
                yield done.pop(wanted)
                wanted += 1
                for task in itertools.islice(waiting, 1):
                    threads.submit(task)
