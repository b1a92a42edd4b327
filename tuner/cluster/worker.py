"""The program of a process: versions, and a hash of the sources. All processes of a cluster must
have the same."""

import hashlib
import platform
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from tuner.parallel import JobState
from tuner.version import __version__

ROOT = Path(__file__).resolve().parents[2]
OURS = ("evalterms", "games", "params", "tuner")
# those on which results or messages depend
PACKAGES = (
    "dask",
    "distributed",
    "llvmlite",
    "numba",
    "numpy",
    "scipy",
)


@cache
def program() -> dict[str, str]:
    """Return the versions of evaltune, of Python and of packages by name, and a hash of evaltune's
    sources."""
    versions = {
        "evaltune": __version__,
        "sources": _sources(),
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


@cache
def fingerprint() -> str:
    """Return a hash of `program`."""
    return hashlib.sha256(repr(sorted(program().items())).encode()).hexdigest()[:16]


def difference(there: dict[str, str], here: dict[str, str]) -> str | None:
    """Return the difference between two programs, in words; None if they are the same."""
    for name, wanted in here.items():
        theirs = there.get(name, "unknown")
        if theirs != wanted and name == "sources":
            return (
                f"different sources of evaltune {here['evaltune']} there ({theirs[:8]}) than here"
                f" ({wanted[:8]})"
            )
        if theirs != wanted:
            return f"{name} {theirs} there, {wanted} here"
    return None


def _sources() -> str:
    """Return a hash of the names and contents of all files that results may depend on."""
    state = hashlib.sha256()
    paths = [
        path
        for folder in OURS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".yaml", ".cu")
    ]
    for path in sorted(paths, key=lambda path: path.relative_to(ROOT).as_posix()):
        state.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return state.hexdigest()


# states of a thread: jobs that one command has at the same time, and those of clients that ended
# without a word
KEPT = 4
ABORT_SECONDS = 0.05  # between two calls of `abort`: a search may begin after the first
END_SECONDS = 15.0
# a worker that dies before its nanny has noted its start is never started again by Dask
SETTLED_SECONDS = 1.0


class OtherProgram(Exception):
    """The program of a worker is not the client's: the address of the worker, and its program."""

    def __init__(self, address: str, program: dict[str, str]) -> None:
        super().__init__(address, program)
        self.address, self.program = address, program


@dataclass(frozen=True)
class Call:
    """Tasks for a worker: the key of their job, its functions (see `tuner.parallel.Job`), a hash of
    the client's program, and each task with the places of what it shares."""

    job: str
    make: Callable[..., JobState]
    work: Callable[..., Any]
    fingerprint: str
    tasks: tuple[tuple[Any, tuple[int, ...]], ...] = ()


class Done(NamedTuple):
    """The results of the tasks of a call, and the seconds that they took."""

    results: list[Any]
    seconds: float


@dataclass
class _Kept:
    state: JobState
    stop: threading.Event
    busy: bool = False


_states: dict[tuple[int, str], _Kept] = {}  # by thread and job; the latest last
_ended: dict[str, None] = {}  # keys of the jobs that were ended last
_changing = threading.Lock()
_settled = threading.Event()


def perform(call: Call, spec: Any, *shared: Any) -> Done:
    """Return the results of some tasks; None for those whose job was ended meanwhile."""
    _require_program(call)
    begun, kept = time.perf_counter(), _kept(call, spec)
    if kept is None:
        return Done([None] * len(call.tasks), 0.0)
    kept.busy = True
    try:
        results = [
            (
                None
                if kept.stop.is_set()
                else call.work(kept.state, task, *(shared[place] for place in places))
            )
            for task, places in call.tasks
        ]
        return Done(results, time.perf_counter() - begun)
    finally:
        kept.busy = False


def prepare(call: Call, spec: Any) -> None:
    """Make the state of a job ready; InputError for what would make every task fail."""
    _require_program(call)
    kept = _kept(call, spec)
    if kept is not None:
        kept.state.ready()


def hold(value: Any) -> Any:
    """Return the value: as the result of a task it is kept by the workers that need it, and
    computed again if they die."""
    return value


def end_job(job: str) -> None:
    """Stop the tasks of a job that are under way on this worker, and release its states."""
    with _changing:
        _ended[job] = None
        for old in list(_ended)[:-64]:
            del _ended[old]
        ended = [_states.pop(key) for key in [key for key in _states if key[1] == job]]
    for kept in ended:
        kept.stop.set()
    if ended:  # not here: this thread talks to the scheduler
        threading.Thread(target=_release, args=(ended,), daemon=True).start()


def _require_program(call: Call) -> None:
    if not _settled.is_set():  # the first call of this process
        time.sleep(SETTLED_SECONDS)
        _settled.set()
    if call.fingerprint != fingerprint():
        from distributed import get_worker

        raise OtherProgram(get_worker().address, program())


def _kept(call: Call, spec: Any) -> _Kept | None:
    """Return this thread's state of a job, made when it is first needed; None for a job that was
    ended."""
    key = (threading.get_ident(), call.job)
    with _changing:
        if call.job in _ended:
            return None
        if key in _states:
            return _states[key]
        own = [other for other in _states if other[0] == key[0]]
        old = [_states.pop(other) for other in own[: max(0, len(own) - KEPT + 1)]]
    _release(old)
    stop = threading.Event()
    kept = _Kept(call.make(spec, stop.is_set), stop)
    with _changing:
        if call.job in _ended:
            stop.set()
            kept.state.close()
            return None
        _states[key] = kept
    return kept


def _release(states: list[_Kept]) -> None:
    """Abort the tasks under way with these states, and close them."""
    deadline = time.monotonic() + END_SECONDS
    for kept in states:
        kept.stop.set()
        while kept.busy and time.monotonic() < deadline:
            kept.state.abort()
            time.sleep(ABORT_SECONDS)
        kept.state.close()
