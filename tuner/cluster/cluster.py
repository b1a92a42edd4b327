"""A cluster of Dask and the jobs on its workers: tasks whose worker dies are repeated, the one that
kills is found.

This is the only module that opens a cluster. Nothing of it is imported unless a command was given
--cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import math
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from games.streams import InputError
from tuner.cluster.worker import (
    Call,
    Done,
    OtherProgram,
    difference,
    end_job,
    fingerprint,
    hold,
    perform,
    prepare,
    program,
)
from tuner.core.text import plural
from tuner.io.interrupt import held_back
from tuner.parallel import POLL_SECONDS, Job

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

PREPARATIONS = 3  # of a job, each given up by Dask because workers died
AHEAD = 2  # calls for each thread of a worker at least, so that it need not wait for the client
CALL_SECONDS = 0.5  # of a call: some milliseconds are spent around it
MAX_CALL_TASKS = 64  # tasks of a call


@dataclass
class Shared:
    """Data that several tasks use, and the task that holds them on the workers."""

    value: Any
    future: Future | None = None


class ClusterRunning:
    """See `tuner.parallel.Running`. Several short tasks go to a worker in one call.

    Dask repeats the calls of a worker that dies, and gives them up where that happens several
    times. Their tasks then run one at a time, with nothing beside them: what loses its workers even
    so is what kills them."""

    def __init__(self, cluster: Cluster, job: Job, ahead: int) -> None:
        self._cluster, self._job, self._ahead = cluster, job, max(AHEAD, ahead)
        self._key = f"{getattr(job.work, '__name__', 'task')}-{uuid.uuid4().hex}"
        self._spec = Shared(job.spec)
        self._numbers = 0
        self._pending: dict[int, tuple[Any, tuple[Shared, ...]]] = {}  # without a result
        self._seconds: float | None = None  # of a task, mean over the latest
        self._outbox: list[int] = []  # tasks to be sent before the next wait
        # under way: its outcome, its tasks, and what Dask calls it
        self._calls: dict[concurrent.futures.Future[Any], tuple[Sequence[int], Future]] = {}
        self._suspects: deque[int] = deque()  # tasks that are to run alone
        self._alone: int | None = None  # the one that does
        self._ended = False

    def __enter__(self) -> ClusterRunning:
        self._cluster.running.append(self)
        try:
            self._prepare()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        if not self._seconds:
            return 1
        return max(1, min(MAX_CALL_TASKS, math.ceil(CALL_SECONDS / self._seconds)))

    def share(self, value: Any) -> Shared:
        """See `Running`."""
        return Shared(value)

    def submit(self, task: Any, *shared: Any) -> None:
        """See `Running`."""
        self._numbers += 1
        self._pending[self._numbers] = task, shared
        self._outbox.append(self._numbers)

    def completed(self, interrupted: threading.Event | None = None) -> Iterator[Any]:
        """See `Running`."""
        while self._pending:
            if interrupted is not None and interrupted.is_set():
                self.end()
                return
            self._flush()
            for call in self._wait():
                numbers, _ = self._calls.pop(call)
                done = self._result(call, numbers)
                for number, result in zip(numbers, done.results, strict=False):
                    del self._pending[number]
                    if result is not None:
                        yield result

    def end(self) -> None:
        """Stop all tasks."""
        if self._ended:
            return
        self._ended = True
        self._pending.clear()
        self._cluster.running.remove(self)
        self._cluster.cancel([future for _, future in self._calls.values()])
        self._calls.clear()
        self._cluster.everywhere(end_job, self._key)

    def _prepare(self) -> None:
        """Make the job ready on one worker."""
        from distributed import KilledWorker

        given_up = 0
        while True:
            call = Call(self._key, self._job.make, self._job.work, fingerprint())
            try:
                self._cluster.require_connected()
                prepared = self._begin(prepare, call)
                while not self._wait():
                    pass
                del self._calls[prepared]
                prepared.result()
                return
            except concurrent.futures.CancelledError:  # the connection was lost
                continue
            except KilledWorker as problem:
                given_up += 1
                if given_up < PREPARATIONS:
                    continue
                raise InputError(
                    f"--cluster {self._cluster.address}: workers died as they prepared the work,"
                    f" the last one at {problem.last_worker.address}; see its log"
                ) from None
            except OtherProgram as problem:
                self._cluster.retire(problem.address, problem.program)

    def _begin(
        self,
        function: Callable[..., Any],
        call: Call,
        shared: Sequence[Shared] = (),
        numbers: Sequence[int] = (),
    ) -> concurrent.futures.Future[Any]:
        """Begin a call with the spec of the job and what its tasks share; return its outcome."""
        held = map(self._held, (self._spec, *shared))
        outcome, future = self._cluster.submit(function, call, *held)
        self._calls[outcome] = numbers, future
        return outcome

    def _wait(self) -> set[concurrent.futures.Future[Any]]:
        """Return the calls that have ended, after a moment at the latest. Says which workers were
        lost meanwhile."""
        first = concurrent.futures.FIRST_COMPLETED
        ended = concurrent.futures.wait(self._calls, POLL_SECONDS, first).done
        if not ended:
            self._cluster.require_connected()
        self._cluster.workers()
        return ended

    def _held(self, shared: Shared) -> Future:
        """Return the task that holds shared data, begun again if it was lost."""
        if shared.future is None or shared.future.status in ("error", "cancelled", "lost"):
            shared.future = self._cluster.hold(shared.value)
        return shared.future

    def _flush(self) -> None:
        """Send the tasks of the outbox, some in each call. They wait while a task is to run
        alone."""
        self._cluster.require_connected()
        if self._suspects or self._alone is not None:
            if not self._calls:
                self._alone = self._suspects.popleft() if self._suspects else None
            if not self._calls and self._alone is not None:
                self._send([self._alone])
            if self._alone is not None or self._suspects:
                return
        # few tasks go to all workers
        size = max(1, min(self._size, len(self._pending) // max(1, AHEAD * self._cluster.at_once)))
        for begin in range(0, len(self._outbox), size):
            self._send(self._outbox[begin : begin + size])
        self._outbox = []

    def _send(self, numbers: Sequence[int]) -> None:
        shared: list[Shared] = []
        tasks = []
        for number in numbers:
            task, own = self._pending[number]
            shared += [some for some in own if not any(some is other for other in shared)]
            places = tuple(
                next(i for i, other in enumerate(shared) if other is some) for some in own
            )
            tasks.append((task, places))
        call = Call(self._key, self._job.make, self._job.work, fingerprint(), tuple(tasks))
        self._begin(perform, call, shared, numbers)

    def _result(self, call: concurrent.futures.Future[Done], numbers: Sequence[int]) -> Done:
        """Return the results of a call, none if its tasks are to run again. The exceptions of tasks
        are raised; InputError for a task that kills workers."""
        from distributed import KilledWorker

        try:
            done = call.result()
        except concurrent.futures.CancelledError:  # the connection was lost
            self._outbox += numbers
        except OtherProgram as problem:
            self._cluster.retire(problem.address, problem.program)
            self._outbox += numbers
        except KilledWorker as problem:
            if self._alone in numbers:
                raise InputError(
                    f"{self._job.named(self._pending[numbers[0]][0])}: every worker that began it"
                    f" died, the last one at {problem.last_worker.address}; see the logs of the"
                    " workers"
                ) from None
            self._suspects += numbers
        else:
            seconds = done.seconds / len(numbers)
            mean = self._seconds
            self._seconds = seconds if mean is None else 0.8 * mean + 0.2 * seconds
            return done
        return Done([], 0.0)


CONNECT_SECONDS = 2.0  # to reach the scheduler
RECONNECT_SECONDS = 60.0  # to reach it again
LOCAL, ENCRYPTED = "local:", "tls://"
KNOWN_SECONDS = 1.0  # between two questions how many workers there are
ANSWER_SECONDS = 10.0  # for what no result depends on
# of `local:N`, where little is recorded
LOCAL_SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,
    "distributed.deploy.lost-worker-timeout": "10s",
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.admin.low-level-log-length": 1000,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
}


@contextlib.contextmanager
def connect(address: str, note: Callable[[str], None]) -> Iterator[Cluster]:
    """Yield the cluster at an address, "tcp://HOST:PORT" or "tls://HOST:PORT", or N worker
    processes of this machine: "local:N". InputError if it cannot be reached, has no workers, or
    runs another program."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            f"--cluster {address}: Dask is not installed; pip install 'evaltune[cluster]'"
        ) from None
    for name in (
        "distributed",
        "tornado.application",
        "asyncio",
    ):  # what they say, we say in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as opened:
        if address.startswith(LOCAL):
            where = opened.enter_context(local_cluster(address))
        else:
            where = address
            _require_scheduler(address)
        client = opened.enter_context(
            distributed.Client(where, timeout=RECONNECT_SECONDS, set_as_default=False)
        )
        cluster = Cluster(address, client, note, None if where is address else where)
        cluster.require_same_program()
        note(cluster.description())
        yield cluster


