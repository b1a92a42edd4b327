"""The folder of self-play: damage is reported before anything is changed, and nothing of value is
lost."""

import base64
import io
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.commands.support import done, refused
from tests.support import refusal
from tests.tuner.core.support import execute
from tuner.core.store import Store
from tuner.play.selfplay.folder import EPISODES, read_episodes

SHORT = ("--depth", 1, "--batch", 4, "--plies", 20, "--workers", 2)


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A run of three batches."""
    folder = tmp_path_factory.mktemp("selfplay") / "run"
    done("selfplay", "material", "--games", 12, *SHORT, "--run", folder)
    return folder


def empty_file() -> str:
    """Arrays as text, none of which is of a game."""
    content = io.BytesIO()
    np.savez(content, other=np.zeros(2))
    return base64.b64encode(content.getvalue()).decode()


@pytest.fixture
def run(played, tmp_path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "run"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def assert_refused(folder: Path, said: str) -> None:
    """One line and status 2, and nothing is changed."""
    before = contents(folder)
    assert said in refused("selfplay", "--resume", folder, "--games", 16)
    assert contents(folder) == before


def test_a_missing_checkpoint_does_not_restart_the_run(run):
    execute(run, "DELETE FROM blobs WHERE name = 'checkpoint'")
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


def test_another_start_than_the_checkpoint_s_is_refused(run):
    (run / "start.yaml").write_bytes(b"game: chess\n" + b"[" * 2000)
    assert_refused(run, "start.yaml")
    (run / "start.yaml").unlink()
    assert_refused(run, "start.yaml: no such file")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({}, "game is null, expected a whole number"),
        ({"game": 0, "arrays": 3}, "arrays is 3, expected a text"),
        *(
            ({"game": 0, "arrays": text}, "arrays are not those of a game")
            for text in ("AAAA", "!", "", empty_file())
        ),
    ],
)
def test_a_damaged_game_that_was_kept_is_refused(run, line, said):
    with Store(run) as store:
        store.append(line, kind=EPISODES)
    assert re.search(f"run.db: episodes 0: damaged, {said}", refusal(read_episodes, run, 13))
