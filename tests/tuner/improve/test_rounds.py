"""Rounds that make an engine stronger, with matches that end as the numbers deserve."""

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from games.streams import InputError
from tests.tuner.improve.support import BEST, BUILD, Commands, improve, write_engine
from tuner.evaluation.loading import load_parameters


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.skipif(shutil.which("git") is None, reason="no git; install the Debian package git")
def test_rounds_go_on_while_they_win_and_end_in_a_patch(tmp_path):
    plan = write_engine(tmp_path)
    before = contents(tmp_path / "engine")
    result = improve(plan, tmp_path / "run", Commands())
    assert result.plain["kept"] != "the first version"
    assert contents(tmp_path / "engine") == before
    learned = load_parameters(tmp_path / "run" / "learned.yaml").weights.ravel()
    assert abs(learned - list(BEST.values())).max() <= 15
    subprocess.run(["git", "-C", tmp_path / "engine", "apply", result.plain["patch"]], check=True)
    assert (
        f"PawnValue = {learned[0]:g};  // in centipawns"
        in (tmp_path / "engine" / "src" / "eval.h").read_text()
    )
    assert (tmp_path / "engine" / "notes.txt").read_text() == "mine"


def test_half_of_the_way_is_tried_where_all_of_it_loses(tmp_path):
    """What is learned goes twice as far as it should: half of it is best."""
    result = improve(write_engine(tmp_path), tmp_path / "run", Commands(lambda number: 2.0))
    assert result.plain["kept"] == "round 1 by half"
    assert load_parameters(tmp_path / "run" / "learned.yaml").weights.ravel().tolist() == list(
        BEST.values()
    )


def test_nothing_is_written_where_nothing_wins(tmp_path):
    result = improve(write_engine(tmp_path), tmp_path / "run", Commands(lambda number: -1.0))
    assert result.plain["kept"] == "the first version"
    assert not (tmp_path / "run" / "improve.patch").exists()
    assert "nothing won" in result.lines[-1]


def test_a_gain_against_the_version_before_alone_is_not_enough(tmp_path):
    """The pool holds an engine against which the learned version is no better."""

    class Misled(Commands):
        def perform(self, words):
            found = super().perform(words)
            if words[0] == "match" and words[2] == "uci:other":
                found["pentanomial"] = (
                    [0, 0, 200, 0, 0] if "first" in words[1] else [90, 60, 40, 8, 2]
                )
            return found

    commands = Misled(lambda number: 0.1)
    result = improve(write_engine(tmp_path, against=["uci:other"]), tmp_path / "run", commands)
    assert result.plain["kept"] == "the first version"


def test_a_loop_that_is_interrupted_before_any_command_ends_in_the_same_patch(tmp_path):
    whole = improve(write_engine(tmp_path / "whole"), tmp_path / "whole" / "run", Commands())
    expected = Path(whole.plain["patch"]).read_bytes()
    plan = write_engine(tmp_path / "cut")

    class Killed(BaseException):
        pass

    for stop in itertools.count(1):
        count = itertools.count(1)

        def interrupt(count=count):
            if next(count) == 3:
                raise Killed

        try:
            run = tmp_path / "cut" / "run"
            commands = Commands(interrupt=interrupt)
            result = improve(plan if stop == 1 else None, run, commands)
            break
        except Killed:
            continue
    assert stop > 5
    assert Path(result.plain["patch"]).read_bytes() == expected


@pytest.mark.parametrize(
    ("build", "named"),
    [
        ("echo 'src/eval.h:3: error: oops' >&2; exit 3", "status 3: src/eval.h:3: error: oops"),
        ("exit 0", "./myengine: no such program after `exit 0`"),
        (
            f"cp ../../../first/engine/myengine . 2>/dev/null || ({BUILD})",
            "as it was although src/eval.h",
        ),
    ],
)
def test_a_build_that_does_not_build_is_one_line(tmp_path, build, named):
    before = write_engine(tmp_path, build=build)
    with pytest.raises(InputError) as problem:
        improve(before, tmp_path / "run", Commands())
    assert named in str(problem.value) and "\n" not in str(problem.value)


def test_a_program_behind_another_one_is_looked_at(tmp_path):
    """An engine that does not flush its output is started by another program, which no build
    changes."""
    plan = write_engine(tmp_path, plays="env ./myengine")
    assert improve(plan, tmp_path / "run", Commands()).plain["kept"] != "the first version"


def test_rows_that_are_not_the_evaluation_end_the_loop(tmp_path):
    class Wrong(Commands):
        def perform(self, words):
            found = super().perform(words)
            return found | ({"row_check": {"fits": False}} if words[0] == "dataset" else {})

    with pytest.raises(InputError, match="rows of the first version are not its evaluation"):
        improve(write_engine(tmp_path), tmp_path / "run", Wrong())
