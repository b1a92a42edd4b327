"""Parameters with one number for both stages: derivatives are those of a design in which their
columns are added up, the fit is that of SciPy, and sums of scores fold as the design does."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.tuner.support import PHASES, SCALE, by_passes, random_coefficients, write_sample
from tuner.fit.fit import fit
from tuner.fit.setup import FitOptions, make_problem
from tuner.parameters.parameters import Layout, Parameters, Place

PLACES = (
    Place("material", "pawn", (), 0),
    Place("side", "tempo", (), 1),
    Place("list", "four", (4,), 2),
)
WIDTH = 7  # with the intercept
TIED = [1, 2, 3, 4, 5]
FREE = [0, *TIED, 6, WIDTH, WIDTH + 6]  # of the flat weights


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    random = np.random.default_rng(1)
    n = 3000
    return write_sample(
        tmp_path_factory.mktemp("tied") / "data",
        random_coefficients(random, n, 6),
        random.choice([-1, 0, 1], n),
        np.full(n // 10, 10),
        phase=random.integers(0, PHASES + 1, n),
        layout=Layout(PLACES),
    )


def parameters(tied: tuple[str, ...] = ("side.tempo", "list")) -> Parameters:
    weights = np.random.default_rng(2).normal(0, 30, (2, 6))
    weights[1, 1:] = weights[0, 1:]
    return Parameters("chess", Layout(PLACES), ("mg", "eg"), weights, SCALE, tied=tied)


def folding() -> np.ndarray:
    """The flat weights (14,) of the free ones (9,)."""
    into = np.zeros((2 * WIDTH, len(FREE)))
    for k, at in enumerate(FREE):
        into[at, k] = 1
        if at in TIED:
            into[at + WIDTH, k] = 1
    return into


def problems(sample):
    """The problem with tied weights and that without."""
    games = np.arange(sample.data.games)
    return [
        make_problem(sample.data, parameters(tied), FitOptions(prior=None), games, SCALE)
        for tied in (("side.tempo", "list"), ())
    ]


def test_sums_fold_as_the_design_does(sample, monkeypatch):
    problem, plain = problems(sample)
    tied, whole = problem.datafit, plain.datafit
    assert np.flatnonzero(tied.free.ravel()).tolist() == FREE
    into, free = folding(), np.array(FREE)
    weights = np.random.default_rng(3).normal(0, 20, (2, WIDTH))
    same = (into @ weights.ravel()[free]).reshape(2, WIDTH)
    loss, gradient = tied.loss_gradient(weights)
    expected_loss, expected = whole.loss_gradient(same)
    assert loss == expected_loss
    np.testing.assert_allclose(gradient.ravel()[free], into.T @ expected.ravel(), atol=1e-14)
    np.testing.assert_allclose(
        tied.gauss_newton(weights)[np.ix_(free, free)],
        into.T @ whole.gauss_newton(same) @ into,
        rtol=1e-12,
    )
    vectors = np.zeros((2 * WIDTH, 2))
    vectors[free] = np.random.default_rng(4).normal(size=(len(free), 2))
    by_passes(monkeypatch)
    np.testing.assert_allclose(
        tied.curvature(weights).products(vectors),
        tied.gauss_newton(weights) @ vectors,
        rtol=1e-9,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        tied.curvature(weights).diagonal()[free],
        tied.gauss_newton(weights).diagonal()[free],
        rtol=1e-9,
    )
    scores = whole.score_products(same, np.arange(2 * WIDTH))
    found, groups = tied.score_products(weights, free), tied.independent_games
    np.testing.assert_allclose(found, into.T @ scores @ into, rtol=1e-10)
    signs = np.random.default_rng(5).choice([-1.0, 1.0], (groups, 3))
    np.testing.assert_allclose(
        tied.signed_scores(weights, signs)[free],
        into.T @ whole.signed_scores(same, signs),
        atol=1e-9,
    )
    np.testing.assert_allclose(tied.score_squares(weights)[free], np.diag(found), rtol=1e-10)
    places = np.arange(0, 3000, 100)
    derivatives = tied.derivatives(weights, places).toarray().reshape(-1, 2, WIDTH)[:, :, :-1]
    assert (derivatives[:, 1, 1:] == 0).all()
    np.testing.assert_allclose(
        derivatives.sum(axis=1)[:, 1:], sample.coefficients[places, 1:], rtol=1e-6
    )


def test_a_fit_is_that_of_scipy_with_one_weight_for_both_stages(sample):
    options = FitOptions(prior=None, held_out=0.0, fit_scale=False)
    result = fit(sample.data, parameters(), options)
    learned = result.parameters.weights
    assert (learned[0, 1:] == learned[1, 1:]).all() and learned[0, 0] != learned[1, 0]
    errors = result.parameters.standard_errors
    assert errors is not None and (errors[0, 1:] == errors[1, 1:]).all() and (errors > 0).all()
    share = sample.phase / PHASES
    x = np.column_stack(
        [
            share * sample.coefficients[:, 0],
            sample.coefficients[:, 1:],
            share,
            (1 - share) * sample.coefficients[:, 0],
            1 - share,
        ]
    )
    won = (sample.outcome + 1) / 2

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = 2 * SCALE * (x @ w)
        p = 1 / (1 + np.exp(-z))
        return float(np.mean(np.logaddexp(0, z) - won * z)), x.T @ (p - won) * 2 * SCALE / len(x)

    best = minimize(loss, np.zeros(9), jac=True, method="BFGS", options={"gtol": 1e-12}).x
    found = result.weights.ravel()[FREE]
    np.testing.assert_allclose(found, best, atol=2e-2)


def test_a_stage_that_is_held_holds_the_number_of_both(sample):
    held = replace(parameters(), fixed=("side.tempo.eg",))
    problem = make_problem(sample.data, held, FitOptions(prior=None), np.arange(10), SCALE)
    assert not problem.free[:, 1].any() and problem.free[0, 2:6].all()


def test_a_symmetric_table_is_learned_as_its_left_half(tmp_path):
    random, n = np.random.default_rng(5), 4000
    counts = random_coefficients(random, n, 64)
    outcome, phase = random.choice([-1, 0, 1], n), random.integers(0, PHASES + 1, n)
    left = (counts.reshape(n, 8, 8) + counts.reshape(n, 8, 8)[:, :, ::-1])[:, :, :4].reshape(n, 32)
    found = []
    for name, coefficients, shape, symmetric in (
        ("whole", counts, (8, 8), ("table.square",)),
        ("half", left, (8, 4), ()),
    ):
        layout = Layout((Place("table", "square", shape, 0),))
        games = np.full(n // 10, 10)
        some = write_sample(
            tmp_path / name, coefficients, outcome, games, phase=phase, layout=layout
        )
        start = Parameters(
            "chess", layout, ("mg", "eg"), np.zeros((2, layout.size)), SCALE, symmetric=symmetric
        )
        options = FitOptions(prior=None, held_out=0.0, fit_scale=False)
        found.append(fit(some.data, start, options).parameters)
    whole, half = found
    table = whole.weights.reshape(2, 8, 8)
    assert (table == table[:, :, ::-1]).all() and np.abs(table).max() > 5
    np.testing.assert_allclose(table[:, :, :4].reshape(2, 32), half.weights, atol=1e-3)
    errors = whole.standard_errors.reshape(2, 8, 8)[:, :, :4].reshape(2, 32)
    np.testing.assert_allclose(errors, half.standard_errors, rtol=1e-4)


def test_weights_that_no_position_has_keep_their_value(tmp_path):
    """A smooth prior moves them with their neighbours."""
    random, n = np.random.default_rng(6), 3000
    counts = random_coefficients(random, n, 8)
    counts[:, 3] = 0
    layout = Layout((Place("list", "eight", (8,), 0),))
    outcome = np.sign(counts.sum(axis=1) + random.normal(0, 1, n))
    some = write_sample(
        tmp_path / "data",
        counts,
        outcome,
        np.full(n // 10, 10),
        phase=np.full(n, PHASES),
        layout=layout,
    )
    start = Parameters("chess", layout, ("mg", "eg"), np.full((2, 8), 7.0), SCALE)
    learned = fit(some.data, start, FitOptions(prior=20.0, fit_scale=False)).parameters.weights
    assert learned[0, 3] == 7 and (learned[1] == 7).all()  # the second stage has no position
    assert (np.abs(learned[0, [2, 4]] - 7) > 1).all()
