"""Nothing that a process started outlives it."""

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from games import process
from games.process import EngineProcess
from tests.games.chess.engines.contest.test_players import ended
from tests.games.support import REPOSITORY

ENGINE = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
if sys.argv[1:]:
    child = subprocess.Popen([sys.executable, __file__], start_new_session=True, stdout=-1)
    child.stdout.readline()
    if os.fork():
        os._exit(0)
    os.setsid()
print(os.getpid(), file=open(os.path.join(os.path.dirname(__file__), f"{os.getpid()}.here"), "w"))
print("ready", flush=True)
while True:
    signal.pause()
"""
STARTS = """
import sys
from games.process import EngineProcess
engines = [EngineProcess(command) for command in sys.argv[1:]]
for engine in engines:
    engine.until(b"ready", 60)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system is not Linux")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, None], ids=str)
def test_engines_and_what_they_put_into_sessions_of_their_own_end_with_their_process(
    tmp_path, number
):
    """Engines that ignore the end of their input, one of which leaves its own process group."""
    (tmp_path / "engine.py").write_text(ENGINE)
    command = shlex.join([sys.executable, str(tmp_path / "engine.py")])
    started = subprocess.Popen(
        [sys.executable, "-c", STARTS, command, f"{command} leaves"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
    )
    assert started.stdout.readline() == b"ready\n"
    if number is not None:
        started.send_signal(number)
    started.communicate(timeout=60)
    numbers = [int(path.stem) for path in tmp_path.glob("*.here")]
    assert len(numbers) == 3 and all(map(ended, numbers))


TALKS = """
import sys
for line in sys.stdin:
    print("x" * (1 << 18), file=sys.stderr, flush=True)
    print("y" * (1 << 18) + "\\nanswer", flush=True)
    if line == "quit\\n":
        open(sys.argv[1], "w").close()
        break
"""


def test_an_engine_that_prints_much_at_its_end_is_not_killed_before(tmp_path, monkeypatch):
    """More than a pipe holds, to both its outputs."""
    monkeypatch.setattr(process, "QUIT_SECONDS", 60.0)
    engine = EngineProcess(shlex.join([sys.executable, "-c", TALKS, str(tmp_path / "ended")]))
    engine.say(b"go\n")
    assert engine.until(b"answer", 60)[-1] == b"answer"
    engine.quit()
    assert (tmp_path / "ended").exists()
