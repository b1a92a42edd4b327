"""Calibration of values in games that weights play, against plain loops and simulated games."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tuner.findings.selfplay import PlayedValues, calibration_of
from tuner.statistics.intervals import wilson_interval


def simulated(seed: int, stretch: float = 1.0, games: int = 600) -> PlayedValues:
    """Games whose positions have a value that the result has on average, stated `stretch` times too
    far from 0."""
    random = np.random.default_rng(seed)
    sizes = random.integers(20, 60, games)
    level = random.uniform(-0.6, 0.6, games)
    result = np.where(random.random(games) < (1 + level) / 2, 1.0, -1.0)
    game = np.repeat(np.arange(games), sizes)
    return PlayedValues(stretch * level[game], result[game], game, games, 3)


def test_errors_are_those_of_plain_loops():
    found = simulated(1, 1.3, 40)
    plain = calibration_of(found, 3)
    order = np.quantile(found.value, np.linspace(0, 1, 21)[1:-1]).tolist()
    total = 0.0
    for number, line in enumerate(plain.bins):
        here = [i for i, v in enumerate(found.value) if sum(v > edge for edge in order) == number]
        assert line.positions == len(here) and line.games == len({found.game[i] for i in here})
        predicted, actual = (
            sum(of[i] for i in here) / len(here) for of in (found.value, found.result)
        )
        assert line.predicted == pytest.approx(
            (1 + predicted) / 2
        ) and line.actual.value == pytest.approx((1 + actual) / 2)
        total += len(here) * abs(predicted - actual)
    assert plain.error.value == pytest.approx(3 * total / len(found.value))
    side = [1 if v > 0 else -1 for v in found.value]
    assert plain.favoured == pytest.approx(
        3 * np.mean([s * v for s, v in zip(side, found.value, strict=True)])
    )
    assert plain.won == pytest.approx(
        3 * np.mean([s * z for s, z in zip(side, found.result, strict=True)])
    )
    assert plain.excess.value == pytest.approx(plain.favoured - plain.won) and plain.broken_off == 3


@pytest.mark.parametrize(("games", "weight", "share"), [(600, 0.0, 0.95), (600, 0.5, 0.95)])
def test_the_values_before_are_compared_on_the_same_positions(games, weight, share):
    """The interval covers the true change of the mean square: true values in place of shrunken
    ones."""
    inside, truth = 0, []
    for seed in range(60):
        found = simulated(seed, games=games)
        plain = calibration_of(replace(found, before=weight * found.value), 3).squares
        assert plain.after == pytest.approx(9 * np.mean((found.result - found.value) ** 2))
        before = 9 * np.mean((found.result - weight * found.value) ** 2)
        assert plain.before == pytest.approx(before)
        change = plain.change
        assert change.value == pytest.approx(plain.after - plain.before)
        truth.append((change.low, change.high, -9 * (1 - weight) ** 2 * 0.6**2 / 3))
    inside = np.mean([low < true < high for low, high, true in truth])
    assert share - 0.1 < inside <= 1 and calibration_of(simulated(1), 3).squares is None


def test_values_without_error_show_what_chance_would():
    found = [calibration_of(simulated(seed), 1) for seed in range(40)]
    assert np.mean([one.error.value for one in found]) == pytest.approx(
        np.mean([one.by_chance for one in found]), rel=0.05
    )
    covered = sum(one.excess.low < 0 < one.excess.high for one in found)
    assert 34 <= covered <= 40


def test_stretched_values_are_too_far_from_0_by_the_stretch():
    """|v| is 0.3 on average, and 1.5 times as much is stated; of a game that is won or lost, a
    value of 1 is half a point."""
    found = calibration_of(simulated(2, 1.5, 8000), 1)
    assert found.excess.value == pytest.approx(0.5 * 0.15, abs=0.02) and found.excess.low > 0
    assert found.favoured == pytest.approx(0.5 + 0.5 * 0.45, abs=0.01)
    in_points = calibration_of(simulated(2, 1.5, 8000), 3)
    assert in_points.excess.value == pytest.approx(6 * found.excess.value)
    assert in_points.error.value == pytest.approx(6 * found.error.value)
    assert in_points.error.low < in_points.error.value < in_points.error.high


def test_a_bin_of_games_that_ended_alike_has_no_interval_of_width_zero():
    """Twelve games each of three values: all won, all lost, all drawn; and some of either
    result."""
    game = np.repeat(np.arange(48), 5)
    value = np.repeat([0.9, -0.9, 0.1, 0.5], 60)
    result = np.repeat(
        np.concatenate([np.ones(12), -np.ones(12), np.zeros(12), np.tile([1.0, -1.0], 6)]), 5
    )
    found = calibration_of(PlayedValues(value, result, game, 48, 0), 1)
    lost, drawn, mixed, won = (each.actual for each in found.bins)
    assert (won.low, won.high) == wilson_interval(12, 12) and (
        lost.low,
        lost.high,
    ) == wilson_interval(0, 12)
    assert math.isnan(drawn.half_width) and 0 < mixed.low < 0.5 < mixed.high < 1


def test_few_games_have_no_calibration():
    assert calibration_of(simulated(1, games=9), 3) is None
    assert calibration_of(PlayedValues(np.zeros(0), np.zeros(0), np.zeros(0, int), 0, 5), 3) is None
