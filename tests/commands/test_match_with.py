"""`tuner match --with` sets options of an engine from a file."""

import shlex
import sys
from pathlib import Path

import pytest
import yaml

from tests.commands.match_support import play
from tests.commands.support import tuner
from tests.games.support import REPOSITORY
from tests.tuner.core.support import keep_records

PLAYER = (
    f"uci:{shlex.quote(sys.executable)}"
    f" {REPOSITORY / 'tests/games/chess/engines/contest/fake_engine.py'} uci fine"
)


@pytest.mark.long
def test_a_match_sets_what_a_file_says_and_resumes_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("Hash, int, 3, 1, 64, 4, 0.002\n")
    Path("b.txt").write_text("Style=Risky\nHash=5\n")
    command = (PLAYER, PLAYER, "--games", 2, "--plies", 6, "--random-plies", 0, "--depth", 1)
    wanted = play(
        *command, "--with", "a.txt", "--with-b", "b.txt", "--option-b", "Hash=7", "--run", "run"
    )
    settings = yaml.safe_load(Path("run/config.yaml").read_text())["match"]
    assert settings["option_a"] == ["Hash=3"] and settings["option_b"] == [
        "Style=Risky",
        "Hash=5",
        "Hash=7",
    ]
    Path("a.txt").unlink()
    keep_records(Path("run"), 0)
    assert play("--resume", "run")["games"] == wanted["games"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "classic pesto --with a.txt",
            "--with a.txt: classic is not a uci engine, whose options a file could set",
        ),
        ("classic '{player}' --with-b nowhere.txt", "nowhere.txt: no such file"),
        ("'{player}' classic --with a.txt", "a.txt:1: python has no option 'Alpha'"),
        ("'{player}' classic --with high.txt", "high.txt:1: 'Hash' is 99, python accepts 1 to 64"),
        ("'{player}' classic --with empty.txt", "empty.txt: sets no option"),
        ("'uci:no-such-engine' classic --with a.txt", "no-such-engine: no such program"),
    ],
)
def test_a_file_that_cannot_be_set_is_one_line(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.txt", "Alpha=1\n"), ("high.txt", "Hash=99\n"), ("empty.txt", "")):
        Path(name).write_text(text)
    ran = tuner("match", *shlex.split(arguments.format(player=PLAYER)))
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said.replace("python", Path(sys.executable).name) in ran.err
