"""Signals that end a command: it ends in one line, and nothing that it started outlives it."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.support import HEARING
from tests.games.chess.engines.contest.test_players import ended
from tests.games.support import REPOSITORY

ENGINE = (
    f"uci:{shlex.quote(sys.executable)}"
    f" {shlex.quote(str(REPOSITORY / 'tests/games/chess/engines/contest/fake_engine.py'))}"
)
# deaf to the end of its input: it starts a process, and waits for ever
DEAF_ROWS = (
    "import subprocess, sys, time; print(subprocess.Popen(['sleep', '3600']).pid, file=open({!r},"
    " 'w')); time.sleep(3600)"
)


def started(folder: Path, *words: object, **more: str) -> subprocess.Popen:
    environment = {**os.environ, **more}
    return subprocess.Popen(
        [*HEARING, "-m", "tuner", *map(str, words)],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(path: Path, process: subprocess.Popen, lines: int = 1) -> list[int]:
    """The process numbers in a file, once it has some lines."""
    for _ in range(3000):
        if path.exists() and len(found := path.read_text().split()) >= lines:
            return [int(line) for line in found]
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError(f"{path} stays empty")


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        *(pytest.param(each, marks=pytest.mark.long) for each in (signal.SIGTERM, signal.SIGHUP)),
    ],
    ids=lambda number: number.name,
)
def test_engines_and_their_children_end_with_a_match(tmp_path, number):
    children = tmp_path / "children"
    ran = started(
        tmp_path,
        "match",
        f"{ENGINE} uci parent",
        f"{ENGINE} uci deaf",
        "--run",
        "run",
        "--movetime",
        3600,
        "--workers",
        1,
        FAKE_CHILDREN=str(children),
    )
    numbers = wait_for(children, ran)
    ran.send_signal(number)
    out, err = ran.communicate(timeout=60)
    assert ran.returncode == 128 + number and "Traceback" not in err
    assert "tuner match --resume run" in out
    assert all(map(ended, numbers))


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.long)],
    ids=lambda number: number.name,
)
def test_an_engine_that_prints_rows_ends_with_its_command(tmp_path, small_pgn, number):
    child = tmp_path / "child"
    (tmp_path / "rows.py").write_text(DEAF_ROWS.format(str(child)))
    ran = started(
        tmp_path,
        "dataset",
        small_pgn,
        "--engine",
        f"{sys.executable} rows.py",
        "--params",
        "classic",
        "-o",
        "rows.ds",
    )
    numbers = wait_for(child, ran)
    ran.send_signal(number)
    _, err = ran.communicate(timeout=60)
    assert (
        ran.returncode == 128 + number
        and err.splitlines()[-1] == "tuner: interrupted; no unfinished file is left"
    )
    assert all(map(ended, numbers)) and not (tmp_path / "rows.ds").exists()


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.7, 2.0])  # whatever is being started then
def test_ctrl_c_while_a_cluster_starts_ends_the_command(tmp_path, seconds):
    pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install 'evaltune[cluster]'"
    )
    ran = started(tmp_path, "selfplay", "--games", 100000, "--cluster", "local:2")
    time.sleep(seconds)
    ran.send_signal(signal.SIGINT)
    out, err = ran.communicate(timeout=60)
    assert ran.returncode in (130, -signal.SIGINT), (out, err)  # Python may still be starting
    assert "Traceback" not in err and not list(tmp_path.iterdir())


@pytest.mark.long
def test_runs_that_start_at_once_take_a_folder_each(tmp_path):
    runs = [
        started(tmp_path, "selfplay", "--games", 4, "--depth", 1, "--workers", 1) for _ in range(3)
    ]
    assert [run.communicate(timeout=300)[1:] and run.returncode for run in runs] == [0, 0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "selfplay-1",
        "selfplay-2",
        "selfplay-3",
    ]
