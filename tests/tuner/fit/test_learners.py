"""All learners find the same optimum, which statsmodels and SciPy find too; and none diverges."""

import importlib

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import least_squares, minimize

from tests.tuner.support import (
    SCALE,
    chances,
    correlated,
    dense_loss,
    learn,
    objective_of,
    problem_of,
    random_sample,
    write_sample,
)
from tuner.fit.curvature import Matrix, solve_exactly
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import newton, sample_ranges
from tuner.objectives.table import DRAW_MODELS, OBJECTIVES

COLUMNS = 5
OPTIONS = {
    name: {"iterations": 300, "batch": 1000, "final_rate": 0.003}
    if learner.stepwise
    else {"tolerance": 1e-9}
    for name, learner in LEARNERS.items()
}
STEPWISE = [name for name, learner in LEARNERS.items() if learner.stepwise]
EVERY_LEARNER = pytest.mark.parametrize("learner", LEARNERS)
EVERY_STEPWISE = pytest.mark.parametrize("learner", STEPWISE)
EVERY_OBJECTIVE = pytest.mark.parametrize(
    "objective", [name for name in OBJECTIVES if name not in DRAW_MODELS]
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return random_sample(
        tmp_path_factory.mktemp("learners") / "data", seed=1, games=250, columns=COLUMNS
    )[0]


def reference(sample, stages, objective, bounds=None, extra=lambda w: 0.0, start=None):
    """The optimum by SciPy from the dense loss; with gradients by differences of high order."""
    shape = (stages, COLUMNS + 1)

    def function(x):
        return dense_loss(sample, objective, 100 * x.reshape(shape)) + extra(100 * x.reshape(shape))

    begin = np.zeros(shape) if start is None else start
    found = minimize(
        function,
        begin.ravel() / 100,
        jac="3-point",
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 500, "maxfun": 10**6},
    )
    return 100 * found.x.reshape(shape)


def test_cross_entropy_by_newton_is_the_logistic_regression_of_statsmodels(sample):
    for stages in (1, 2):
        design, q = sample.design(stages), (1 + sample.outcome) / 2
        assert (q == 0.5).mean() > 0.02
        expected = (
            sm.GLM(q, 2 * SCALE * design, family=sm.families.Binomial()).fit(tol=1e-12).params
        )
        found, _ = learn(problem_of(sample, stages), tolerance=1e-13)
        np.testing.assert_allclose(found.ravel(), expected, rtol=1e-6, atol=1e-6)


