"""The process itself: closed and full standard streams, and ctrl-C while modules are imported."""

import os
import signal
import subprocess
import sys

import pytest

from tests.games.support import REPOSITORY

TUNER = f"{sys.executable} -m tuner"
PATIENCE = 120.0  # seconds
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


def shell(command: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["/bin/sh", "-c", command],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=REPOSITORY,
        env=os.environ | environment,
    )


@pytest.mark.parametrize("command", ["--help", "params classic", "uci", "nonsense"])
def test_a_closed_standard_output_is_reported_at_once(command):
    ran = shell(f"{TUNER} {command} >&-")
    assert (ran.returncode, ran.stderr) == (
        2,
        "tuner: standard output is closed; use > /dev/null to discard it\n",
    )


def test_a_closed_standard_input_holds_nothing():
    assert shell(f"{TUNER} params classic <&-").returncode == 0
    ran = shell(f"{TUNER} uci <&-")
    assert (ran.returncode, ran.stderr) == (0, "")
    ran = shell(f"{TUNER} tune classic - -o nowhere.yaml <&-")
    assert (
        ran.returncode == 2
        and ran.stderr.splitlines()[-1].startswith("tuner: ")
        and "Traceback" not in ran.stderr
    )


@pytest.mark.parametrize(
    ("command", "status"), [("params classic", 0), ("params nowhere", 2), ("nonsense", 2)]
)
def test_a_closed_standard_error_changes_no_status(command, status):
    assert shell(f"{TUNER} {command} 2>&- >/dev/null").returncode == status
    assert shell(f"{TUNER} {command} 2>&- >&-").returncode == 2


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["params classic", "params classic --json"])
def test_a_full_disk_behind_standard_output_is_one_line(command, unbuffered):
    ran = shell(f"{TUNER} {command} >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (ran.returncode, ran.stderr) == (
        2,
        (
            "tuner: output: cannot be written: No space left on device; make room, or choose"
            " another place\n"
        ),
    )


IMPORTING = """
import os, signal, sys, tuner.__main__
sys.path.insert(0, {folder!r})
class Loud:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Loud())
sys.argv = ["tuner", *{arguments!r}]
sys.exit(tuner.__main__.main())
"""


@pytest.mark.parametrize(
    "name",
    [
        "numpy",
        "tuner.commands.tune",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("scipy", "numba", "yaml", "rich.console", "games.streams")
        ),
    ],
)
def test_an_interrupt_within_an_import_is_one_line(tmp_path, name):
    code = IMPORTING.format(
        folder=str(REPOSITORY),
        name=name,
        arguments=[
            "tune",
            "classic",
            "games/samples/stockfish400.pgn.zst",
            "-o",
            str(tmp_path / "out.yaml"),
        ],
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=REPOSITORY,
    )
    assert ran.returncode == 130 and ran.stderr.splitlines()[-1].startswith("tuner: interrupted"), (
        ran.stderr
    )
    assert "Traceback" not in ran.stderr


HALF_MADE = """
import sys, tuner.__main__, tuner.cli
class Half:
    def __del__(self):
        self.absent
def perform(arguments):
    half = Half()
    raise KeyboardInterrupt
tuner.cli._perform = perform
sys.exit(tuner.__main__.main())
"""


def test_what_an_interrupt_leaves_half_made_does_not_complain():
    ran = subprocess.run(
        [sys.executable, "-c", HALF_MADE],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=REPOSITORY,
    )
    assert (ran.returncode, ran.stderr) == (
        130,
        "tuner: interrupted; no unfinished file is left\n",
    )


COMPILING = """
import os, signal, sys
from numba.core.codegen import CPUCodeLibrary
compiled, sent = CPUCodeLibrary._object_compiled_hook, []
def interrupted(cls, *arguments):
    compiled(*arguments)
    if not sent:
        sent.append(os.kill(os.getpid(), signal.SIGINT))
CPUCodeLibrary._object_compiled_hook = classmethod(interrupted)
sys.path.insert(0, {folder!r})
import tuner.__main__
sys.argv = ["tuner", "eval", "tictactoe/classic", "x.o/.x./... o"]
sys.exit(tuner.__main__.main())
"""


def test_an_interrupt_while_code_is_compiled_is_not_lost(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", COMPILING.format(folder=str(REPOSITORY))],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=REPOSITORY,
        env={**os.environ, "EVALTUNE_CACHE": str(tmp_path)},
    )
    assert (ran.returncode, ran.stdout) == (130, "") and "Traceback" not in ran.stderr, ran.stderr


def test_an_interrupt_before_the_command_line_is_there_ends_the_process_without_a_word():
    code = IMPORTING.format(folder=str(REPOSITORY), name="tuner.cli", arguments=["--help"])
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=REPOSITORY,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.long
def test_a_cache_of_any_bytes_is_compiled_again(tmp_path):
    """Also one whose bytes are no UTF-8."""

    def evaluated() -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "tuner", "eval", "tictactoe/classic", "x.o/.x./... o"],
            cwd=REPOSITORY,
            env={**os.environ, "EVALTUNE_CACHE": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0 and "Traceback" not in ran.stderr, ran.stderr
        return ran.stdout

    first = evaluated()
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".py", ".nbi", ".nbc")]
    assert {path.suffix for path in files} == {".py", ".nbi", ".nbc"}
    for path in files:
        path.write_bytes(b"\xff\xfe nonsense")
    assert evaluated() == first
