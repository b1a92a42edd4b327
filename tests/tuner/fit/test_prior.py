"""Priors: their widths and forms are found from the data, and positions of a game weigh as much as
they say."""

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
from tuner.fit import blocks, prior
from tuner.fit.blocks import BlockPrior, Smoothness, prior_blocks
from tuner.fit.penalty import Boards
from tuner.fit.prior import (
    FORMS,
    design_effect,
    empirical_prior,
)
from tuner.parameters.parameters import Layout, Place

# two lists with weights of different size, and a term of single numbers, which have a spread of
# their own
SIZES = {"small": (40, 15.0), "large": (30, 80.0), "single": (20, 35.0)}
PLACES = (
    Place("lists", "small", (40,), 0),
    Place("lists", "large", (5, 6), 40),
    *(Place("single", f"n{i}", (), 70 + i) for i in range(20)),
)
COLUMNS = 90


def blocks_of(allowed):
    """The blocks of PLACES, if what a weight adds to the evaluation is the weight."""
    return prior_blocks(PLACES, allowed, np.ones(COLUMNS))


def covariance_of(problem, indices):
    """The covariance of some weights under a prior that is written per position and multiplied by
    the design effect."""
    precision = (
        problem.penalty.matrix(indices)
        * problem.datafit.total_weight
        / problem.penalty.design_effect
    )
    return np.linalg.inv(precision)


def spread_of(problem, indices):
    """Their standard deviation in centipawns, which they share."""
    variance = np.diag(covariance_of(problem, indices))
    assert np.ptp(variance) < 1e-6 * variance[0]
    return variance[0] ** 0.5


def correlation_of(problem, indices):
    """The correlation of the first two."""
    covariance = covariance_of(problem, indices)
    return covariance[0, 1] / covariance[0, 0]


def drawn(folder, seed, n, copies=1, form=FORMS[-1]):
    """Independent positions, each a game of so many copies of itself, with weights of known spread
    and form; and the weights."""
    random = np.random.default_rng(seed)
    truth = np.zeros(COLUMNS)
    for block, (_, sd) in zip(blocks_of(allowed()), SIZES.values(), strict=True):
        covariance = sd**2 * block.covariance(form)
        truth[block.indices] = random.multivariate_normal(np.zeros(len(covariance)), covariance)
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
    groups = [block.indices for block in blocks_of(allowed())]
    assert len(groups) == 3
    for group in groups:
        assert correlation_of(problem, group) == pytest.approx(0, abs=1e-6)
        assert spread_of(problem, group) == pytest.approx(
            np.sqrt((truth[group] ** 2).mean()), rel=0.3
        )
    assert problem.penalty.matrix(np.array([COLUMNS])) == 0
    # what it is for: weights nearer to the truth than without a prior
    plain, _ = learn(problem_of(sample, 1))
    posterior, _ = learn(problem)
    assert ((posterior[0, :-1] - truth) ** 2)[:40].sum() < 0.9 * ((plain[0, :-1] - truth) ** 2)[
        :40
    ].sum()


@pytest.mark.parametrize("seed", [1, 2])
def test_lists_that_are_smooth_are_found_to_be_and_are_nearer_to_the_truth(
    tmp_path, monkeypatch, seed
):
    sample, truth = drawn(tmp_path, seed, 4000, form=FORMS[0])
    problem, *_ = empirical_prior(problem_of(sample, 1), PLACES, allowed())
    for block, (_, sd) in zip(blocks_of(allowed())[:2], SIZES.values(), strict=False):
        assert correlation_of(problem, block.indices) == pytest.approx(0.95 * np.exp(-1 / 8))
        assert spread_of(problem, block.indices) == pytest.approx(sd, rel=0.6)
    smooth, _ = learn(problem)
    monkeypatch.setattr(prior, "FORMS", FORMS[-1:])
    rough, _ = learn(empirical_prior(problem_of(sample, 1), PLACES, allowed())[0])
    errors = [((weights[0, :70] - truth[:70]) ** 2).mean() for weights in (smooth, rough)]
    assert errors[0] < 0.8 * errors[1]


def test_few_games_leave_lists_smooth(tmp_path):
    sample, _ = drawn(tmp_path, 1, 20)
    problem, *_ = empirical_prior(problem_of(sample, 1), PLACES, allowed())
    assert correlation_of(problem, np.arange(40)) == pytest.approx(0.95 * np.exp(-1 / 8))


