"""Points and ratings against others: by NumPy, and by the likelihood itself."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tuner.report.opponents import games_of, opponents_data, rating_of, score_of
from tuner.results.selfplay import Batch, PlayedAgainst

RUN = Path("my-games")


def played(*games):
    """Return games of an opponent, a rating and points each."""
    return [PlayedAgainst(i, *game) for i, game in enumerate(games)]


def drawn_by_lot(number, strength, seed=1):
    """Return games against opponents of three ratings."""
    random = np.random.default_rng(seed)
    ratings = random.choice([1400.0, 1600.0, 1900.0], number)
    chances = 1 / (1 + 10 ** ((ratings - strength) / 400))
    wins = random.random(number) < chances
    return played(*(("x", r, float(w)) for r, w in zip(ratings, wins, strict=True)))


def test_a_rating_is_the_likeliest_one_and_its_interval_holds_the_strength():
    games = drawn_by_lot(400, 1650.0)

    def unlikely(rating):
        chances = [1 / (1 + 10 ** ((g.rating - rating) / 400)) for g in games]
        return -sum(math.log(c if g.points else 1 - c) for c, g in zip(chances, games, strict=True))

    likeliest = minimize_scalar(unlikely, bounds=(1000, 2400), method="bounded").x
    found = rating_of(games)
    assert found is not None and found.value == pytest.approx(likeliest, abs=0.5)
    inside = 0
    for seed in range(60):
        each = rating_of(drawn_by_lot(120, 1650.0, seed))
        assert each is not None
        inside += each.low <= 1650 <= each.high
    assert 53 <= inside <= 60
    assert rating_of(played(("x", None, 1.0))) is None
    assert rating_of(played(("x", 1500.0, 1.0), ("x", 1500.0, 1.0))) is None


def test_scores_have_the_interval_of_their_spread():
    points = [1.0, 0.5, 0.0, 1.0, 1.0]
    found = score_of(played(*(("x", None, p) for p in points)))
    assert found.value == pytest.approx(0.7)
    assert found.standard_error == pytest.approx(np.std(points, ddof=1) / math.sqrt(5))
    won = score_of(played(*[("x", None, 1.0)] * 9))
    assert won.value == 1 and 0.6 < won.low < 0.75 and won.high == 1


def test_results_told_later_count_in_place_of_none():
    first = Batch(1, 2, played=played(("a", None, None), ("b", 1500.0, 0.5)))
    later = Batch(2, 2, played=[PlayedAgainst(0, "a", None, 0.0)])
    assert [(g.opponent, g.points) for g in games_of([first, later])] == [("a", 0.0), ("b", 0.5)]
    data, before = opponents_data([first, later], RUN), opponents_data([first], RUN)
    assert data is not None and before is not None
    assert (before["known"], before["games"], data["known"]) == (1, 2, 2)
    assert [row[:3] for row in data["rows"]] == [("a", "", 1), ("b", "1500", 1), ("all", "", 2)]
    assert opponents_data([Batch(1, 1, played=played(("a", None, None)))], RUN) is None


def test_a_long_run_has_charts_by_games():
    data = opponents_data([Batch(1, 96, played=drawn_by_lot(96, 1600.0))], RUN)
    assert data is not None and len(data["charts"]) == 2 and data["rating"] is not None
    few = opponents_data([Batch(1, 20, played=drawn_by_lot(20, 1600.0))], RUN)
    assert few is not None and few["charts"] == []
