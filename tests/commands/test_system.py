"""Problems of the system: names that are not text, poor encodings, closed or full streams, full
disks, no permission."""

import itertools
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.support import refused, tictactoe_file
from tests.commands.test_outputs import TERMS
from tests.games.support import REPOSITORY

C_LOCALE = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
SYSTEMS = {
    "UTF-8": {"LC_ALL": "C.UTF-8"},
    "C": C_LOCALE,
    "ASCII": {**C_LOCALE, "PYTHONIOENCODING": "ascii:strict"},
}
NAMES = {"no UTF-8": b"sch\xe4ch", "no ASCII": "πартия".encode()}
CASES = [
    (
        name,
        system,
        () if (name, system) == ("no UTF-8", "C") else pytest.mark.long,
    )
    for name, system in itertools.product(NAMES, SYSTEMS)
]
# several commands in one process: a line of words each, separated by `::`
DRIVER = """
import os, sys
from tuner.cli import main
command = []
for word in [*sys.argv[1:], "::"]:
    if word != "::":
        command.append(word)
        continue
    sys.argv[1:] = command
    assert main(command) == 0, command
    command = []
"""


def run(*words: str | bytes, system: dict | None = None, **more) -> subprocess.CompletedProcess:
    return subprocess.run(
        [os.fsencode(word) for word in words],
        capture_output=True,
        check=False,
        env={**os.environ, **(system or {})},
        **more,
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "system"),
    [
        pytest.param(name, system, marks=marks, id=f"{name}-{system}")
        for name, system, marks in CASES
    ],
)
def test_what_was_learned_is_written_whatever_the_names_are(tmp_path, name, system):
    name, system = NAMES[name], SYSTEMS[system]
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(folder)
    os.rename(tictactoe_file(tmp_path, 200), folder + b"/" + name + b".ttt")
    Path(os.fsdecode(folder + b"/" + name + b".py")).write_text(TERMS)
    text = """params tictactoe/classic --terms N.py --add-missing -o N.yaml
tune N.yaml N.ttt --terms N.py --prior none -o N-learned.yaml --run N-run
diff N.yaml N-learned.yaml --terms N.py
params N-learned.yaml --terms N.py --json
export N-learned.yaml --terms N.py --format c -o N.h
export N-learned.yaml --terms N.py --format json
report N-run --json
dataset N.ttt --params N.yaml --terms N.py -o N.ds
dataset inspect N.ds
dataset split N.ds -o N-a N-b --held-out 0.3
tune N.yaml N.ds --terms N.py -o N-learned.yaml --json"""
    words = b" :: ".join(text.encode().splitlines()).replace(b"N", name).split()
    ran = run(sys.executable, "-c", DRIVER, *words, system=system, cwd=folder)
    assert ran.returncode == 0 and b"Traceback" not in ran.stderr, ran.stderr.decode("latin-1")
    learned = Path(os.fsdecode(folder + b"/" + name + b"-learned.yaml")).read_text(encoding="utf-8")
    assert "\nlearned:\n" in learned and (
        r"sch\udce4ch" in learned or "πартия" in learned or r"\udcd0" in learned
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "system",
    ["C", *(pytest.param(name, marks=pytest.mark.long) for name in SYSTEMS if name != "C")],
)
def test_a_match_and_self_play_go_on_whatever_the_names_are(tmp_path, system):
    name = b"sch\xe4ch"
    (tmp_path / os.fsdecode(name + b".yaml")).write_text(
        (REPOSITORY / "params/chess/material.yaml").read_text()
    )
    short = "--games 2 --depth 1 --plies 6 --random-plies 0"
    text = f"""selfplay N.yaml {short} --batch 2 --opponent N.yaml --run N-played -o N-out.yaml
selfplay --resume N-played --games 4
report N-played
match N.yaml N-out.yaml {short} --pgn N.pgn --run N-match
match --resume N-match
report N-match"""
    words = b" :: ".join(text.encode().splitlines()).replace(b"N", name).split()
    ran = run(sys.executable, "-c", DRIVER, *words, system=SYSTEMS[system], cwd=tmp_path)
    assert ran.returncode == 0 and b"Traceback" not in ran.stderr, ran.stderr.decode("latin-1")


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tictactoe_file(tmp_path, 100)
    (tmp_path / "my.yaml").write_text(
        (REPOSITORY / "tests/fixtures/params/tictactoe/classic.yaml").read_text()
    )
    return tmp_path


