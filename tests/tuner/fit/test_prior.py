"""The automatic prior: it finds the spread of the true weights, and weighs positions of a game by
their information."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from tests.tuner.support import (
    SCALE,
    chances,
    learn,
    problem_of,
    random_coefficients,
    random_sample,
    write_sample,
)
from tuner.fit import prior
from tuner.fit.prior import SMALLEST_SD, design_effect, empirical_prior, prior_groups
from tuner.parameters.layout import Layout, Place

# two lists with weights of different size, and a term of single numbers, which have a spread of
# their own
SIZES = {"small": (40, 15.0), "large": (30, 80.0), "single": (20, 35.0)}
PLACES = (
    Place("lists", "small", (40,), 0),
    Place("lists", "large", (5, 6), 40),
    *(Place("single", f"n{i}", (), 70 + i) for i in range(20)),
)
COLUMNS = 90


def spread_of(problem, group):
    """Standard deviation in centipawns of a prior that is written per position and multiplied by
    the design effect."""
    precision = problem.precision.ravel()[group] * problem.total_weight / problem.design_effect
    assert np.ptp(precision) < 1e-9 * precision[0]
    return precision[0] ** -0.5


def drawn(folder, seed, n, copies=1):
    """Independent positions, each a game of so many copies of itself, with weights of known spread;
    and the weights."""
    random = np.random.default_rng(seed)
    truth = np.concatenate([random.normal(0, sd, size) for size, sd in SIZES.values()])
    x = random_coefficients(random, n, COLUMNS, 1)
    outcome = np.where(random.random(n) < chances(x @ truth, SCALE), 1.0, -1.0)
    sample = write_sample(
        folder / "data",
        x.repeat(copies, axis=0),
        outcome.repeat(copies),
        np.full(n, copies),
        layout=Layout(PLACES),
    )
    return sample, truth


def allowed(stages=1):
    """Every weight but the intercept."""
    found = np.ones((stages, COLUMNS + 1), np.bool_)
    found[:, -1] = False
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_the_spread_of_each_group_is_that_of_its_true_weights(tmp_path, seed):
    sample, truth = drawn(tmp_path, seed, 10_000)
    problem, weights, _ = empirical_prior(problem_of(sample, 1), PLACES, allowed())
    groups = prior_groups(PLACES, allowed())
    assert len(groups) == 3
    for group in groups:
        assert spread_of(problem, group) == pytest.approx(
            np.sqrt((truth[group] ** 2).mean()), rel=0.25
        )
    assert problem.precision[0, -1] == 0
    # what it is for: weights nearer to the truth than without a prior
    plain, _ = learn(problem_of(sample, 1))
    posterior, _ = learn(problem)
    assert ((posterior[0, :-1] - truth) ** 2)[:40].sum() < 0.9 * ((plain[0, :-1] - truth) ** 2)[
        :40
    ].sum()


def test_the_spread_makes_the_unrestrained_fit_most_probable(tmp_path, monkeypatch):
    """Second derivation: by the quadratic model the fit without prior is normal round the mean,
    with covariance inverse information + spread^2; SciPy finds the spread that makes it most
    probable."""
    sample, _ = random_sample(tmp_path / "data", seed=4, games=400, columns=COLUMNS, length=8)
    start = np.random.default_rng(5).normal(0, 20, (1, COLUMNS + 1))
    monkeypatch.setattr(prior, "UPDATES", 300)
    problem, weights, matrix = empirical_prior(
        problem_of(sample, 1, start=start), PLACES, allowed()
    )
    groups = prior_groups(PLACES, allowed())
    found = np.array([spread_of(problem, group) for group in groups])

    part = problem.total_weight / problem.design_effect
    inverse = np.linalg.inv(matrix * part)
    unrestrained = weights.ravel() - inverse @ problem.loss_gradient(weights)[1].ravel() * part

    def surprise(logarithms):
        variance = np.full(COLUMNS + 1, 1e8)  # the intercept has no prior
        for group, logarithm in zip(groups, logarithms, strict=True):
            variance[group] = np.exp(2 * logarithm)
        return -multivariate_normal.logpdf(unrestrained, start.ravel(), inverse + np.diag(variance))

    best = minimize(
        surprise,
        np.log([50.0, 50.0, 50.0]),
        method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-9},
    ).x
    np.testing.assert_allclose(found, np.exp(best), rtol=1e-3)
    monkeypatch.undo()  # few updates are nearly enough
    problem, *_ = empirical_prior(problem_of(sample, 1, start=start), PLACES, allowed())
    np.testing.assert_allclose(
        [spread_of(problem, group) for group in groups], np.exp(best), rtol=0.1
    )


def test_independent_positions_count_as_one_each(tmp_path):
    sample, _ = drawn(tmp_path, 3, 8000)
    problem = problem_of(sample, 1)
    weights, _ = learn(problem)
    assert design_effect(problem, weights, problem.gauss_newton(weights)) == pytest.approx(
        1, abs=0.05
    )


@pytest.mark.parametrize("stages", [1, 2])
def test_the_effect_is_clustered_over_naive_variance_of_the_scores(tmp_path, stages):
    """From the dense matrix, at the fit of statsmodels; the positions of a game share their
    chance."""
    sample, _ = random_sample(tmp_path / "data", seed=6, games=200, columns=5)
    design, q = 2 * SCALE * sample.design(stages), (1 + sample.outcome) / 2
    weights = sm.GLM(q, design, family=sm.families.Binomial()).fit(tol=1e-12).params
    p = 1 / (1 + np.exp(-design @ weights))
    scores = (p - q)[:, None] * design
    clustered = sum(
        scores[sample.group == game].sum(axis=0) ** 2 for game in np.unique(sample.group)
    )
    expected = (clustered / ((p * (1 - p)) @ design**2)).mean()
    problem, shaped = problem_of(sample, stages), weights.reshape(stages, -1)
    assert design_effect(problem, shaped, problem.gauss_newton(shaped)) == pytest.approx(
        expected, rel=1e-6
    )
    assert expected > 2


def test_only_free_weights_that_apply_enter_the_effect(tmp_path):
    sample, _ = random_sample(tmp_path / "data", seed=6, games=60, columns=5)
    free = np.ones((1, 6), np.bool_)
    free[0, 2:] = False
    problem = problem_of(sample, 1, free=free)
    zeros = np.zeros((1, 6))
    residual = -sample.outcome / 2
    scores = residual[:, None] * sample.coefficients[:, :2]
    clustered = sum(
        scores[sample.group == game].sum(axis=0) ** 2 for game in np.unique(sample.group)
    )
    expected = (clustered / (sample.coefficients[:, :2] ** 2 / 4).sum(axis=0)).mean()
    assert design_effect(problem, zeros, problem.gauss_newton(zeros)) == pytest.approx(
        expected, rel=1e-9
    )
    assert (
        design_effect(problem_of(sample, 1, free=False), zeros, problem.gauss_newton(zeros)) == 1.0
    )


def test_copies_of_positions_add_no_information(tmp_path):
    """Every position five times in its game: five times the effect, the same spread, the same
    weights."""
    (tmp_path / "once").mkdir()
    (tmp_path / "often").mkdir()
    found = []
    for name, copies in (("once", 1), ("often", 5)):
        sample, _ = drawn(tmp_path / name, 7, 3000, copies)
        problem, *_ = empirical_prior(problem_of(sample, 1), PLACES, allowed())
        weights, _ = learn(problem, tolerance=1e-12)
        found.append(
            (
                problem.design_effect,
                [spread_of(problem, g) for g in prior_groups(PLACES, allowed())],
                weights,
            )
        )
    once, often = found
    assert often[0] == pytest.approx(5 * once[0], rel=1e-3)
    np.testing.assert_allclose(often[1], once[1], rtol=1e-3)
    np.testing.assert_allclose(often[2], once[2], atol=0.05)
    assert abs(once[2]).max() > 50


def test_a_prior_that_is_given_keeps_its_spread_and_its_mean(tmp_path):
    sample, _ = drawn(tmp_path, 8, 1500)
    given, mean = np.zeros((1, COLUMNS + 1)), np.zeros((1, COLUMNS + 1))
    given[0, :40], mean[0, :40] = 7.0**-2, 5.0
    others = allowed()
    others[0, :40] = False
    problem, *_ = empirical_prior(problem_of(sample, 1, precision=given, mean=mean), PLACES, others)
    assert spread_of(problem, np.arange(40)) == pytest.approx(7.0)
    assert (problem.mean == mean).all()
    assert [len(group) for group in prior_groups(PLACES, others)] == [30, 20]


def test_groups_are_lists_tables_and_the_single_numbers_of_a_term_by_stage():
    places = (
        Place("a", "x", (), 0),
        Place("a", "list", (3,), 1),
        Place("a", "y", (), 4),
        Place("b", "table", (2, 2), 5),
        Place("c", "z", (), 9),
    )
    free = np.ones((2, 11), np.bool_)
    free[:, -1] = False  # the intercept
    groups = {frozenset(group.tolist()) for group in prior_groups(places, free)}
    first = [{0, 4}, {1, 2, 3}, {5, 6, 7, 8}, {9}]
    assert groups == {frozenset(group) for group in first} | {
        frozenset(i + 11 for i in group) for group in first
    }
    free[0, [0, 4, 6]] = False
    groups = {frozenset(group.tolist()) for group in prior_groups(places, free)}
    assert frozenset({5, 7, 8}) in groups and not any(0 in group or 4 in group for group in groups)


def test_weights_that_stay_where_they_start_get_a_small_spread_and_undetermined_ones_keep_theirs(
    tmp_path,
):
    random = np.random.default_rng(9)
    x = random_coefficients(random, 6000, 60, 1)
    x[:, 30:] = 0  # never applies
    start = np.zeros((1, 61))
    start[0, :30] = random.normal(0, 60, 30)
    outcome = np.where(random.random(6000) < chances(x @ start[0, :-1], SCALE), 1.0, -1.0)
    places = (Place("a", "true", (30,), 0), Place("a", "never", (30,), 30))
    sample = write_sample(tmp_path / "data", x, outcome, np.full(6000, 1), layout=Layout(places))
    free = np.ones((1, 61), np.bool_)
    free[0, -1] = False
    problem, *_ = empirical_prior(problem_of(sample, 1, start=start), places, free)
    true, never = (spread_of(problem, np.arange(a, a + 30)) for a in (0, 30))
    assert SMALLEST_SD <= true < 8
    assert never == pytest.approx(prior.FIRST_SD)


def test_some_games_are_enough_for_the_prior_of_many(tmp_path, monkeypatch):
    """Half of the games give nearly the same widths, and the prior weighs as much as all games ask
    for."""
    sample, _ = random_sample(tmp_path / "data", seed=3, games=800, columns=6, sd=30)
    problem, allowed = problem_of(sample, 2), np.ones((2, 7), bool)
    allowed[:, -1] = False
    whole, _, _ = empirical_prior(problem, sample.layout.places, allowed)
    monkeypatch.setattr(prior, "ENOUGH", problem.positions // 2)
    monkeypatch.setattr(prior, "RUN", 50)
    part, near, matrix = empirical_prior(problem, sample.layout.places, allowed)
    assert part.positions == problem.positions and near.shape == (2, 7) and matrix.shape == (14, 14)
    ratio = part.precision[:, :-1] / whole.precision[:, :-1]
    assert ((ratio > 0.5) & (ratio < 2)).all() and (ratio != 1).any()
