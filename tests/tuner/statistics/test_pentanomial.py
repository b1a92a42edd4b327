"""Statistics of pairs: those fastchess prints, an interval that covers, and sense at the edges."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import t

from tests.tuner.statistics.support import count_games, shares_of, swapped
from tuner.core.estimates import Estimate
from tuner.statistics.intervals import wilson_interval
from tuner.statistics.pentanomial import (
    NORMALIZED_ELO,
    SCORES,
    Results,
    elo_of,
    score_of,
    summarise,
)

# from the tests of fastchess (app/tests/elo_test.cpp): pairs, nElo and its error, Elo and its error
FASTCHESS = [
    ((34, 54, 63, 64, 75), (57.94, 28.28), (55.58, 27.65)),
    ((332, 433, 498, 333, 334), (-9.17, 10.96), (-8.64, 10.33)),
    ((7895, 8757, 5685, 568, 9999), (-19.01, 2.65), (-21.04, 2.95)),
    ((0, 2, 15, 5, 8), (164.11, 87.91), (113.94, 66.55)),
]


@pytest.mark.parametrize("pairs, normalized, logistic", FASTCHESS)
def test_elo_and_errors_are_those_of_fastchess_but_for_students_t(pairs, normalized, logistic):
    found, n = summarise(pairs), sum(pairs)
    wider = t.ppf(0.975, n - 1) / 1.959964 * math.sqrt(n / (n - 1))
    assert (found.normalized_elo.value, found.normalized_elo.half_width / wider) == pytest.approx(
        normalized, abs=0.006
    )
    assert found.elo.value == pytest.approx(logistic[0], abs=0.006)
    # Elo is no linear function of the score
    assert found.elo.half_width / wider == pytest.approx(logistic[1], abs=0.006, rel=0.003)


def test_mean_and_variance_are_those_of_the_pairs_written_out():
    pairs = (3, 1, 4, 1, 5)
    written = np.repeat(SCORES, pairs)
    found = summarise(pairs)
    assert (found.score, found.variance) == pytest.approx((written.mean(), written.var()))
    assert found.draw_ratio == 4 / 14 and found.pairs_ratio == 6 / 4


def test_interval_of_elo_is_about_that_of_the_delta_method_for_many_pairs():
    """The derivative of Elo by score, 400 / ln 10 / (s (1 - s)), times 1.96 standard errors."""
    pairs = (5_000, 21_000, 50_000, 26_000, 8_000)
    found = summarise(pairs)
    error = 1.959964 * math.sqrt(found.variance / sum(pairs))
    assert found.elo.half_width == pytest.approx(
        400 / math.log(10) / (found.score * (1 - found.score)) * error, rel=1e-4
    )


@pytest.mark.parametrize("pairs", [20, 50, 300])
@pytest.mark.parametrize("elo", [0, 40, 150])
def test_interval_of_elo_covers_in_about_95_percent_of_matches(elo, pairs):
    random = np.random.default_rng(elo)
    matches = [
        summarise(counts).elo
        for counts in random.multinomial(pairs, shares_of(elo, "logistic"), 4000).tolist()
    ]
    covered = np.mean([found.low <= elo <= found.high for found in matches])
    assert covered == pytest.approx(0.95, abs=0.0125)  # 3.6 standard errors of 4,000 matches
    assert np.mean([found.high < elo for found in matches]) == pytest.approx(0.025, abs=0.0125)


def test_interval_of_normalized_elo_covers_in_about_95_percent_of_matches():
    random = np.random.default_rng(1)
    matches = [
        summarise(pairs).normalized_elo
        for pairs in random.multinomial(300, shares_of(30, "normalized"), 4000).tolist()
    ]
    assert np.mean([found.low <= 30 <= found.high for found in matches]) == pytest.approx(
        0.95, abs=0.0125
    )


def test_likelihood_of_superiority_is_the_share_of_resampled_matches_above_half():
    pairs = np.array([20, 90, 190, 100, 25])
    means = (
        np.random.default_rng(2).multinomial(pairs.sum(), pairs / pairs.sum(), 40_000)
        @ SCORES
        / pairs.sum()
    )
    above = np.mean(means > 0.5) + np.mean(means == 0.5) / 2
    assert summarise(pairs.tolist()).los == pytest.approx(above, abs=0.01)


@pytest.mark.parametrize("seed", range(20))
def test_swapping_the_players_negates_everything(seed):
    random = np.random.default_rng(seed)
    outcomes = random.integers(-1, 2, 2 * random.integers(3, 40) + 1)
    ours, theirs = count_games(outcomes), count_games(-outcomes)
    assert theirs == swapped(ours) and swapped(theirs) == ours
    assert ours.points + theirs.points == ours.games
    a, b = summarise(ours.pairs), summarise(theirs.pairs)
    for mine, yours in ((a.elo, b.elo), (a.normalized_elo, b.normalized_elo)):
        assert (mine.value, mine.low, mine.high) == pytest.approx(
            (-yours.value, -yours.high, -yours.low)
        )
    assert (a.score, a.los) == pytest.approx((1 - b.score, 1 - b.los))
    assert a.variance == pytest.approx(b.variance) and a.draw_ratio == b.draw_ratio


def test_pairs_are_counted_by_the_sum_of_their_games():
    outcomes = [-1, -1, 0, -1, 0, 0, 1, -1, -1, 1, 1, 0, 1, 1, 1, 1]
    assert count_games(outcomes) == Results((1, 1, 3, 1, 2), wins=7, losses=5, draws=4)


def test_an_unpaired_game_is_counted_among_the_games_only():
    found = count_games([1, 0, 1])
    assert found == Results((0, 0, 0, 1, 0), wins=2, losses=0, draws=1)
    assert found.unpaired == 1 and found.points == 2.5


def numbers_of(found: Estimate) -> tuple[float, ...]:
    return found.value, found.standard_error, found.low, found.high


def test_no_games_say_nothing():
    none = count_games([])
    assert none == Results((0, 0, 0, 0, 0), 0, 0, 0)
    found = summarise(none.pairs)
    numbers = [
        found.score,
        found.variance,
        *(number for elo in (found.elo, found.normalized_elo) for number in numbers_of(elo)),
        found.los,
        found.draw_ratio,
        found.pairs_ratio,
    ]
    assert all(math.isnan(number) for number in numbers)


@pytest.mark.parametrize("pairs, sign", [((0, 0, 0, 0, 9), 1), ((9, 0, 0, 0, 0), -1)])
def test_all_wins_or_losses_are_infinite_elo_with_a_bound(pairs, sign):
    found = summarise(pairs)
    assert found.elo.value == found.normalized_elo.value == sign * math.inf
    bound = found.elo.low if sign > 0 else found.elo.high
    assert bound == pytest.approx(sign * elo_of(wilson_interval(9, 9)[0]))
    assert math.isnan(found.normalized_elo.half_width)
    assert found.los == pytest.approx(NormalDist().cdf(sign * 3))


@pytest.mark.parametrize("pairs", range(1, 12))
@pytest.mark.parametrize("kind", range(5))
def test_pairs_that_are_alike_have_a_los_that_agrees_with_their_interval(kind, pairs):
    found = summarise([pairs * (kind == place) for place in range(5)])
    assert (found.los > 0.975) == (found.elo.low > 0)
    assert (found.los < 0.025) == (found.elo.high < 0)
    assert found.los == 0.5 or kind != 2


def test_an_interval_that_reaches_a_score_of_1_is_open_upwards():
    found = summarise((0, 0, 0, 1, 5)).elo
    assert 0 < found.low < found.value < found.high == math.inf == found.half_width


@pytest.mark.parametrize("kind", range(5))
def test_one_pair_gives_the_interval_of_a_proportion(kind):
    found = summarise([int(kind == place) for place in range(5)])
    assert found.score == SCORES[kind]
    low, high = wilson_interval(SCORES[kind], 1)
    assert (found.elo.low, found.elo.high) == (elo_of(low), elo_of(high))
    assert math.isnan(found.normalized_elo.half_width)


def test_drawn_pairs_alone_are_even_and_of_no_known_spread():
    found = summarise((0, 0, 40, 0, 0))
    assert found.elo.value == 0 and found.los == 0.5
    assert found.elo.half_width == pytest.approx(elo_of(wilson_interval(20, 40)[1]))
    assert math.isnan(found.normalized_elo.value)


def test_elo_and_score_are_inverse():
    for elo in (-700, -3.5, 0, 12, 400):
        assert elo_of(score_of(elo)) == pytest.approx(elo)
    assert score_of(400) == pytest.approx(10 / 11)


def test_normalized_elo_is_elo_near_half_for_independent_games_without_draws():
    assert summarise((24_750, 0, 50_000, 0, 25_250)).elo.value == pytest.approx(
        summarise((24_750, 0, 50_000, 0, 25_250)).normalized_elo.value, rel=1e-3
    )
    assert pytest.approx(800 / math.log(10)) == NORMALIZED_ELO