def test_a_width_that_is_given_is_one_of_the_evaluation(tmp_path):
    """A weight that counts three times as much is held three times as closely; one that never
    applies is held as one that counts once."""
    random = np.random.default_rng(1)
    x = random.integers(-1, 2, (3000, 6)).astype(np.int8)
    x[:, 1] *= 3
    x[:, 2] = 0
    places = tuple(Place("single", f"n{i}", (), i) for i in range(6))
    phase = random.integers(0, 25, 3000)
    sample = write_sample(
        tmp_path / "data",
        x,
        random.choice([-1.0, 1.0], 3000),
        np.full(3000, 1),
        phase=phase,
        layout=Layout(places),
    )
    free = np.ones((2, 7), bool)
    free[:, -1] = False
    problem, *_ = empirical_prior(problem_of(sample, 2), places, free, 12.0)
    widths = [spread_of(problem, np.array([i, i + 7])) for i in range(6)]
    np.testing.assert_allclose(widths, [12, 4, 12, 12, 12, 12], rtol=1e-9)


def correlations(*shape):
    """The correlations of the numbers of a table of this shape, by both forms of smoothness."""
    size = int(np.prod(shape))
    (block,) = prior_blocks((Place("a", "t", shape, 0),), np.ones((1, size), bool), np.ones(size))
    order = np.argsort(block.indices)
    return [block.covariance(form)[np.ix_(order, order)] for form in (FORMS[1], FORMS[0])]


def near(squares):
    return 0.95 * np.exp(-squares / 8)


def test_numbers_are_related_by_their_distance_in_the_list_or_on_the_board():
    assert correlations(4)[0][0] == pytest.approx([1, *near(np.array([1, 4, 9]))])
    assert correlations(2, 2)[0][0] == pytest.approx([1, *near(np.array([1, 1, 2]))])
    squares = correlations(64)[0]
    assert squares[0, 9] == pytest.approx(near(2)) and squares[7, 8] == pytest.approx(near(50))
    np.testing.assert_allclose(squares, correlations(8, 8)[0])
    for shape, apart in (((4, 28), 28), ((6, 64), 64)):
        for found in correlations(*shape):
            assert (found[0, apart:] == 0).all() and (found[:apart, :apart] > 0).all()


def test_boards_of_buckets_share_a_mean():
    one = correlations(8, 8)[0]
    np.testing.assert_allclose(
        correlations(3, 8, 8)[0], np.kron(np.eye(3) / 2 + 0.5, one), atol=1e-12
    )
    # two kinds of men in three buckets
    found = correlations(3, 2, 8, 8)[0].reshape(3, 2, 64, 3, 2, 64)
    assert (found[:, 0, :, :, 1] == 0).all()
    np.testing.assert_allclose(found[0, 1, :, 2, 1], one / 2, atol=1e-12)


def test_a_whole_board_is_folded_and_nothing_else():
    plain, folded = correlations(9, 9)
    assert plain[0, 8] == pytest.approx(near(64)) and folded[0, 8] == pytest.approx(near(0))
    assert folded[0, 4] == pytest.approx(near(16)) and folded[0, 9] == pytest.approx(near(1))
    for shape in ((8,), (8, 4), (5, 5)):
        np.testing.assert_allclose(*correlations(*shape))


