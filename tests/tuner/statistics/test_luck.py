"""Luck adjustment in simulations of games whose mean is known."""

import numpy as np
import pytest

from tuner.statistics.pentanomial import mean_points, slopes_without_own

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
    with pytest.raises(ValueError, match=f"{games} games, expected at least 6, an even number"):
        mean_points(np.ones(games))