def _require_scheduler(address: str) -> None:
    """InputError unless a scheduler answers soon. Asked before there is a client, which would go on
    trying."""
    import distributed

    security = distributed.Security().get_connection_args("client")
    if address.startswith(ENCRYPTED) and security.get("ssl_context") is None:
        raise InputError(
            f"--cluster {address}: Dask's settings name no certificates for TLS; set"
            " distributed.comm.tls.ca-file, client.cert and client.key"
            " (docs/clusters-and-gpus.md)"
        )

    async def asked() -> str:
        async with distributed.rpc(
            address, timeout=CONNECT_SECONDS, connection_args=security
        ) as scheduler:
            return (await asyncio.wait_for(scheduler.identity(), CONNECT_SECONDS))["type"]

    try:
        host, port = distributed.comm.get_address_host_port(address, strict=True)
        socket.create_connection(
            (host, port), CONNECT_SECONDS
        ).close()  # a connection that is refused is not tried again
        answer = asyncio.run(asked())
        if answer != "Scheduler":
            raise ValueError(f"it is a {answer}")
    except Exception as problem:  # what answers may be anything
        raise InputError(
            f"--cluster {address}: no scheduler answers ({_line(problem)}); start one with dask"
            " scheduler, and name its address, such as tcp://HOST:8786 (tls:// where connections"
            " are encrypted), or local:2 for 2 processes of this machine"
        ) from None


