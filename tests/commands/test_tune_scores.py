"""`tuner tune --method scores`: what is learned from recorded scores, what is said and written
about it, and mistakes."""

import functools
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from games.chess.files.fen import position
from games.record import PositionBatch, find
from tests.commands.support import done, refused
from tests.games.support import random_boards
from tuner.core.store import read_blob
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.learn import scores as score_targets
from tuner.learn.scores import unscored
from tuner.parallel import OnThreads
from tuner.parameters.writer import write_parameters
from tuner.results.fit import FINDINGS

UNIT = 2.5  # of the recorded scores: as many make a centipawn of ours
ENGINE, CLASSIC = load_engine("classic")


@functools.cache
def fens() -> list[str]:
    """Return a third of the positions of random games that are not in check."""
    boards = (board for board in random_boards(31, 60, 60) if not board.is_check())
    return [board.fen() for board in itertools.islice(boards, 0, None, 3)]


@functools.cache
def evaluations() -> np.ndarray:
    """Return what `classic` makes of them (n,), centipawns for White."""
    return ENGINE.evaluate(np.array([position(fen) for fen in fens()]), CLASSIC)


def labelled(folder: Path, scores: np.ndarray | list[str], name: str = "labelled.txt") -> Path:
    path = folder / name
    results = np.round((1 + np.tanh(0.0025 * evaluations())) / 2, 4)  # so that fits are exact
    path.write_text(
        "".join(
            f"{fen} | {score} | {result}\n"
            for fen, score, result in zip(fens(), scores, results, strict=True)
        )
    )
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """Positions labeled with evaluations of `classic` in another unit."""
    return labelled(tmp_path_factory.mktemp("recorded"), np.rint(UNIT * evaluations()).astype(int))


@pytest.fixture
def detuned(tmp_path) -> Path:
    """`classic` with pawns of 60 % and knights of 140 %."""
    path = tmp_path / "detuned.yaml"
    weights = CLASSIC.weights.copy()
    weights[:, CLASSIC.mask(("material.pawn",))[0]] *= 0.6
    weights[:, CLASSIC.mask(("material.knight",))[0]] *= 1.4
    write_parameters(path, CLASSIC.with_weights(weights))
    return path


def piece_values(path: Path | str) -> np.ndarray:
    """Piece values (2, 5) in units of the queen's in the middlegame."""
    parameters = load_parameters(str(path))
    found = parameters.weights[:, :5]
    return found / found[0, 4]


def test_the_evaluation_that_made_the_scores_is_found_again(recorded, detuned, tmp_path):
    out = tmp_path / "out.yaml"
    done(
        "tune",
        detuned,
        recorded,
        "--method",
        "scores",
        "--prior",
        "none",
        "--only",
        "material.*",
        "-o",
        out,
        "--held-out",
        0,
        "--scale",
        0.0025,
    )
    assert np.abs(piece_values(out) / piece_values("classic") - 1).max() < 0.02
    assert np.abs(piece_values(detuned) / piece_values("classic") - 1).max() > 0.3


def test_what_was_learned_from_is_said_and_written(recorded, tmp_path):
    out, run = tmp_path / "out.yaml", tmp_path / "run"
    ran = done(
        "tune",
        "classic",
        recorded,
        "--method",
        "scores",
        "--lambda",
        0.25,
        "-o",
        out,
        "--run",
        run,
        "--only",
        "material.*",
    )
    assert "recorded scores: +100 centipawns score " in ran.err
    assert f"({len(fens()):,} scores of {len(fens()):,} games)" in ran.err
    assert (
        "scores, lambda 0.25: learns from the scores in these files, blended with the results;"
        " --method rootstrap" in ran.err
    )
    learned = yaml.safe_load(out.read_text())["learned"]
    assert (learned["method"], learned["targets"], learned["lambda"], learned["prior"]) == (
        "scores",
        "scores",
        0.25,
        5.0,
    )
    assert learned["score_scale"] == pytest.approx(0.0025 / UNIT, rel=0.002)
    options = yaml.safe_load((run / "config.yaml").read_text())["options"]
    assert (options["method"], options["targets"]) == ("scores", "scores")
    assert "max_difference" not in options
    assert json.loads(read_blob(run, FINDINGS))["result"]["method"] == "scores"
    done("report", run)


