"""The statements of `tuner tune` are true of the data: convergence, held-out results, standard
errors, what to do next."""

import json

import numpy as np
import pytest
import yaml

from tests.commands.support import done, refused, tictactoe_file
from tuner.core.store import read_blob
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import split_games
from tuner.evaluation.loading import load_parameters
from tuner.fit.learners import LEARNERS
from tuner.results.fit import FINDINGS

MATERIAL = ("--only", "material.*", "--prior", 50)


def said(*arguments: object) -> dict:
    return json.loads(done("tune", *arguments, "--json").out)


@pytest.mark.parametrize(
    ("learner", "iterations", "converged"),
    [
        ("newton", None, True),
        ("newton", 1, False),
        ("lbfgs", None, True),
        ("lbfgs", 2, False),
        *((name, 1, False) for name, learner in LEARNERS.items() if learner.stepwise),
    ],
)
def test_a_fit_reports_whether_it_converged(
    small_dataset, tmp_path, learner, iterations, converged
):
    limit = () if iterations is None else ("--iterations", iterations)
    ran = done(
        "tune",
        "material",
        small_dataset.path,
        "-o",
        tmp_path / "o.yaml",
        "--method",
        "logistic",
        "--prior",
        "none",
        "--only",
        "material.*",
        "--only",
        "mobility.*",
        "--learner",
        learner,
        *limit,
    )
    note = yaml.safe_load((tmp_path / "o.yaml").read_text())["learned"]
    assert note["converged"] == converged and note["gradient_norm"] >= 0
    assert (
        "the fit did not converge: one more Newton step would lower the objective" in ran.out
    ) != converged


@pytest.mark.long
@pytest.mark.parametrize(("iterations", "converged"), [((), True), (("--iterations", 1), False)])
def test_temporal_differences_say_so_too(small_pgn, tmp_path, iterations, converged):
    ran = done(
        "tune",
        "material",
        small_pgn,
        "-o",
        tmp_path / "o.yaml",
        "--method",
        "td",
        *MATERIAL,
        *iterations,
    )
    assert yaml.safe_load((tmp_path / "o.yaml").read_text())["learned"]["converged"] == converged
    assert (
        "the fit did not converge: one more Newton step would move a weight by" in ran.out
    ) != converged


def test_rootstrap_is_judged_by_results_and_by_agreement_apart(small_pgn, tmp_path):
    run = tmp_path / "run"
    ran = done(
        "tune",
        "classic",
        small_pgn,
        "-o",
        tmp_path / "o.yaml",
        *MATERIAL,
        "--per-game",
        12,
        "--depth",
        1,
        "--held-out",
        0.3,
        "--run",
        run,
        "--method",
        "rootstrap",
    )
    found = json.loads(read_blob(run, FINDINGS))
    note, calibration = found["result"], found["calibration"]
    assert (
        "log loss of their results)" in ran.out
        and "(the same positions, by the values that searches found)" in ran.out
    )
    assert calibration["results"]["after"] != calibration["targets"]["after"]
    # results are those of the games: the mean actual score is that of wins and half the draws,
    # which search values do not give
    results = np.load(run / "results.npy")
    assert (
        set(np.unique(results)) <= {-1, 0, 1}
        and len(results) == note["positions"] + note["held_out_positions"]
    )
    lines = calibration["results"]["after"]
    assert sum(line["positions"] for line in lines) == note["held_out_positions"]
    actual = sum(line["actual"]["value"] * line["positions"] for line in lines)
    assert 2 * actual == pytest.approx(round(2 * actual), abs=1e-6)  # whole wins and draws
    change = note["held_out_results"]
    assert change["before"] != pytest.approx(note["held_out_before"], abs=1e-3)
    assert change["difference"]["low"] < 0 < change["difference"]["high"]
    assert "only a match can tell whether it plays better\n" in ran.out


