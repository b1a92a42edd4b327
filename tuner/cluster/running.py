"""A job on the workers of a Dask cluster: tasks whose worker dies are repeated, and the one that kills workers is found."""

from __future__ import annotations

import math
import queue
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from games.streams import InputError
from tuner.cluster.program import fingerprint
from tuner.cluster.worker import Call, Done, OtherProgram, end_job, hold, perform, prepare
from tuner.parallel import POLL_SECONDS, Job

if TYPE_CHECKING:
    from distributed import Future

RESUBMITTED = 5  # times at most, after a task lost its worker
IN_COMPANY = 2  # times that a task may lose its worker beside others; then it runs alone, so that no other is blamed
AHEAD = 2  # calls for each thread of a worker at least, so that it need not wait for the client
CALL_SECONDS = 0.5  # of a call: some milliseconds are spent around it
MOST = 64  # tasks of a call


class Scheduler(Protocol):
    """What a job needs of a cluster, see `tuner.cluster.cluster.Cluster`."""

    address: str
    running: list[Any]

    @property
    def at_once(self) -> int: ...
    def submit(self, function: Callable[..., Any], *values: Any, key: Any) -> Future: ...
    def gathered(self, futures: Mapping[str, Future], interrupted: threading.Event | None) -> dict[str, Any]: ...
    def cancel(self, futures: list[Future]) -> None: ...
    def everywhere(self, function: Callable[..., Any], *values: Any) -> None: ...
    def retire(self, address: str, there: dict[str, str]) -> None: ...
    def lost_worker(self, address: str) -> None: ...
    def require_connected(self) -> None: ...


@dataclass
class Shared:
    """Data that several tasks use, and the task that holds them on the workers."""

    value: Any
    future: Future | None = None


@dataclass
class _Pending:
    """A task without a result, and how often its worker died."""

    task: Any
    shared: tuple[Shared, ...]
    deaths: int = 0


