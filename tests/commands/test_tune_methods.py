"""`tuner tune --method`: learning from searches and by temporal differences, and which method is
the default."""

import json
from pathlib import Path

import pytest
import yaml

from tests.commands.support import done, refused, tictactoe_file
from tests.games.support import REPOSITORY
from tests.support import file_with
from tuner.evaluation.loading import load_parameters

MATERIAL = ("--only", "material.*", "--prior", 50)  # quick to fit
FEW = (*MATERIAL, "--per-game", 4)


def said(*arguments: object) -> dict:
    return json.loads(done("tune", *arguments, "--json").out)


@pytest.mark.long
@pytest.mark.parametrize("method", ["rootstrap", pytest.param("td-leaf", marks=pytest.mark.long)])
def test_the_number_of_workers_changes_nothing(small_pgn, tmp_path, method):
    for workers in (1, 3):
        done(
            "tune",
            "classic",
            small_pgn,
            "-o",
            tmp_path / f"{workers}.yaml",
            *MATERIAL,
            "--method",
            method,
            "--depth",
            1,
            "--workers",
            workers,
            "--skip-start",
            60,
        )
    weights = [load_parameters(tmp_path / f"{workers}.yaml").weights for workers in (1, 3)]
    assert (weights[0] == weights[1]).all()


@pytest.mark.parametrize("method", ["td", pytest.param("td-leaf", marks=pytest.mark.long)])
def test_temporal_differences_have_their_own_file_with_errors(small_pgn, tmp_path, method):
    out = tmp_path / "out.yaml"
    depth = ("--depth", 1) if method == "td-leaf" else ()
    result = said(
        "classic",
        small_pgn,
        "-o",
        out,
        *MATERIAL,
        "--method",
        method,
        *depth,
        "--lambda",
        0.8,
        "--skip-start",
        40,
    )
    assert result["method"] == method and result["lambda"] == 0.8 and result["iterations"] >= 2
    learned = load_parameters(out)
    moved = learned.weights != load_parameters("classic").weights
    assert moved[:, :5].all() and not moved[:, 5:].any()
    assert (learned.standard_errors[:, :5] > 0).all()
    again = said(
        "classic",
        small_pgn,
        "-o",
        out,
        *MATERIAL,
        "--method",
        method,
        *depth,
        "--learner",
        "adam",
        "--iterations",
        3,
        "--skip-start",
        60,
    )
    assert again["iterations"] == 3


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--method", "logistic"), {}),
        (("--method", "rootstrap", "--depth", 1), {"depth": 1, "lambda": 0.0}),
        (("--method", "td"), {"lambda": 0.7}),
        (("--method", "td-leaf", "--depth", 2, "--lambda", 0.5), {"depth": 2, "lambda": 0.5}),
    ],
)
def test_the_file_records_what_was_used_and_nothing_else(small_pgn, tmp_path, arguments, expected):
    out, run = tmp_path / "out.yaml", tmp_path / "run"
    done(
        "tune",
        "classic",
        small_pgn,
        "-o",
        out,
        *MATERIAL,
        *arguments,
        "--skip-start",
        60,
        "--run",
        run,
    )
    note = yaml.safe_load(out.read_text())["learned"]
    assert {key: note[key] for key in ("depth", "lambda") if key in note} == expected
    options = yaml.safe_load((run / "config.yaml").read_text())["options"]
    assert (options.get("depth"), options.get("lambda_")) == (
        expected.get("depth"),
        expected.get("lambda"),
    )
    assert options["method"] == note["method"] == arguments[1] and options["device"] == "cpu"


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            "--method logistic --depth 3",
            "--depth 3: has no use here, --method logistic searches nothing",
        ),
        (
            "--method logistic --lambda 0.5",
            "--lambda 0.5: has no use here, --method logistic learns from results alone",
        ),
        ("--method td --depth 3", "--depth 3: has no use here, --method td searches nothing"),
        ("--method td --rounds 2", "--rounds 2: has no use here"),
        ("--method td --loss mse", "--loss mse: has no use here, --method td solves an equation"),
        (
            "--learning-rate 3",
            "--learning-rate 3.0: has no use here, --learner newton has no learning rate",
        ),
        (
            "--learner lbfgs --batch 9",
            "--batch 9: has no use here, --learner lbfgs takes all positions a step",
        ),
        ("--step 2", "--step 2.0: has no use here, the gradient is analytic"),
    ],
)
def test_options_that_the_method_does_not_use_are_refused(small_pgn, tmp_path, arguments, wanted):
    assert wanted in refused(
        "tune", "classic", small_pgn, "-o", tmp_path / "out.yaml", *arguments.split()
    )


def test_options_of_reading_are_refused_where_a_dataset_was_built_with_others(
    small_dataset, tmp_path
):
    for option in (
        ("--skip-start", 20),
        ("--quiescence", "zero"),
        ("--strict",),
        ("--per-game", 4),
    ):
        said = refused("tune", "classic", small_dataset.path, "-o", tmp_path / "out.yaml", *option)
        assert "were chosen when it was built" in said and said.startswith(f"tuner: {option[0]}")


def test_tic_tac_toe_learns_by_temporal_differences_of_its_positions(tmp_path):
    out = tmp_path / "out.yaml"
    assert (
        said(
            "tictactoe/classic",
            tictactoe_file(tmp_path),
            "-o",
            out,
            "--method",
            "td",
            "--lambda",
            0.9,
        )["method"]
        == "td"
    )
    assert (load_parameters(out).weights != load_parameters("tictactoe/classic").weights).any()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            "classic games.ds -o out.yaml --method rootstrap",
            "needs positions; games.ds is a dataset, which holds counts",
        ),
        (
            "classic games.ds -o out.yaml --method td",
            "needs positions in the order of their games; games.ds is a dataset",
        ),
        (
            "classic labelled.epd -o out.yaml --method td-leaf",
            "needs positions in the order of their games; labelled.epd holds labeled",
        ),
        (
            "classic games.pgn -o out.yaml --method td --learner lbfgs",
            "--learner lbfgs: --method td learns with newton, adam",
        ),
        (
            "classic games.pgn -o out.yaml --method td --per-game 5",
            "--method td: learns from games as a whole",
        ),
        (
            "tictactoe/classic games.ttt -o out.yaml --method td-leaf",
            "--method td-leaf: tictactoe has no search",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(small_pgn, small_dataset, here, arguments, wanted):
    Path("games.ds").symlink_to(small_dataset.path)
    Path("games.pgn").symlink_to(small_pgn)
    Path("labelled.epd").write_text('4k3/8/8/8/8/8/8/4K3 w - - c9 "1-0";\n')
    tictactoe_file(here)
    assert wanted in refused("tune", *arguments.split())
    assert not Path("out.yaml").exists()


@pytest.mark.parametrize(
    "entry",
    [
        "fixed: [material.pawn.mg]",
        "bounds: {material.pawn.mg: [1, 200]}",
        "prior: {material.pawn.mg: {sd: 20}}",
    ],
)
def test_names_of_one_stage_are_refused_before_the_fit_where_all_stages_have_one_number(
    small_pgn, tmp_path, entry
):
    start = file_with(
        tmp_path / "start.yaml",
        (REPOSITORY / "params/chess/classic.yaml")
        .read_text()
        .replace("weights:", f"{entry}\nweights:", 1),
    )
    said = refused("tune", start, small_pgn, "--untapered", "-o", tmp_path / "out.yaml")
    assert (
        f"{entry.partition(':')[0]} names material.pawn.mg" in said
        and "leave out the stage" in said
    )
    assert not (tmp_path / "out.yaml").exists()
