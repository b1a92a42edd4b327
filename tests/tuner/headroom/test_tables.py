"""A measurement of headroom as text, and as the data of its section, in the unit of the game."""

from __future__ import annotations

import pytest

from games.record import find
from tests.tuner.headroom.test_sentences import found, interval
from tuner.headroom.sentences import interval_text
from tuner.headroom.tables import lines_of
from tuner.report.headroom_data import headroom_data

POSITION = {"position": "4HPwATDgc/ABMA", "value": 0.75, "phase": 1.0, "start": 0.5, "fit": 0.4, "network": 0.7}


def measured(**more) -> dict:
    gains = [{"model": "fit", "on": "start", **interval(0.01, 0.001)}, {"model": "network", "on": "fit", **interval(0.004, 0.1)}]
    phases = [{"from": low, "to": low + 0.25, "positions": 40, "start": 0.6, "fit": 0.5, "network": 0.4, "gains": gains}
              for low in (0.0, 0.75)]
    return found(interval(0.007, 0.001), None, sentences=[], loss="cross-entropy", held_out_positions=80, held_out_games=80,
                 values="labels of the positions", phases=phases, disagreements=[POSITION], cpu_seconds=1, **more)


@pytest.mark.parametrize(("points", "side", "line"), [
    (3, "X", "  +1.50  +0.00  -0.60  +1.20  4HPwATDgc/ABMA"),
    (1, "the first player", "  0.75  0.50  0.40  0.70  4HPwATDgc/ABMA")])
def test_positions_are_valued_in_points_or_in_scores(points, side, line):
    lines = lines_of(measured(points=points, side=side))
    assert line in lines
    unit = "points" if points > 1 else "score"
    assert f"where the others differ most from the fit (expected {unit} of {side}: value, file, fit, network):" in lines
    data = headroom_data(measured(points=points, side=side), find("backgammon"))
    assert data["expected"](0.75) == ("+1.50 points" if points > 1 else "75 %") and data["side"] == side


def test_stages_without_phases_between_them_are_named():
    plain = measured(points=1, side="the first player")
    assert any(line.startswith("  0.00-0.25 ") for line in lines_of(plain)) and not headroom_data(plain, None)["staged"]
    staged = plain | {"phases": [line | {"stage": name} for line, name in zip(plain["phases"], ("race", "contact"), strict=True)]}
    lines = lines_of(staged)
    assert "by stage:" in lines and any(line.startswith("  race ") for line in lines) and headroom_data(staged, None)["staged"]


def test_no_number_is_minus_zero():
    assert interval_text({"value": -1e-6, "low": -1e-5, "high": 1e-5}) == "0.0000 [0.0000, 0.0000]"
