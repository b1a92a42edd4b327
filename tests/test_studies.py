"""The studies of docs/studies.md run from an empty folder, and leave a table and a picture."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.games.support import REPOSITORY

FOLDER = REPOSITORY / "examples" / "studies"
STUDIES = {  # what each table has
    "exchess": "Elo, from the start to the end",
    "learn_while_playing": "second half less first",
    "coulom": "| cross-entropy | finite-difference |",
    "td_gammon": "| 40 units and patterns |",
    "hui_representations": "| 0.75 | mailbox64 | medium |",
    "hui_krvk": "| td-leaf | 600 |",
    "hui_random_mover": "| material, without learning, depth 2 |",
    "hui_architecture": "| 1 | 384-",
    "shogi_tdleaf": "| king_ring.attacked, square 8 | -25 | 71 |",
}
PROGRAMS = {"learn_while_playing": ("toga2", "gnuchess", "fairymax")}  # of Debian
PATIENCE = 900  # seconds, on a busy machine


def test_every_study_is_run_and_shown_on_the_page():
    assert {path.stem for path in FOLDER.glob("*.py")} == {*STUDIES, "study"}
    page = (REPOSITORY / "docs" / "studies.md").read_text(encoding="utf-8")
    made = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert [name for name in STUDIES if f"studies/{name}.py" not in page or name not in made] == []


@pytest.mark.long
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_leaves_a_table_and_a_picture(name, tmp_path):
    path = f"{os.environ['PATH']}:/usr/games"
    missing = [each for each in PROGRAMS.get(name, ()) if not shutil.which(each, path=path)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    ran = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", "--quick"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    table = (tmp_path / "studies" / name / "table.md").read_text(encoding="utf-8")
    assert table == ran.stdout and STUDIES[name] in table
    assert (tmp_path / "studies" / name / "picture.png").stat().st_size > 5000
    assert [path.name for path in tmp_path.iterdir()] == ["studies"]
