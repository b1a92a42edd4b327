"""What is of POSIX stands in one module, and commands work where its names are missing."""

import ast
import json
import math
import os
import subprocess
import sys

import pytest

from games import system
from games.system import quota_of_cpus
from tests.games.support import REPOSITORY
from tests.test_layers import SOURCES, tree_of
from tests.without_posix import GONE, MODULES

FAKE = REPOSITORY / "tests" / "games" / "chess" / "engines" / "contest" / "fake_engine.py"
NAMES = {name for names in GONE.values() for name in names.split()} | {
    "AF_UNIX",
    "start_new_session",
}
# used where `games.system` says that they are there
ELSEWHERE = {
    "games/process.py": {"poll", "POLLIN", "POLLOUT", "start_new_session"},
    "games/backgammon/engines/contest.py": {"AF_UNIX"},
}
USED = ("os", "signal", "select", "socket")


def posix_names(source) -> set[str]:
    """The names of POSIX in a source: modules, attributes of modules, keywords."""
    found = set()
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in USED:
            found.add(node.attr)
        elif isinstance(node, ast.keyword):
            found.add(node.arg)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & (NAMES | set(MODULES))


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_names_of_posix_stand_in_one_module(source):
    if source.as_posix() != "games/system.py":
        assert posix_names(source) <= ELSEWHERE.get(source.as_posix(), set())


def run(commands: list[list[object]], folder, stdin: str = "") -> subprocess.CompletedProcess:
    words = json.dumps([[str(word) for word in command] for command in commands])
    return subprocess.run(
        [sys.executable, "-m", "tests.without_posix", words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )


def test_the_main_commands_run_without_posix(tmp_path):
    engine = f"uci:{sys.executable} {FAKE} uci fine"
    match = ["match", "classic", engine, "--depth", 1, "--games", 2, "--plies", 20]
    ran = run(
        [
            ["params", "material"],
            ["games", "material", "--games", 8, "--depth", 1, "--run", "own", "--plies", 40],
            ["dataset", "samples", "-o", "few.ds", "--per-game", 1],
            ["tune", "material", "few.ds", "-o", "learned.yaml", "--run", "fit"],
            ["diff", "material", "learned.yaml"],
            ["export", "learned.yaml", "--format", "c"],
            [*match, "--run", "match", "--pgn", "games.pgn"],
            ["match", "--resume", "match", "--games", 4],
            ["report", "match", "-o", "page.html"],
            ["selfplay", "material", "--games", 8, "--depth", 1, "--run", "self"],
            ["eval", "classic", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"],
        ],
        tmp_path,
    )
    assert ran.returncode == 0 and "Traceback" not in ran.stderr, ran.stderr
    assert (tmp_path / "games.pgn").read_text().count("[Event ") == 4


def test_engines_answer_without_posix(tmp_path):
    lines = "uci\nisready\nposition startpos moves e2e4\ngo depth 2\nisready\nquit\n"
    ran = run([["uci", "classic"]], tmp_path, lines)
    assert ran.returncode == 0 and "Traceback" not in ran.stderr, ran.stderr
    assert "uciok" in ran.stdout and "readyok" in ran.stdout and "bestmove" in ran.stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (r"C:\engines\sf.exe --bench", [r"C:\engines\sf.exe", "--bench"]),
        (r'"C:\Program Files\sf.exe" -x "a b"', [r"C:\Program Files\sf.exe", "-x", "a b"]),
        ("", []),
    ],
)
def test_commands_of_windows_keep_their_backslashes(command, words, monkeypatch):
    monkeypatch.setattr(system, "WINDOWS", True)
    assert system.split(command) == words


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({}, math.inf),
        ({"cpu.max": "max 100000"}, math.inf),
        ({"cpu.max": "150000 100000"}, 1.5),
        ({"cpu.max": "400000 100000", "cpu/cpu.cfs_quota_us": "x"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, math.inf),
        ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 0.5),
    ],
)
def test_the_cpus_that_a_container_is_granted_are_known(tmp_path, files, wanted):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert quota_of_cpus(tmp_path) == wanted
