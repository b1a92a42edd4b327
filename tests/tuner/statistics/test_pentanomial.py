"""Statistics of pairs: those fastchess prints, an interval that covers, and sense at the edges."""

import math
import re
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom, binomtest, t
from statsmodels.stats.proportion import proportion_confint

from tests.support import refusal
from tests.tuner.statistics.support import count_games, shares_of, swapped
from tuner.core.estimates import Estimate
from tuner.statistics.intervals import wilson_interval
from tuner.statistics.pentanomial import (
    NORMALIZED_ELO,
    SCORES,
    Results,
    elo_of,
    mean_points,
    score_of,
    slopes_without_own,
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


@pytest.mark.parametrize(
    "successes, trials", [(0, 1), (1, 1), (0, 30), (30, 30), (3, 10), (764, 1000), (1, 100_000)]
)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_interval_is_that_of_statsmodels_and_scipy(successes, trials, confidence):
    found = wilson_interval(successes, trials, confidence)
    assert found == pytest.approx(
        proportion_confint(successes, trials, 1 - confidence, "wilson"), abs=1e-12
    )
    other = binomtest(successes, trials).proportion_ci(confidence, "wilson")
    assert found == pytest.approx((other.low, other.high), abs=1e-12)


def test_interval_covers_on_average_what_it_says_even_for_few_trials():
    """Exactly, by summing the binomial: mean over shares from 0.02 to 0.98."""
    intervals = np.array([wilson_interval(successes, 20) for successes in range(21)])
    shares = np.linspace(0.02, 0.98, 193)
    inside = (intervals[:, :1] <= shares) & (shares <= intervals[:, 1:])
    covered = (binom.pmf(np.arange(21)[:, None], 20, shares) * inside).sum(axis=0)
    assert covered.mean() == pytest.approx(0.95, abs=0.01)


def test_swapping_success_and_failure_mirrors_the_interval():
    low, high = wilson_interval(3.5, 11)
    assert wilson_interval(7.5, 11) == pytest.approx((1 - high, 1 - low))


def test_no_trials_leave_everything_open():
    assert wilson_interval(0, 0) == (0, 1)


@pytest.mark.parametrize("successes, trials", [(-1, 4), (5, 4)])
def test_what_is_no_proportion_is_refused(successes, trials):
    assert re.search(
        f"{successes} successes of {trials} trials",
        refusal(wilson_interval, successes, trials, error=ValueError),
    )


TRUE = 0.15


def simulated(random: np.random.Generator, runs: int, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and luck (runs, 2 * pairs): both games of a pair share dice, which favor one player
    and then the other. Luck has mean zero and is skewed; what the dice give is not linear in it."""
    dice, own = (
        3 * random.random((runs, pairs, 1)) ** 2 - 1,
        3 * random.random((runs, pairs, 2)) ** 2 - 1,
    )
    luck = dice * np.array([1, -1]) + own
    mean_zero = luck + 0.2 * (luck**2 - 1.6)  # the variance of luck: 2 * (9 / 5 - 1)
    points = TRUE + mean_zero + random.normal(0, 0.3, luck.shape)
    return points.reshape(runs, -1), luck.reshape(runs, -1)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("pairs", [4, 30])
def test_adjusted_means_are_unbiased_and_their_intervals_cover(paired, pairs):
    runs = 4000
    points, luck = simulated(np.random.default_rng(1), runs, pairs if paired else 2 * pairs)
    if not paired:  # games that share dice are no independent games
        points, luck = points[:, ::2], luck[:, ::2]
    found = [mean_points(y, x, paired) for y, x in zip(points, luck, strict=True)]
    means, errors = (
        np.array([each.found.value for each in found]),
        np.array([each.found.standard_error for each in found]),
    )
    assert abs(means.mean() - TRUE) < 4 * means.std() / runs**0.5 + 0.002
    if pairs > 4:
        assert 0.92 < (abs(means - TRUE) < 1.96 * errors).mean() < 0.97
        assert abs(errors.mean() / means.std() - 1) < 0.1
        assert means.std() < 0.6 * points[:, :: 2 if paired else 1].std() / (2 * pairs) ** 0.5


@pytest.mark.long
def test_a_slope_that_sees_its_own_pair_is_biased():
    """Why the own pair is left out: with few pairs and skewed luck the usual regression is off."""
    random, gaps = np.random.default_rng(3), []
    for _ in range(20000):
        x = random.exponential(1, 4) - 1
        y = x * x - 1 + random.normal(0, 0.1, 4)
        slope = np.polyfit(x, y, 1)[0]
        own = slopes_without_own(y, x)
        gaps.append(
            ((y - slope * x).mean(), (y - own * x).mean() if abs(own).max() < 50 else np.nan)
        )
    usual, left_out = np.nanmean(gaps, 0)
    assert abs(usual) > 0.1
    assert abs(left_out) < abs(usual)


def test_slopes_are_those_of_regressions_on_the_others():
    random = np.random.default_rng(2)
    x, y = random.normal(0, 1, 12), random.normal(0, 1, 12)
    found = slopes_without_own(y, x)
    for i in range(12):
        rest = np.arange(12) != i
        assert abs(found[i] - np.polyfit(x[rest], y[rest], 1)[0]) < 1e-10
    assert (slopes_without_own(y, np.ones(12)) == 0).all()


def test_pairs_without_luck_and_plain_games():
    points = np.array([1, -1, 2, -2, 1, 1, -1, -2])
    paired, single = mean_points(points), mean_points(points, paired=False)
    assert paired.found.value == single.found.value == points.mean()
    assert single.found.standard_error == single.plain_error == paired.plain_error
    assert abs(paired.found.standard_error - np.std([0, 0, 1, -1.5], ddof=1) / 2) < 1e-12
    assert single.gain == 1


@pytest.mark.parametrize("games", [5, 4])
def test_too_few_games_are_refused(games):
    assert re.search(
        f"{games} games, expected at least 6, an even number",
        refusal(mean_points, np.ones(games), error=ValueError),
    )