@contextlib.contextmanager
def local_cluster(address: str) -> Iterator[Any]:
    """Yield a cluster of N processes."""
    import dask
    import distributed

    number = address.removeprefix(LOCAL)
    if not number.isdecimal() or not 0 < int(number) <= 512:
        raise InputError(
            f"--cluster {address}: expected a number of processes from 1 to 512, such as local:2"
        )
    with dask.config.set(LOCAL_SETTINGS), held_back():
        cluster = distributed.LocalCluster(
            n_workers=int(number),
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            preload=["tuner.cluster.preload"],
        )
    try:
        yield cluster
    finally:
        with held_back():
            cluster.close(timeout=ANSWER_SECONDS)


def replace_lost(cluster: LocalCluster, number: int) -> None:
    """Start the workers that are missing of a number. Dask starts one again that died, but not if
    it died as it started."""
    if len(cluster.workers) < number:
        cluster.scale(number)


def _line(problem: BaseException) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return (str(problem).splitlines() or [type(problem).__name__])[0]


class Cluster:
    """The workers of a scheduler of Dask. An `Executor`."""

    remote = True

    def __init__(
        self,
        address: str,
        client: Client,
        note: Callable[[str], None],
        local: LocalCluster | None = None,
    ) -> None:
        self.address, self._client, self._note, self._local = address, client, note, local
        self.running: list[ClusterRunning] = []  # jobs under way
        self._loop: asyncio.AbstractEventLoop = cast(Any, client.loop).asyncio_loop
        self._threads: dict[str, int] = {}  # of each worker
        self._asked = -KNOWN_SECONDS
        self._refused: set[str] = set()
        self._alone = False  # whether it was said that there is no worker

    @property
    def at_once(self) -> int:
        """See `Executor`."""
        return sum(self.workers().values())

    def start(self, job: Job, ahead: int = 1) -> ClusterRunning:
        """See `Executor`."""
        return ClusterRunning(self, job, ahead)

    def workers(self) -> dict[str, int]:
        """Return the addresses of the workers, and how many threads each has; at most a moment
        old."""
        if time.monotonic() - self._asked > KNOWN_SECONDS:
            with contextlib.suppress(TimeoutError, OSError):
                before, self._threads = self._threads, self._now(lambda: self._client.nthreads())
                for lost in before.keys() - self._threads.keys() - self._refused:
                    self._note(f"worker {lost} is gone; what it had begun is repeated")
            self._asked = time.monotonic()
            if self._local is not None:
                replace_lost(self._local, int(self.address.removeprefix(LOCAL)))
            if not self._threads and not self._alone:
                self._note(f"{self.address}: no worker is left; the work goes on when one starts")
            self._alone = not self._threads
        return self._threads

    def state(self) -> str:
        """Return the workers and tasks in words, for progress."""
        workers, tasks = len(self.workers()), sum(running.pending for running in self.running)
        return f"{plural(workers, 'worker')}, {plural(tasks, 'task')} under way"

    def description(self) -> str:
        """Return the workers and the address of Dask's dashboard in words."""
        workers = self.workers()
        hosts = {address.rpartition("://")[2].rpartition(":")[0] for address in workers}
        return (
            f"cluster {self.address}: {plural(len(workers), 'worker')} with"
            f" {plural(sum(workers.values()), 'thread')} on {plural(len(hosts), 'machine')};"
            f" dashboard {self._client.dashboard_link}"
        )

    def require_same_program(self) -> None:
        """InputError if there is no worker, or one with another program."""
        if not self.workers():
            raise InputError(
                f"--cluster {self.address}: the scheduler has no workers; start some with dask"
                f" worker {self._client.scheduler_info(n_workers=0)['address']}"
            )
        here = program()
        for address, there in self._client.run(program, on_error="return").items():
            if isinstance(there, OSError):  # it died meanwhile: no connection
                continue
            if isinstance(there, BaseException):
                raise InputError(
                    f"worker {address}: evaltune {here['evaltune']} is not installed there"
                    f" ({_line(there)}); install the same version on every machine"
                )
            if differs := difference(there, here):
                raise InputError(
                    f"worker {address}: {differs}; install the same version on every machine"
                )

    def retire(self, address: str, there: dict[str, str]) -> None:
        """Send a worker away that has another program: it came after the first task."""
        if address not in self._refused:
            self._refused.add(address)
            self._note(
                f"worker {address}: {difference(there, program())}; it was sent away, install the"
                " same version there"
            )
        with contextlib.suppress(TimeoutError, OSError):
            self._now(lambda: self._client.retire_workers([address], close_workers=True))

    def submit(
        self, function: Callable[..., Any], *values: Any
    ) -> tuple[concurrent.futures.Future[Any], Future]:
        """Call a function on any worker; return the outcome, and Dask's name for it. The executor
        of Dask has no outcome for a result that is lost with its worker and then cannot be made
        again."""
        future = self._client.submit(function, *values, pure=False)

        async def outcome() -> Any:
            try:
                return await future
            except OSError:
                if future.status == "error":  # it is that of the function
                    raise
                raise asyncio.CancelledError from None  # its result was on the way

        return asyncio.run_coroutine_threadsafe(outcome(), self._loop), future

    def hold(self, value: Any) -> Future:
        """Return a task whose result is a value. The workers that need it keep it, and compute it
        again if they die."""
        return self._client.submit(hold, value, pure=False)

    def cancel(self, calls: Sequence[Future]) -> None:
        """Drop calls that have not ended."""
        if self._client.status == "running":
            with contextlib.suppress(TimeoutError, OSError):
                self._client.cancel(calls)

    def everywhere(self, function: Callable[..., Any], *values: Any) -> None:
        """Call a function on every worker, past its tasks."""
        if self._client.status == "running":
            with contextlib.suppress(TimeoutError, OSError):
                self._now(lambda: self._client.run(function, *values, on_error="ignore"))

    def require_connected(self) -> None:
        """Wait for the scheduler, if the connection was lost. InputError if it does not answer in
        time."""
        if self._client.status == "running":
            return
        self._note(
            f"{self.address}: the scheduler was lost; waiting {RECONNECT_SECONDS:.0f} s for it to"
            " answer"
        )
        deadline = time.monotonic() + RECONNECT_SECONDS + ANSWER_SECONDS
        while self._client.status == "connecting" and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        if self._client.status != "running":
            raise InputError(
                f"--cluster {self.address}: the scheduler was lost and did not answer within"
                f" {RECONNECT_SECONDS:.0f} s; a run that has a folder keeps what was finished:"
                " start a scheduler and workers, and continue it with --resume"
            )
        self._note(f"{self.address}: the scheduler answers again")

    def _now(self, call: Callable[[], Any]) -> Any:
        """Return the result of a call of Dask; TimeoutError if it does not come in time."""

        async def called() -> Any:
            result = call()
            return (
                await result if asyncio.iscoroutine(result) or asyncio.isfuture(result) else result
            )

        answer = asyncio.run_coroutine_threadsafe(called(), self._loop)
        try:
            return answer.result(ANSWER_SECONDS)
        except concurrent.futures.TimeoutError:
            answer.cancel()
            raise TimeoutError from None
