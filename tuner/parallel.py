"""Run work on threads: compiled passes and searches release Python's lock.

Work that may run on several machines is a `Job`: plain data, and functions at the top level of a
module. An `Executor` runs it: `OnThreads` here, `tuner.cluster` on many machines. `run` yields its
results as they are ready. `Threads` takes tasks of any kind; each thread has its own state.
`in_order` yields results in the order of the tasks, so that sums do not depend on the number of
threads."""

from __future__ import annotations

import itertools
import operator
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

State = TypeVar("State")
Task = TypeVar("Task")
Result = TypeVar("Result")

POLL_SECONDS = 0.1
END_SECONDS = 15.0  # to wait for threads after aborting their work


class JobState:
    """What one thread keeps from task to task; these methods do nothing by default."""

    def ready(self) -> None:
        """Called once before the first task. InputError for what would make every task fail."""

    def abort(self) -> None:
        """Make the task under way return soon, with any result; called from another thread, maybe
        repeatedly."""

    def close(self) -> None:
        """Release all resources; no further tasks follow."""


@dataclass(frozen=True)
class Job:
    """Work as data. `make` makes the state of a thread from `spec` and a function that returns
    whether the work was stopped; `work` turns a state, a task and what tasks share into a result,
    None if it was stopped. Both are functions at the top level of a module; `spec`, tasks and
    results are plain data: records of numbers, text and arrays. A result depends on `spec` and its
    task alone, so that a task can be repeated anywhere. `named` is the task in words, such as "game
    12"."""

    make: Callable[[Any, Callable[[], bool]], JobState]
    work: Callable[..., Any]
    spec: Any
    named: Callable[[Any], str]


class Running(Protocol):
    """A job under way; a context manager that ends it. Leaving it stops tasks that have not
    ended."""

    @property
    def room(self) -> int:
        """The number of tasks that may be submitted now: more would wait."""

    def submit(self, task: Any, *shared: Any) -> None:
        """Queue a task; `shared` are values that `share` returned."""

    def share(self, value: Any) -> Any:
        """Return a handle of plain data that several tasks use."""

    def completed(self, interrupted: threading.Event | None = None) -> Iterator[Any]:
        """Yield results as they come, until no task is left; more may be submitted meanwhile. Once
        `interrupted` is set, stop all tasks and yield the results that are ready."""

    def end(self) -> None:
        """Stop all tasks."""

    def __enter__(self) -> Running:
        """Make the job ready. InputError for what would make every task fail."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all tasks."""


class Executor(Protocol):
    """Where jobs run: in this process, or in remote ones (`remote`)."""

    @property
    def remote(self) -> bool:
        """Whether tasks run in separate processes."""

    @property
    def at_once(self) -> int:
        """The number of tasks that run at the same time, for now: workers of a cluster come and
        go."""

    def start(self, job: Job, ahead: int = 1) -> Running:
        """Return a job to run, with room for `ahead` tasks for each that runs at the same time."""


@dataclass(frozen=True)
class OnThreads:
    """The threads of this process. A state of the job is made for each of them, in the thread that
    starts the job."""

    threads: int = 1
    remote = False

    @property
    def at_once(self) -> int:
        return self.threads

    def start(self, job: Job, ahead: int = 1) -> Running:
        """See `Executor`."""
        stop, states = threading.Event(), []
        try:
            for _ in range(self.threads):
                states.append(job.make(job.spec, stop.is_set))
            states[0].ready()
        except BaseException:
            for state in states:
                state.close()
            raise
        abort, close = operator.methodcaller("abort"), operator.methodcaller("close")
        return Threads(job.work, states, abort, close, stop, ahead)


def run(
    running: Running,
    tasks: Iterable[Any],
    interrupted: threading.Event | None = None,
    shared: tuple[Any, ...] = (),
) -> Iterator[Any]:
    """Yield the results of tasks, which all have the same `shared` values, as they are ready; the
    next task is prepared while earlier ones run."""
    waiting = iter(tasks)
    prepared = list(itertools.islice(waiting, 1))

    def fill() -> None:
        while prepared and running.room > 0:
            running.submit(prepared.pop(), *shared)
            prepared.extend(itertools.islice(waiting, 1))

    fill()
    for result in running.completed(interrupted):
        yield result
        fill()


class Threads(Generic[State, Result]):
    """Threads that call work(state, task, *shared), one thread for each state. A result of None
    means that the work was aborted.

    Use as a context manager. Leaving it drops tasks that have not begun, sets `stop`, which work
    may check, calls `abort` with each state, repeatedly until its thread has ended, then `close`.
    `abort` is not called where every task has its result.
    """

    def __init__(
        self,
        work: Callable[..., Result | None],
        states: Sequence[State],
        abort: Callable[[State], None] = lambda state: None,
        close: Callable[[State], None] = lambda state: None,
        stop: threading.Event | None = None,
        ahead: int = 1,
    ) -> None:
        self._work, self._states, self._abort, self._close = work, states, abort, close
        self._most = ahead * len(states)
        self._stop = threading.Event() if stop is None else stop
        self._tasks: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Result | None, BaseException | None]] = (
            queue.SimpleQueue()
        )
        self._threads: list[threading.Thread] = []
        self.pending = 0  # tasks without a result yet

    def __enter__(self) -> Threads[State, Result]:
        self._threads = [
            threading.Thread(target=self._run, args=(state,), daemon=True) for state in self._states
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.end()

    @property
    def room(self) -> int:
        """The number of tasks that may be submitted now: more would wait."""
        return self._most - self.pending

    def share(self, value: Any) -> Any:
        """Return the value itself: all threads see it."""
        return value

    def submit(self, task: Any, *shared: Any) -> None:
        """Queue a task for the next free thread."""
        self.pending += 1
        self._tasks.put((task, *shared))

    def completed(self, interrupted: threading.Event | None = None) -> Iterator[Result]:
        """Yield results as they come, until none is pending; more tasks may be submitted meanwhile.
        Exceptions of tasks are raised here. Once `interrupted` is set, abort all work and yield the
        results that are ready."""
        while self.pending:
            if interrupted is not None and interrupted.is_set():
                self.end()
                yield from self._ready()
                return
            try:
                result, problem = self._results.get(
                    timeout=None if interrupted is None else POLL_SECONDS
                )
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
                if self.pending:  # an engine whose games are over may end by itself, and learn
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


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], workers: int
) -> Iterator[Result]:
    """Yield work(task) for each task, in order, on `workers` threads; few tasks run ahead of the
    result taken, so that memory is bounded."""
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
