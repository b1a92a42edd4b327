"""What `tuner tune` reports about a fit: bootstrap of the standard errors, dry run, mislabelled
files."""

import json

import numpy as np
import pytest

from tests.commands.support import done, refused, tictactoe_file
from tests.conftest import REPOSITORY
from tuner.evaluation.loading import load_parameters

FAST = ("--method", "logistic", "--only", "material.*", "--prior", "none")
TURNED = {"1-0": "0-1", "0-1": "1-0"}


def turned(text: str) -> str:
    """The same games, each decided one won by the other side."""
    games = []
    for game in text.split("[Event ")[1:]:
        result = game.split('[Result "')[1].split('"')[0]
        games.append(game.replace(result, TURNED.get(result, result)))
    return "".join("[Event " + game for game in games)


@pytest.fixture(scope="module")
def mislabelled(small_pgn, tmp_path_factory):
    """A run on three files of games, one of which has its results the wrong way round."""
    folder = tmp_path_factory.mktemp("mislabelled")
    games = small_pgn.read_text().split("[Event ")[1:]
    for name, part in (("a", games[:130]), ("b", games[130:260]), ("wrong", games[260:])):
        text = "".join("[Event " + game for game in part)
        (folder / f"{name}.pgn").write_text(turned(text) if name == "wrong" else text)
    done(
        "tune",
        "classic",
        *(folder / f"{name}.pgn" for name in ("a", "b", "wrong")),
        "-o",
        folder / "l.yaml",
        "--run",
        folder / "run",
        "--method",
        "logistic",
        "--only",
        "material.*",
        "--only",
        "mobility.*",
    )
    return folder, json.loads((folder / "run" / "findings.json").read_text())


def test_a_mislabelled_file_is_found(mislabelled):
    _, found = mislabelled
    loss = {line["file"]: line["loss_after"] for line in found["summary"]["files"]}
    assert loss["wrong.pgn"] > 2 * max(loss["a.pgn"], loss["b.pgn"])
    for kind in ("games", "positions"):
        worst = [line["file"] for line in found["misjudged"][kind]]
        assert worst.count("wrong.pgn") >= 0.8 * len(worst) and len(worst) == 12
        surprises = [line["loss"] for line in found["misjudged"][kind]]
        assert surprises == sorted(surprises, reverse=True)


def test_a_misjudged_position_is_as_surprising_as_reported(mislabelled):
    folder, found = mislabelled
    learned = load_parameters(folder / "run" / "params.yaml")
    line = found["misjudged"]["positions"][0]
    said = json.loads(done("eval", folder / "run" / "params.yaml", line["position"], "--json").out)
    p = 1 / (1 + np.exp(-2 * learned.scale * said["evaluation"]))
    assert p == pytest.approx(line["predicted"], abs=0.02)
    q = (1 + line["outcome"]) / 2
    assert -(q * np.log(p) + (1 - q) * np.log(1 - p)) == pytest.approx(line["loss"], rel=0.05)


def test_the_run_folder_holds_where_it_began_and_everything_found(mislabelled):
    folder, found = mislabelled
    assert (
        load_parameters(folder / "run" / "start.yaml").weights == load_parameters("classic").weights
    ).all()
    assert found["summary"]["results"] and sum(found["summary"]["results"].values()) == sum(
        line["games"] for line in found["summary"]["files"]
    )
    change = found["held_out_change"]
    assert change["low"] < change["difference"] < change["high"]
    assert change["difference"] == pytest.approx(
        found["result"]["held_out_after"] - found["result"]["held_out_before"], abs=2e-6
    )
    assert [line["parameter"].split(".")[1] for line in found["ratios"]] == [
        "knight",
        "bishop",
        "rook",
        "queen",
    ]


