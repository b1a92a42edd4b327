"""Cross-entropy, entropy and fitted slopes, against SciPy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, kl_div
from scipy.stats import entropy as scipy_entropy

from tuner.headroom.losses import STEEPEST, cross_entropy, entropy, fitted_scale

RANDOM = np.random.default_rng(5)
Q = RANDOM.random(200)
LOGIT = RANDOM.normal(0, 3, 200)


def test_the_excess_is_the_kullback_leibler_divergence():
    p = expit(LOGIT)
    assert cross_entropy(LOGIT, Q) - entropy(Q) == pytest.approx(kl_div(Q, p) + kl_div(1 - Q, 1 - p), rel=1e-9)


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
