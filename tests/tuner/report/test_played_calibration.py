"""Calibration and strength on the page of a run of self-play."""

import json
import re
from dataclasses import replace

import pytest

from tests.commands.support import done, refused
from tests.tuner.report.support import tune_run
from tuner.core.estimates import Estimate
from tuner.report.sections import error_rows, games_text
from tuner.results.fit import PlayedCalibration, SquaresChange

FOUND = PlayedCalibration(
    games=500,
    broken_off=0,
    positions=20_000,
    bins=[],
    error=Estimate(0.214, low=0.18, high=0.25),
    by_chance=0.03,
    favoured=0.81,
    won=0.6,
    excess=Estimate(0.21, low=0.12, high=0.3),
)


SQUARES = SquaresChange(1.6, 1.3, Estimate(-0.3, low=-0.4, high=-0.2))


def test_errors_are_shown_with_their_intervals_and_units():
    rows = dict(error_rows(replace(FOUND, squares=SQUARES), 3, False))
    assert rows["mean error of the bins, points"] == "0.214 [0.180, 0.250]"
    assert rows["difference"] == "+0.210 [+0.120, +0.300]"
    assert rows["its change"] == "−0.300 [−0.400, −0.200]"
    assert "mean error of the bins, probability of winning" in dict(error_rows(FOUND, 3, True))


def test_games_that_were_broken_off_are_counted():
    assert "500 games of the learned player" in games_text(
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


@pytest.mark.long
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
    assert "Calibration and strength" in page and "30 games of the learned player" in page
    assert "Strength is not measured on this page" in page
    done("report", tmp_path / "run", "--calibrate", 30, "--match", tmp_path / "match")
    page = text_of(tmp_path / "run" / "report.html")
    assert "Strength is not measured" not in page
    assert re.search(r"pubeval [−+]\d\.\d{3} ± \d\.\d{3} points a game", page.replace("\xa0", " "))
    without = json.loads(done("report", tmp_path / "run", "--calibrate", 0, "--json").out)
    assert without["calibration"] is None and "calibration" not in without["sections"]
    few = done("report", tmp_path / "run", "--calibrate", 3)
    assert "3 of 3 games came to a result, too few to compare values with" in few.err


def test_other_runs_have_no_games_to_play(tmp_path):
    assert "--calibrate: is for runs of self-play" in refused(
        "report", tune_run(tmp_path / "run"), "--calibrate", 10
    )
