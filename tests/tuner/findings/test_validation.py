"""Losses of games before and after, and calibration: against statsmodels and dense formulas."""

import math
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from tests.tuner.support import SCALE, chances, losses, problem_of, random_sample
from tuner.core.estimates import reach_of
from tuner.findings.findings import BINS, calibration, change_of_loss, mean_of_clusters
from tuner.statistics.intervals import wilson_interval


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return random_sample(tmp_path_factory.mktemp("judge") / "data", seed=8, games=200, columns=4)


def test_the_interval_of_a_mean_is_that_of_statsmodels():
    random = np.random.default_rng(1)
    group = np.sort(random.integers(0, 80, 900))
    values = random.normal(0, 1, 80)[group] + random.normal(0, 1, 900)
    found = mean_of_clusters(np.bincount(group, values), np.bincount(group).astype(float))
    other = sm.OLS(values, np.ones(900)).fit(cov_type="cluster", cov_kwds={"groups": group})
    assert found.value == pytest.approx(other.params[0])
    assert (found.high - found.value) / 1.96 == pytest.approx(
        other.bse[0], rel=2e-3
    )  # it has (n - 1) / (n - 1) too


@pytest.mark.parametrize("objective", ["cross-entropy", "mse"])
def test_the_change_of_the_loss_is_the_mean_over_positions(sample, objective):
    given, weights = sample
    problem = problem_of(given, 2, objective)
    found = change_of_loss(problem.datafit, problem.start, weights)
    p, q = chances(given.design(2) @ weights.ravel(), SCALE), (1 + given.outcome) / 2
    expected = losses(objective, p, q) - losses(objective, np.full(len(q), 0.5), q)
    assert found.difference.value == pytest.approx(expected.mean(), rel=1e-9)
    assert found.after == pytest.approx(losses(objective, p, q).mean()) and found.positions == len(
        q
    )
    assert found.before == pytest.approx(losses(objective, np.full(len(q), 0.5), q).mean())
    other = sm.OLS(expected, np.ones(len(q))).fit(
        cov_type="cluster", cov_kwds={"groups": given.group.astype(int)}
    )
    assert found.difference.low == pytest.approx(other.params[0] - 1.96 * other.bse[0], rel=1e-2)


def test_the_change_with_draws_as_outcomes(sample):
    given, weights = sample
    zero = np.zeros((2, weights.shape[1] + 1))
    problem = problem_of(given, 2, "ordered").datafit
    after = np.concatenate([weights, np.full((2, 1), -80.0)], axis=1)
    found = change_of_loss(problem, zero, after).difference.value
    assert found == pytest.approx(problem.loss(after) - problem.loss(zero), rel=1e-9)


def test_calibration_bins_hold_all_positions_and_their_results(sample):
    given, weights = sample
    lines = calibration(problem_of(given, 2).datafit, weights)
    n = np.array([line.positions for line in lines])
    assert len(lines) == BINS and n.sum() == len(given.outcome) and n.min() > 0.7 * n.mean()
    assert n @ [line.actual.value for line in lines] == pytest.approx(
        (0.5 + 0.5 * given.outcome).sum()
    )
    p = chances(given.design(2) @ weights.ravel(), SCALE)
    assert n @ [line.predicted for line in lines] == pytest.approx(p.sum())
    # the weights are those that the results were drawn with
    assert (
        sum(line.actual.low <= line.predicted <= line.actual.high for line in lines) >= 0.8 * BINS
    )


@pytest.mark.parametrize(
    ("outcome", "ends"), [(1.0, wilson_interval), (-1.0, wilson_interval), (0.0, None)]
)
def test_a_bin_of_games_that_ended_alike_has_no_interval_of_width_zero(sample, outcome, ends):
    given, weights = sample
    alike = replace(
        given, data=replace(given.data, outcome=np.full_like(given.data.outcome, outcome))
    )
    for line in calibration(problem_of(alike, 2).datafit, weights):
        expected = (
            ends(line.games * (1 + outcome) / 2, line.games) if ends else (math.nan, math.nan)
        )
        found = line.actual
        assert (found.low, found.high) == pytest.approx(expected, nan_ok=True)
        assert found.value == pytest.approx((1 + outcome) / 2)


def test_few_games_have_the_reach_of_of_student():
    assert reach_of(50) == 1.96
    assert reach_of(10) == pytest.approx(2.2622, abs=1e-4) and reach_of(2) == pytest.approx(
        12.706, abs=1e-3
    )
