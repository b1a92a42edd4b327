"""What `tuner tune` reports about a fit, and the dry run."""

import json

import pytest

from tests.commands.support import done, refused, tictactoe_file
from tests.conftest import REPOSITORY
from tuner.core.store import read_blob
from tuner.evaluation.loading import load_parameters
from tuner.results.fit import FINDINGS

FAST = ("--method", "logistic", "--only", "material.*", "--prior", "none")


@pytest.fixture(scope="module")
def tuned(small_pgn, tmp_path_factory):
    """A run's folder, and what it found."""
    folder = tmp_path_factory.mktemp("tuned")
    done(
        *("tune", "classic", small_pgn, "-o", folder / "l.yaml", "--run", folder / "run"),
        *("--method", "logistic", "--only", "material.*", "--only", "mobility.*"),
        *("--prior", "20"),
    )
    return folder, json.loads(read_blob(folder / "run", FINDINGS))


def test_the_run_folder_holds_where_it_began_and_everything_found(tuned):
    folder, found = tuned
    assert (
        load_parameters(folder / "run" / "start.yaml").weights == load_parameters("classic").weights
    ).all()
    result = found["result"]
    assert sum(found["summary"]["results"].values()) == result["games"] + result["held_out_games"]
    change = result["held_out_change"]["difference"]
    assert change["low"] < change["value"] < change["high"]
    assert change["value"] == pytest.approx(
        result["held_out_after"] - result["held_out_before"], abs=2e-6
    )
    assert [line["parameter"].split(".")[1] for line in result["ratios"]] == [
        "knight",
        "bishop",
        "rook",
        "queen",
    ]


def test_a_dry_run_reports_what_can_be_learned_and_writes_nothing(small_pgn, here):
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
    assert not list(here.iterdir())
    said = json.loads(done("tune", "material", small_pgn, "--dry-run", "--json").out)
    assert (
        said["rank"] < said["free"]
        and said["never"]
        and said["expected"][0]["parameter"] == "material.pawn"
    )


@pytest.mark.long
def test_the_prior_can_be_chosen_by_cross_validation(tmp_path):
    games = tictactoe_file(tmp_path, 600)
    start = REPOSITORY / "tests/fixtures/params/tictactoe" / "zero.yaml"
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
        (("--loss", "ordered", "--method", "rootstrap"), "needs results"),
        (
            ("--loss", "ordered", "--gradient", "finite-difference"),
            "has only an analytic gradient",
        ),
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
        "ordered",
        "--only",
        "material.*",
        "--json",
    )
    said = json.loads(ran.out)
    assert said["method"] == "logistic" and said["draws"]["model"] == said["loss"] == "ordered"
    assert set(said["draws"]["width"]) == {"mg", "eg"}
