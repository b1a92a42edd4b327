"""Cross-entropy, entropy and fitted slopes, against SciPy and statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, kl_div
from scipy.stats import entropy as scipy_entropy

from tuner.core.estimates import Estimate
from tuner.findings.findings import mean_of_clusters
from tuner.network import (
    MOST_BLOCKS,
    STEEPEST,
    ResampledSums,
    block_sums,
    cross_entropy,
    entropy,
    fitted_scale,
)

RANDOM = np.random.default_rng(5)
Q = RANDOM.random(200)
LOGIT = RANDOM.normal(0, 3, 200)


def test_the_excess_is_the_kullback_leibler_divergence():
    p = expit(LOGIT)
    assert cross_entropy(LOGIT, Q) - entropy(Q) == pytest.approx(
        kl_div(Q, p) + kl_div(1 - Q, 1 - p), rel=1e-9
    )


def test_the_entropy_is_scipy_s_and_certain_values_have_none():
    assert entropy(Q) == pytest.approx(scipy_entropy(np.stack([Q, 1 - Q])))
    assert entropy(np.array([0.0, 1.0])).tolist() == [0.0, 0.0]


def test_the_slope_is_that_of_a_weighted_logistic_regression_without_intercept():
    evaluation, mass = RANDOM.normal(0, 200, 400), RANDOM.integers(1, 4, 400).astype(float)
    q = np.clip(expit(0.006 * evaluation + RANDOM.normal(0, 1, 400)), 0, 1)
    other = sm.GLM(q, evaluation, sm.families.Binomial(), var_weights=mass).fit()
    assert 2 * fitted_scale(evaluation, q, mass) == pytest.approx(other.params[0], rel=1e-6)


def test_evaluations_that_do_not_rise_have_slope_0_and_perfect_ones_the_steepest():
    evaluation, mass = np.array([-50.0, 100.0]), np.ones(2)
    assert fitted_scale(evaluation, np.array([0.9, 0.2]), mass) == 0.0
    assert fitted_scale(np.zeros(2), np.array([0.9, 0.2]), mass) == 0.0
    assert fitted_scale(np.array([-0.1, 0.1]), np.array([0.0, 1.0]), mass) == STEEPEST


def clustered(clusters: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    group = random.integers(0, clusters, n)
    shared = random.normal(0, 1, clusters)[group]
    return (
        group.astype(np.uint64) << np.uint64(40),
        0.2 + shared + random.normal(0, 1, n),
        1 + random.random(n),
    )


def test_the_interval_of_a_mean_is_that_of_the_formula():
    group, values, _ = clustered(300, 6000)
    found = ResampledSums(group, {"a": values, "mass": np.ones(len(values))}).interval(
        lambda sums: sums["a"] / sums["mass"]
    )
    _, order = np.unique(group, return_inverse=True)
    formula = mean_of_clusters(np.bincount(order, values), np.bincount(order).astype(float))
    assert found.value == pytest.approx(formula.value)
    assert found.high - found.low == pytest.approx(formula.high - formula.low, rel=0.08)


def test_the_interval_of_a_ratio_is_that_of_the_delta_method():
    group, values, mass = clustered(400, 4000)
    found = ResampledSums(group, {"a": values, "b": mass}).interval(
        lambda sums: sums["a"] / sums["b"]
    )
    _, order = np.unique(group, return_inverse=True)
    a, b = np.bincount(order, values), np.bincount(order, mass)
    ratio = a.sum() / b.sum()
    error = np.sqrt(((a - ratio * b) ** 2).sum()) / b.sum()
    assert found.value == pytest.approx(ratio) and found.high - found.low == pytest.approx(
        2 * 1.96 * error, rel=0.08
    )


def test_many_openings_are_joined_into_blocks_with_the_same_interval():
    group, values, _ = clustered(3 * MOST_BLOCKS, 9 * MOST_BLOCKS)
    assert len(block_sums(group, values[:, None])) == MOST_BLOCKS
    found = ResampledSums(group, {"a": values, "mass": np.ones(len(values))}).interval(
        lambda sums: sums["a"] / sums["mass"]
    )
    _, order = np.unique(group, return_inverse=True)
    formula = mean_of_clusters(np.bincount(order, values), np.bincount(order).astype(float))
    assert found.high - found.low == pytest.approx(formula.high - formula.low, rel=0.1)


def test_one_opening_has_no_interval():
    sums = ResampledSums(np.ones(5, np.uint64), {"a": np.arange(5.0), "mass": np.ones(5)})
    found = sums.interval(lambda sums: sums["a"] / sums["mass"])
    assert found == Estimate(2.0)
