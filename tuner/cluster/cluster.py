"""A cluster of Dask: the only module that opens one. Nothing of it is imported unless a command was given --cluster."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from games.streams import InputError
from tuner.cluster.program import difference, program
from tuner.cluster.running import ClusterRunning
from tuner.io.interrupt import held_back
from tuner.parallel import POLL_SECONDS, Job, counted

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

CONNECT_SECONDS = 2.0  # to reach the scheduler
RECONNECT_SECONDS = 60.0  # to reach it again
LOCAL, ENCRYPTED = "local:", "tls://"
KNOWN_SECONDS = 1.0  # between two questions how many workers there are
ANSWER_SECONDS = 10.0  # for what no result depends on
# of `local:N`: every death of a worker is reported, and little is recorded
LOCAL_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0, "distributed.deploy.lost-worker-timeout": "10s",
    "distributed.worker.profile.enabled": False, "distributed.scheduler.active-memory-manager.start": False,
    "distributed.admin.low-level-log-length": 1000, "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.interval": "5s", "distributed.admin.tick.interval": "1s"}


@contextlib.contextmanager
def connect(address: str, note: Callable[[str], None]) -> Iterator[Cluster]:
    """Yield the cluster at an address, "tcp://HOST:PORT" or "tls://HOST:PORT", or N worker processes of this machine: "local:N".
    InputError if it cannot be reached, has no workers, or runs another program."""
    try:
        import distributed
    except ImportError:
        raise InputError(f"--cluster {address}: Dask is not installed; pip install 'evaltune[cluster]'") from None
    for name in ("distributed", "tornado.application", "asyncio"):  # what they say, we say in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as opened:
        if address.startswith(LOCAL):
            where = opened.enter_context(local_cluster(address))
        else:
            where = address
            _require_scheduler(address)
        client = opened.enter_context(distributed.Client(where, timeout=RECONNECT_SECONDS, set_as_default=False))
        cluster = Cluster(address, client, note, None if where is address else where)
        cluster.require_same_program()
        note(cluster.description())
        yield cluster


def _require_scheduler(address: str) -> None:
    """InputError unless a scheduler answers soon. Asked before there is a client, which would go on trying."""
    import distributed

    security = distributed.Security().get_connection_args("client")
    if address.startswith(ENCRYPTED) and security.get("ssl_context") is None:
        raise InputError(f"--cluster {address}: Dask's settings name no certificates for TLS; set distributed.comm.tls.ca-file, "
                         "client.cert and client.key as docs/cluster.md shows")

    async def asked() -> str:
        async with distributed.rpc(address, timeout=CONNECT_SECONDS, connection_args=security) as scheduler:
            return (await asyncio.wait_for(scheduler.identity(), CONNECT_SECONDS))["type"]

    try:
        host, port = distributed.comm.get_address_host_port(address, strict=True)
        socket.create_connection((host, port), CONNECT_SECONDS).close()  # a connection that is refused is not tried again
        found = asyncio.run(asked())
        if found != "Scheduler":
            raise ValueError(f"it is a {found}")
    except Exception as problem:  # what answers may be anything
        raise InputError(f"--cluster {address}: no scheduler answers ({_line(problem)}); start one with dask scheduler, and name "
                         "its address, such as tcp://HOST:8786 (tls:// where connections are encrypted), or local:2 for 2 "
                         "processes of this machine") from None


@contextlib.contextmanager
def local_cluster(address: str) -> Iterator[Any]:
    """Yield a cluster of N processes."""
    import dask
    import distributed

    number = address.removeprefix(LOCAL)
    if not number.isdecimal() or not 0 < int(number) <= 512:
        raise InputError(f"--cluster {address}: expected a number of processes from 1 to 512, such as local:2")
    with dask.config.set(LOCAL_SETTINGS), held_back():
        cluster = distributed.LocalCluster(n_workers=int(number), threads_per_worker=1, processes=True, memory_limit=0,
                                           dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
                                           preload=["tuner.cluster.preload"])
    try:
        yield cluster
    finally:
        with held_back():
            cluster.close(timeout=ANSWER_SECONDS)


def replace_lost(cluster: LocalCluster, number: int) -> None:
    """Start the workers that are missing of a number. Dask starts one again that died, but not if it died as it started."""
    if len(cluster.workers) < number:
        cluster.scale(number)


def _line(problem: BaseException) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return (str(problem).splitlines() or [type(problem).__name__])[0]


class Cluster:
    """The workers of a scheduler of Dask. An `Executor`."""

    remote = True

    def __init__(self, address: str, client: Client, note: Callable[[str], None], local: LocalCluster | None = None) -> None:
        self.address, self._client, self._note, self._local = address, client, note, local
        self.running: list[ClusterRunning] = []  # jobs under way
        self._threads: dict[str, int] = {}  # of each worker
        self._asked = -KNOWN_SECONDS
        self._refused: set[str] = set()
        self._lost: set[str] = set()
        self._alone = False  # whether it was said that there is no worker

    @property
    def at_once(self) -> int:
        """See `Executor`."""
        return sum(self.workers().values())

    def start(self, job: Job, ahead: int = 1) -> ClusterRunning:
        """See `Executor`."""
        return ClusterRunning(self, job, ahead)

    def workers(self) -> dict[str, int]:
        """Return the addresses of the workers, and how many threads each has; at most a moment old."""
        if time.monotonic() - self._asked > KNOWN_SECONDS:
            with contextlib.suppress(TimeoutError, OSError):
                self._threads = self._now(lambda: self._client.nthreads(), ANSWER_SECONDS)
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
        return f"{counted(workers, 'worker')}, {counted(tasks, 'task')} under way"

    def description(self) -> str:
        """Return the workers and the address of Dask's dashboard in words."""
        workers = self.workers()
        hosts = {address.rpartition("://")[2].rpartition(":")[0] for address in workers}
        return (f"cluster {self.address}: {counted(len(workers), 'worker')} with {counted(sum(workers.values()), 'thread')} on "
                f"{counted(len(hosts), 'machine')}; dashboard {self._client.dashboard_link}")

    def require_same_program(self) -> None:
        """InputError if there is no worker, or one with another program."""
        if not self.workers():
            raise InputError(f"--cluster {self.address}: the scheduler has no workers; start some with dask worker "
                             f"{self._client.scheduler_info(n_workers=0)['address']}")
        here = program()
        for address, there in self._client.run(program, on_error="return").items():
            if isinstance(there, OSError):  # it died meanwhile: no connection
                continue
            if isinstance(there, BaseException):
                raise InputError(f"worker {address}: evaltune {here['evaltune']} is not installed there ({_line(there)}); "
                                 "install the same version on every machine")
            if found := difference(there, here):
                raise InputError(f"worker {address}: {found}; install the same version on every machine")

    def retire(self, address: str, there: dict[str, str]) -> None:
        """Send a worker away that has another program: it came after the first task."""
        if address not in self._refused:
            self._refused.add(address)
            self._note(f"worker {address}: {difference(there, program())}; it was sent away, install the same version there")
        with contextlib.suppress(TimeoutError, OSError):
            self._now(lambda: self._client.retire_workers([address], close_workers=True), ANSWER_SECONDS)

    def lost_worker(self, address: str) -> None:
        """Report, once, that a worker died."""
        if address not in self._lost:
            self._lost.add(address)
            self._asked = -KNOWN_SECONDS
            self._note(f"worker {address} died; what it had begun is repeated")

    def submit(self, function: Callable[..., Any], *values: Any, key: Any) -> Future:
        """Submit a call to any worker; futures in `values` stand for their results."""
        self.require_connected()
        return self._client.submit(function, *values, key=key, pure=False)

    def gathered(self, futures: Mapping[str, Future], interrupted: threading.Event | None) -> dict[str, Any]:
        """Return the results of tasks that are done; those that were lost meanwhile are missing."""
        whole = dict(futures)
        while whole:
            wanted = list(whole.values())
            try:
                found = self._now(partial(self._client.gather, wanted), None, interrupted)
                return dict(zip(whole, found, strict=True))
            except _Interrupted:
                return {}
            except Exception:
                before, whole = len(whole), {
                    name: future for name, future in whole.items() if future.status == "finished"}
                if len(whole) == before:
                    raise
        return {}

    def cancel(self, futures: list[Future]) -> None:
        """Drop tasks that have not ended."""
        if futures and self._client.status == "running":
            with contextlib.suppress(TimeoutError, OSError):
                self._now(lambda: self._client.cancel(futures, force=True), ANSWER_SECONDS)

    def everywhere(self, function: Callable[..., Any], *values: Any) -> None:
        """Call a function on every worker, past its tasks."""
        if self._client.status == "running":
            with contextlib.suppress(TimeoutError, OSError):
                self._now(lambda: self._client.run(function, *values, on_error="ignore"), ANSWER_SECONDS)

    def require_connected(self) -> None:
        """Wait for the scheduler, if the connection was lost. InputError if it does not answer in time."""
        if self._client.status == "running":
            return
        self._note(f"{self.address}: the scheduler was lost; waiting {RECONNECT_SECONDS:.0f} s for it to answer")
        deadline = time.monotonic() + RECONNECT_SECONDS + ANSWER_SECONDS
        while self._client.status == "connecting" and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        if self._client.status != "running":
            raise InputError(f"--cluster {self.address}: the scheduler was lost and did not answer within "
                             f"{RECONNECT_SECONDS:.0f} s; a run that has a folder keeps what was finished: start a scheduler and "
                             "workers, and continue it with --resume")
        self._note(f"{self.address}: the scheduler answers again")

    def _now(self, call: Callable[[], Any], seconds: float | None, interrupted: threading.Event | None = None) -> Any:
        """Return what a call of Dask's returns. TimeoutError after some seconds, _Interrupted once `interrupted` is set."""

        async def called() -> Any:
            found = call()
            return await found if asyncio.iscoroutine(found) or asyncio.isfuture(found) else found

        begun, loop = time.monotonic(), cast(Any, self._client.loop)
        answer = asyncio.run_coroutine_threadsafe(called(), loop.asyncio_loop)
        while True:
            try:
                return answer.result(POLL_SECONDS)
            except TimeoutError:
                if answer.done():
                    raise
            if interrupted is not None and interrupted.is_set():
                answer.cancel()
                raise _Interrupted
            if seconds is not None and time.monotonic() - begun > seconds:
                answer.cancel()
                raise TimeoutError


class _Interrupted(Exception):
    """Ctrl-C came while results were fetched."""
