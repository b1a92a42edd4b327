"""Calibration beside strength on the page of a run of self-play."""

import json
import re
from dataclasses import replace

import pytest

from tests.commands.support import done, refused
from tests.tuner.report.support import tune_run
from tuner.findings.records import PlayedCalibration, SquaresChange
from tuner.report.sections import games_text, sentences

FOUND = PlayedCalibration(
    games=500,
    broken_off=0,
    positions=20_000,
    bins=[],
    error=0.214,
    low=0.18,
    high=0.25,
    by_chance=0.03,
    favoured=0.81,
    won=0.6,
    excess=0.21,
    excess_low=0.12,
    excess_high=0.3,
)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (
            0.12,
            0.3,
            (
                "The values are too far from 0: the side that a value favours should have won 0.810"
                " points on average and won 0.600 (difference +0.210 [+0.120, +0.300])."
            ),
        ),
        (-0.3, -0.1, "The values are too close to 0: "),
        (-0.1, 0.1, "These games do not show whether values are too far from 0"),
        (float("nan"), float("nan"), "These games do not show"),
    ],
)
def test_the_direction_is_that_of_the_interval(low, high, said):
    first, second = sentences(replace(FOUND, excess_low=low, excess_high=high), 3)
    assert (
        first
        == "Bins of the values are off by 0.214 points on average [0.180, 0.250]. Values without"
        " any error would be off by about 0.030 in so many games, by chance."
    )
    assert second.startswith(said)


def test_a_run_that_learned_wins_speaks_of_the_probability_to_win():
    squares = SquaresChange(0.25, 0.2, -0.05, -0.06, -0.04)
    lines = sentences(replace(FOUND, squares=squares), 3, True)
    assert lines[0].endswith("[−0.060, −0.040], in probabilities squared.")
    assert lines[1].startswith(
        "Bins of the values are off by 0.214 in the probability of winning on"
    )
    assert lines[2].startswith(
        "The values are too far from ½: the side that a value favours should have "
        "won 0.810 of its games"
    )


def test_games_that_were_broken_off_are_counted():
    assert "500 games that what was learned played" in games_text(
        FOUND
    ) and "broken off" not in games_text(FOUND)
    assert games_text(replace(FOUND, broken_off=7)).endswith(
        "7 more were broken off, without a result."
    )


def text_of(path) -> str:
    return " ".join(
        re.sub(
            r"<[^>]*>",
            " ",
            re.sub(
                r"<(style|script).*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL
            ),
        ).split()
    )


def test_a_run_with_dice_is_calibrated_in_points_beside_its_strength(tmp_path):
    done("selfplay", "backgammon/classic", "--games", 16, "--run", tmp_path / "run")
    done(
        "match",
        tmp_path / "run" / "params.yaml",
        "pubeval",
        "--games",
        12,
        "--run",
        tmp_path / "match",
        "--workers",
        1,
    )
    plain = json.loads(done("report", tmp_path / "run", "--calibrate", 30, "--json").out)
    assert plain["calibration"]["games"] == 30 and "calibration" in plain["sections"]
    page = text_of(tmp_path / "run" / "report.html")
    assert "Calibration beside strength" in page and "30 games that what was learned played" in page
    assert "points on average [" in page and "Strength is not measured on this page" in page
    done("report", tmp_path / "run", "--calibrate", 30, "--match", tmp_path / "match")
    page = text_of(tmp_path / "run" / "report.html")
    assert "Strength is not measured" not in page
    assert re.search(r"pubeval [−+]\d\.\d{3} ± \d\.\d{3} points a game", page.replace("\xa0", " "))
    without = json.loads(done("report", tmp_path / "run", "--calibrate", 0, "--json").out)
    assert without["calibration"] is None and "calibration" not in without["sections"]
    few = done("report", tmp_path / "run", "--calibrate", 3)
    assert "3 of 3 games came to a result, too few to compare values with" in few.err


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (
            -0.4,
            -0.2,
            (
                "As a whole the learned weights predict the results of these games better than"
                " those of the start: mean square error 1.600 before, 1.300 after, change −0.300"
                " [−0.400, −0.200], in points squared."
            ),
        ),
        (0.2, 0.4, "As a whole the learned weights predict the results of these games worse than"),
        (
            -0.4,
            0.1,
            "These games do not show whether the learned weights as a whole predict results better",
        ),
    ],
)
def test_what_is_said_of_the_whole_file_is_what_the_interval_shows(low, high, said):
    squares = SquaresChange(1.6, 1.3, -0.3, low, high)
    assert sentences(replace(FOUND, squares=squares), 3)[0].startswith(said)


def test_other_runs_have_no_games_to_play(tmp_path):
    assert "--calibrate: is for runs of self-play" in refused(
        "report", tune_run(tmp_path / "run"), "--calibrate", 10
    )
