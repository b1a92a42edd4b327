"""Joint ratings, against a logistic regression of statsmodels, ordinary algebra and simulation."""

import math

import numpy as np
import pytest

from tuner.statistics.pentanomial import summarise
from tuner.statistics.ratings import RatedMatch, joint_ratings, measured_elo


def test_one_match_is_rated_by_its_own_elo_and_interval():
    pairs = (13, 40, 62, 57, 28)
    match = measured_elo("a", "b", pairs)
    elo = summarise(pairs).elo
    assert match.difference == pytest.approx(elo.value)
    assert 1.96 * match.error == pytest.approx(elo.error, rel=0.01)
    assert joint_ratings([match]).difference("a", "b") == pytest.approx((elo.value, match.error))


def test_two_paths_are_averaged_by_their_precision():
    """a - b directly is 60 +/- 12, by c it is 30 - 40 = -10 +/- 15."""
    matches = [
        RatedMatch("a", "b", 60, 12),
        RatedMatch("a", "c", 30, 9),
        RatedMatch("b", "c", 40, 12),
    ]
    direct, around = 1 / 12**2, 1 / (9**2 + 12**2)
    expected = (60 * direct - 10 * around) / (direct + around)
    found, error = joint_ratings(matches).difference("a", "b")
    assert found == pytest.approx(expected)
    assert error == pytest.approx((direct + around) ** -0.5)


def test_the_ratings_are_those_of_a_weighted_regression():
    import statsmodels.api as sm

    rng = np.random.default_rng(5)
    names = ["a", "b", "c", "d"]
    matches = [
        RatedMatch(names[i], names[j], float(rng.normal(0, 50)), float(rng.uniform(8, 30)))
        for i in range(4)
        for j in range(i)
    ]
    design = np.array([[(m.a == n) - (m.b == n) for n in names[1:]] for m in matches], float)
    fit = sm.WLS(
        [m.difference for m in matches], design, weights=[m.error**-2 for m in matches]
    ).fit(cov_type="fixed scale")
    ratings = joint_ratings(matches)
    for k, name in enumerate(names[1:]):
        found, error = ratings.difference(name, "a")
        assert found == pytest.approx(fit.params[k])
        assert error == pytest.approx(fit.bse[k])


def test_intervals_cover_planted_ratings():
    rng, planted = np.random.default_rng(9), {"a": 0.0, "b": 35.0, "c": -20.0}
    inside = 0
    for _ in range(400):
        matches = []
        for a, b in (("b", "a"), ("c", "a"), ("b", "c")):
            p = 1 / (1 + 10 ** (-(planted[a] - planted[b]) / 400))
            games = rng.random((200, 2)) < p
            counts = np.bincount(2 * games.sum(1), minlength=5)
            matches.append(measured_elo(a, b, counts.tolist()))
        found, error = joint_ratings(matches).difference("b", "a")
        inside += abs(found - 35) <= 1.96 * error
    assert 0.92 <= inside / 400 <= 0.98


def test_a_match_that_one_side_always_wins_has_a_finite_error():
    match = measured_elo("a", "b", (0, 0, 0, 0, 20))
    assert 200 < match.difference < 1000
    assert math.isfinite(match.error) and match.error > 50
    even = measured_elo("a", "b", (0, 0, 20, 0, 0))
    assert even.difference == pytest.approx(0) and even.error > 5
