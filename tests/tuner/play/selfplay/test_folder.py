"""The folder of self-play: damage is reported before anything is changed, and nothing of value is
lost."""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.commands.support import done, tuner
from tests.tuner.core.support import execute

SHORT = ("--depth", 1, "--batch", 4, "--plies", 20, "--workers", 2)


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A run of three batches."""
    folder = tmp_path_factory.mktemp("selfplay") / "run"
    done("selfplay", "material", "--games", 12, *SHORT, "--run", folder)
    return folder


@pytest.fixture
def run(played, tmp_path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "run"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def assert_refused(folder: Path, said: str) -> None:
    """One line and status 2, and nothing is changed."""
    before = contents(folder)
    ran = tuner("selfplay", "--resume", folder, "--games", 16)
    assert ran.status == 2 and said in ran.err, ran.err
    assert ran.err.count("\n") == 1 and ran.err.startswith("tuner: ") and ran.err[:-1].isprintable()
    assert contents(folder) == before


def test_a_missing_checkpoint_does_not_restart_the_run(run):
    execute(run, "DELETE FROM blobs")
    assert_refused(run, "run.db: lacks its checkpoint; the run cannot continue")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "not a JSON object"),
        ("{}", "lacks 'batch'"),
        ("[" * 9999, "not JSON"),
        ('{"batch":1,"games":8,"cpu_seconds":1}', "expected batch 2"),
        ('{"batch":2,"games":-8,"cpu_seconds":1}', "games is -8, expected a number of 0 or more"),
        ('{"batch":2,"games":8,"cpu_seconds":NaN}', "cpu_seconds is null, expected a number"),
    ],
)
def test_a_damaged_record_is_refused(run, line, said):
    execute(run, "UPDATE records SET json = ? WHERE kind = 'result' AND number = 1", line)
    assert_refused(run, f"run.db: result 1: damaged, {said}")


def test_the_file_of_games_is_made_again_from_the_store(run):
    games = (run / "games.pgn").read_text()
    for content in ("", games[:99], games + games, None):
        (run / "games.pgn").unlink()
        if content is not None:
            (run / "games.pgn").write_text(content)
        done("selfplay", "--resume", run)
        assert (run / "games.pgn").read_text() == games


SETTINGS = [
    ("games", -5, "games is -5, expected a whole number"),
    ("games", None, "games is null, expected a whole number"),
    ("games", [1], "games is a list of 1, expected a whole"),
    ("games", True, "games is true, expected a whole number"),
    ("games", 10**30, "games is 1000000000000000000000000000000"),
    ("batch", 0, "batch is 0, expected"),
    ("lag", -1, "lag is -1"),
    ("depth", 1.5, "depth is 1.5, expected a whole number"),
    ("depth", None, "depth and nodes are both null"),
    ("nodes", {"a": 1}, "nodes is an object"),
    ("trace", float("nan"), "trace is NaN, expected a number from 0 to 1"),
    ("trace", 2, "trace is 2"),
    ("explore", -0.5, "explore is -0.5"),
    ("rate", float("inf"), "rate is Infinity"),
    ("rate", 0, "rate is 0"),
    ("decay", -1, "decay is -1"),
    ("method", "x", 'method is "x", expected one of td, td-leaf, rootstrap, treestrap'),
    ("rule", "", 'rule is "", expected'),
    ("opponents", [], "opponents is empty"),
    ("opponents", [None], "opponents[0] is null, expected a text"),
    ("terms", "x", 'terms is "x"'),
    ("truncated", "never", 'truncated is "never", expected one of value, draw'),
    ("seed", -1, "seed is -1"),
    ("plies", 0, "plies is 0"),
    ("noise", -2, "noise is -2"),
    ("random_plies", -4, "random_plies is -4"),
    ("strange", 1, "not the settings"),
]


@pytest.mark.parametrize(("name", "value", "said"), SETTINGS, ids=lambda value: str(value)[:30])
def test_invalid_settings_are_refused(run, name, value, said):
    config = yaml.safe_load((run / "config.yaml").read_text())
    config["selfplay"][name] = value
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    before = contents(run)
    ran = tuner("selfplay", "--resume", run)
    assert (
        ran.status == 2
        and ran.err.startswith(f"tuner: {run / 'config.yaml'}: ")
        and said in ran.err
    ), ran.err
    assert ran.err.count("\n") == 1 and contents(run) == before


@pytest.mark.parametrize(
    "text", [b"[" * 30000, b"", b"[1]", b"\xff\x00", b"&a [*a]", b"- " * 5000, b"selfplay: {}\n"]
)
def test_an_invalid_config_is_refused(run, text):
    (run / "config.yaml").write_bytes(text)
    assert_refused(run, "config.yaml:")


def test_another_start_than_the_checkpoint_s_is_refused(run):
    (run / "start.yaml").write_bytes(b"game: chess\n" + b"[" * 2000)
    assert_refused(run, "start.yaml")
    (run / "start.yaml").unlink()
    assert_refused(run, "start.yaml: no such file")
