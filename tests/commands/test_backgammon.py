"""Commands on files of backgammon: what they print is in the game's words, and true."""

import html
import re

import numpy as np
import pytest
import yaml

from examples.sample_games.backgammon import play
from games.backgammon.files import mat
from games.backgammon.rules.board import start
from tests.commands.support import done, refused
from tests.games.backgammon.support import labels_text, rolls_of_games
from tests.support import file_with
from tuner.evaluation.loading import load_engine
from tuner.io.files import BUNDLED

NOT_SAID = re.compile(
    r"centipawn|\bpawn|\bPGN\b|\bWhite\b|\bBlack\b|first player|second"
    r" player|draw\b|drawn|\bElo\b|owns the piece"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A match file of 40 games, and positions labeled with the values of `classic`."""
    found = tmp_path_factory.mktemp("backgammon")
    (found / "games.mat").write_text(mat.mat_text([play(number) for number in range(40)]))
    positions = np.array(list(rolls_of_games(7, 900)))
    positions[:, 4] &= np.uint64(1)
    engine, parameters = load_engine("backgammon/classic")
    value = np.tanh(parameters.scale * engine.evaluate(positions, parameters)) * np.where(
        positions[:, 4] & np.uint64(1), -1, 1
    )
    win = 0.5 + 0.5 * np.clip(1.5 * value, -1, 1)
    extra = 3 * value - (2 * win - 1)
    chances = np.stack(
        [win, np.clip(extra, 0, win), 0 * win, np.clip(-extra, 0, 1 - win), 0 * win], 1
    )
    (found / "labels.csv").write_text(labels_text(positions, chances))
    return found


def shown(page: str) -> str:
    """The text of a page without its pictures."""
    page = re.sub(r"<style.*?</style>|<script.*?</script>|<svg.*?</svg>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def test_the_evaluation_of_a_position_is_in_points(folder):
    said = done("eval", "backgammon/classic", "4HPwATDgc/ABMA").out
    assert (
        "hundredths of a point, X's view" in said and "X expects +0.094 points (v = +0.031)" in said
    )
    exported = done("export", "backgammon/classic", "--format", "c").out
    assert "expected points: 3 * tanh(0.00333 * evaluation)" in exported and not NOT_SAID.search(
        exported
    )
    summary = done(
        "dataset", folder / "games.mat", "--params", "backgammon/zero", "-o", folder / "games.ds"
    ).out
    assert not NOT_SAID.search(summary)
    plain = done("params", "backgammon/classic").out
    assert "159 parameters x 2 stages" in plain and not NOT_SAID.search(plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--method", "rootstrap"),
            (
                "--method rootstrap: backgammon has positions before the roll, which a search"
                " cannot begin with"
            ),
        ),
        (
            ("--loss", "ordered"),
            (
                "--loss ordered: models draws, and backgammon has points from -3 to 3 in place of"
                " them"
            ),
        ),
        (
            ("--prior", "play"),
            (
                "--prior play: weighs what noise costs in Elo, and strength in backgammon is points"
                " a game"
            ),
        ),
        (("--positions", "quiet"), "--positions quiet: backgammon has no quiescence"),
    ],
)
def test_what_backgammon_does_not_have_is_refused_in_one_line(folder, options, message):
    assert (
        message
        in refused(
            "tune", "backgammon/classic", folder / "games.mat", "-o", folder / "x.yaml", *options
        )
        and not (folder / "x.yaml").exists()
    )


def test_the_start_is_worth_the_roll():
    engine, parameters = load_engine("backgammon/classic")
    assert float(engine.evaluate(start()[None], parameters)[0]) == pytest.approx(9.4, abs=0.01)


def test_a_dataset_is_summed_up_by_stages_and_the_sides_of_the_game(folder, tmp_path):
    done("dataset", folder / "games.mat", "--params", "backgammon/classic", "-o", tmp_path / "data")
    out = done("dataset", "inspect", tmp_path / "data").out
    assert (
        re.search(r"stages +contact \d+\.\d %, race \d+\.\d % of positions", out)
        and "phase" not in out
    )
    assert re.search(r"stage +positions +X wins % +O wins %", out) and not NOT_SAID.search(out)
    shares = [float(share) for share in re.findall(r"(?:contact|race) (\d+\.\d) %", out)]
    assert len(shares) == 2 and abs(sum(shares) - 100) < 0.11


def test_labels_are_summed_up_without_results(folder, tmp_path):
    done(
        "dataset", folder / "labels.csv", "--params", "backgammon/classic", "-o", tmp_path / "data"
    )
    out = done("dataset", "inspect", tmp_path / "data").out
    assert "expected points of labels" in out and "wins %" not in out


def test_weights_out_of_range_are_refused_in_the_unit_of_the_game(tmp_path):
    text = (BUNDLED / "backgammon" / "zero.yaml").read_text()
    wrong = file_with(
        tmp_path / "wrong.yaml",
        re.sub(r"next: \{contact: [^,]*,", "next: {contact: 1e6,", text, count=1),
    )
    assert "expected hundredths of a point between -20000 and 20000" in refused("params", wrong)


@pytest.mark.parametrize(("learner", "rate"), [("adam", 1.0), ("adagrad", None)])
def test_adam_takes_smaller_steps_with_dice(tmp_path, learner, rate):
    done(
        "selfplay", "backgammon/zero", "--games", 8, "--learner", learner, "--run", tmp_path / "run"
    )
    settings = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["selfplay"]
    assert settings.get("learning_rate") == rate
