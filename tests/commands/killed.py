"""A driver for test_kill: run `tuner` and kill it just before its n-th change to the files below a
folder.

`python -m tests.commands.killed FOLDER N COMMAND...`. Python tells audit hooks of every file that
is opened, made, renamed or removed, and what is stored is counted, too, so that N = 0, 1, 2, ...
visits every state that a kill can leave between two changes. A run that ends by itself prints how
many changes there were."""

import os
import signal
import sys
import threading
from contextlib import AbstractContextManager

from tuner.cli import main
from tuner.commands import dataset_actions
from tuner.core.store import Store
from tuner.evaluation.loading import load_engine
from tuner.learn import run

CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir")


def kill_before(folder: str, chosen: int) -> list[str]:
    """Set the trap; returns the list of changes that it saw."""
    seen: list[str] = []

    def watch(event: str, arguments: tuple) -> None:
        if event == "open":
            path, mode, flags = arguments
            if not isinstance(path, str) or not (flags or 0) & (os.O_WRONLY | os.O_RDWR):
                return
        elif event in CHANGES:
            path = arguments[0]
        else:
            return
        if os.path.abspath(os.fspath(path)).startswith(folder):
            count(f"{event} {os.path.basename(path)}")

    def count(change: str) -> None:
        if len(seen) == chosen:
            os.kill(os.getpid(), signal.SIGKILL)
        seen.append(change)

    def stored(store: Store) -> AbstractContextManager[None]:
        # the state of a run is written by the clock, so that its changes come anywhere
        if threading.current_thread() is threading.main_thread():
            count("store")
        return together(store)

    together = Store.together
    setattr(Store, "together", stored)  # noqa: B010
    sys.addaudithook(watch)
    return seen


def run_all(folder: str, command: list[str], moments: list[int]) -> None:
    """One child per moment, so that the imports are paid for once; prints `moment status
    changes`."""
    # loaded once, for all children
    assert dataset_actions and run and load_engine("tictactoe/classic")
    for moment in moments:
        child = os.fork()
        if child == 0:
            seen = kill_before(folder, moment)
            status = main(command)
            print("changes", len(seen), flush=True)
            os._exit(status)
        _, status = os.waitpid(child, 0)
        print("ended", moment, status, flush=True)
        if (
            sys.stdin.readline() == ""
        ):  # the test looks at what is there before it lets the next one begin
            break


if __name__ == "__main__":
    run_all(sys.argv[1], sys.argv[3:], list(range(int(sys.argv[2]))))