@pytest.mark.long
def test_a_bootstrap_agrees_with_the_standard_errors(small_pgn, tmp_path):
    said = json.loads(
        done(
            "tune",
            "classic",
            small_pgn,
            "-o",
            tmp_path / "l.yaml",
            *FAST,
            "--untapered",
            "--bootstrap",
            60,
            "--held-out",
            0,
            "--json",
        ).out
    )
    assert said["bootstrap"]["replicates"] == 60 and 0.88 < said["bootstrap"]["median"] < 1.12


def test_ratios_have_the_errors_of_a_fit_in_which_the_unit_is_pinned(small_pgn, tmp_path):
    """With the pawn held and the scale fitted to it, a piece's own error is that of its ratio, but
    for the pawn's part."""
    said = json.loads(
        done(
            "tune", "classic", small_pgn, "-o", tmp_path / "l.yaml", *FAST, "--untapered", "--json"
        ).out
    )
    learned = load_parameters(tmp_path / "l.yaml")
    for i, line in enumerate(said["ratios"], 1):
        assert line["ratio"] == pytest.approx(
            learned.weights[0, i] / learned.weights[0, 0], abs=2e-3
        )
        relative = (line["high"] - line["low"]) / 3.92 / line["ratio"]
        parts = learned.standard_errors[0, [0, i]] / learned.weights[0, [0, i]]
        assert abs(parts[0] - parts[1]) < relative < parts.sum()  # whatever their correlation


def test_a_dry_run_reports_what_can_be_learned_and_writes_nothing(small_pgn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = done(
        "tune",
        "material",
        small_pgn,
        "--dry-run",
        "--untapered",
        "--only",
        "material.*",
        "--only",
        "piece_square.*",
        "--only",
        "space.tempo",
        "--no-intercept",
    )
    assert "390 free weights; the games identify " in ran.out
    assert "material.knight against all of piece_square.knight" in ran.out
    assert (
        "the same number added to all of piece_square.king" in ran.out
        and "material.pawn  all +/-" in ran.out
    )
    assert not list(tmp_path.iterdir())
    said = json.loads(done("tune", "material", small_pgn, "--dry-run", "--json").out)
    assert (
        said["rank"] < said["free"]
        and said["never"]
        and said["expected"][0]["parameter"] == "material.pawn"
    )


def test_the_prior_can_be_chosen_by_cross_validation(tmp_path):
    games = tictactoe_file(tmp_path, 600)
    start = REPOSITORY / "params" / "tictactoe" / "zero.yaml"
    ran = done(
        "tune",
        start,
        games,
        "-o",
        tmp_path / "l.yaml",
        "--method",
        "logistic",
        "--prior",
        "cv",
        "--json",
    )
    losses = dict(
        part.split(": ")
        for part in ran.err.split("by width of the prior: ")[1].split(";")[0].split(", ")
    )
    assert len(losses) > 5 and json.loads(ran.out)["prior"] == float(min(losses, key=losses.get))


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (("--loss", "draws", "--held-out", 0), "chooses a model by held-out games"),
        (("--loss", "ordered", "--method", "rootstrap"), "needs results"),
        (
            ("--loss", "davidson", "--gradient", "finite-difference"),
            "has only an analytic gradient",
        ),
        (("--bootstrap", 1), "expected 2 or more"),
        ((), "expected -o OUT"),
    ],
)
def test_impossible_requests_are_reported_in_one_line(small_pgn, tmp_path, more, what):
    assert what in refused(
        "tune", "classic", small_pgn, *(("-o", tmp_path / "l.yaml") if more else ()), *more
    )


def test_draws_as_outcomes_are_learned_and_reported(small_pgn, tmp_path):
    ran = done(
        "tune",
        "classic",
        small_pgn,
        "-o",
        tmp_path / "l.yaml",
        "--loss",
        "draws",
        "--only",
        "material.*",
        "--json",
    )
    said = json.loads(ran.out)
    assert (
        said["loss"] in ("ordered", "davidson")
        and said["method"] == "logistic"
        and said["draws"]["model"] == said["loss"]
    )
    assert (
        set(said["draws"]["width"]) == {"mg", "eg"}
        and "log loss of the held-out games: ordered" in ran.err
    )
