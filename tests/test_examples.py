"""The examples run, from any folder, and write only into the folder that they are given."""

import json
import os
import subprocess
import sys

import pytest

from tests.games.support import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
SCRIPTS = {
    "tune_games": (
        ("in units of material.pawn", "material.queen", "the report:"),
        ("learned.yaml", "run/report.html"),
    ),
    "own_term": (("rooks.connected", "rooks "), ("learned.yaml",)),
    "labelled_positions": (("held-out games", "material.queen"), ("positions.epd", "learned.yaml")),
    "shogi": (
        ("expected score of Black: 0.5", "Results of learned vs classic", "the report:"),
        ("learned.yaml", "run/report.html"),
    ),
    "backgammon": (
        ("learned from 10,000 games", "Results of net vs learned", "points    "),
        ("network/net.yaml", "learned.yaml", "match/report.html"),
    ),
    "match": (
        ("Results of classic vs material", "points of classic"),
        ("games.pgn", "match/report.html"),
    ),
}
NOTEBOOK = EXAMPLES / "piece_values.ipynb"
PATIENCE = 600  # seconds, on a busy machine
LENGTH = (10, 60)  # lines of a script


@pytest.mark.long
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_from_an_empty_folder(name, tmp_path):
    said, files = SCRIPTS[name]
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    before = set(EXAMPLES.iterdir())
    ran = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", folder],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    assert [text for text in said if text not in ran.stdout] == []
    assert [file for file in files if not (folder / file).is_file()] == []
    assert not list(elsewhere.iterdir()) and set(EXAMPLES.iterdir()) == before


def test_every_script_is_run_and_short():
    scripts = {
        path.stem: len(path.read_text(encoding="utf-8").splitlines())
        for path in EXAMPLES.glob("*.py")
    }
    assert set(scripts) == {*SCRIPTS, "rook_terms"}
    assert [name for name, lines in scripts.items() if not LENGTH[0] <= lines <= LENGTH[1]] == []


@pytest.mark.long
def test_the_notebook_runs_and_draws(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    matplotlib.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    cells = [
        cell
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    space: dict = {"__name__": "__main__"}
    for cell in cells:
        exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), space)
    figure = matplotlib.gcf()
    # error bars, for each stage
    assert len(figure.axes) == 2 and all(axes.containers for axes in figure.axes)
    matplotlib.close("all")
    assert not list(tmp_path.iterdir())


def test_the_notebook_shows_its_pictures():
    outputs = [
        output
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", ())
    ]
    assert (
        any("image/png" in output.get("data", ()) for output in outputs)
        and NOTEBOOK.stat().st_size < 150_000
    )
