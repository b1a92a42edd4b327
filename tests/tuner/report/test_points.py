"""The report of a match in points names points, and no Elo."""

import re

from games.record import find
from tests.commands.support import done
from tuner.report.formatting import outcomes_of
from tuner.report.match import read_match
from tuner.report.verdict import BETTER, WORSE, verdict


def test_what_was_expected_says_for_whom():
    points, scores = (
        outcomes_of(words, most)["foreseen"]
        for words, most in ((find("backgammon").wording, 3), (find("shogi").wording, 1))
    )
    assert (
        points(0.25) == "-1.50 points expected for X" and scores(1.0) == "100 % expected for Black"
    )
    assert scores(None) == "– expected"
    assert (
        outcomes_of(find("backgammon").wording, 3, labelled=True)["outcome"](0.5)
        == "labelled +1.50 points for X"
    )


def test_a_match_in_points_is_reported_in_points(tmp_path):
    done(
        "match",
        "backgammon/classic",
        "random",
        "--games",
        12,
        "--run",
        tmp_path / "run",
        "--workers",
        1,
    )
    match = read_match(tmp_path / "run")
    found, turned = verdict(match, 0), verdict(match, 1)
    assert (found.kind, turned.kind) == (BETTER, WORSE)
    assert re.match(r"\+\d\.\d{3} ± \d\.\d{3} points a game", found.detail.replace("\u00a0", " "))
    done("report", tmp_path / "run", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "points a game" in page and not re.search(
        r"\bElo\b", re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    )
