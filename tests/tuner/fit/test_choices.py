"""Comparison training: loss, gradient, Hessian and scores of choices, for groups and for pairs of
siblings, against SciPy's softmax, its differences and its minimum."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, softmax

from tests.tuner.support import PHASES, SCALE, by_passes, random_coefficients, write_sample
from tuner.fit.choices import choices_of
from tuner.fit.fit import fit
from tuner.fit.setup import FitOptions, make_problem
from tuner.parameters.parameters import Layout, Parameters, Place

LAYOUT = Layout((Place("list", "four", (4,), 0),))
SIZES = [3, 2, 5]  # siblings of the groups of each game
GAMES, TEMPERATURE = 60, 40.0


@pytest.fixture(scope="module", params=[SIZES, [2] * 5], ids=["groups", "pairs"])
def made(request, tmp_path_factory):
    """A sample, its groups, the views of their sides, and what makes the datafit."""
    random, sizes = np.random.default_rng(1), np.tile(request.param, GAMES)
    group = np.repeat(np.arange(len(sizes)), sizes)
    odds = random.random(len(group)) + 0.01
    targets = odds / np.bincount(group, odds)[group]
    data = write_sample(
        tmp_path_factory.mktemp("siblings") / "data",
        random_coefficients(random, len(group), 4),
        targets,
        np.full(GAMES, 10),
        phase=random.integers(0, PHASES + 1, len(group)),
        layout=LAYOUT,
    ).data
    view = random.choice([-1.0, 1.0], len(sizes))[group]
    return data, group, view, choices_of(group, view, TEMPERATURE)


def parameters() -> Parameters:
    weights = np.random.default_rng(2).normal(0, 30, (2, 4))
    return Parameters("chess", LAYOUT, ("mg", "eg"), weights, SCALE)


def options(datafit, **more) -> FitOptions:
    return FitOptions(datafit=datafit, fit_scale=False, intercept=False, held_out=0.0, **more)


def problem_of(made, prior=None):
    data, _, _, datafit = made
    every = np.arange(data.games)
    return make_problem(data, parameters(), options(datafit, prior=prior), every, SCALE)


def group_losses(made, flat: np.ndarray) -> np.ndarray:
    """The losses (k,) of the groups, from SciPy's softmax and a dense matrix."""
    data, group, view, _ = made
    dense, shares = data.matrix().toarray(), data.shares(2)[:, data.phase]
    weights = flat.reshape(2, 5)
    evaluation = view * (shares * (weights[:, :4] @ dense.T)).sum(axis=0)
    first = np.flatnonzero(np.diff(group, prepend=-1))[1:]
    rows = zip(np.split(data.outcome, first), np.split(evaluation, first), strict=True)
    return np.array([-q.astype(float) @ log_softmax(e / TEMPERATURE) for q, e in rows])


def group_slopes(made, flat: np.ndarray) -> np.ndarray:
    """The gradient (10,) of the sum of those losses."""
    data, group, view, _ = made
    dense, shares = data.matrix().toarray(), data.shares(2)[:, data.phase]
    evaluation = view * (shares * (flat.reshape(2, 5)[:, :4] @ dense.T)).sum(axis=0)
    first = np.flatnonzero(np.diff(group, prepend=-1))[1:]
    chances = np.concatenate([softmax(e / TEMPERATURE) for e in np.split(evaluation, first)])
    total = np.bincount(group, data.outcome)[group]
    slope = view * (chances * total - data.outcome) / TEMPERATURE
    return np.hstack([(shares * slope) @ dense, np.zeros((2, 1))]).ravel()


def test_loss_and_derivatives_are_those_of_a_softmax(made):
    problem = problem_of(made)
    flat, datafit = problem.start.ravel(), problem.datafit
    n = datafit.total_weight
    loss, gradient = (n * each for each in datafit.loss_gradient(problem.start))
    assert loss == pytest.approx(group_losses(made, flat).sum(), rel=1e-6)
    expected = approx_fprime(flat, lambda w: group_losses(made, w).sum(), 1e-4)
    np.testing.assert_allclose(gradient.ravel(), expected, rtol=1e-4, atol=1e-4)

    def slope(w):
        return n * datafit.loss_gradient(w.reshape(2, 5))[1].ravel()

    columns = [(slope(flat + h) - slope(flat - h)) / 2e-3 for h in 1e-3 * np.eye(10)]
    matrix = n * datafit.gauss_newton(problem.start)
    np.testing.assert_allclose(matrix, np.array(columns), rtol=1e-5, atol=1e-9)
    assert not matrix[4].any()  # what siblings share teaches nothing


