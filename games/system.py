"""What differs between operating systems: locks, processes and what they start, pipes, signals, and
the words of a command.

Whatever is of POSIX alone stands here, with what Windows has in its place. What runs on Windows is
tested by taking the names of POSIX away (tests/test_system.py), not on Windows itself."""

import contextlib
import math
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

WINDOWS = sys.platform == "win32"
POLLS = hasattr(select, "poll") and not WINDOWS  # Windows cannot wait for pipes
SOCKET_FILES = hasattr(socket, "AF_UNIX") and not WINDOWS
# what ends a program: Ctrl-C, a request to end, the end of its terminal
ENDINGS = [
    signal.Signals[name]
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    if hasattr(signal, name)
]
# starts a process that Ctrl-C does not reach, and that can be killed with its children
APART: dict[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if WINDOWS
    else {"start_new_session": True}
)


def lock(stream: IO[bytes]) -> bool:
    """Lock a file while it is open; return False if another process has locked it."""
    try:
        if WINDOWS:
            with contextlib.suppress(ImportError):
                import msvcrt

                stream.seek(0)
                msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def kill_group(number: int) -> None:
    """Kill the process of that number, which was started with APART, and its children."""
    with contextlib.suppress(OSError):
        if not WINDOWS:
            os.killpg(number, signal.SIGKILL)  # the group outlives its leader
            return
        with contextlib.suppress(OSError):
            tree = ["taskkill", "/F", "/T", "/PID", str(number)]
            subprocess.run(tree, check=False, capture_output=True)
        os.kill(number, signal.SIGTERM)  # ends it at once on Windows


def prepare_pipe(number: int, room: int) -> None:
    """Make reads and writes of a pipe return at once, and give it room for that many bytes if it
    can have it; 0: as it is."""
    os.set_blocking(number, False)
    if room:
        import fcntl

        with contextlib.suppress(OSError, AttributeError):  # of Linux alone
            fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, room)


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Start processes in the block that never see Ctrl-C."""
    if WINDOWS:  # as APART does
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def user() -> str:
    """Return a text that stands for the user on this machine, who may have no name."""
    return os.environ.get("USERNAME", "") if WINDOWS else str(os.getuid())


def available_cpus() -> int:
    """Return the number of CPUs that this process may use, also in a container."""
    affinity = None if WINDOWS else getattr(os, "sched_getaffinity", None)  # macOS has none
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, math.ceil(min(cpus, quota_of_cpus(Path("/sys/fs/cgroup")))))


CPUS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def bind_thread(number: int) -> None:
    """Bind this thread, and the processes that it starts from now on, to one of the CPUs that this
    process may use. Only Linux has that."""
    if CPUS:
        os.sched_setaffinity(0, {CPUS[number % len(CPUS)]})


def quota_of_cpus(root: Path) -> float:
    """Return the CPUs that the control groups of Linux grant this process, by the tree of groups at
    `root`, of either version; infinity without a limit."""
    group = ""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        group = next(line[4:] for line in lines if line.startswith("0::/"))
    places = [root / group, *(root / group).parents]
    files = [place / "cpu.max" for place in places if place.is_relative_to(root)]
    least = math.inf
    with contextlib.suppress(OSError, ValueError):
        quota, period = (
            int((root / "cpu" / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period")
        )
        least = quota / period if quota > 0 else least
    for file in files:
        with contextlib.suppress(OSError, ValueError):  # "max 100000"
            granted, period = map(int, file.read_text().split())
            least = min(least, granted / period)
    return least


def is_writable_place(folder: str) -> bool:
    """Return whether files can be made in a folder: not in those of the kernel, such as /proc."""
    return WINDOWS or bool(os.statvfs(folder).f_blocks)


def limit_processor(seconds: int) -> None:
    """End this process after that many seconds of the processor; Windows has no such limit."""
    if not WINDOWS:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def ended_by_limit(status: int) -> bool:
    """Return whether `limit_processor` ended a process with this status."""
    return not WINDOWS and status == -signal.SIGXCPU


def split(command: str) -> list[str]:
    """Return the words of a command as the shell of this system has them; ValueError for an
    unfinished quotation."""
    if not WINDOWS:
        return shlex.split(command)
    words = shlex.split(command, posix=False)  # backslashes are those of paths
    return [word[1:-1] if word[:1] == word[-1:] == '"' and word[1:] else word for word in words]