TUNER = f"{shlex.quote(sys.executable)} -m tuner"
SHELL = {  # a command of the shell, its status, and what it says last
    f"{TUNER} params /dev/zero": (
        2,
        "/dev/zero: more than 268,435,456 bytes, expected a parameter file of at most 268,435,456",
    ),
    f"{TUNER} params <(cat my.yaml)": (0, ""),
    f"{TUNER} tune <(cat my.yaml) games.ttt --prior none -o out.yaml": (0, None),
    f"{TUNER} params <(cat /dev/zero)": (
        2,
        " bytes, expected a parameter file of at most 268,435,456",
    ),
    f"{TUNER} tune my.yaml - -o out.yaml <&-": (
        2,
        "tuner: -: no games found; expected files of the kinds .ttt",
    ),
    f"{TUNER} params nowhere >&- 2>&-": (2, ""),
    f"{TUNER} params my.yaml >/dev/full": (
        2,
        (
            "tuner: output: cannot be written: No space left on device; make room, or choose "
            "another place"
        ),
    ),
    f"{TUNER} export my.yaml --format c >/dev/full": (
        2,
        "tuner: output: cannot be written: No space left on device",
    ),
    f"ulimit -f 1; {TUNER} tune my.yaml games.ttt -o out.yaml": (
        2,
        "/games: cannot be written: File too large",
    ),
    f"ulimit -f 1; {TUNER} export classic --format c -o out.h": (
        2,
        "tuner: out.h: cannot be written: File too large; choose",
    ),
    f"ulimit -f 1; {TUNER} params classic --add-missing -o out.yaml": (
        2,
        "tuner: out.yaml: cannot be written: File too large",
    ),
    f"ulimit -f 1; {TUNER} dataset games.ttt --params my.yaml -o out.ds": (
        2,
        "tuner: out.ds: cannot be written: File too large",
    ),
    f"{TUNER} params .": (2, "tuner: .: cannot be read: Is a directory"),
    f"ln -s gone link.yaml; {TUNER} params link.yaml": (
        2,
        "tuner: link.yaml: no such file, a link that leads nowhere",
    ),
    f"{TUNER} params {'x' * 300}.yaml": (
        2,
        f"tuner: {'x' * 300}.yaml: cannot be read: File name too long",
    ),
    f"mkdir no && cp my.yaml no && chattr +i no; "
    f"{TUNER} export my.yaml --format c -o no/a.h; s=$?; chattr -i no; exit $s": (
        2,
        "tuner: no/a.h: cannot be written: Operation not permitted; choose another place",
    ),
}


@pytest.mark.parametrize("command", SHELL, ids=lambda command: command.replace(TUNER, "tuner")[:60])
def test_an_error_of_the_system_is_reported_in_one_line(here, command):
    status, said = SHELL[command]
    if "chattr" in command and run("sh", "-c", "touch x; chattr +i x && chattr -i x").returncode:
        pytest.skip("chattr works for root and on some file systems only")
    ran = run("bash", "-c", command)
    text = ran.stderr.decode()
    assert ran.returncode == status and "Traceback" not in text, text
    if said is not None:
        lines = text.splitlines() or [""]  # notes may stand before the line that tells
        assert said in lines[-1] and sum(line.startswith("tuner:") for line in lines) == bool(said)
    assert status == 0 or not [
        path for path in here.iterdir() if path.name.startswith(("out", ".out"))
    ]


def test_a_name_with_a_zero_byte_is_reported(here):
    for command in (
        ["params", "a\0b.yaml"],
        ["tune", "my.yaml", "a\0b.ttt", "-o", "x.yaml"],
        ["dataset", "games.ttt", "-o", "a\0b"],
        ["tune", "my.yaml", "games.ttt", "-o", "x.yaml", "--run", "a\0b"],
    ):
        assert refused(*command)


# what a manifest may hold after an edit, an accident or an attack
DAMAGE = [
    None,
    -1,
    0,
    256,
    1e308,
    float("nan"),
    float("inf"),
    10**30,
    "",
    "x",
    True,
    [],
    {},
    [[]],
    ["mg", 3],
    [["a.b", [10**9]]],
    [["a.b", [1] * 10]],
    [["a.b", []], ["a.b", []]],
    [["a.b", [True]]],
    [{"file": 3}],
]
