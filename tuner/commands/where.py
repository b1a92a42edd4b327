"""Where the tasks of a command run: on threads, or on the cluster that --cluster names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tuner.commands.display import TerminalDisplay
from tuner.parallel import Executor, OnThreads


@contextlib.contextmanager
def executor_of(cluster: str | None, threads: int, display: TerminalDisplay) -> Iterator[Executor]:
    """Yield the threads of this process, or the cluster at an address, whose state is shown with the progress."""
    if cluster is None:
        yield OnThreads(threads)
        return
    from tuner.cluster.cluster import connect

    display.begin("connecting")
    with connect(cluster, display.note) as found:
        display.follow(found.state)
        yield found
