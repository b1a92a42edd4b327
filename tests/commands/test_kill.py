"""`kill -9` at any moment: an output file is complete or absent, and the same command succeeds when
it is run again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.support import done, tictactoe_file
from tests.games.support import REPOSITORY
from tuner.datasets.reader import open_dataset
from tuner.evaluation.loading import make_layout
from tuner.parameters.reader import read_parameters

LONG = pytest.mark.long
MOST = 60  # changes to files that a command makes


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> Path:
    return tictactoe_file(tmp_path_factory.mktemp("kill"), 150)


def whole(path: Path) -> bytes:
    """The content under a final name; fails if it is not whole."""
    if path.suffix == ".ds":
        return b"".join(
            (path / f"{name}.npy").read_bytes()
            for name in ("index", "count", "row", "outcome", "game")
            if open_dataset(path).positions
        )
    read_parameters(path, make_layout("tictactoe"), "tictactoe")
    numbers, learned, rest = path.read_bytes().partition(b"\nlearned:\n")
    assert learned and b"null_directions: " in rest
    return numbers  # the rest holds the command, which names the file


def command_of(kind: str, games: Path, target: Path) -> list[str]:
    if kind == "dataset":
        return ["dataset", str(games), "-o", str(target), "--params", "tictactoe/zero"]
    return ["tune", "tictactoe/classic", str(games), "-o", str(target), "--prior", "none"]


@pytest.mark.long
@pytest.mark.parametrize(
    "there", [False, pytest.param(True, marks=LONG)], ids=["new", "over an older one"]
)
@pytest.mark.parametrize(
    ("kind", "suffix"), [("dataset", ".ds"), pytest.param("tune", ".yaml", marks=LONG)]
)
def test_killed_before_any_change_to_a_file_leaves_the_old_or_the_new_whole(
    kind, suffix, there, games, tmp_path
):
    folder = tmp_path / "here"
    folder.mkdir()
    target, wanted = folder / f"out{suffix}", tmp_path / f"wanted{suffix}"
    done(*command_of(kind, games, wanted))
    new, old = whole(wanted), None
    if there:
        fewer = tictactoe_file(tmp_path, 60, seed=2)
        done(*command_of(kind, fewer, target))
        old = whole(target)
        assert old != new
    driver = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.commands.killed",
            str(folder),
            str(MOST),
            *command_of(kind, games, target),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=REPOSITORY,
    )
    kills, found = 0, set()
    try:
        for line in driver.stdout:
            if line.startswith("ended"):
                status = int(line.split()[2])
                if status == 0:
                    break
                assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
                kills += 1
                state = whole(target) if target.exists() else None
                # between taking an older dataset away and putting the new one there, nothing stands
                # under the name
                assert state in (None, old, new)
                found.add("absent" if state is None else "old" if state == old else "new")
                if there and state != old:
                    done(*command_of(kind, fewer, target))
                driver.stdin.write("\n")
                driver.stdin.flush()
    finally:
        driver.kill()
        driver.wait()
        driver.stdin.close()
        driver.stdout.close()
    assert kills >= (12 if kind == "dataset" else 3)
    assert ("old" if there else "absent") in found
    assert (
        whole(target) == new
    )  # the last run was not killed, beside the leftovers of all the others


@pytest.mark.long
@pytest.mark.parametrize("kind", ["dataset", "tune"])
def test_a_process_killed_while_it_works_leaves_nothing_half_written(kind, small_pgn, tmp_path):
    """The real command on chess games, killed by the clock, some moments of which fall into
    reading, learning and writing."""
    target = tmp_path / ("out.ds" if kind == "dataset" else "out.yaml")
    command = [
        sys.executable,
        "-m",
        "tuner",
        kind,
        *(["classic"] if kind == "tune" else []),
        str(small_pgn),
        "-o",
        str(target),
        *(["--only", "material.*"] if kind == "tune" else []),
    ]
    for moment in (0.35, 0.6, 0.8):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=REPOSITORY
        )
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if target.exists():  # it was quicker
            assert (
                open_dataset(target)
                if kind == "dataset"
                else read_parameters(target, make_layout("chess"), "chess")
            )
            break
    done(*command[3:])
    assert (
        open_dataset(target).games > 100 if kind == "dataset" else "learned:" in target.read_text()
    )