def test_the_loss_on_results_is_that_of_the_held_out_games_by_hand(small_pgn, tmp_path):
    run = tmp_path / "run"
    note = said(
        "classic",
        small_pgn,
        "-o",
        tmp_path / "o.yaml",
        *MATERIAL,
        "--depth",
        1,
        "--held-out",
        0.5,
        "--run",
        run,
        "--method",
        "rootstrap",
        "--no-intercept",
    )
    data, results = open_dataset(run / "games"), np.load(run / "results.npy").astype(float)
    _, held = split_games(data, 0.5, 1)
    place = np.concatenate([np.arange(*data.first[g : g + 2]) for g in held])
    phase, q = data.phase[place] / 24, (1 + results[place]) / 2
    for key, parameters in (
        ("before", load_parameters("classic")),
        ("after", load_parameters(tmp_path / "o.yaml")),
    ):
        evaluation = np.zeros(len(place))
        for i, p in enumerate(place):
            some = slice(*data.row[p : p + 2])
            middle, end = parameters.weights[:, data.index[some]] @ data.count[some]
            evaluation[i] = phase[i] * middle + (1 - phase[i]) * end
        chance = 1 / (1 + np.exp(-2 * parameters.scale * evaluation))
        loss = -(q * np.log(chance) + (1 - q) * np.log(1 - chance)).mean()
        assert note["held_out_results"][key] == pytest.approx(
            loss, abs=2e-5
        )  # the file has two digits
    change = note["held_out_results"]
    difference = change["difference"]
    assert difference["low"] < difference["value"] < difference["high"]
    assert change["games"] == note["held_out_games"] == len(held)


def test_other_games_have_no_price_in_elo(tmp_path):
    ran = done(
        "tune",
        "tictactoe/classic",
        tictactoe_file(tmp_path),
        "-o",
        tmp_path / "t.yaml",
        "--prior",
        "none",
    )
    note = yaml.safe_load((tmp_path / "t.yaml").read_text())["learned"]
    assert (
        "elo" not in note["noise"]
        and "sampling noise (standard deviation)" in ran.out
        and " Elo " not in ran.out
    )


def test_play_is_for_results_alone(small_pgn, tmp_path):
    for more, what in (
        (
            ("--method", "rootstrap"),
            "weighs what results teach, --method rootstrap has targets of a different kind",
        ),
        (("--method", "logistic", "--gradient", "finite-difference"), "leave out --gradient"),
    ):
        assert what in refused(
            "tune", "classic", small_pgn, "-o", tmp_path / "o.yaml", "--prior", "play", *more
        )


def test_the_last_line_is_the_match_with_the_terms_that_the_files_need(small_dataset, tmp_path):
    ran = done("tune", "classic", small_dataset.path, "-o", tmp_path / "o.yaml", *MATERIAL)
    match = f"tuner match {tmp_path / 'o.yaml'} classic --depth 4 --games 400"
    assert ran.out.splitlines()[-1] == f"see whether it is better: {match}"
    nothing = done("tune", "tictactoe/classic", tictactoe_file(tmp_path), "-o", tmp_path / "t.yaml")
    assert "tuner match" not in nothing.out and nothing.out.splitlines()[-1].startswith(
        "see what changed: tuner diff"
    )


def test_a_dry_run_takes_a_loss_with_draws(small_dataset, tmp_path):
    ran = done(
        *("tune", "classic", small_dataset.path, "--dry-run"),
        *("--loss", "ordered", "--only", "material.*"),
    )
    assert " free weights, all identified by the games" in ran.out
    assert "expected 95 % intervals of a fit to the results" in ran.out


def test_fractional_labels_are_no_wins(tmp_path):
    lines = [
        f"{'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR'} {side} KQkq - 0 {n} [{label}]"
        for n, label in enumerate(("0.6", "0.4", "1.0", "0.0", "0.5", "0.7"), 1)
        for side in "wb"
    ]
    (tmp_path / "l.epd").write_text("\n".join(lines) + "\n")
    done("dataset", tmp_path / "l.epd", "-o", tmp_path / "l.ds")
    found = json.loads(done("dataset", "inspect", tmp_path / "l.ds", "--json").out)
    assert found["results_by_position"] == pytest.approx([1 / 6, 1 / 6, 1 / 6], abs=1e-4)
    assert "(fractional labels: 50.0 %)" in done("dataset", "inspect", tmp_path / "l.ds").out
