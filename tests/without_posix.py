"""Run commands of `tuner` where the names of POSIX are missing, as on Windows.

`python -m tests.without_posix COMMANDS` reads a list of commands, each a list of words, as JSON.
The packages that we use are imported first: they have branches of their own."""

import asyncio  # noqa: F401
import json
import multiprocessing  # noqa: F401
import os
import select
import signal
import sqlite3  # noqa: F401
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401

import chess.engine  # noqa: F401
import matplotlib.font_manager
import matplotlib.pyplot  # noqa: F401
import msgspec  # noqa: F401
import numba.core.typing.templates  # noqa: F401
import numpy.testing  # noqa: F401
import rich.console
import rich.progress
import scipy.optimize
import scipy.special
import yaml  # noqa: F401

MODULES = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog")
GONE = {
    os: "killpg getuid geteuid getgid setsid getpgid fork forkpty mkfifo statvfs chown nice sysconf"
    " sched_getaffinity set_blocking",
    signal: "SIGHUP SIGKILL SIGXCPU SIGUSR1 SIGUSR2 SIGALRM SIGCHLD pthread_sigmask alarm"
    " setitimer",
    select: "poll POLLIN POLLOUT epoll",
}


def take_away() -> None:
    """Remove the names."""
    for module in MODULES:
        sys.modules[module] = None  # type: ignore[assignment]
    for module, names in GONE.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    sys.platform = "win32"


def main() -> int:
    """Run the commands until one fails; return its status."""
    commands = json.loads(sys.argv[1])
    assert rich.console and scipy.optimize
    take_away()
    from tuner.cli import main as tuner

    for words in commands:
        status = tuner(words)
        if status:
            print("failed:", words, file=sys.stderr)
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
