"""Standard errors: those of statsmodels, the same in any parametrisation, and true to what repeated
samples do."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.linalg import null_space

from games.compile.jit import PLAIN
from tests.tuner.simulation import WEIGHTS, covered, simulated, walk_weights, walked
from tests.tuner.support import (
    SCALE,
    chances,
    correlated,
    flat_layout,
    learn,
    problem_of,
    random_coefficients,
    random_sample,
    write_sample,
)
from tuner.fit.errors import standard_errors
from tuner.fit.fit import fit
from tuner.fit.learners.base import LearnerOptions
from tuner.fit.null_space import find_null_space
from tuner.fit.setup import FitOptions
from tuner.parameters.parameters import Layout, Parameters, Place


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return random_sample(
        tmp_path_factory.mktemp("uncertainty") / "data", seed=5, games=150, columns=4
    )[0]


def errors_of(problem, places, tolerance=1e-14):
    """Weights and their uncertainty at the optimum, restored as a fit restores them."""
    weights, _ = learn(problem, tolerance=tolerance)
    curvature = problem.datafit.curvature(weights)
    null_space = find_null_space(problem, weights, curvature, places)
    weights = null_space.restore(problem, weights)
    return weights, standard_errors(problem, weights, problem.datafit.slope(weights), null_space)


def uncorrected(games, positions, columns):
    """The factor G / (G - p) of variances here, over that of statsmodels."""
    theirs = games / (games - 1) * (positions - 1) / (positions - columns)
    return games / (games - columns) / theirs


def statsmodels_fit(sample, stages, **more):
    model = sm.GLM(
        (1 + sample.outcome) / 2, 2 * SCALE * sample.design(stages), family=sm.families.Binomial()
    )
    return model.fit(tol=1e-12, **more)


@pytest.mark.parametrize("stages", [1, 2])
def test_errors_are_the_clustered_ones_of_statsmodels(sample, stages):
    """But for the factor for few games: scores at p weights fitted to G games are too small."""
    _, found = errors_of(problem_of(sample, stages), sample.layout.places)
    clustered = statsmodels_fit(
        sample,
        stages,
        cov_type="cluster",
        cov_kwds={"groups": sample.group.astype(int), "use_correction": True},
    )
    factor = uncorrected(150, len(sample.outcome), 5 * stages)
    np.testing.assert_allclose(
        found.standard_errors.ravel(), clustered.bse * factor**0.5, rtol=1e-5
    )
    np.testing.assert_allclose(
        found.covariance.matrix,
        clustered.cov_params() * factor,
        rtol=1e-4,
        atol=1e-5 * abs(found.covariance.matrix).max(),
    )
    assert found.games == 150
    alone = statsmodels_fit(sample, stages, cov_type="HC0").bse
    assert np.median(found.standard_errors.ravel() / alone) > 1.5  # clusters matter here


def test_a_game_in_two_places_counts_as_one(tmp_path):
    random = np.random.default_rng(6)
    x, lengths = random_coefficients(random, 600, 3), np.full(60, 10)
    identities = np.arange(60) % 45  # the first fifteen come a second time
    outcome = random.choice([-1.0, 1.0], 60)[identities].repeat(10)
    sample = write_sample(tmp_path / "data", x, outcome, lengths, identities=identities)
    _, found = errors_of(problem_of(sample, 1), sample.layout.places)
    expected = statsmodels_fit(
        sample, 1, cov_type="cluster", cov_kwds={"groups": sample.group.astype(int)}
    )
    np.testing.assert_allclose(
        found.standard_errors.ravel(), expected.bse * uncorrected(45, 600, 4) ** 0.5, rtol=1e-5
    )
    assert found.games == 45


def test_errors_of_squared_error_are_the_dense_sandwich(sample):
    problem = problem_of(sample, 2, "mse")
    weights, found = errors_of(problem, sample.layout.places)
    design, p = sample.design(2), chances(sample.design(2) @ weights.ravel(), SCALE)
    slope = (2 * SCALE * p * (1 - p))[:, None] * design
    error = p - (1 + sample.outcome) / 2
    bent = 2 * error * (2 * SCALE) ** 2 * p * (1 - p) * (1 - 2 * p)
    bread = np.linalg.inv(2 * slope.T @ slope + design.T @ (bent[:, None] * design))
    scores = 2 * error[:, None] * slope
    sums = np.array([scores[sample.group == name].sum(axis=0) for name in np.unique(sample.group)])
    games, columns = len(sums), design.shape[1]
    expected = bread @ sums.T @ sums @ bread * games / (games - columns)
    np.testing.assert_allclose(found.standard_errors.ravel(), np.sqrt(np.diag(expected)), rtol=1e-4)


def test_fixed_numbers_have_no_error_and_the_others_that_of_the_smaller_model(sample):
    start, free = np.full((2, 5), 20.0), np.ones((2, 5), np.bool_)
    free[0, 1] = free[1, 3] = free[1, 4] = False
    _, found = errors_of(problem_of(sample, 2, start=start, free=free), sample.layout.places)
    design, chosen = 2 * SCALE * sample.design(2), free.ravel()
    model = sm.GLM(
        (1 + sample.outcome) / 2,
        design[:, chosen],
        family=sm.families.Binomial(),
        offset=design[:, ~chosen].sum(axis=1) * 20,
    )
    expected = model.fit(
        tol=1e-12, cov_type="cluster", cov_kwds={"groups": sample.group.astype(int)}
    )
    factor = uncorrected(150, len(sample.outcome), free.sum())
    np.testing.assert_allclose(found.standard_errors[free], expected.bse * factor**0.5, rtol=1e-5)
    assert (found.standard_errors[~free] == 0).all()


def test_where_a_bound_holds_a_weight_the_others_have_the_errors_of_the_smaller_model(sample):
    start = Parameters("chess", sample.layout, ("mg", "eg"), np.zeros((2, 4)), SCALE)
    options = FitOptions(prior=None, held_out=0.0, fit_scale=False)
    free = fit(sample.data, start, options).parameters
    bound = free.weights[0, 1] - 2 * free.standard_errors[0, 1]
    name = f"{sample.layout.places[1].path}.mg"
    low, high = sorted((bound, bound - 500))
    held = replace(start, bounds=((name, (low, high)),), weights=start.weights.copy())
    held.weights[0, 1] = bound - 100
    found = fit(sample.data, held, options).parameters
    assert found.weights[0, 1] == bound
    assert found.at_bound[0, 1] == 1 and np.count_nonzero(found.at_bound) == 1
    fixed = replace(held, bounds=(), fixed=(name,), weights=held.weights.copy())
    fixed.weights[0, 1] = bound
    smaller = fit(sample.data, fixed, options).parameters
    others = np.ones((2, 4), np.bool_)
    others[0, 1] = False
    np.testing.assert_allclose(found.weights[others], smaller.weights[others], atol=0.1)
    np.testing.assert_allclose(
        found.standard_errors[others], smaller.standard_errors[others], rtol=1e-3
    )
    assert found.standard_errors[0, 1] == pytest.approx(free.standard_errors[0, 1], rel=0.5)


@pytest.mark.parametrize("prior", [None, "play"])
def test_a_fit_that_did_not_converge_has_no_errors(sample, prior):
    weights = np.full((2, 4), 30.0)
    start = Parameters("chess", sample.layout, ("mg", "eg"), weights, SCALE)
    options = FitOptions(
        learner="adam", learning=LearnerOptions(iterations=1, learning_rate=0.01), prior=prior
    )
    found = fit(sample.data, start, options)
    assert not found.convergence.converged
    assert np.isnan(found.parameters.standard_errors).all()


def test_a_weight_that_never_applies_has_no_standard_error(tmp_path):
    x = random_coefficients(np.random.default_rng(7), 400, 4)
    x[:, 2] = 0
    sample = write_sample(
        tmp_path / "data", x, np.random.default_rng(8).choice([-1.0, 1.0], 400), np.full(40, 10)
    )
    for precision in (0, 1e-6):
        _, found = errors_of(problem_of(sample, 1, precision=precision), sample.layout.places)
        assert np.isnan(found.standard_errors).ravel().tolist() == [
            False,
            False,
            True,
            False,
            False,
        ]
        assert (found.standard_errors[0, [0, 1, 3, 4]] > 0).all()


def test_if_nothing_applies_there_are_no_standard_errors(tmp_path):
    x = np.zeros((40, 2), np.int8)
    sample = write_sample(tmp_path / "data", x, np.tile([-1.0, 1.0], 20), np.full(10, 4))
    free = np.array([[True, True, False]])
    weights, found = errors_of(problem_of(sample, 1, free=free), sample.layout.places)
    assert (
        (weights == 0).all()
        and np.isnan(found.standard_errors[0, :2]).all()
        and found.standard_errors[0, 2] == 0
    )


# a value and a table of four squares (whose counts add up to the value's), and a number by itself
PLACES = (
    Place("material", "man", (), 0),
    Place("squares", "man", (2, 2), 1),
    Place("side", "tempo", (), 5),
)


@pytest.fixture(scope="module")
def redundant(tmp_path_factory):
    """Two files of the same positions: with the value of the man, and without it."""
    random = np.random.default_rng(9)
    n, games = 900, 90
    group = np.repeat(np.arange(games), 10)
    squares = random.poisson([0.5, 1, 2, 0.2], (n, 4)) - random.poisson([0.5, 1, 2, 0.2], (n, 4))
    squares += random.integers(-1, 2, (games, 4))[group]
    x = np.column_stack([squares.sum(axis=1), squares, random.choice([-1, 1], n)]).astype(np.int8)
    p = chances(x @ np.array([80, 10, 0, -10, 30, 12.0]), SCALE)
    outcome = np.where(random.random(games)[group] < p, 1.0, -1.0)
    folder = tmp_path_factory.mktemp("redundant")
    whole = write_sample(folder / "whole", x, outcome, np.full(games, 10), layout=Layout(PLACES))
    return whole, write_sample(
        folder / "less", x[:, 1:], outcome, np.full(games, 10), layout=flat_layout(5)
    )


@pytest.mark.parametrize("start", [0.0, 50.0])
def test_errors_with_a_null_direction_are_finite_and_those_of_the_smaller_model(redundant, start):
    whole, less = redundant
    weights, found = errors_of(problem_of(whole, 1, start=start), PLACES)
    smaller = statsmodels_fit(
        less, 1, cov_type="cluster", cov_kwds={"groups": less.group.astype(int)}
    )
    np.testing.assert_allclose(
        whole.design(1) @ weights[0], less.design(1) @ smaller.params, atol=1e-4
    )
    assert (found.standard_errors > 0).all()
    # the table keeps its mean by use, and the value has what all squares have in common: delta
    # method
    used = abs(less.coefficients[:, :4]).sum(axis=0)
    mean = np.concatenate([used / used.sum(), [0, 0]])
    change = np.vstack([mean, np.eye(6)[:4] - mean, np.eye(6)[4:]])
    expected = np.sqrt(np.diag(change @ smaller.cov_params() @ change.T) * uncorrected(90, 900, 6))
    np.testing.assert_allclose(found.standard_errors.ravel(), expected, rtol=1e-4)
    assert weights[0, 1:5] @ used / used.sum() == pytest.approx(start, abs=1e-4)


def test_errors_with_null_directions_are_those_under_the_constraints_that_fix_them(redundant):
    """V = N (N'HN)^-1 N'MN (N'HN)^-1 N', N a basis of the weights that satisfy the constraints; two
    stages."""
    whole, _ = redundant
    phase = np.random.default_rng(10).integers(0, 25, len(whole.phase))
    sample = write_sample(
        whole.data.path.with_name("tapered"),
        whole.coefficients.astype(np.int8),
        whole.outcome,
        np.diff(whole.data.first),
        phase=phase,
        layout=Layout(PLACES),
    )
    weights, found = errors_of(problem_of(sample, 2), PLACES)
    design, q = sample.design(2), (1 + sample.outcome) / 2
    shares = np.array([phase / 24, 1 - phase / 24])
    constraints = np.zeros((2, 2, 7))
    for stage in range(2):
        constraints[stage, stage, 1:5] = shares[stage] @ abs(sample.coefficients[:, 1:5])
    basis = null_space(constraints.reshape(2, 14))
    p = chances(design @ weights.ravel(), SCALE)
    hessian = 4 * SCALE**2 * design.T @ (design * (p * (1 - p))[:, None])
    scores = 2 * SCALE * (p - q)[:, None] * design
    sums = np.array([scores[sample.group == name].sum(axis=0) for name in np.unique(sample.group)])
    half = np.linalg.solve(basis.T @ hessian @ basis, basis.T @ sums.T)
    games = len(sums)
    expected = basis @ half @ half.T @ basis.T * games / (games - basis.shape[1])
    np.testing.assert_allclose(found.standard_errors.ravel(), np.sqrt(np.diag(expected)), rtol=1e-4)


@pytest.mark.parametrize("columns", [[4, 0, 1, 2, 3, 5], [5, 4, 3, 2, 1, 0], [0, 4, 3, 2, 1, 5]])
def test_errors_do_not_depend_on_the_order_of_the_columns(redundant, columns, tmp_path):
    whole, _ = redundant
    places = (
        Place("material", "man", (), columns[0]),
        Place("squares", "man", (4,), min(columns[1:5])),
        Place("side", "tempo", (), columns[5]),
    )
    x = np.zeros(whole.coefficients.shape, np.int8)
    x[:, columns] = whole.coefficients
    sample = write_sample(
        tmp_path / "data", x, whole.outcome, np.diff(whole.data.first), layout=Layout(places)
    )
    _, expected = errors_of(problem_of(whole, 1), PLACES)
    _, found = errors_of(problem_of(sample, 1), places)
    np.testing.assert_allclose(
        found.standard_errors[0, [*columns, 6]], expected.standard_errors[0], rtol=1e-5
    )


def test_a_strong_prior_is_as_uncertain_as_it_says(sample):
    sd, effect = 3.0, 7.0
    n = len(sample.outcome)
    problem = problem_of(sample, 2, precision=effect / sd**2 / n, design_effect=effect)
    _, found = errors_of(problem, sample.layout.places)
    np.testing.assert_allclose(found.standard_errors, sd, rtol=0.25)
    weak = problem_of(sample, 2, precision=effect / 1e8 / n, design_effect=effect)
    np.testing.assert_allclose(
        errors_of(weak, sample.layout.places)[1].standard_errors,
        errors_of(problem_of(sample, 2), sample.layout.places)[1].standard_errors,
        rtol=0.02,  # but for the factor for few games
    )


def test_a_strong_smooth_prior_is_as_uncertain_as_it_says(sample):
    n, width, effect = len(sample.outcome), sample.design(2).shape[1], 7.0
    apart = np.abs(np.arange(width)[:, None] - np.arange(width))
    covariance = 9.0 * 0.8**apart
    precision = np.linalg.inv(covariance) * effect / n
    problem = correlated(problem_of(sample, 2, design_effect=effect), precision)
    _, found = errors_of(problem, sample.layout.places)
    np.testing.assert_allclose(found.covariance.matrix, covariance, atol=2.2)
    np.testing.assert_allclose(found.covariance.variances, 9.0, rtol=0.4)


def test_weights_that_the_prior_holds_are_not_set_by_the_games(tmp_path):
    """Hardly more positions than weights, a strong prior: errors are the prior's, and hardly any
    comes from sampling."""
    sample, _ = random_sample(tmp_path / "data", seed=6, games=24, columns=90, length=4)
    n, sd = len(sample.outcome), 2.0
    assert 91 < n < 120
    problem = problem_of(sample, 1, precision=1 / sd**2 / n, design_effect=1.0)
    _, found = errors_of(problem, sample.layout.places)
    np.testing.assert_allclose(found.standard_errors, sd, rtol=0.15)
    assert np.sqrt(found.noise.variances).max() < 0.3 * sd


def test_intervals_hold_the_truth_as_often_as_they_say(tmp_path):
    """200 samples of 100 games of one file, each with outcomes that have the stated expectation but
    share their chance."""
    replicates, games, columns = 200, 100, 3
    sample, truth = random_sample(
        tmp_path / "data", seed=11, games=replicates * games, columns=columns, length=6
    )
    # one stage: the outcomes are drawn from the truth anew
    random, group = (
        np.random.default_rng(12),
        np.repeat(np.arange(replicates * games), np.diff(sample.data.first)),
    )
    truth = truth[:1]
    p = chances(sample.design(1) @ truth[0], SCALE)
    outcome = np.where(random.random(replicates * games)[group] < p, 1.0, -1.0)
    sample = write_sample(
        tmp_path / "data", sample.coefficients.astype(np.int8), outcome, np.diff(sample.data.first)
    )
    hits = np.zeros((replicates, columns + 1), np.bool_)
    for r in range(replicates):
        problem = problem_of(sample, 1, games=np.arange(r * games, (r + 1) * games))
        weights, found = errors_of(problem, sample.layout.places, tolerance=1e-8)
        hits[r] = abs(weights - truth)[0] < 1.96 * found.standard_errors[0]
    assert 0.90 < hits.mean() < 0.98
    assert (hits.mean(axis=0) > 0.88).all()


SIMULATIONS = 150


@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
@pytest.mark.parametrize(
    "loss",
    [
        "cross-entropy",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("mse", "ordered")),
    ],
)
def test_intervals_of_regressions_cover_the_truth(loss):
    share = covered([simulated(loss, seed) for seed in range(SIMULATIONS)], WEIGHTS)
    assert 0.91 < share < 0.98


@pytest.mark.long
@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_intervals_of_td_cover_the_truth(lambda_):
    share = covered([walked(seed, lambda_) for seed in range(SIMULATIONS)], walk_weights())
    assert 0.91 < share < 0.98


def test_without_more_games_than_weights_there_are_no_errors(tmp_path):
    sample, _ = random_sample(tmp_path / "data", seed=6, games=24, columns=23, length=40)
    assert len(sample.outcome) > 500
    _, found = errors_of(problem_of(sample, 1), sample.layout.places)
    assert np.isnan(found.standard_errors).all()
    sd = 2.0  # with a prior, the games set fewer weights
    held = problem_of(sample, 1, precision=1 / sd**2 / len(sample.outcome))
    errors = errors_of(held, sample.layout.places)[1].standard_errors
    assert (errors < 1.3 * sd).all()
