"""`tuner dataset --source`: what is measured teaches, and the engine evaluates as predicted."""

import json
import shutil
import subprocess

import numpy as np
import pytest
import yaml

import tuner as tuner_api
from tests.commands.support import done, tuner
from tests.tuner.measured.support import small_plan
from tuner.datasets.reader import open_dataset
from tuner.evaluation.loading import load_parameters
from tuner.measured.evals import Evals, evaluate


@pytest.fixture
def at(tmp_path, monkeypatch, small_pgn):
    """A folder with an engine, its plan and games."""
    plan = small_plan(tmp_path / "engine")
    source = {"folder": "engine", "files": ["small.c"]}
    text = {"evals": plan.evals, "source": source, "build": plan.build, "workers": 2}
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump({**text, "plays": "./small"}))
    shutil.copy(small_pgn, tmp_path / "games.pgn")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_dataset_of_measured_counts_teaches_what_the_engine_then_evaluates(at):
    ran = done("dataset", "games.pgn", "--source", "plan.yaml", "-o", "rows.ds")
    assert "99 numbers to measure: 97 in one build, 2 by a build for each" in ran.err
    data, start = open_dataset("rows.ds"), load_parameters("rows.ds.measured/start.yaml")
    known = {place.path for place in start.layout.places}
    assert {"piece.value_mg", "piece.value_eg", "tempo.tempo", "bishop.pair"} <= known
    assert not {"few.pawns", "most.phase"} & known
    names = (at / "rows.ds.measured" / "map.yaml").read_text()
    assert "#   few.pawns: " in names and "#   unused.unused: changes no evaluation" in names
    done("tune", "rows.ds.measured/start.yaml", "rows.ds", "--prior", 100, "-o", "learned.yaml")
    shutil.copytree("engine", "learned")
    into = ("--into", "learned/small.c", "--map", "rows.ds.measured/map.yaml")
    done("export", "learned.yaml", *into)
    subprocess.run(["gcc", "small.c", "-o", "small"], cwd="learned", check=True)
    moved = load_parameters("learned.yaml").weights[0] - start.weights[0]
    counts = data.rows(0, data.positions).matrix(data.columns)
    predicted = np.asarray(data.evaluation) + counts @ np.round(moved)
    texts = data.texts(np.arange(data.positions))
    real = evaluate(Evals("learned/small evals"), texts)
    assert np.abs(moved).max() > 3
    assert np.mean(np.abs(real - predicted) <= 2) > 0.95


@pytest.mark.long
def test_a_second_run_takes_what_was_measured(at):
    words = ("dataset", "games.pgn", "--source", "plan.yaml", "-o", "rows.ds", "--json")
    first = json.loads(done(*words).out)
    kept = sorted((at / "rows.ds.measured").glob("counts-*/*.npz"))
    before = {path: path.stat().st_mtime_ns for path in kept}
    (at / "rows.ds.measured" / "map.yaml").unlink()
    assert json.loads(done(*words).out) == first
    assert {path: path.stat().st_mtime_ns for path in before} == before
    (at / "engine" / "small.c").write_text((at / "engine" / "small.c").read_text() + "\n")
    done(*words)  # a source that changed is measured again
    assert {path: path.stat().st_mtime_ns for path in before} != before


def test_no_folder_of_others_is_taken(at):
    (at / "rows.ds.measured").mkdir()
    (at / "rows.ds.measured" / "mine").write_text("mine")
    (at / "rows.ds.measured" / "state").write_text("of another program")
    ran = tuner("dataset", "games.pgn", "--source", "plan.yaml", "-o", "rows.ds")
    assert ran.status == 2 and "was not made by this command" in ran.err
    assert (at / "rows.ds.measured" / "mine").read_text() == "mine"


MARKS = {
    "const int PieceValue": "pieces.value",
    "#define BISHOP_PAIR": "bishops.pair",
    "static const int Tempo": "move.tempo",
}


def test_markers_and_maps_choose_and_name_what_is_measured(at):
    source = at / "engine" / "small.c"
    text = marked = source.read_text()
    for mark, name in MARKS.items():
        marked = marked.replace(mark, f"// evaltune: {name}\n{mark}")
    source.write_text(marked)
    words = ("dataset", "games.pgn", "--source", "plan.yaml", "-o", "rows.ds")
    done(*words)
    known = [place.path for place in load_parameters("rows.ds.measured/start.yaml").layout.places]
    assert known == ["pieces.value_mg", "pieces.value_eg", "bishops.pair", "move.tempo"]
    # what was learned goes back by the map, whatever the markers are called
    into = ("--into", "engine/small.c", "--map", "rows.ds.measured/map.yaml", "--check")
    assert "all 12 numbers are those of" in done("export", "rows.ds.measured/start.yaml", *into).out
    source.write_text(text)
    (at / "names.yaml").write_text(
        "material.value: {mg: 'PieceValue[*][0]', eg: 'PieceValue[*][1]'}\n"
    )
    plan = yaml.safe_load((at / "plan.yaml").read_text())
    plan["source"]["map"] = "names.yaml"
    (at / "plan.yaml").write_text(yaml.safe_dump(plan))
    done(*words)
    known = [place.path for place in load_parameters("rows.ds.measured/start.yaml").layout.places]
    assert known == ["material.value_mg", "material.value_eg"]


def test_counts_are_measured_from_python(at):
    found = tuner_api.measure_counts("games.pgn", "rows.ds", "plan.yaml", per_game=2).result
    assert found["params"] == "rows.ds.measured/start.yaml" and found["weights"] > 60
    assert found["left_out"]["few.pawns"] and found["together"] > 0.95


def test_the_dataset_may_be_in_the_folder_that_is_measured(at, monkeypatch):
    monkeypatch.chdir("engine")
    plan = yaml.safe_load((at / "plan.yaml").read_text())
    plan["source"]["folder"] = "."
    (at / "engine" / "plan.yaml").write_text(yaml.safe_dump(plan))
    words = ("dataset", "../games.pgn", "--per-game", 2, "--source", "plan.yaml", "-o", "rows.ds")
    done(*words)
    kept = sorted((at / "engine" / "rows.ds.measured").glob("counts-*/*.npz"))
    before = [path.stat().st_mtime_ns for path in kept]
    done(*words)  # what the first command wrote is no part of the sources
    assert len(kept) > 90 and [path.stat().st_mtime_ns for path in kept] == before
