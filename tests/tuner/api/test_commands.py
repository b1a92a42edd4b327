"""Functions that perform commands return what these print and write."""

import json

import numpy as np

import tuner
from tests.commands.scored import scored_positions
from tests.commands.support import done
from tests.support import refusal
from tests.tuner.learn.test_engine_rows import FAKE, PARAMETERS

SOURCE = "int material_pawn[2] = {1, 2};\nint material_knight[2] = {3, 4};\n"
ONLY = ("material.pawn", "material.knight")


def test_wins_and_draws_are_fitted_as_by_the_command(tmp_path):
    scored = scored_positions(tmp_path / "scored.epd", 1000)
    found = tuner.fit_wdl(scored, held_out=0.3, page=tmp_path / "a.html")
    ran = done("wdl", scored, "--held-out", 0.3, "--page", tmp_path / "a.html")
    assert str(found) + "\n" == ran.out and (tmp_path / "a.html").exists()
    ran = done("wdl", scored, "--held-out", 0.3, "--page", tmp_path / "b.html", "--json")
    files = {"files": found.result["files"]}
    assert json.loads(ran.out) | files == json.loads(json.dumps(found.result))


def test_a_network_is_trained_as_by_the_command(small_pgn, tmp_path):
    found = tuner.train_network(
        "classic",
        small_pgn,
        tmp_path / "a.yaml",
        method="logistic",
        epochs=2,
        hidden=(4, 3),
        per_game=12,
    )
    typed = ["--method", "logistic", "--epochs", "2", "--hidden", "4,3", "--per-game", "12"]
    done("network", "classic", small_pgn, "-o", tmp_path / "b.yaml", *typed)
    positions = np.stack([found.network.position(tuner.load("classic").evaluation.game.start())])
    by_command = tuner.load_network(tmp_path / "b.yaml")
    assert by_command.evaluate(positions) == found.network.evaluate(positions)
    assert "4-3-1" in str(found) and "positions>" in repr(found)


def test_an_engine_counts_rows_into_a_dataset(small_pgn, tmp_path):
    (tmp_path / "my.yaml").write_text(PARAMETERS)
    start = tuner.load(tmp_path / "my.yaml")
    data = tuner.build_rows(small_pgn, tmp_path / "a.ds", start, engine=FAKE, per_game=2)
    assert data.games > 100 and data.matrix().nnz
    assert "--teacher uci:x: it scores the rows of --engine" in refusal(
        tuner.build_rows, small_pgn, tmp_path / "b.ds", start, teacher="uci:x"
    )


def test_numbers_go_into_a_source_and_out_of_it(tmp_path):
    source, new = tmp_path / "eval.c", tmp_path / "new.yaml"
    source.write_text(SOURCE)
    classic = tuner.load("classic")
    found = tuner.write_into_source(classic, source, only=ONLY, check=True)
    assert len(found.result["differences"]) == 4 and source.read_text() == SOURCE
    assert "4 of 4 numbers differ" in str(found)
    tuner.read_from_source(classic, [source], new, only=ONLY)
    assert [float(each) for each in tuner.load(new)["material.pawn"].values()] == [1, 2]
    assert tuner.write_into_source("classic", source, only=ONLY).result["changed"] == 4
    assert not tuner.write_into_source("classic", source, only="material.pawn", check=True).result[
        "differences"
    ]


def test_the_header_of_a_language_is_written(tmp_path):
    found = tuner.write_trace("classic", tmp_path / "rows.rs", language="rust")
    assert (tmp_path / "rows.rs").read_text() == done("trace", "classic", "--language", "rust").out
    assert found.result["parameters"] == 73