def test_positions_without_a_score_are_left_out(tmp_path, recorded):
    # of unknown unit
    scores = [str(round(UNIT * value)) if i % 3 else "0.5" for i, value in enumerate(evaluations())]
    some = labelled(tmp_path, scores)
    common = (
        "tune",
        "classic",
        some,
        "--method",
        "scores",
        "-o",
        tmp_path / "a.yaml",
        "--held-out",
        0,
        "--json",
        "--only",
        "material.*",
    )
    ran = done(*common)
    without = (len(fens()) + 2) // 3
    assert f"{without:,} positions without a score left out" in ran.err
    assert json.loads(ran.out)["positions"] == len(fens()) - without
    ran = done(*common, "--lambda", 1)
    assert json.loads(ran.out)["positions"] == len(fens())


class FakeTeacher:
    """The interface of `tuner.learn.teacher.Teacher`: scores are evaluations of `classic`."""

    asked: list[tuple] = []

    text = "scores of the teacher: all of them searched"

    def __init__(
        self, game, engine, limits, workers=1, options=None, folder=None, searched=lambda: None
    ):
        self.asked.append((game.name, engine, limits.nodes, workers))
        self._searched = searched

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.asked.append("closed")

    def scores(self, batch: PositionBatch) -> np.ndarray:
        for _ in batch.positions:
            self._searched()
        return UNIT * ENGINE.evaluate(batch.positions, CLASSIC)


@pytest.fixture
def fake(monkeypatch):
    FakeTeacher.asked.clear()
    monkeypatch.setattr(score_targets, "Teacher", FakeTeacher)
    return FakeTeacher


def test_a_teacher_gives_the_scores(fake, recorded, detuned, tmp_path):
    results_alone = labelled(tmp_path, ["0.5"] * len(fens()))  # without scores
    common = ("--method", "scores", "--prior", "none", "--only", "material.*", "--held-out", 0)
    ran = done(
        "tune",
        detuned,
        results_alone,
        *common,
        "--teacher",
        "uci:sage",
        "--nodes",
        77,
        "-o",
        tmp_path / "a.yaml",
        "--workers",
        2,
    )
    done("tune", detuned, recorded, *common, "-o", tmp_path / "b.yaml")
    one, other = (load_parameters(str(tmp_path / name)).weights for name in ("a.yaml", "b.yaml"))
    assert np.abs(one - other).max() < 0.5  # the recorded ones are rounded
    assert fake.asked == [("chess", "uci:sage", 77, OnThreads(2)), "closed"]
    # without --method
    done(
        "tune",
        detuned,
        results_alone,
        *common[2:],
        "--teacher",
        "uci:sage",
        "-o",
        tmp_path / "c.yaml",
    )
    assert yaml.safe_load((tmp_path / "c.yaml").read_text())["learned"]["targets"] == "scores"
    assert "scores of the teacher: +100 centipawns score" in ran.err
    assert "learns from searches of uci:sage, 77 nodes" in ran.err
    learned = yaml.safe_load((tmp_path / "a.yaml").read_text())["learned"]
    assert (learned["teacher"], learned["nodes"]) == ("uci:sage", 77)


@pytest.mark.long
def test_targets_are_a_former_name_of_methods(recorded, tmp_path):
    words = ("tune", "classic", recorded, "--only", "material.*")
    for name, former in (("logistic", "results"), ("scores", "scores")):
        done(*words, "--method", name, "-o", tmp_path / "a.yaml")
        done(*words, "--targets", former, "-o", tmp_path / "b.yaml")
        one, other = (load_parameters(tmp_path / f"{each}.yaml") for each in "ab")
        assert (one.weights == other.weights).all() and other.learned["method"] == name
    assert "--targets" not in done("tune", "--help-all").out


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("--method logistic --max-difference 50", "--max-difference 50.0: has no use here"),
        (
            "--method td --teacher uci:sage",
            "--teacher uci:sage: has no use here, --method td uses no recorded scores",
        ),
        ("--method scores --nodes 50", "--nodes 50: has no use here, there is no --teacher"),
        ("--method scores --depth 3", "--depth 3: has no use here"),
        (
            "--method scores --loss ordered",
            "--loss ordered: needs results, --method scores has targets of a different kind",
        ),
        ("--targets guesses", "argument --targets: invalid choice: 'guesses'"),
    ],
)
def test_mistakes_are_reported_in_one_line(recorded, tmp_path, arguments, wanted):
    assert wanted in refused(
        "tune", "classic", recorded, "-o", tmp_path / "out.yaml", *arguments.split()
    )
    assert not (tmp_path / "out.yaml").exists()


