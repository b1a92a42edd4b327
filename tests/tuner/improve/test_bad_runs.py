"""Runs that were damaged or begun by mistake, and folders that are odd but no mistake."""

import json
import math
import os
import resource
import shutil
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from games.streams import InputError
from tests.commands.support import refused, tuner
from tests.support import refusal
from tests.tuner.core.support import DATABASE, change_settings, execute, read_records
from tests.tuner.improve.support import Commands, improve, write_engine
from tests.tuner.improve.test_bad_ways import state
from tuner.core.store import lock
from tuner.improve.rounds import begin_again
from tuner.io.run_folder import read_told
from tuner.measured.copies import copy_folder


def edit(name: str, old: str, new: str) -> Callable[[Path], object]:
    def damage(run: Path) -> None:
        text = (run / name).read_text()
        assert old in text
        (run / name).write_text(text.replace(old, new, 1))

    return damage


def forge(old: str = "", new: str = "", **changes: object) -> Callable[[Path], object]:
    """The first match is another step."""

    def damage(run: Path) -> None:
        steps = read_records(run)
        place = next(i for i, step in enumerate(steps) if " match " in step["step"])
        text = json.dumps(steps[place] | changes)
        assert old in text
        changed = text.replace(old, new, 1)
        execute(run, "UPDATE records SET json = ? WHERE number = ?", changed, place)

    return damage


def change_plan(without: str = "", **changes: object) -> Callable[[Path], object]:
    """The plan has other values, or lacks one."""

    def damage(run: Path) -> None:
        plan = read_told(run).settings["plan"] | changes
        plan.pop(without, None)
        change_settings(run, plan=plan)

    return damage


def a_folder(run: Path) -> None:
    (run / DATABASE).unlink()
    (run / DATABASE).mkdir()


