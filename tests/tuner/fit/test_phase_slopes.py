"""Slopes by phase: evaluations are multiplied by them in every pass, and they are those of single
logistic regressions."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from tests.tuner.support import (
    PHASES,
    SCALE,
    chances,
    learn,
    problem_of,
    random_coefficients,
    random_sample,
    write_sample,
)
from tuner.fit.scale import MIN_SLOPE, fit_slopes, slope_lines, with_slopes

SLOPES = np.linspace(0.4, 2.0, PHASES + 1)


def drawn(folder, slopes, games=4000, seed=1):
    """Games of one position in each phase 0, 8, 16 and 24, with results drawn with these slopes;
    and the true weights."""
    random = np.random.default_rng(seed)
    phase = np.tile([24, 16, 8, 0], games)
    x = random_coefficients(random, 4 * games, 4)
    weights = np.array([150.0, -80.0, 60.0, 100.0])
    chance = chances(slopes[phase] * (x @ weights), SCALE)
    outcome = np.where(random.random(4 * games) < chance, 1.0, -1.0)
    return write_sample(folder, x, outcome, np.full(games, 4), phase=phase), np.array(
        [[*weights, 0.0]] * 2
    )


@pytest.mark.parametrize("stages", [1, 2])
def test_passes_multiply_evaluations_by_slopes(tmp_path, stages):
    sample, truth = random_sample(tmp_path / "data", seed=2, games=60, columns=5)
    datafit = with_slopes(problem_of(sample, stages).datafit, SLOPES)
    weights = truth[:stages] / 2
    design = SLOPES[sample.phase][:, None] * sample.design(stages)
    np.testing.assert_allclose(
        datafit.evaluations(weights, datafit.ranges),
        design @ weights.ravel(),
        rtol=1e-9,
        atol=1e-9,
    )
    p, q = chances(design @ weights.ravel(), SCALE), (1 + sample.outcome) / 2
    loss, gradient = datafit.loss_gradient(weights)
    assert loss == pytest.approx(-(q * np.log(p) + (1 - q) * np.log1p(-p)).mean(), rel=1e-9)
    np.testing.assert_allclose(
        gradient.ravel(), 2 * SCALE * design.T @ (p - q) / len(p), rtol=1e-8, atol=1e-12
    )
    matrix = 4 * SCALE**2 * design.T @ (design * (p * (1 - p))[:, None]) / len(p)
    np.testing.assert_allclose(datafit.gauss_newton(weights), matrix, rtol=1e-8, atol=1e-14)
    scores = 2 * SCALE * (p - q)[:, None] * design
    sums = np.array([scores[sample.group == game].sum(axis=0) for game in np.unique(sample.group)])
    products = datafit.score_products(weights, np.arange(weights.size))
    assert datafit.independent_games == 60
    np.testing.assert_allclose(products, sums.T @ sums, rtol=1e-7, atol=1e-9)


def test_slopes_are_those_of_one_regression_for_each_phase(tmp_path):
    sample, weights = drawn(tmp_path / "data", SLOPES)
    found = fit_slopes(problem_of(sample, 2, start=weights), SCALE)
    evaluation = sample.design(2) @ weights.ravel()
    for phase in (0, 8, 16, 24):
        here = sample.phase == phase
        columns = sm.add_constant(2 * SCALE * evaluation[here])
        slope = sm.Logit((1 + sample.outcome[here]) / 2, columns).fit(disp=False).params[1]
        assert found[phase] == pytest.approx(slope, rel=1e-4)
        assert found[phase] == pytest.approx(SLOPES[phase], rel=0.15)
    # phases without positions share those of the nearest
    assert (
        found[1] == found[0]
        and found[23] == found[24]
        and found[4] == pytest.approx(found[:9:8].mean(), rel=0.3)
    )


def test_weights_are_not_bent_by_phases_in_which_results_follow_less(tmp_path):
    """With one slope for all phases the learned stages differ; with slopes both are the truth."""
    sample, weights = drawn(tmp_path / "data", SLOPES)
    problem = problem_of(sample, 2, start=weights)
    bent, _ = learn(problem)
    sloped = with_slopes(problem.datafit, fit_slopes(problem, SCALE))
    straight, _ = learn(replace(problem, datafit=sloped))
    np.testing.assert_allclose(straight[:, :4], weights[:, :4], rtol=0.1)
    bending = np.abs(bent[:, :4] / weights[:, :4])
    assert (bending[0] > 1.5).all() and (bending[1] < 0.7).all()


def test_a_phase_that_is_drawn_anyhow_hardly_counts(tmp_path):
    sample, weights = drawn(tmp_path / "data", np.where(np.arange(PHASES + 1) < 8, 0.0, 1.0))
    found = fit_slopes(problem_of(sample, 2, start=weights), SCALE)
    assert MIN_SLOPE <= found[0] < 0.1 and found[24] == pytest.approx(1, rel=0.15)
    assert (
        "(phase 0) to 1." in slope_lines(found)[0]
        and "times as strongly as the scale assumes" in slope_lines(found)[0]
    )
    assert slope_lines(np.linspace(0.95, 1.05, 25)) == []


def test_zeros_have_slopes_of_one(tmp_path):
    sample, _ = drawn(tmp_path / "data", SLOPES, games=300)
    np.testing.assert_array_equal(fit_slopes(problem_of(sample, 2), SCALE), 1.0)
