"""The statements of `tuner tune` are true of the data: convergence, held-out results, standard
errors, what to do next."""

import json

import numpy as np
import pytest
import yaml

from games.record import ReadOptions, ReadReport
from tests.commands.support import done, refused, tictactoe_file
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import split_games
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.learn import methods

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
        ("adam", 1, False),
        ("sgd", 1, False),
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
    found = json.loads((run / "findings.json").read_text())
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
    actual = sum(line["actual"] * line["positions"] for line in lines)
    assert 2 * actual == pytest.approx(round(2 * actual), abs=1e-6)  # whole wins and draws
    change = note["held_out_results"]
    assert change["before"] != pytest.approx(note["held_out_before"], abs=1e-3)
    assert change["low"] < 0 < change["high"]
    assert "better or worse; whether they play better is another question\n" in ran.out


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
    assert change["low"] < change["difference"] < change["high"] and change["games"] == note[
        "held_out_games"
    ] == len(held)


def test_labelled_positions_have_no_clusters_to_speak_of(small_dataset, small_pgn, tmp_path):
    engine, _ = load_engine("classic")
    read = engine.game.files.read(str(small_pgn), ReadOptions(positions="all"), ReadReport(), print)
    positions = np.concatenate([batch.positions for batch in read])[::40]
    won = np.random.default_rng(1).random(len(positions)) < 0.5
    (tmp_path / "l.epd").write_text(
        "".join(
            f'{" ".join(engine.game.text(p).split()[:4])} c9 "{"1-0" if w else "0-1"}";\n'
            for p, w in zip(positions, won, strict=True)
        )
    )
    labelled = done(
        "tune",
        "material",
        tmp_path / "l.epd",
        "-o",
        tmp_path / "o.yaml",
        *MATERIAL,
        "--scale",
        0.00255,
    )
    assert "treat positions as independent" not in labelled.out
    games = done("tune", "material", small_dataset.path, "-o", tmp_path / "p.yaml", *MATERIAL)
    assert (
        "standard errors that treat positions as independent would be" in games.out
        and "times too small" in games.out
    )


def test_few_games_and_many_weights_are_expected_to_lose(small_dataset, tmp_path):
    ran = done("tune", "classic", small_dataset.path, "-o", tmp_path / "o.yaml", "--prior", 100)
    note = yaml.safe_load((tmp_path / "o.yaml").read_text())["learned"]
    noise = note["noise"]
    learned = load_parameters(tmp_path / "o.yaml").standard_errors
    assert f"set {(learned > 0).sum():,} weights; learn from" in ran.out
    assert noise["elo"] > 25
    assert (
        "expect to lose a match: sampling noise alone moves evaluations by"
        f" {noise['evaluations']:.0f} centipawns" in ran.out
    )
    assert (
        f"which costs about {noise['elo']:.0f} [{noise['low']:.0f}, {noise['high']:.0f}] Elo at"
        " depth 4" in ran.out
    )
    assert (
        noise["low"] < noise["elo"] < noise["high"] and noise["differences"] < noise["evaluations"]
    )
    held = done("tune", "classic", small_dataset.path, "-o", tmp_path / "o.yaml", "--prior", 1)
    assert yaml.safe_load((tmp_path / "o.yaml").read_text())["learned"]["noise"]["elo"] < 1
    assert "which costs less than 1 Elo at depth 4" in held.out
    assert "expect to lose" not in held.out


def test_results_of_games_are_learned_for_play(small_dataset, tmp_path):
    ran = done(
        "tune", "classic", small_dataset.path, "-o", tmp_path / "o.yaml", "--method", "logistic"
    )
    note = yaml.safe_load((tmp_path / "o.yaml").read_text())["learned"]
    step, noise = note["play"], note["noise"]
    assert note["prior"] == "play" and 0 <= step["share"] < 1 and len(note["slopes"]) == 25
    assert (
        f"prior play: weights go {100 * step['share']:.0f} % of the way"
        if step["share"]
        else "prior play: what these games teach does not exceed sampling noise"
    ) in ran.err
    assert (
        "cross-entropy with slopes by phase" in ran.out
        and "sampling noise (standard deviation): evaluations +/-" in ran.out
    )
    assert noise["evaluations"] < 20 and "expect to lose" not in ran.out
    whole = done(
        "tune",
        "classic",
        small_dataset.path,
        "-o",
        tmp_path / "p.yaml",
        "--method",
        "logistic",
        "--prior",
        20,
    )
    other = yaml.safe_load((tmp_path / "p.yaml").read_text())["learned"]
    assert "play" not in other and "slopes by phase" not in whole.out + whole.err
    start = load_parameters("classic").weights
    moved, further = (
        np.abs(load_parameters(str(tmp_path / name)).weights - start).mean()
        for name in ("o.yaml", "p.yaml")
    )
    assert moved < 0.5 * further