def test_weighted_positions_count_as_often_as_their_weight_says(tmp_path):
    random = np.random.default_rng(3)
    x, outcome = (
        random.integers(-3, 4, (300, 3)).astype(np.int8),
        random.choice([-1.0, 0.0, 1.0], 300),
    )
    weight = random.choice([1, 2, 0.5], 300)
    sample = write_sample(tmp_path / "data", x, outcome, np.full(30, 10), weight=weight)
    expected = sm.GLM(
        (1 + outcome) / 2,
        2 * SCALE * sample.design(1),
        family=sm.families.Binomial(),
        freq_weights=weight,
    )
    found, _ = learn(problem_of(sample, 1), tolerance=1e-13)
    np.testing.assert_allclose(found.ravel(), expected.fit(tol=1e-12).params, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("stages", [1, 2])
def test_squared_error_by_newton_is_that_of_scipy_least_squares(sample, stages):
    design, q = sample.design(stages), (1 + sample.outcome) / 2
    expected = least_squares(
        lambda w: chances(design @ w, SCALE) - q,
        np.zeros(design.shape[1]),
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
        x_scale=100,
    ).x
    found, _ = learn(problem_of(sample, stages, "mse"), tolerance=1e-14)
    np.testing.assert_allclose(found.ravel(), expected, rtol=0, atol=1e-3)
    assert (
        problem_of(sample, stages, "mse").datafit.loss(found)
        <= np.mean((chances(design @ expected, SCALE) - q) ** 2) + 1e-12
    )


@EVERY_LEARNER
@EVERY_OBJECTIVE
def test_every_learner_reaches_the_optimum_of_scipy(sample, learner, objective):
    best = reference(sample, 2, objective)
    found, record = learn(problem_of(sample, 2, objective), learner, **OPTIONS[learner])
    excess = dense_loss(sample, objective, found) - dense_loss(sample, objective, best)
    assert -1e-9 < excess < 1e-6
    assert (
        dense_loss(sample, objective, np.zeros(best.shape)) - dense_loss(sample, objective, best)
        > 0.01
    )
    assert record.history[-1]["cpu_seconds"] >= 0 and len(record.history) > 2


@EVERY_LEARNER
def test_every_learner_finds_the_most_probable_weights_under_a_prior(sample, learner):
    """Correlated with each other, as in a list."""
    random = np.random.default_rng(6)
    mean = random.normal(0, 50, (2, COLUMNS + 1))
    half = random.normal(0, 2e-3, (mean.size, mean.size))
    precision = half @ half.T
    best = reference(
        sample,
        2,
        "cross-entropy",
        extra=lambda w: (w - mean).ravel() @ precision @ (w - mean).ravel() / 2,
    )
    problem = correlated(problem_of(sample, 2, mean=mean), precision)
    found, _ = learn(problem, learner, **OPTIONS[learner])
    assert objective_of(problem, found) < objective_of(problem, best) + (
        1e-7 if learner in ("newton", "lbfgs") else 1e-4
    )
    assert (
        objective_of(problem, found) < objective_of(problem, learn(problem_of(sample, 2))[0]) - 1e-3
    )


@EVERY_LEARNER
def test_bounds_are_kept_and_the_rest_is_at_its_optimum(sample, learner):
    free, _ = learn(problem_of(sample, 2), tolerance=1e-12)
    low, high = np.full(free.shape, -np.inf), np.full(free.shape, np.inf)
    low[0, 0], high[0, 1], low[1, 2], high[1, 2] = free[0, 0] + 30, free[0, 1] - 40, -5, 5
    bounds = [(a / 100, b / 100) for a, b in zip(low.ravel(), high.ravel(), strict=True)]
    start = np.clip(np.zeros(free.shape), low, high)
    best = reference(sample, 2, "cross-entropy", bounds, start=start)
    problem = problem_of(sample, 2, low=low, high=high)
    found, _ = learn(problem, learner, **OPTIONS[learner])
    assert (found >= low).all() and (found <= high).all()
    assert problem.datafit.loss(found) < problem.datafit.loss(best) + (
        1e-6 if learner in ("newton", "lbfgs") else 2e-4
    )
    if learner == "newton":
        np.testing.assert_allclose(found, best, rtol=0, atol=0.5)
        assert found[0, 0] == low[0, 0] and found[0, 1] == high[0, 1]


@EVERY_LEARNER
def test_fixed_numbers_do_not_move(sample, learner):
    random = np.random.default_rng(7)
    start = random.normal(0, 50, (2, COLUMNS + 1))
    free = random.random(start.shape) < 0.5
    problem = problem_of(sample, 2, start=start, free=free)
    found, _ = learn(problem, learner, **OPTIONS[learner])
    assert (found[~free] == start[~free]).all() and (found[free] != start[free]).all()

    design, q = 2 * SCALE * sample.design(2), (1 + sample.outcome) / 2
    chosen = free.ravel()
    held = sm.GLM(
        q,
        design[:, chosen],
        family=sm.families.Binomial(),
        offset=design[:, ~chosen] @ start[~free],
    )
    best = start.copy()
    best[free] = held.fit(tol=1e-12).params
    assert problem.datafit.loss(found) < problem.datafit.loss(best) + (
        1e-7 if learner in ("newton", "lbfgs") else 2e-4
    )


@EVERY_LEARNER
def test_with_nothing_free_a_learner_returns_the_start(sample, learner):
    start = np.random.default_rng(8).normal(0, 50, (2, COLUMNS + 1))
    found, _ = learn(problem_of(sample, 2, start=start, free=False), learner, iterations=2)
    assert (found == start).all()


@EVERY_LEARNER
def test_a_learner_that_starts_at_the_optimum_stays_there(sample, learner):
    best, _ = learn(problem_of(sample, 2), tolerance=1e-13)
    found, _ = learn(problem_of(sample, 2, start=best), learner, **OPTIONS[learner])
    assert problem_of(sample, 2).datafit.loss(found) <= problem_of(sample, 2).datafit.loss(best)


@EVERY_STEPWISE
def test_an_absurd_learning_rate_returns_the_best_weights_seen_not_the_last(sample, learner):
    best, _ = learn(problem_of(sample, 2))
    start = best + 5
    problem = problem_of(sample, 2, start=start)
    found, record = learn(
        problem, learner, learning_rate=1e5, iterations=3, batch=500, final_rate=0.9
    )
    assert record.history[-1]["objective"] > 2 * problem.datafit.loss(start)
    assert (
        problem.datafit.loss(found)
        == min(line["objective"] for line in record.history)
        <= problem.datafit.loss(start)
    )


@pytest.mark.parametrize("far", [500.0, 5000.0])
@EVERY_OBJECTIVE
def test_newton_comes_back_from_far_away(sample, far, objective):
    best, _ = learn(problem_of(sample, 2), tolerance=1e-12)
    start = best + far * np.random.default_rng(9).choice([-1, 1], best.shape)
    problem = problem_of(sample, 2, objective, start=start)
    found, _ = learn(problem)
    assert np.isfinite(found).all()
    if OBJECTIVES[objective].convex:
        assert problem.datafit.loss(found) < problem.datafit.loss(best) + 1e-6
    else:
        assert problem.datafit.loss(found) <= problem.datafit.loss(start)


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name not in STEPWISE])
def test_learners_survive_separable_data(tmp_path, learner):
    x = np.repeat(np.arange(-3, 4), 6)[:, None].astype(np.int8)
    sample = write_sample(tmp_path / "data", x, np.where(x[:, 0] > 0, 1.0, -1.0), np.full(14, 3))
    found, record = learn(problem_of(sample, 1), learner)
    objectives = [line["objective"] for line in record.history]
    assert np.isfinite(found).all() and objectives == sorted(objectives, reverse=True)
    assert problem_of(sample, 1).datafit.loss(found) < 1e-3 and found[0, 0] > 0


