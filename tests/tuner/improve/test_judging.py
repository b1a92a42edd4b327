"""Versions judged by what is expected, and a match that ends when it has proved a gain."""

import math

import numpy as np
import pytest

from tests.games.support import REPOSITORY
from tuner.core.estimates import any_time_reach
from tuner.improve.budget import FEW, LOOKS
from tuner.improve.judging import GAIN, RESULTS_GAIN, Gain, final_judgement, is_settled, judged
from tuner.statistics.pentanomial import score_of
from tuner.statistics.ratings import CountedMatch, joint_ratings

PAIRS = np.array([0.06, 0.22, 0.44, 0.22, 0.06])  # shares of equal players


def test_the_expected_gain_is_that_of_two_normal_distributions():
    ratings = joint_ratings([CountedMatch("b", "a", [10, 30, 60, 28, 8])])
    found = judged(ratings, "b", "a", Gain(20.0, 10.0))
    value, error = found.rating.value, found.rating.standard_error
    share = 100 / (100 + error**2)
    assert found.expected == pytest.approx(share * value + (1 - share) * 20)
    assert judged(ratings, "b", "a", Gain(20.0, 1e9)).expected == pytest.approx(value)
    assert value < 0 < found.expected, "a short match that is lost decides nothing"


def test_the_interval_of_all_times_is_that_of_its_source():
    """As the source prints it, for a deviation of 1, with its rho for 300 observations."""
    rho2 = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / 300
    for n in (20, 300, 5000):
        half = math.sqrt(
            2 * (n * rho2 + 1) / (n * n * rho2) * math.log(math.sqrt(n * rho2 + 1) / 0.05)
        )
        assert any_time_reach(n) == pytest.approx(half * math.sqrt(n), rel=1e-9)


def final(elo: float, most: int, random) -> tuple[bool, bool, float]:
    """Whether a gain is announced, whether the interval has the true one, and the share played."""
    tilt = math.log(10) / 400 * elo  # pairs whose mean score is close to that of the difference
    for _ in range(30):
        p = PAIRS * np.exp(tilt * np.arange(5) / 2)
        p /= p.sum()
        tilt += 4 * (score_of(elo) - p @ np.arange(5) / 4)
    pairs, played = np.zeros(5, int), 0
    for share in LOOKS:
        games = FEW * max(round(share * most / FEW), 1)
        pairs += random.multinomial(games // 2 - played, p)
        played = games // 2
        if is_settled({"pentanomial": pairs.tolist(), "games": games}, most):
            break
    rating = final_judgement(CountedMatch("a", "b", pairs.tolist())).rating
    return rating.low > 0, rating.low <= elo <= rating.high, 2 * played / most


@pytest.mark.parametrize(("elo", "announced", "share"), [(0, 0.0, 0.5), (40, 1.0, 0.5)])
def test_final_matches_end_early_and_announce_what_is_there(elo, announced, share):
    random = np.random.default_rng(1)
    found = np.array([final(elo, 2000, random) for _ in range(60)])
    assert abs(found[:, 0].mean() - announced) <= 0.025
    assert found[:, 1].mean() >= 0.95 and found[:, 2].mean() <= share


def test_the_page_has_the_gain_that_is_expected():
    page = " ".join((REPOSITORY / "docs" / "improve.md").read_text(encoding="utf-8").split())
    assert f"gained {GAIN.mean:g} ± {GAIN.sd:g} Elo (mean, standard deviation;" in page
    assert f"for `results` {RESULTS_GAIN.mean:g} ± {RESULTS_GAIN.sd:g} is assumed" in page
    assert f"If less than {GAIN.mean / 2:g} Elo are expected, half the step" in page