def test_what_teaches_nothing_moves_nothing_and_says_so(small_pgn, tmp_path):
    """The scale, slopes and intercept lower the loss: that is not said to be a gain of the
    weights."""
    ran = done(
        "tune",
        "classic",
        small_pgn,
        "-o",
        tmp_path / "o.yaml",
        "--method",
        "logistic",
        "--only",
        "material.*",
    )
    note = yaml.safe_load((tmp_path / "o.yaml").read_text())["learned"]
    change, given = note["held_out_results"], note["held_out_as_given"]
    assert note["play"]["share"] == 0 and note["ratios"] == [] and "noise" not in note
    assert change["before"] == change["after"] != given["loss"]
    assert change["low"] is change["high"] is None
    assert given["by"] == ["scale", "slopes by phase", "intercept"]
    assert "what the results teach does not exceed sampling noise; learn from searches" in ran.out
    assert (
        f"beside    {given['loss']:.5f} -> {change['before']:.5f}  (by the fit's scale, slopes by "
        "phase and intercept, not by weights of the evaluation)" in ran.out
    )
    assert not [
        word for word in ("+/- 0.0", ", change", "tuner match", "halving") if word in ran.out
    ]


@pytest.mark.long
def test_the_loss_of_the_file_as_given_is_computed_by_hand(small_dataset, tmp_path):
    note = said(
        "classic",
        small_dataset.path,
        "-o",
        tmp_path / "o.yaml",
        "--method",
        "logistic",
        "--held-out",
        0.5,
    )
    start, data = load_parameters("classic"), small_dataset
    _, held = split_games(data, 0.5, 1)
    losses = []
    for p in np.concatenate([np.arange(*data.first[g : g + 2]) for g in held]):
        some, q = slice(*data.row[p : p + 2]), (1 + float(data.outcome[p])) / 2
        share = data.phase_scale[data.phase[p], 0] / data.phases
        by_stage = start.weights[:, data.index[some]] @ data.count[some]
        logit = 2 * start.scale * (share * by_stage[0] + (1 - share) * by_stage[1])
        losses.append(np.logaddexp(0, logit) - q * logit)
    assert note["held_out_as_given"]["loss"] == pytest.approx(np.mean(losses), abs=1e-5)


@pytest.mark.long
def test_few_games_are_not_learned_for_play_by_default(small_pgn, tmp_path):
    ran = done(
        "tune",
        "classic",
        small_pgn,
        "-o",
        tmp_path / "o.yaml",
        "--method",
        "logistic",
        "--per-game",
        3,
        "--held-out",
        0.95,
    )
    assert "prior: auto" in (tmp_path / "o.yaml").read_text() and "prior play" not in ran.err


def test_without_an_evaluation_to_start_from_the_prior_is_found_by_empirical_bayes(
    small_dataset, tmp_path
):
    ran = done(
        "tune", "zero", small_dataset.path, "-o", tmp_path / "o.yaml", "--only", "material.*"
    )
    note = yaml.safe_load((tmp_path / "o.yaml").read_text())["learned"]
    assert note["prior"] == "auto" and "play" not in note and "slopes" not in ran.out + ran.err


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
            "weighs what results teach, --method rootstrap has other targets",
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


def test_the_reason_for_using_no_gpu_is_reported_where_there_is_one_unless_the_cpu_was_chosen(
    small_dataset, tmp_path, monkeypatch
):
    common = ("tune", "classic", small_dataset.path, "-o", tmp_path / "o.yaml", *MATERIAL)
    monkeypatch.setattr(methods, "why_no_gpu", lambda: "CuPy is not installed")
    monkeypatch.setattr(methods, "gpu_is_there", lambda: False)
    (line,) = [line for line in done(*common).err.splitlines() if line.startswith("passes run on")]
    assert "GPU" not in line
    monkeypatch.setattr(methods, "gpu_is_there", lambda: True)
    (line,) = [line for line in done(*common).err.splitlines() if line.startswith("passes run on")]
    assert "; no GPU: " in line and len(line.partition("; no GPU: ")[2]) > 10
    (line,) = [
        line
        for line in done(*common, "--device", "cpu").err.splitlines()
        if line.startswith("passes run on")
    ]
    assert "GPU" not in line


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


@pytest.mark.parametrize(
    "arguments",
    [
        ("--method", "td"),
        ("--method", "logistic", "--gradient", "finite-difference", "--loss", "mse"),
    ],
)
def test_only_searches_are_agreed_with(small_pgn, tmp_path, arguments):
    """Where the outcomes are the results there is one held-out loss, of the fit's own kind, and no
    agreement with a search."""
    run = tmp_path / "run"
    ran = done(
        "tune",
        "classic",
        small_pgn,
        "-o",
        tmp_path / "o.yaml",
        *MATERIAL,
        *arguments,
        "--skip-start",
        60,
        "--run",
        run,
    )
    found = json.loads((run / "findings.json").read_text())
    note = found["result"]
    assert (
        found["calibration"]["targets"] is None
        and found["calibration"]["results"]
        and "search    " not in ran.out
    )
    assert note["held_out_results"] == note["held_out_change"]
    assert note["held_out_results"]["after"] == pytest.approx(note["held_out_after"], abs=1e-6)


def test_a_dry_run_names_the_quantity_of_its_intervals(small_pgn):
    ran = done("tune", "classic", small_pgn, "--dry-run", "--only", "material.*")
    assert (
        "those of rootstrap, the method used here, will differ" in ran.out
        and "learns from the results alone" not in ran.err
    )
