"""The report of a match in points names points, and no Elo."""

from __future__ import annotations

import re

from tests.commands.support import done
from tuner.report.matches import read_match
from tuner.report.verdict import BETTER, WORSE, verdict


def test_a_match_in_points_is_reported_in_points(tmp_path):
    done("match", "backgammon/classic", "random", "--games", 12, "--run", tmp_path / "run", "--concurrency", 1)
    match = read_match(tmp_path / "run")
    found, turned = verdict(match, 0), verdict(match, 1)
    assert (found.kind, turned.kind) == (BETTER, WORSE)
    assert re.match(r"\+\d\.\d{3} points a game \[\+\d\.\d{3}, \+\d\.\d{3}\]", found.detail.replace("\u00a0", " "))
    done("report", tmp_path / "run", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "points a game" in page and not re.search(r"\bElo\b", re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL))