def test_files_without_scores_are_refused(small_pgn, small_dataset, tmp_path):
    assert "positions has a score; expected PGN comments such as {+0.31/6}" in refused(
        "tune", "classic", small_pgn, "--method", "scores", "-o", tmp_path / "out.yaml"
    )
    assert "small.ds: has no scores; learn from results with --method" in refused(
        "tune", "classic", small_dataset.path, "--method", "scores", "-o", tmp_path / "out.yaml"
    )


@pytest.mark.parametrize(
    ("game", "said", "also"),
    [
        (
            "chess",
            (
                "a score; expected PGN comments such as {+0.31/6} or [%eval 0.31], or labeled"
                " positions"
            ),
            True,
        ),
        ("shogi", "a score; expected CSA comments such as '** 31, or packed positions", True),
        ("backgammon", "a score; files of backgammon record none", False),
    ],
)
def test_what_to_do_without_scores_is_of_the_game_and_of_the_command(game, said, also):
    error = unscored(find(game), 7)
    assert str(error).startswith("none of 7 positions has " + said)
    teacher = "name an engine with --teacher"
    assert str(error).endswith(
        f"; choose --method logistic or rootstrap, or {teacher}"
        if also
        else "; choose --method logistic"
    )


def test_scores_of_the_wrong_view_are_refused(tmp_path):
    path = labelled(tmp_path, np.rint(-UNIT * evaluations()).astype(int))
    assert "recorded scores: do not predict the results" in refused(
        "tune", "classic", path, "--method", "scores", "-o", tmp_path / "out.yaml"
    )


def test_scores_far_from_the_evaluation_are_left_out(tmp_path):
    scores = np.rint(UNIT * evaluations()).astype(int)
    near = np.abs(evaluations()) < 300
    places = np.flatnonzero(near)[::10]
    scores[places] += int(300 * UNIT)
    path = labelled(tmp_path, scores)
    words = ("tune", "classic", path, "--method", "scores", "--only", "material.*", "--prior")
    ran = done(*words, "none", "--max-difference", 150, "-o", tmp_path / "out.yaml")
    said = f"--max-difference 150: {len(places):,} of {len(scores):,} positions left out"
    assert said in ran.err


def test_zeros_have_no_evaluation_to_compare_scores_with(recorded, tmp_path):
    assert "--max-difference: the starting values are all zero" in refused(
        "tune",
        "zero",
        recorded,
        "--method",
        "scores",
        "--max-difference",
        50,
        "-o",
        tmp_path / "out.yaml",
    )


@pytest.mark.long
def test_what_the_move_is_worth_is_not_learned_from_another_program(recorded, tmp_path):
    """Scores that are higher by 20 for the side to move: the tempo is held unless it is named."""
    turn = np.array([1 if fen.split()[1] == "w" else -1 for fen in fens()])
    scores = np.rint(UNIT * (evaluations() + 20 * turn)).astype(int)
    file = labelled(tmp_path, scores, "turn.txt")
    out, before = tmp_path / "out.yaml", CLASSIC.mask(("space.tempo",))
    words = ("--method", "scores", "--held-out", 0, "--scale", 0.0025, "--prior", 20, "-o", out)
    said = "held: space.tempo, since the scores see what the side to move threatens"
    assert said in done("tune", "classic", file, *words).err
    assert (load_parameters(str(out)).weights == CLASSIC.weights)[before].all()
    for idle in (("--fixed", "space.tempo"), ("--lambda", 1), ("--only", "space.*")):
        assert "held: " not in done("tune", "classic", file, *idle, *words).err
    moved = (load_parameters(str(out)).weights - CLASSIC.weights)[before]
    assert (moved > 5).all()
