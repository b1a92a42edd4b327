"""Three outcomes: formulas against their definitions, finite differences and statsmodels; errors
against simulation."""

import numpy as np
import pytest

from games.compile.jit import PLAIN
from tests.tuner.objectives.support import by_block
from tests.tuner.support import (
    SCALE,
    game_scores,
    learn,
    problem_of,
    random_coefficients,
    write_sample,
)
from tuner.objectives.table import DRAW_MODELS, OBJECTIVES

MODELS = pytest.mark.parametrize("model", DRAW_MODELS)
STEP = 1e-3


def plain_loss(
    model: str, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    """By the definition: minus the logarithm of the outcome's probability."""
    chances = np.log(OBJECTIVES[model].probabilities(SCALE, evaluation, width))
    counted = np.stack(
        [np.maximum(-outcome, 0), 1 - np.abs(outcome), np.maximum(outcome, 0)], axis=1
    )
    return -(counted * chances).sum(axis=1)


def some(n: int = 300):
    random = np.random.default_rng(5)
    return (
        random.normal(0, 250, n),
        random.uniform(20, 300, n),
        random.choice([-1.0, 0.0, 1.0, 0.4, -0.25], n),
    )


@MODELS
def test_chances_are_those_of_the_model(model):
    evaluation, width, _ = some()
    lost, drawn, won = OBJECTIVES[model].probabilities(SCALE, evaluation, width).T
    np.testing.assert_allclose(lost + drawn + won, 1, rtol=1e-14)
    a, t = 2 * SCALE * evaluation, 2 * SCALE * width
    assert model == "ordered"  # Rao and Kupper: pi_1 / (pi_1 + theta * pi_2)
    np.testing.assert_allclose(won, np.exp(a) / (np.exp(a) + np.exp(t)), rtol=1e-12)
    np.testing.assert_allclose(lost, 1 / (1 + np.exp(t) * np.exp(a)), rtol=1e-12)


@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
@MODELS
def test_derivatives_are_those_of_the_loss(model):
    evaluation, width, outcome = some()
    weight = np.linspace(0.5, 2, len(evaluation))
    loss, found = by_block(OBJECTIVES[model], evaluation, width, outcome, weight)
    assert loss == pytest.approx(
        (weight * plain_loss(model, evaluation, width, outcome)).sum(), rel=1e-12
    )

    def slope(function, by_width: bool):
        step = np.full(len(evaluation), STEP)
        e, w = (0, step) if by_width else (step, 0)
        return (function(evaluation + e, width + w) - function(evaluation - e, width - w)) / (
            2 * STEP
        )

    for place, by_width in ((0, False), (1, True)):
        expected = weight * slope(lambda e, w: plain_loss(model, e, w, outcome), by_width)
        np.testing.assert_allclose(found[place], expected, rtol=1e-5, atol=1e-9)
    for place, first, by_width in ((2, 0, False), (3, 0, True), (3, 1, False), (4, 1, True)):
        expected = slope(
            lambda e, w, first=first: by_block(OBJECTIVES[model], e, w, outcome, weight)[1][first],
            by_width,
        )
        np.testing.assert_allclose(found[place], expected, rtol=1e-5, atol=1e-12)


@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
@MODELS
def test_large_evaluations_stay_finite(model):
    evaluation, width, outcome = (
        np.array([9e4, -9e4, 9e4, 0.0]),
        np.array([50.0, 50, 1e-9, 1e4]),
        np.array([-1.0, 0, 1, 1]),
    )
    loss, found = by_block(OBJECTIVES[model], evaluation, width, outcome, np.ones(4))
    assert np.isfinite(loss) and np.isfinite(found).all()


@MODELS
@pytest.mark.parametrize("drawn", [0.05, 0.4, 0.9])
def test_a_fit_starts_with_the_share_of_draws_and_the_slope_of_the_score(model, drawn):
    t, growth = OBJECTIVES[model].start(drawn)
    width = np.array([t / (2 * SCALE * growth)] * 2)
    chances = OBJECTIVES[model].probabilities(SCALE * growth, np.array([-0.5, 0.5]), width)
    score = chances[:, 2] + chances[:, 1] / 2
    assert chances[:, 1].mean() == pytest.approx(drawn, rel=1e-5)
    assert score[1] - score[0] == pytest.approx(0.25 * 2 * SCALE, rel=1e-4)


def drawn_sample(folder, model: str, n: int = 4000):
    """Positions with outcomes drawn from a model with known weights (1, columns + 2)."""
    random = np.random.default_rng(9)
    weights = np.array([60.0, -40.0, 90.0, 25.0, 130.0])  # three columns, the intercept, the width
    coefficients = random_coefficients(random, n, 3)
    chances = OBJECTIVES[model].probabilities(
        SCALE, coefficients @ weights[:3] + weights[3], np.full(n, weights[4])
    )
    outcome = (random.random(n)[:, None] > chances.cumsum(axis=1)).sum(axis=1) - 1.0
    return write_sample(folder / "games", coefficients, outcome, np.ones(n, np.int64)), weights


def three_outcomes(sample, model: str, stages: int = 1):
    shape = (stages, sample.coefficients.shape[1] + 2)
    start, low = np.zeros(shape), np.full(shape, -np.inf)
    start[:, -1], low[:, -1] = 50.0, 1.0
    return problem_of(sample, stages, model, start=start, low=low, mean=np.zeros(shape))


@MODELS
def test_gradient_and_matrix_are_derivatives_by_all_weights(tmp_path, model):
    sample, _ = drawn_sample(tmp_path, model, 300)
    problem = three_outcomes(sample, model, stages=2)
    here = problem.start + np.random.default_rng(1).normal(0, 5, problem.start.shape)
    _, gradient = problem.datafit.loss_gradient(here)
    matrix = problem.datafit.gauss_newton(here)
    for place in range(here.size):
        step = np.zeros(here.size)
        step[place] = STEP
        above, below = (
            problem.datafit.loss_gradient(here + sign * step.reshape(here.shape))
            for sign in (1, -1)
        )
        assert gradient.ravel()[place] == pytest.approx(
            (above[0] - below[0]) / (2 * STEP), rel=1e-4, abs=1e-9
        )
        np.testing.assert_allclose(
            matrix[place], (above[1] - below[1]).ravel() / (2 * STEP), rtol=1e-5, atol=1e-12
        )
    scores = game_scores(problem, here)
    np.testing.assert_allclose(
        scores.sum(axis=0) / problem.datafit.positions, gradient.ravel(), rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("learner", ["newton", "lbfgs"])
def test_ordered_is_the_ordered_logit_of_statsmodels(tmp_path, learner):
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    sample, truth = drawn_sample(tmp_path, "ordered")
    found, _ = learn(three_outcomes(sample, "ordered"), learner, tolerance=1e-13)
    other = OrderedModel(sample.outcome.astype(int), sample.coefficients, distr="logit").fit(
        method="bfgs", disp=False, gtol=1e-8
    )
    slopes, low, high = other.params[:3], other.params[3], other.params[3] + np.exp(other.params[4])
    expected = np.array([*slopes, -(low + high) / 2, (high - low) / 2]) / (2 * SCALE)
    np.testing.assert_allclose(found[0], expected, rtol=2e-3 if learner == "lbfgs" else 2e-4)
    np.testing.assert_allclose(found[0], truth, atol=25)
