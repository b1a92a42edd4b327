"""A driver for test_kill: `python -m tests.tuner.improve.killed PLAN RUN [SECONDS...]` begins a
loop or goes on with it, as often as there are seconds, and kills it so long after its beginning;
then it lets the loop end. Prints how each went, how many steps were done, and how many processes
were left."""

import os
import signal
import sys
import time
from pathlib import Path

from tests.tuner.core.support import read_records
from tests.tuner.improve.support import processes
from tuner.cli import main
from tuner.commands import dataset_actions, games, match, tune
from tuner.improve import rounds
from tuner.learn import run
from tuner.play.match import match as matches

LOOK_SECONDS = 0.02


def ended(plan: str, folder: Path, seconds: float | None) -> str:
    """Perform the command in a child, and kill it after some seconds."""
    begun_before = (folder / "config.yaml").exists()
    words = ["--resume", str(folder)] if begun_before else [plan, "--run", str(folder)]
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os._exit(main(["improve", *words, "--write"]))
    while seconds is None or time.monotonic() < begun + seconds:
        number, status = os.waitpid(child, os.WNOHANG)
        if number:
            return f"status {os.waitstatus_to_exitcode(status)}"
        time.sleep(LOOK_SECONDS)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "killed"


def run_all(plan: str, folder: Path, moments: list[float]) -> None:
    """Kill at all moments unless the loop ends before."""
    assert dataset_actions and games and match and tune and run and matches  # imported once
    rounds.PACE_GAMES = 4
    for seconds in (*moments, None):
        how = ended(plan, folder, seconds)
        steps = len(read_records(folder))
        print(how, steps, len(processes(folder)), flush=True)
        if how != "killed":
            break


if __name__ == "__main__":
    run_all(sys.argv[1], Path(sys.argv[2]), [float(text) for text in sys.argv[3:]])