def test_long_lists_are_as_short_ones():
    """Their covariance is a band, and its inverse is not formed."""
    random, size = np.random.default_rng(1), 700
    (block,) = prior_blocks((Place("a", "l", (size,), 0),), np.ones((2, size), bool), np.ones(size))
    (part,) = block.parts
    assert part.root(FORMS[0]).banded and not part.root(FORMS[0]).lower.nnz > 40 * 1400
    stage, number = np.divmod(np.arange(2 * size), size)
    covariance = 0.5 ** (stage[:, None] != stage) * (
        near((number[:, None] - number) ** 2.0) + 0.05 * (number[:, None] == number)
    )
    order = np.argsort(block.indices)
    np.testing.assert_allclose(
        block.covariance(FORMS[0])[np.ix_(order, order)], covariance, atol=2e-9
    )
    given = random.normal(size=(2 * size, 3))
    expected = np.linalg.solve(covariance, given)
    found = np.empty_like(given)
    found[block.indices] = block.whitened_transposed(
        FORMS[0], block.whitened(FORMS[0], given[block.indices])
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_precision_is_the_inverse_of_the_covariance_of_the_weights_that_are_free():
    """Without those that are fixed, whose values say nothing about the others; given priors are
    added."""
    free = np.ones((2, 8), bool)
    free[0, [1, 5]] = free[:, -1] = False
    places = (Place("a", "table", (2, 2), 0), Place("b", "x", (), 4), Place("b", "y", (), 5))
    units, form = np.array([1.0, 2, 1, 1, 0.5, 1, 1]), Smoothness(0.9, 1.5, 0.4)
    blocks = prior_blocks(places, free, units)
    given = np.zeros((2, 8))
    given[1, 6] = 0.5
    widths = [prior.BlockPrior(3.0, form), prior.BlockPrior(5.0, form)]
    penalty = Boards(np.zeros(free.shape), given.ravel(), 1.0, blocks, widths)
    found = penalty.matrix(np.arange(free.size))
    expected = np.zeros((16, 16))
    at, squares = (
        [0, 2, 3, 8, 9, 10, 11],
        np.array([[0, 0], [1, 0], [1, 1], [0, 0], [0, 1], [1, 0], [1, 1]]),
    )
    for i, a in enumerate(at):
        for j, b in enumerate(at):
            d = ((squares[i] - squares[j]) ** 2).sum()
            value = 0.9 * np.exp(-d / 4.5) + 0.1 * (d == 0)
            value *= 0.4 ** (a // 8 != b // 8) / units[a % 8] / units[b % 8]
            expected[a, b] = 9 * value
    expected[np.ix_(at, at)] = np.linalg.inv(expected[np.ix_(at, at)])
    expected[np.ix_([4, 12], [4, 12])] = np.linalg.inv(25 * np.array([[4, 1.6], [1.6, 4]]))
    expected[13, 13], expected[14, 14] = 1 / 25, 0.5
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_spread_makes_the_unrestrained_fit_most_probable(tmp_path, monkeypatch):
    """Second derivation: by the quadratic model the fit without prior is normal round the mean,
    with covariance inverse information + spread^2; SciPy finds the spread that makes it most
    probable."""
    sample, _ = random_sample(tmp_path / "data", seed=4, games=400, columns=COLUMNS, length=8)
    start = np.random.default_rng(5).normal(0, 20, (1, COLUMNS + 1))
    monkeypatch.setattr(prior, "FORMS", FORMS[-1:])
    monkeypatch.setattr(prior, "WIDTHS", np.geomspace(1, 1000, 3000))
    monkeypatch.setattr(prior, "ROUNDS", (1e-3, *[1e-6] * 60))
    monkeypatch.setattr(prior, "units_of", lambda *given: np.ones(COLUMNS))
    problem, weights, matrix = empirical_prior(
        problem_of(sample, 1, start=start), PLACES, allowed()
    )
    groups = [block.indices for block in blocks_of(allowed())]
    found = np.array([spread_of(problem, group) for group in groups])

    part = problem.datafit.total_weight / problem.penalty.design_effect
    inverse = np.linalg.inv(matrix.matrix * part)
    unrestrained = (
        weights.ravel() - inverse @ problem.datafit.loss_gradient(weights)[1].ravel() * part
    )

    def surprise(logarithms):
        variance = np.full(COLUMNS + 1, 1e8)  # the intercept has no prior
        for group, logarithm in zip(groups, logarithms, strict=True):
            variance[group] = np.exp(2 * logarithm)
        before = (((logarithms - np.log(prior.USUAL_SD)) / prior.SPREAD) ** 2).sum() / 2
        covariance = inverse + np.diag(variance)
        return before - multivariate_normal.logpdf(unrestrained, start.ravel(), covariance)

    best = minimize(
        surprise,
        np.log([50.0, 50.0, 50.0]),
        method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-9},
    ).x
    np.testing.assert_allclose(found, np.exp(best), rtol=5e-3)
    monkeypatch.undo()  # few widths are nearly enough
    monkeypatch.setattr(prior, "ROUNDS", (1e-3, *[1e-6] * 8))
    monkeypatch.setattr(prior, "units_of", lambda *given: np.ones(COLUMNS))
    monkeypatch.setattr(prior, "FORMS", FORMS[-1:])
    problem, *_ = empirical_prior(problem_of(sample, 1, start=start), PLACES, allowed())
    np.testing.assert_allclose(
        [spread_of(problem, group) for group in groups], np.exp(best), rtol=0.1
    )


def test_independent_positions_count_as_one_each(tmp_path):
    sample, _ = drawn(tmp_path, 3, 8000)
    problem = problem_of(sample, 1)
    weights, _ = learn(problem)
    assert design_effect(
        problem.datafit, weights, problem.datafit.curvature(weights)
    ) == pytest.approx(1, abs=0.05)


def test_positions_that_are_evaluated_exactly_leave_the_weights(tmp_path):
    x = random_coefficients(np.random.default_rng(7), 50, COLUMNS, 1)
    sample = write_sample(
        tmp_path / "data", x, np.zeros(50), np.ones(50, int), layout=Layout(PLACES)
    )
    problem, weights, _ = empirical_prior(problem_of(sample, 1), PLACES, allowed())
    assert problem.penalty.design_effect == 1 and not weights.any()


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
    assert design_effect(
        problem.datafit, shaped, problem.datafit.curvature(shaped)
    ) == pytest.approx(expected, rel=1e-6)
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
    assert design_effect(problem.datafit, zeros, problem.datafit.curvature(zeros)) == pytest.approx(
        expected, rel=1e-9
    )
    assert (
        design_effect(
            problem_of(sample, 1, free=False).datafit, zeros, problem.datafit.curvature(zeros)
        )
        == 1.0
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
                problem.penalty.design_effect,
                [spread_of(problem, block.indices) for block in blocks_of(allowed())],
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
    assert (problem.penalty.mean == mean).all()
    assert [len(block.indices) for block in blocks_of(others)] == [30, 20]


def test_blocks_are_lists_tables_and_the_single_numbers_of_a_term():
    places = (
        Place("a", "x", (), 0),
        Place("a", "list", (3,), 1),
        Place("a", "y", (), 4),
        Place("b", "table", (2, 2), 5),
        Place("c", "z", (), 9),
    )
    free = np.ones((2, 11), np.bool_)
    free[:, -1] = False  # the intercept
    free[0, [0, 4, 6]] = False
    blocks = prior_blocks(places, free, np.ones(10))
    assert [block.indices.tolist() for block in blocks] == [
        [1, 12, 2, 13, 3, 14],
        [5, 16, 17, 7, 18, 8, 19],
        [11, 15],
        [9, 20],
    ]
    assert not blocks[2].related and blocks[2].covariance(FORMS[0])[0, 1] == 0


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
    assert true < 8
    assert never == pytest.approx(prior.USUAL_SD, rel=0.06)


def test_some_games_are_enough_for_the_prior_of_many(tmp_path, monkeypatch):
    """Half of the games give nearly the same widths, and the prior weighs as much as all games ask
    for."""
    sample, _ = random_sample(tmp_path / "data", seed=3, games=800, columns=6, sd=30)
    problem, allowed = problem_of(sample, 2), np.ones((2, 7), bool)
    allowed[:, -1] = False
    whole, _, _ = empirical_prior(problem, sample.layout.places, allowed)
    monkeypatch.setattr(prior, "ENOUGH", problem.datafit.positions // 2)
    monkeypatch.setattr(prior, "RUN", 50)
    part, near, matrix = empirical_prior(problem, sample.layout.places, allowed)
    assert part.datafit.positions == problem.datafit.positions and near.shape == (2, 7)
    assert matrix.diagonal().shape == (14,)
    part, whole = (one.penalty.diagonal().reshape(2, 7)[:, :-1] for one in (part, whole))
    ratio = part / whole
    assert ((ratio > 0.5) & (ratio < 2)).all() and (ratio != 1).any()


def test_weights_of_boards_that_are_too_large_are_related_by_their_stages_only(monkeypatch):
    monkeypatch.setattr(blocks, "LARGEST_BOARD", 50)
    monkeypatch.setattr(blocks, "LONG", 40)
    places = (Place("a", "t", (8, 8), 0),)
    (block,) = prior_blocks(places, np.ones((2, 64), bool), np.ones(64))
    stage, number = np.divmod(np.arange(128), 64)
    expected = (number[:, None] == number) * np.where(stage[:, None] == stage, 1, 0.5)
    order = np.argsort(block.indices)
    np.testing.assert_allclose(block.covariance(FORMS[0])[np.ix_(order, order)], expected)
    widths = [BlockPrior(2.0, FORMS[0])]
    penalty = Boards(np.zeros((1, 128)), np.zeros(128), 1.0, [block], widths, is_formed=False)
    np.testing.assert_allclose(penalty.diagonal(), 1 / 0.75 / 4)