DAMAGES = {
    "a step has another name": (forge('"step":', '"stepp":'), "damaged"),
    "a step lacks a result": (forge('"pentanomial":', '"pentagonal":'), "damaged"),
    "a round is a word": (forge(round="one"), 'round is "one", expected a whole number'),
    "a step has no time": (forge(seconds=None), "damaged"),
    "a command is a number": (forge(command=3), "damaged"),
    "a result is a list": (forge(found=[]), "damaged"),
    "a result has no games": (forge(found={}), "damaged"),
    "a result has words for games": (
        forge(found={"games": "many", "pentanomial": [0, 0, 1, 0, 0]}),
        "damaged",
    ),
    "the store is a text": (
        lambda run: (run / DATABASE).write_text("hello\n" * 100),
        "run.db: cannot be used: file is not a database",
    ),
    "the store is a folder": (a_folder, "run.db: cannot be used: "),
    "there are no settings": (
        lambda run: execute(run, "DELETE FROM blobs WHERE name = 'settings'"),
        "contains no run",
    ),
    "the settings are of a later version": (
        lambda run: change_settings(run, more=3),
        "not the settings",
    ),
    "the plan lacks a key": (change_plan("build"), "lacks 'build'"),
    "the plan has games in words": (change_plan(games="many"), "games is"),
    "the best version is gone": (lambda run: shutil.rmtree(run / "round-2"), "no such file"),
    "the engine's folder is gone": (
        lambda run: shutil.rmtree(run.parent / "engine"),
        "which is no folder",
    ),
    "the params are gone": (
        lambda run: (run.parent / "start.yaml").unlink(),
        "start.yaml: no such file",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_one_line(tmp_path, name):
    run = tmp_path / "run"
    improve(write_engine(tmp_path), run, Commands())
    damage, said = DAMAGES[name]
    damage(run)
    before = {path: found for path, found in state(run).items() if Path(path).is_file()}
    ran = tuner("improve", "--resume", run)
    assert ran.status == 2 and said in ran.err.splitlines()[-1]
    after = state(run)
    assert all(after[path] == found for path, found in before.items())


def test_a_run_is_resumed_by_one_process(tmp_path):
    improve(write_engine(tmp_path), tmp_path / "run", Commands())
    with lock(tmp_path / "run"):
        assert "another process" in refused("improve", "--resume", tmp_path / "run")
        plan = tmp_path / "improve.yaml"
        assert "already" in refused("improve", plan, "--run", tmp_path / "run")
        shutil.rmtree(tmp_path / "run" / "round-1")
        assert "another process" in refused("improve", plan, "--run", tmp_path / "run")
    assert "expected PLAN" in refused("improve")
    assert "contains no run" in refused("improve", "--resume", tmp_path / "engine")


def test_a_loop_goes_on_by_a_corrected_plan(tmp_path):
    plan, run = write_engine(tmp_path), tmp_path / "run"
    improve(plan, run, Commands())
    plan.write_text(plan.read_text() + "workers: 2\n")
    ran = tuner("improve", plan, "--resume", run)
    assert ran.status == 0 and "the program or the machine" not in ran.err, ran.err
    assert read_told(run).settings["plan"]["workers"] == 2
    assert "workers: 2" in (run / "config.yaml").read_text()


def test_a_loop_that_failed_before_its_first_round_begins_again_in_its_folder(tmp_path):
    plan, run = write_engine(tmp_path, build="exit 3"), tmp_path / "run"
    assert "start again with tuner improve PLAN --run" in refusal(improve, plan, run, Commands())
    shutil.rmtree(tmp_path / "engine")
    for path in ("start.yaml", "names.yaml", "improve.yaml"):
        (tmp_path / path).unlink()
    plan = write_engine(tmp_path)  # mended
    begin_again(run)
    assert improve(plan, run, Commands()).result["kept"] != "the first version"
    content = state(run)
    begin_again(run)
    assert state(run) == content  # a round was played
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.yaml").write_text("mine: 1\n")
    begin_again(tmp_path / "mine")
    assert (tmp_path / "mine" / "config.yaml").exists()


def test_a_step_that_fails_in_a_round_is_done_again_by_the_plan_of_the_run(tmp_path):
    plan = write_engine(tmp_path)
    run = tmp_path / "run"

    class Broken(Commands):
        def perform(self, words, seconds=math.inf):
            if words[0] == "tune":
                raise InputError("no room for it")
            return super().perform(words, seconds)

    said = refusal(improve, plan, run, Broken())
    assert said.startswith("round 1, learn: no room for it; tuner improve --resume ")
    assert "does this step again; tuner improve PLAN --resume" in said
    assert improve(None, run, Commands()).result["kept"] != "the first version"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system is not Linux")
def test_a_folder_that_the_system_makes_is_not_copied(tmp_path):
    assert "is made by the system" in refusal(copy_folder, Path("/proc/self"), tmp_path / "copy")


def test_what_is_no_file_is_not_copied_and_links_stay_links(tmp_path):
    engine = tmp_path / "engine"
    (engine / "src" / "deep").mkdir(parents=True)
    (engine / "src" / "eval.c").write_bytes(b"// \xe9t\xe9\r\nint Pawn = 1;\r\n")
    (engine / "loop").symlink_to("loop")
    (engine / "src" / "up").symlink_to("..")
    (engine / "gone").symlink_to("nowhere")
    (engine / "name\nof two lines").touch()
    (engine / os.fsdecode(b"\xff")).touch()
    (engine / "read-only").touch(0o400)
    os.mkfifo(engine / "pipe")
    with socket.socket(socket.AF_UNIX) as stream:
        here = os.getcwd()
        os.chdir(engine)  # names of sockets are short
        try:
            stream.bind("socket")
        finally:
            os.chdir(here)
    improve(write_engine(tmp_path / "other"), engine / "run-1", Commands())
    (engine / ".git").mkdir()
    before = state(engine)
    copy_folder(engine, tmp_path / "copy")
    copy_folder(engine, tmp_path / "copy")  # the step was killed before it was noted
    assert state(engine) == before
    names = {str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*")}
    assert names == {
        *("src", "src/deep", "src/eval.c", "src/up", "loop", "gone", "read-only"),
        *("name\nof two lines", os.fsdecode(b"\xff")),
    }
    assert os.readlink(tmp_path / "copy" / "src" / "up") == ".."


def test_a_full_disk_is_one_line(tmp_path):
    """As large as files may be stands for it."""
    plan = write_engine(tmp_path)
    (tmp_path / "engine" / "book.bin").write_bytes(bytes(1 << 20))
    before = state(tmp_path / "engine")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, limits[1]))
        ran = tuner("improve", plan, "--run", tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert ran.status == 2 and "before the rounds, copy: " in ran.err.splitlines()[-1], ran
    assert "book.bin: cannot be copied" in ran.err and "File too large" in ran.err
    assert state(tmp_path / "engine") == before
