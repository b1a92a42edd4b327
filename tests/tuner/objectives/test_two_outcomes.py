"""Objectives against mpmath-free oracles: long double exponentials, SciPy's logistic functions, finite differences."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy.special import expit, log1p

from games.jit import PLAIN, Unit
from tuner.objectives.base import BLOCK
from tuner.objectives.exponential import exp_minus
from tuner.objectives.table import OBJECTIVES
from tuner.unit import TUNER

needs_compiler = pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")


def _call(name: str, scale: float, evaluation: np.ndarray, outcome: np.ndarray, weight: np.ndarray):
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double, *[ctypes.c_void_p] * 4)
    residual, curvature = evaluation.copy(), np.empty(len(evaluation))
    loss = kind(OBJECTIVES[name].block.address())(len(evaluation), scale, residual.ctypes.data, outcome.ctypes.data,
                                            weight.ctypes.data, curvature.ctypes.data)
    return loss, residual, curvature


def _block(weighted: bool):
    random = np.random.default_rng(3)
    evaluation = np.concatenate([random.normal(0, 400, BLOCK - 6), [0.0, -0.0, 9e4, -9e4, 1e-9, 2e5]])
    outcome = random.choice([-1.0, 0.0, 1.0, 0.3], BLOCK)
    return evaluation, outcome, random.uniform(0.2, 3, BLOCK) if weighted else np.ones(BLOCK)


@needs_compiler
def test_the_exponential_is_right_to_two_units_in_the_last_place():
    from numba.core import types

    vector = types.Array(types.float64, 1, "C")
    unit = Unit("tests", lambda: [], salt=TUNER.name)

    @unit.entry(types.void(vector, vector))
    def fill(t, out):
        for i in range(len(t)):
            out[i] = exp_minus(t[i])

    t = np.concatenate([np.linspace(0, 40, 200_001), np.linspace(0, 700, 50_001)])
    out = np.empty_like(t)
    fill(t, out)
    exact = np.exp(-t.astype(np.longdouble))
    assert np.abs(out / exact - 1).max() < 2 * 2.0**-52


@needs_compiler
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_equals_scipys_logistic_function(weighted):
    scale = 0.0021
    evaluation, outcome, weight = _block(weighted)
    loss, residual, curvature = _call("cross-entropy", scale, evaluation, outcome, weight)
    logit, q = 2 * scale * evaluation, (1 + outcome) / 2
    p = expit(logit)
    expected = np.maximum(logit, 0) - q * logit + log1p(np.exp(-np.abs(logit)))
    assert loss == pytest.approx((weight * expected).sum(), rel=1e-13)
    np.testing.assert_allclose(residual, weight * 2 * scale * (p - q), rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(curvature, weight * 4 * scale**2 * p * expit(-logit), rtol=1e-12, atol=1e-300)


@needs_compiler
@pytest.mark.parametrize("weighted", [False, True])
def test_mse_equals_scipys_logistic_function(weighted):
    scale = 0.0021
    evaluation, outcome, weight = _block(weighted)
    loss, residual, curvature = _call("mse", scale, evaluation, outcome, weight)
    p, q = expit(2 * scale * evaluation), (1 + outcome) / 2
    slope = 2 * scale * p * expit(-2 * scale * evaluation)
    assert loss == pytest.approx((weight * (p - q) ** 2).sum(), rel=1e-13)
    np.testing.assert_allclose(residual, weight * 2 * (p - q) * slope, rtol=1e-11, atol=1e-18)
    np.testing.assert_allclose(curvature, weight * 2 * slope**2, rtol=1e-11, atol=1e-300)


@needs_compiler
@pytest.mark.parametrize("name", ["cross-entropy", "mse"])
def test_the_residual_is_the_derivative_of_the_loss(name):
    random = np.random.default_rng(4)
    evaluation, outcome, step = random.normal(0, 300, 200), random.choice([-1.0, 0.0, 1.0], 200), 1e-3
    _, residual, _ = _call(name, 0.0025, evaluation, outcome, np.ones(200))
    above, below = (OBJECTIVES[name].loss(0.0025, evaluation + h, 0.0, outcome) for h in (step, -step))
    slope = (above - below) / (2 * step)
    np.testing.assert_allclose(residual, slope, rtol=1e-6, atol=1e-11)