def test_scores_of_games_and_groups_are_their_gradients(made):
    problem, (_, group, *_) = problem_of(made), made
    each = approx_fprime(problem.start.ravel(), lambda w: group_losses(made, w), 1e-4)
    game = np.repeat(np.arange(GAMES), 10)[np.flatnonzero(np.diff(group, prepend=-1))]
    games = np.array([each[game == g].sum(axis=0) for g in range(GAMES)])
    chosen, close = np.array([0, 2, 7]), {"rtol": 1e-3, "atol": 1e-6}
    found = problem.datafit.score_products(problem.start, chosen)
    np.testing.assert_allclose(found, games[:, chosen].T @ games[:, chosen], **close)
    assert problem.datafit.independent_games == GAMES
    squares = problem.datafit.score_squares(problem.start)
    np.testing.assert_allclose(squares, (games**2).sum(axis=0), **close)


def test_a_part_of_the_games_is_that_part(made):
    problem, (_, group, *_) = problem_of(made), made
    few = problem.on(np.array([3, 4, 17]))
    loss = few.datafit.loss(few.start) * few.datafit.total_weight
    game = np.repeat(np.arange(GAMES), 10)[np.flatnonzero(np.diff(group, prepend=-1))]
    wanted = group_losses(made, few.start.ravel())[np.isin(game, few.datafit.games)].sum()
    assert loss == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("learner", ["newton", "lbfgs"])
def test_the_fit_is_that_of_scipy(made, learner):
    data, _, _, datafit = made
    result = fit(data, parameters(), options(datafit, learner=learner, prior=None))
    start = parameters().weights

    def padded(flat):
        return np.hstack([flat.reshape(2, 4), np.zeros((2, 1))]).ravel()

    def loss(flat):
        return group_losses(made, padded(flat)).sum()

    def slopes(flat):
        return group_slopes(made, padded(flat)).reshape(2, 5)[:, :4].ravel()

    assert slopes(start.ravel()) == pytest.approx(approx_fprime(start.ravel(), loss), rel=1e-3)
    expected = minimize(loss, start.ravel(), jac=slopes, method="BFGS", options={"gtol": 1e-4})
    found = result.parameters.weights
    assert loss(found.ravel()) <= expected.fun + 1e-3
    np.testing.assert_allclose(found.ravel(), expected.x, atol=0.3)
    assert np.isfinite(result.uncertainty.standard_errors[:, :4]).all()


def test_what_is_lost_is_the_best_target_over_that_of_the_choice(made):
    problem, (data, group, view, _) = problem_of(made), made
    weights = problem.start[:, :4]
    evaluation = view * (data.shares(2)[:, data.phase] * (weights @ data.matrix().toarray().T)).sum(
        axis=0
    )
    lost = []
    for k in range(group[-1] + 1):
        targets = data.outcome[group == k].astype(float)
        lost.append(np.log(targets.max() / targets[evaluation[group == k].argmax()]))
    np.testing.assert_allclose(problem.datafit.lost(problem.start), lost, atol=1e-6)
    assert max(lost) > 0


def test_products_with_vectors_are_those_of_the_matrix(made, monkeypatch):
    problem, random = problem_of(made), np.random.default_rng(6)
    weights = random.normal(0, 30, problem.start.shape)
    matrix, vectors = problem.datafit.gauss_newton(weights), random.normal(size=(weights.size, 3))
    by_passes(monkeypatch)
    operator = problem.datafit.curvature(weights)
    np.testing.assert_allclose(operator.products(vectors), matrix @ vectors, atol=1e-15)
    np.testing.assert_allclose(operator.diagonal(), matrix.diagonal(), atol=1e-15)
    signs = random.choice([-1.0, 1.0], (GAMES, 4000))
    scores = problem.datafit.signed_scores(weights, signs)
    products = problem.datafit.score_products(weights, np.arange(weights.size))
    np.testing.assert_allclose(scores @ scores.T / 4000, products, atol=0.1 * abs(products).max())