class ClusterRunning:
    """See `tuner.parallel.Running`. Several short tasks go to a worker in one call."""

    def __init__(self, cluster: Scheduler, job: Job, ahead: int) -> None:
        self._cluster, self._job, self._ahead = cluster, job, max(AHEAD, ahead)
        self._key = f"{getattr(job.work, '__name__', 'task')}-{uuid.uuid4().hex}"
        self._spec = Shared(job.spec)
        self._numbers = 0
        self._pending: dict[int, _Pending] = {}
        self._seconds: float | None = None  # of a task, mean over the latest
        self._outbox: list[int] = []  # tasks to be sent before the next wait
        self._calls: dict[str, tuple[Sequence[int], Future]] = {}  # tasks under way
        self._suspects: deque[int] = deque()  # tasks that are to run alone
        self._waiting: list[int] = []  # tasks that wait until those have run
        self._alone: int | None = None  # the task that runs alone
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ended = False

    def __enter__(self) -> ClusterRunning:
        self._cluster.running.append(self)
        try:
            self._prepare()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.end()

    @property
    def pending(self) -> int:
        """The number of tasks without a result."""
        return len(self._pending)

    @property
    def room(self) -> int:
        """See `Running`."""
        return max(1, self._ahead * self._cluster.at_once * self._size) - len(self._pending)

    @property
    def _size(self) -> int:
        """The number of tasks of a call."""
        return 1 if not self._seconds else max(1, min(MOST, math.ceil(CALL_SECONDS / self._seconds)))

    def share(self, value: Any) -> Shared:
        """See `Running`."""
        return Shared(value)

    def submit(self, task: Any, *shared: Any) -> None:
        """See `Running`."""
        self._numbers += 1
        self._pending[self._numbers] = _Pending(task, shared)
        self._outbox.append(self._numbers)

    def completed(self, interrupted: threading.Event | None = None) -> Iterator[Any]:
        """See `Running`."""
        while self._pending:
            if interrupted is not None and interrupted.is_set():
                self.end()
                return
            self._flush()
            for number, result in self._results(self._taken(), interrupted):
                del self._pending[number]
                if result is not None:
                    yield result
            self._cluster.require_connected()

    def end(self) -> None:
        """Stop all tasks."""
        if self._ended:
            return
        self._ended = True
        futures = [future for _, future in self._calls.values()]
        self._pending.clear()
        self._calls.clear()
        self._cluster.running.remove(self)
        self._cluster.cancel(futures)
        self._cluster.everywhere(end_job, self._key)

    def _prepare(self) -> None:
        """Make the job ready on one worker."""
        from distributed import KilledWorker

        for attempt in range(RESUBMITTED + 1):
            call = Call(self._key, self._job.make, self._job.work, fingerprint())
            try:
                self._cluster.submit(prepare, call, self._held(self._spec), key=(self._key, f"ready-{attempt}")).result()
                return
            except KilledWorker as problem:
                if attempt == RESUBMITTED:
                    raise InputError(f"--cluster {self._cluster.address}: {attempt + 1} workers died as they prepared the work, "
                                     f"the last one at {problem.last_worker.address}; see its log") from None
            except OtherProgram as problem:
                self._cluster.retire(problem.address, problem.program)

    def _held(self, shared: Shared) -> Future:
        """Return the task that holds shared data, begun again if it was lost."""
        if shared.future is None or shared.future.status in ("error", "cancelled", "lost"):
            shared.future = self._cluster.submit(hold, shared.value, key=f"data-{uuid.uuid4().hex}")
        return shared.future

    def _flush(self) -> None:
        """Send the tasks of the outbox, some in each call. While a task is to run alone, they wait."""
        if self._alone is not None and self._alone not in self._pending:
            self._alone = None
        if self._suspects or self._alone is not None:
            self._waiting += self._outbox
            self._outbox = []
            if self._alone is None and not self._calls:
                self._alone = self._suspects.popleft()
                self._send([self._alone])
            return
        self._outbox = self._waiting + self._outbox
        self._waiting = []
        # few tasks go to all workers
        size = max(1, min(self._size, len(self._pending) // max(1, AHEAD * self._cluster.at_once)))
        for begin in range(0, len(self._outbox), size):
            self._send(self._outbox[begin:begin + size])
        self._outbox = []

    def _send(self, numbers: Sequence[int]) -> None:
        shared: list[Shared] = []
        tasks = []
        for number in numbers:
            pending = self._pending[number]
            shared += [some for some in pending.shared if not any(some is other for other in shared)]
            places = tuple(next(i for i, other in enumerate(shared) if other is some) for some in pending.shared)
            tasks.append((pending.task, places))
        call = Call(self._key, self._job.make, self._job.work, fingerprint(), tuple(tasks))
        name = uuid.uuid4().hex  # what lost its worker begins again under a new name
        future = self._cluster.submit(perform, call, *map(self._held, (self._spec, *shared)), key=(self._key, name))
        self._calls[name] = numbers, future
        future.add_done_callback(lambda _: self._done.put(name))

    def _taken(self) -> dict[str, Future]:
        """Return the calls that are done, after waiting a moment for one."""
        names: list[str] = []
        try:
            names.append(self._done.get(timeout=POLL_SECONDS))
            while True:
                names.append(self._done.get_nowait())
        except queue.Empty:
            return {name: self._calls[name][1] for name in names if name in self._calls}

    def _results(self, calls: dict[str, Future], interrupted: threading.Event | None) -> Iterator[tuple[int, Any]]:
        """Yield the results of calls that are done; tasks that lost their worker are submitted again."""
        found: dict[str, Done] = self._cluster.gathered(
            {name: future for name, future in calls.items() if future.status == "finished"}, interrupted)
        for name, future in calls.items():
            numbers, _ = self._calls.pop(name)
            if name in found:
                seconds = found[name].seconds / len(numbers)
                self._seconds = seconds if self._seconds is None else 0.8 * self._seconds + 0.2 * seconds
                yield from zip(numbers, found[name].results, strict=True)
            elif not (interrupted is not None and interrupted.is_set()):
                self._again(numbers, future)

    def _again(self, numbers: Sequence[int], future: Future) -> None:
        """Submit tasks again that lost their worker, each by itself. Their own exceptions are raised; InputError for a task that
        kills workers."""
        from distributed import KilledWorker

        problem = future.exception() if future.status == "error" else None
        if problem is None:  # the connection was lost
            self._cluster.require_connected()
        elif isinstance(problem, OtherProgram):
            self._cluster.retire(problem.address, problem.program)
        elif not isinstance(problem, KilledWorker):
            raise problem
        for number in numbers:
            pending = self._pending[number]
            if isinstance(problem, KilledWorker):
                pending.deaths += 1
                if pending.deaths > RESUBMITTED:
                    raise InputError(f"{self._job.named(pending.task)}: every worker that began it died, the last one at "
                                     f"{problem.last_worker.address}; it was repeated {RESUBMITTED} times; see the logs of the "
                                     "workers")
                self._cluster.lost_worker(problem.last_worker.address)
            if self._alone == number:
                self._alone = None
            if pending.deaths > IN_COMPANY:
                self._suspects.append(number)
            else:
                self._send([number])