def test_newton_does_not_move_what_the_data_do_not_identify(tmp_path):
    random = np.random.default_rng(10)
    x = random.integers(-2, 3, (200, 4)).astype(np.int8)
    x[:, 2], x[:, 3] = x[:, 0] + x[:, 1], 0
    sample = write_sample(tmp_path / "data", x, random.choice([-1.0, 1.0], 200), np.full(20, 10))
    start = np.full((1, 5), 7.0)
    found, _ = learn(problem_of(sample, 1, start=start), tolerance=1e-16)
    design = sample.design(1)[:, [0, 1, 4]]
    expected = sm.GLM(
        (1 + sample.outcome) / 2, 2 * SCALE * design, family=sm.families.Binomial()
    ).fit(tol=1e-12)
    np.testing.assert_allclose(sample.design(1) @ found[0], design @ expected.params, atol=1e-5)
    assert found[0, 3] == 7.0
    assert abs(found).max() < 1000


def test_newton_with_sampled_matrices_reaches_the_same_optimum(sample, monkeypatch):
    best, _ = learn(problem_of(sample, 2), tolerance=1e-12)
    monkeypatch.setattr(importlib.import_module("tuner.fit.learners.solvers"), "SAMPLE", 300)
    ranges = sample_ranges(problem_of(sample, 2).datafit, 300)
    assert 150 < (ranges[:, 1] - ranges[:, 0]).sum() < 600
    found, record = learn(problem_of(sample, 2), tolerance=1e-9)
    assert "sample" in {line.get("matrix") for line in record.history}
    assert (
        problem_of(sample, 2).datafit.loss(found) < problem_of(sample, 2).datafit.loss(best) + 1e-8
    )


def test_newton_recovers_from_a_start_and_a_matrix_of_elsewhere(sample):
    best, _ = learn(problem_of(sample, 2), tolerance=1e-12)
    problem = problem_of(sample, 2)
    for matrix in (
        problem.datafit.gauss_newton(best),
        1e-3 * problem.datafit.gauss_newton(best),
        np.eye(best.size) * 1e-12,
    ):
        options = LearnerOptions(tolerance=1e-10)
        found = newton(problem, options, Record(), best + 50, Matrix(matrix))
        assert problem.datafit.loss(found) < problem.datafit.loss(best) + 1e-7


@pytest.mark.parametrize(("size", "rank"), [(6, 6), (6, 3), (4, 0), (0, 0)])
def test_solving_with_a_singular_matrix_solves_what_can_be_solved(size, rank):
    random = np.random.default_rng(size + rank)
    half = random.normal(size=(size, rank)) * 10.0 ** random.integers(-3, 4, size)[:, None]
    matrix = half @ half.T
    right = matrix @ random.normal(size=size)
    np.testing.assert_allclose(
        matrix @ solve_exactly(matrix, right),
        right,
        rtol=1e-6,
        atol=1e-9 * abs(matrix).max(initial=0),
    )


def test_held_out_games_of_a_large_dataset_are_read_once(tmp_path, monkeypatch):
    sample, _ = random_sample(tmp_path / "data", seed=3, games=200, columns=4)
    problem = problem_of(sample)
    for most, passes in ((1 << 30, 3), (0, 1)):
        monkeypatch.setattr("tuner.fit.learners.base.IN_MEMORY", most)
        record = Record(held_out=problem.datafit)
        for step in range(3):
            record(np.full(problem.start.shape, float(step)), 1.0)
        assert sum("held_out" in line for line in record.history) == passes


@EVERY_STEPWISE
def test_minibatches_are_drawn_over_all_positions(sample, learner, monkeypatch):
    """Each of an epoch has positions of most games, and together they are all positions once."""
    problem, seen = problem_of(sample, 1), []
    original = type(problem.datafit).loss_gradient

    def noted(self, weights, ranges=None):
        if ranges is not None:
            seen.append(ranges)
        return original(self, weights, ranges)

    monkeypatch.setattr(type(problem.datafit), "loss_gradient", noted)
    LEARNERS[learner].minimise(problem, LearnerOptions(iterations=2, batch=600), Record())
    batches = -(-problem.datafit.positions // 600)
    assert len(seen) == 2 * batches
    for epoch in (seen[:batches], seen[batches:]):
        drawn = np.concatenate([ranges[:, 0] for ranges in epoch])
        assert (np.sort(drawn) == np.arange(problem.datafit.positions)).all()
        for ranges in epoch:
            game = np.searchsorted(sample.data.first, ranges[:, 0], side="right")
            assert len(np.unique(game)) > 0.7 * sample.data.games
    assert (seen[0] != seen[batches]).any()
