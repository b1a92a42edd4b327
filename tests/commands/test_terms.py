"""A user's own terms: added to a parameter file, learned, compared, and reported in one line if
they are missing."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.commands.support import done, refused, tictactoe_file, tuner
from tests.commands.test_outputs import TERMS
from tests.games.support import REPOSITORY

README = (REPOSITORY / "evalterms/README.md").read_text(encoding="utf-8")


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tictactoe_file(tmp_path, 200)
    (tmp_path / "my terms.py").write_text(TERMS)
    return tmp_path


@pytest.mark.parametrize("start", ["tictactoe/classic", "mine.yaml", "sub/mine.yaml"])
def test_the_command_that_a_message_names_works_as_it_is_printed(here, start):
    if start.endswith(".yaml"):
        Path(start).parent.mkdir(exist_ok=True)
        Path(start).write_text(
            (REPOSITORY / "tests/fixtures/params/tictactoe/classic.yaml").read_text()
        )
    for free in (f"{Path(start).stem}-full.yaml", f"{Path(start).stem}-full-2.yaml"):
        said = refused("tune", start, "games.ttt", "--terms", "my terms.py", "-o", "out.yaml")
        told = re.search(r"weights lacks lines2.marks; `tuner (.*?)` adds zeros", said)[1]
        assert told == f"params {start} --terms 'my terms.py' --add-missing -o {free}"
        done(*shlex.split(told))
        done(
            "tune", free, "games.ttt", "--prior", "none", "--terms", "my terms.py", "-o", "out.yaml"
        )
    words = ("params", start, "--terms", "my terms.py", "--add-missing")
    if not start.endswith(".yaml"):
        assert "a bundled file has no terms of --terms; `tuner params " in refused(*words)
    else:
        assert f"wrote {start}: added lines2.marks" in done(*words).out


def test_a_learned_file_names_its_terms_and_they_are_missed_in_one_line(here):
    done(
        "params", "tictactoe/classic", "--terms", "my terms.py", "--add-missing", "-o", "mine.yaml"
    )
    Path("deep").mkdir()
    done(
        "tune",
        "mine.yaml",
        "games.ttt",
        "--prior",
        "none",
        "--terms",
        "my terms.py",
        "-o",
        "deep/learned.yaml",
        "--run",
        "run",
    )
    (entry,) = yaml.safe_load(Path("deep/learned.yaml").read_text())["terms"]
    assert entry["file"] == "../my terms.py" and len(entry["sha256"]) == 64
    for command in (
        "params deep/learned.yaml",
        "eval deep/learned.yaml 'x.o/.x./... o'",
        "export deep/learned.yaml --format c",
        "tune deep/learned.yaml games.ttt -o out.yaml",
        "diff deep/learned.yaml mine.yaml",
        "dataset games.ttt --params deep/learned.yaml -o out.ds",
    ):
        ran = tuner(*shlex.split(command))
        assert ran.status == 2 and ran.err.count("\n") == 1, ran.err
        assert re.search(
            r"^tuner: deep/learned.yaml:\d+: has weights of the terms in my terms.py; add --terms"
            r" 'my terms.py'$",
            ran.err,
            re.MULTILINE,
        )
        ran = done(*shlex.split(command), "--terms", "my terms.py")
        assert "its terms may" not in ran.err
    done("report", "run")


def test_changed_and_missing_terms_are_reported(here):
    done(
        "params", "tictactoe/classic", "--terms", "my terms.py", "--add-missing", "-o", "mine.yaml"
    )
    Path("my terms.py").write_text(TERMS + "# another version\n")
    ran = done("params", "mine.yaml", "--terms", "my terms.py")
    assert re.match(
        r"mine.yaml:\d+: my terms.py has changed since this file was written: its terms may count"
        r" differently\n",
        ran.err,
    )
    Path("my terms.py").rename("yours.py")
    assert "add --terms 'my terms.py' (which does not exist)" in tuner("params", "mine.yaml").err
    done("params", "mine.yaml", "--terms", "yours.py")  # the terms themselves are all there


@pytest.mark.parametrize(
    "terms",
    ["3", "[3]", "[{file: a.py}]", "[{file: a.py, sha256: b}]", "{}", "[{file: [], sha256: b}]"],
)
def test_a_wrong_entry_of_terms_is_reported_with_its_line(here, terms):
    text = (
        (REPOSITORY / "tests/fixtures/params/tictactoe/classic.yaml")
        .read_text()
        .replace("weights:", f"terms: {terms}\nweights:")
    )
    Path("bad.yaml").write_text(text)
    assert re.match(
        r"tuner: bad.yaml:\d+: (terms is|an entry of terms is)", refused("params", "bad.yaml")
    )


def test_a_folder_with_the_name_of_a_bundled_file_hides_nothing_and_a_file_does(here):
    for name in ("classic", "tictactoe"):
        Path(name).mkdir()
    Path("tictactoe/classic").mkdir()
    assert "chess, 615 parameters" in done("params", "classic").out
    assert "tictactoe, 7 parameters" in done("params", "tictactoe/classic").out
    assert "hidden: cannot be read: Is a directory" in (
        Path("hidden").mkdir() or tuner("params", "hidden").err
    )
    Path("zero").write_text((REPOSITORY / "tests/fixtures/params/tictactoe/zero.yaml").read_text())
    assert done("params", "zero").out.startswith("zero: tictactoe")
