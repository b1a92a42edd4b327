"""`tuner headroom` and `tuner rank`: from games to lines, JSON and a page, and mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest

from games.record import PositionBatch
from tests.commands.support import done, tictactoe_file, tuner
from tests.evalterms.test_nonlinear import DANGER
from tests.tuner.report.support import tune_run
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.headroom import trees
from tuner.learn import scores as score_targets
from tuner.parameters.writer import write_parameters

ENGINE, CLASSIC = load_engine("classic")
SHORT = ("--held-out", 0.4, "--workers", 1)
needs_trees = pytest.mark.skipif(
    not trees.available(), reason="scikit-learn is not here; pip install '.[headroom]'"
)


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> Path:
    return tictactoe_file(tmp_path_factory.mktemp("headroom"), 800)


@pytest.fixture(scope="module")
def measured(games) -> tuple[dict, Path]:
    """What was found, and its page."""
    page = games.parent / "page.html"
    ran = done(
        "headroom", "tictactoe/classic", games, "--targets", "results", *SHORT, "-o", page, "--json"
    )
    return json.loads(ran.out), page


@needs_trees
def test_everything_is_measured_and_shown(measured):
    found, page = measured
    assert [line["model"] for line in found["models"]] == ["start", "fit", "trees", "network"]
    assert found["values"] == "results of the games" and found["loss"] == "cross-entropy"
    assert found["held_out_positions"] > 1000 and found["positions"] > found["held_out_positions"]
    text = page.read_text(encoding="utf-8")
    assert (
        "What is left to gain" in text
        and "trees on the same counts" in text
        and found["sentences"][0] in text
    )
    assert "tuner headroom tictactoe/classic" in text  # how to repeat it


def test_a_run_shows_it_in_its_report(games, tmp_path, monkeypatch, brief_headroom):
    from tuner.headroom import measure

    monkeypatch.setattr(measure, "available", lambda: False)
    run = tune_run(tmp_path / "run")
    ran = done(
        "headroom", "tictactoe/classic", games, "--targets", "results", *SHORT, "--add-to", run
    )
    assert "pip install 'evaltune[headroom]'" in ran.out and "best linear fit" in ran.out
    assert f"see it in the report: tuner report {run}" in ran.out and "CPU seconds" in ran.out
    assert "headroom" in json.loads(done("report", run, "--json").out)["sections"]
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "pip install" in page and "What is left to gain" in page
    (run / "headroom.json").write_text('{"start": 7}')
    ran = tuner("report", run)
    assert (
        ran.status == 2 and "headroom.json: start is 7, expected a text" in ran.err.splitlines()[-1]
    )


def test_a_sample_has_whole_games_and_at_most_so_many_positions(games, monkeypatch, brief_headroom):
    from tuner.headroom import measure

    monkeypatch.setattr(measure, "available", lambda: False)
    counts = set()
    for seed in (1, 2):
        found = json.loads(
            done(
                "headroom",
                "tictactoe/classic",
                games,
                "--targets",
                "results",
                *SHORT,
                "--sample",
                3000,
                "--seed",
                seed,
                "--json",
            ).out
        )
        assert 2900 < found["positions"] <= 3000
        counts.add((found["games"], found["models"][0]["value"]))
    assert len(counts) == 2  # other games


@pytest.mark.long
@needs_trees
def test_terms_that_are_not_linear_are_measured_too(small_pgn, brief_headroom):
    ran = done("headroom", "modern", small_pgn, "--targets", "results", "--sample", 1500, *SHORT)
    assert "best fit of these terms" in ran.out and "trees on the same counts" in ran.out
    assert "linear" not in ran.out


@needs_trees
@pytest.mark.parametrize("reading", [(), ("--targets", "results")])
def test_positions_shown_are_those_whose_scores_are_shown(
    small_pgn, monkeypatch, brief_headroom, reading
):
    """Of a sample of the games, by our own searches or by results: each position has the score that
    the file gives it."""
    monkeypatch.setattr(
        trees, "_best", lambda model, features, *others: (2, model.predict(features))
    )  # whatever they gain
    ran = done(
        "headroom",
        "classic",
        small_pgn,
        *(reading or ("--depth", 1)),
        "--sample",
        1500,
        *SHORT,
        "--json",
    )
    found = json.loads(ran.out)
    lines = found["disagreements"]
    assert len(lines) > 5 and found["positions"] <= 1500
    assert found["targets"] == ("results" if reading else "search")
    positions = np.array([ENGINE.game.position(line["position"]) for line in lines])
    scores = 1 / (
        1 + np.exp(-2 * found["scales"]["start"] * ENGINE.evaluate_many(positions, CLASSIC))
    )
    assert [line["start"] for line in lines] == pytest.approx(scores.tolist(), abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("--held-out 0", "--held-out 0: nothing would be left to measure on"),
        ("--sample 10", "argument --sample: '10' is not a whole number of 1000 or more"),
        ("--targets search --held-out 0.4", "has no search"),
        ("-o page.txt", "page.txt: expected the name of an HTML page"),
        (
            "--add-to nowhere",
            (
                "nowhere: holds no learned parameter file (params.yaml); expected the folder of"
                " `tuner tune --run`"
            ),
        ),
        ("--targets results --nodes 5", "--nodes 5: has no use here"),
        (
            "--targets results --held-out 0.01",
            "held out: expected at least 200 of both; give more games",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(games, tmp_path, monkeypatch, arguments, wanted):
    monkeypatch.chdir(tmp_path)
    ran = tuner("headroom", "tictactoe/classic", games, *arguments.split())
    assert ran.status == 2 and wanted in ran.err.splitlines()[-1], ran.err


class FakeTeacher:
    """The interface of `tuner.learn.teacher.Teacher`: scores are evaluations of `classic` in
    another unit."""

    text = "scores of the teacher: all of them searched"

    def __init__(
        self, game, engine, limits, workers=1, options=None, folder=None, searched=lambda: None
    ):
        self.limits = limits

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        pass

    def scores(self, batch: PositionBatch) -> np.ndarray:
        return 1.7 * ENGINE.evaluate(batch.positions, CLASSIC)


@pytest.fixture
def noisy(tmp_path, monkeypatch) -> list[Path]:
    """Copies of `classic` with noise of 2 to 40 centipawns in each weight."""
    monkeypatch.setattr(score_targets, "Teacher", FakeTeacher)
    random, paths = np.random.default_rng(4), []
    for sd in (40, 2, 15, 6):
        path = tmp_path / f"noise{sd}.yaml"
        write_parameters(
            path,
            CLASSIC.with_weights(CLASSIC.weights + random.normal(0, sd, CLASSIC.weights.shape)),
        )
        paths.append(path)
    return paths


RANK = ("--teacher", "uci:sage", "--nodes", 10, "--workers", 1)


def test_files_are_ranked_by_their_distance_from_the_teacher(noisy, small_pgn):
    ran = done("rank", *noisy, "classic", "--on", small_pgn, *RANK, "--json")
    found = json.loads(ran.out)
    names = [Path(line["file"]).stem for line in found["files"]]
    assert names == ["classic", "noise2", "noise6", "noise15", "noise40"]
    first, *others = found["files"]
    assert first["excess"]["value"] == pytest.approx(0, abs=1e-5) and first["behind"] is None
    for line in others:
        assert line["behind"]["value"] == pytest.approx(
            line["excess"]["value"] - first["excess"]["value"], abs=1e-6
        )
    last = others[-1]
    assert last["behind"]["low"] > 0 and last["scale"] < first["scale"]
    # differences of files that are alike are known better than their levels
    pair = json.loads(done("rank", noisy[0], noisy[2], "--on", small_pgn, *RANK, "--json").out)[
        "files"
    ]
    width = {key: pair[1][key]["high"] - pair[1][key]["low"] for key in ("excess", "behind")}
    assert width["behind"] < 1.5 * width["excess"]


def test_the_sentences_are_those_of_the_files(noisy, small_pgn, tmp_path):
    learned, taught = tmp_path / "learned.yaml", tmp_path / "taught.yaml"
    done(
        "tune", "classic", small_pgn, "--method", "logistic", "--only", "material.*", "-o", learned
    )
    done(
        "tune", "classic", small_pgn, "--teacher", "uci:sage", "--only", "material.*", "-o", taught
    )
    ran = done("rank", noisy[0], learned, taught, "zero", "--on", small_pgn, *RANK)
    lines = ran.out.splitlines()
    (same,) = [
        line
        for line in lines
        if line.startswith("learned from these same games, so ranked too high: ")
    ]
    assert set(same.split(": ")[1].split(", ")) == {str(taught), str(learned)}
    assert (
        "fitted to scores of searches, so ranked too high if these are of the same engine:"
        f" {taught}" in lines
    )
    assert "evaluations that do not rise with the values (slope 0): zero" in lines
    assert any(
        line.startswith("useful to choose among many files, not instead of a match: the rank")
        for line in lines
    )
    assert lines[-1].startswith(f"next: tuner match {same.split(': ')[1].split(', ')[0]} ")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("classic classic", "classic: named twice; leave one out"),
        (
            "classic tictactoe/classic",
            "tictactoe/classic is for tictactoe, but classic is for chess",
        ),
        ("classic nowhere", "nowhere: no such file"),
        (
            "classic",
            "labelled positions with scores (docs/targets.md); name an engine with --teacher",
        ),
    ],
)
def test_files_that_cannot_be_ranked_are_refused(small_pgn, arguments, wanted):
    ran = tuner("rank", *arguments.split(), "--on", small_pgn)
    assert ran.status == 2 and wanted in ran.err.splitlines()[-1], ran.err


def test_a_dataset_has_no_positions_to_rank_on(small_dataset):
    ran = tuner("rank", "classic", "--on", small_dataset.path)
    assert (
        ran.status == 2
        and "small.ds: holds counts of one evaluation, not positions" in ran.err.splitlines()[-1]
    )


@pytest.mark.long
def test_terms_that_are_not_linear_are_ranked(noisy, small_pgn, tmp_path):
    """A quadratic term of the user's, with weights and without: without it the file is `classic`,
    which the teacher is."""
    (tmp_path / "danger.py").write_text(DANGER)
    done(
        "params",
        "classic",
        "--terms",
        tmp_path / "danger.py",
        "--add-missing",
        "-o",
        tmp_path / "plain.yaml",
    )
    plain = load_parameters(tmp_path / "plain.yaml", [tmp_path / "danger.py"])
    weights = plain.weights.copy()
    weights[:, -2:] = 40.0
    write_parameters(tmp_path / "bent.yaml", plain.with_weights(weights))
    ran = done(
        "rank",
        tmp_path / "bent.yaml",
        tmp_path / "plain.yaml",
        "--terms",
        tmp_path / "danger.py",
        "--on",
        small_pgn,
        *RANK,
        "--json",
    )
    first, second = json.loads(ran.out)["files"]
    assert first["file"].endswith("plain.yaml") and first["excess"]["value"] == pytest.approx(
        0, abs=1e-5
    )
    assert second["behind"]["low"] > 0
