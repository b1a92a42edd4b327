"""Fits of many weights, whose matrix is not formed, against those of the same weights with it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.tuner.support import SCALE, by_passes, chances, problem_of, random_sample, write_sample
from tuner.datasets.files import Rows
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import WideWriter
from tuner.fit import prior as prior_module
from tuner.fit.blocks import FORMS, BlockPrior, Root, banded_root, prior_blocks
from tuner.fit.covariance import Full, RandomVectors
from tuner.fit.curvature import Matrix, Products
from tuner.fit.device.cpu.device import Cpu
from tuner.fit.errors import standard_errors
from tuner.fit.fit import fit
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import newton
from tuner.fit.null_space import find_null_space
from tuner.fit.penalty import Boards
from tuner.fit.prior import empirical_prior
from tuner.fit.setup import FitOptions
from tuner.objectives.table import OBJECTIVES
from tuner.parameters.parameters import Layout, Place
from tuner.parameters.writer import zeros

COLUMNS = 90
PLACES = (
    Place("a", "boards", (2, 5, 6), 0),
    Place("a", "list", (20,), 60),
    *(Place("b", f"n{i}", (), 80 + i) for i in range(10)),
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    given, _ = random_sample(
        tmp_path_factory.mktemp("curvature") / "data", seed=4, games=300, columns=COLUMNS, sd=20
    )
    given.coefficients[:, [3, 61]] = 0  # never apply
    return write_sample(
        tmp_path_factory.mktemp("curvature") / "data",
        given.coefficients.astype(np.int8),
        given.outcome,
        np.diff(given.data.first),
        phase=given.phase,
        layout=Layout(PLACES),
    )


def allowed(stages):
    found = np.ones((stages, COLUMNS + 1), np.bool_)
    found[:, -1] = False
    return found


@pytest.mark.parametrize("objective", list(OBJECTIVES))
@pytest.mark.parametrize("stages", [1, 2])
def test_products_are_those_of_the_matrix(sample, monkeypatch, stages, objective):
    by_passes(monkeypatch)
    zero = np.zeros((stages, COLUMNS + 1 + OBJECTIVES[objective].widths))
    datafit = problem_of(sample, stages).datafit
    datafit = replace(datafit, objective=OBJECTIVES[objective], free=zero == 0)
    random = np.random.default_rng(1)
    weights = random.normal(0, 20, zero.shape)
    weights[:, COLUMNS + 1 :] = 50.0
    matrix, operator = datafit.gauss_newton(weights), datafit.curvature(weights)
    np.testing.assert_allclose(operator.diagonal(), matrix.diagonal(), rtol=1e-10, atol=1e-20)
    vectors = random.normal(size=(len(matrix), 7))
    expected = matrix @ vectors
    np.testing.assert_allclose(
        operator.products(vectors), expected, rtol=1e-9, atol=1e-12 * abs(expected).max()
    )
    threads = replace(datafit, device=Cpu(3)).curvature(weights)
    assert (threads.products(vectors) == operator.products(vectors)).all()


@pytest.mark.parametrize("stages", [1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_the_precision_of_blocks_is_that_of_the_matrix(stages, form):
    free = allowed(stages)
    free[0, [2, 65]] = False
    random = np.random.default_rng(3)
    blocks = prior_blocks(PLACES, free, random.uniform(0.5, 2, COLUMNS))
    widths = [BlockPrior(10.0 + i, form) for i in range(len(blocks))]
    given = np.zeros(free.size)
    given[2] = 0.3
    mean = np.zeros(free.shape)
    formed, found = (Boards(mean, given, 1.0, blocks, widths, 0.7, how) for how in (True, False))
    matrix = formed.matrix(np.arange(free.size))
    vectors = random.normal(size=(free.size, 3))
    np.testing.assert_allclose(found.products(vectors), matrix @ vectors, atol=1e-9)
    np.testing.assert_allclose(formed.products(vectors), matrix @ vectors, atol=1e-12)
    np.testing.assert_allclose(found.products(vectors[:, 0]), matrix @ vectors[:, 0], atol=1e-9)
    weights = random.normal(size=free.shape)
    assert found.value(weights) == pytest.approx(weights.ravel() @ matrix @ weights.ravel() / 2)
    np.testing.assert_allclose(found.diagonal(), matrix.diagonal(), atol=1e-12)
    half = found.draws(np.eye(free.size))
    np.testing.assert_allclose(half @ half.T, matrix, atol=1e-10)
    told = random.uniform(0, 0.05, free.size)
    inverse = found.inverse_with(told)(np.eye(free.size))
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-10)
    assert (np.linalg.eigvalsh(inverse) > -1e-12).all()
    if form is FORMS[-1]:
        one = blocks[1].indices  # a list, which no bucket shares a mean with
        np.testing.assert_allclose(
            inverse[np.ix_(one, one)] @ (matrix + np.diag(told))[np.ix_(one, one)],
            np.eye(len(one)),
            atol=1e-9,
        )


@pytest.mark.parametrize("prior", [20.0, "auto", None])
@pytest.mark.parametrize("stages", [1, 2])
def test_fits_are_those_of_the_matrix(sample, monkeypatch, stages, prior):
    monkeypatch.setattr(prior_module, "FORMS", FORMS[-1:])
    found = []
    for form in (Matrix, Products):
        problem, near, matrix = problem_of(sample, stages), None, None
        if prior is not None:
            width = None if prior == "auto" else prior
            problem, near, matrix = empirical_prior(problem, PLACES, allowed(stages), width)
        weights = newton(problem, LearnerOptions(tolerance=1e-12), Record(), near, matrix)
        there = problem.datafit.curvature(weights)
        assert isinstance(there, form)
        null_space = find_null_space(problem, weights, there, PLACES)
        assert null_space.dimension == 2 * stages
        undecided = null_space.under(problem)
        assert undecided.dimension == (0 if prior else 2 * stages)
        weights = undecided.restore(problem, weights)
        found.append((problem, weights, standard_errors(problem, weights, there, undecided)))
        by_passes(monkeypatch)
    (problem, weights, errors), (other, others, sampled) = found
    assert (
        other.datafit.has_many_weights
        and isinstance(errors.noise, Full)
        and isinstance(sampled.noise, RandomVectors)
    )
    used = problem.free & (weights != 0)
    if prior != "auto":
        # the design effect is estimated from random vectors, too
        np.testing.assert_allclose(others[used], weights[used], atol=1.0 if prior else 1e-3)
    else:
        assert abs(others - weights)[used].max() < 0.2 * weights[used].std()
    ratio = (sampled.standard_errors / errors.standard_errors)[used]
    assert ratio.mean() == pytest.approx(1, abs=0.1 if prior == "auto" else 0.03)
    assert ratio.std() < 0.12


@pytest.mark.parametrize("stages", [1, 2])
def test_directions_of_sums_are_found_without_the_matrix(tmp_path, sample, monkeypatch, stages):
    """A table of which one number applies in every position is the intercept; two single numbers
    are the same; a number never applies. Fits keep what is open as those with a matrix do."""
    x = sample.coefficients.astype(np.int8)
    random = np.random.default_rng(1)
    x[:, :60] = 0
    x[np.arange(len(x)), random.integers(1, 60, len(x))] = 1
    x[:, 81] = x[:, 80]
    x[:, [70, 77]] = x[:, [62, 62]] * [2, -1]  # of the list
    data = write_sample(
        tmp_path / "data",
        x,
        sample.outcome,
        np.diff(sample.data.first),
        phase=random.integers(1, 24, len(x)),
        layout=Layout(PLACES),
    )
    start = random.normal(0, 20, (stages, COLUMNS + 1))
    problem = problem_of(data, stages, start=start)
    whole = find_null_space(problem, start, problem.datafit.curvature(start), PLACES)
    by_passes(monkeypatch)
    found = find_null_space(problem, start, problem.datafit.curvature(start), PLACES)
    assert found.dimension == whole.dimension == 6 * stages  # and number 61 of the list
    assert found.basis.shape[1] == 4 * stages
    np.testing.assert_allclose(whole.basis @ (whole.basis.T @ found.basis), found.basis, atol=1e-6)
    assert (found.loose == whole.loose).all()


@pytest.mark.parametrize("form", [FORMS[1], FORMS[2]])
def test_forms_are_found_without_the_matrix(tmp_path, monkeypatch, form):
    random = np.random.default_rng(7)
    places = (Place("a", "list", (60,), 0), Place("a", "table", (6, 10), 60))
    truth = np.zeros(120)
    for block in prior_blocks(places, np.ones((1, 120), bool), np.ones(120)):
        truth[block.indices] = 60 * block.root(form, random.normal(size=60))
    x = random.integers(-1, 2, (4000, 120)).astype(np.int8) * (random.random((4000, 120)) < 0.2)
    outcome = np.where(random.random(4000) < chances(x @ truth, SCALE), 1.0, -1.0)
    data = write_sample(tmp_path / "data", x, outcome, np.ones(4000, int), layout=Layout(places))
    free = np.ones((1, 121), bool)
    free[:, -1] = False
    dense, *_ = empirical_prior(problem_of(data, 1), places, free)
    by_passes(monkeypatch)
    problem, *_ = empirical_prior(problem_of(data, 1), places, free)
    for _, found in problem.penalty.widths:
        assert (found.near > 0) == (form.near > 0)
    ratio = problem.penalty.diagonal()[:-1] / dense.penalty.diagonal()[:-1]
    np.testing.assert_allclose(ratio, 1, atol=0.3)


def test_draws_are_taken_for_their_covariance():
    random = np.random.default_rng(2)
    vectors, rows = random.normal(size=(4000, 5)) * [1, 2, 3, 4, 5], random.normal(size=(50, 5))
    draws, full = RandomVectors(vectors, 4000), Full(vectors.T @ vectors / 4000)
    for centred in (False, True):
        assert draws.of(rows, centred) == pytest.approx(full.of(rows, centred))
    assert draws.freedom(rows) == pytest.approx(full.freedom(rows), rel=0.01)
    few = RandomVectors(vectors[:50], 50)
    assert few.freedom(rows) == pytest.approx(full.freedom(rows), rel=0.2)
    factors = np.array([1.0, 0, 2, 1, 3])
    np.testing.assert_allclose(draws.scaled(factors).variances, full.scaled(factors).variances)
    assert not draws.unknown and RandomVectors(vectors * np.nan, 4000).unknown


def test_columns_beyond_16_bits(tmp_path):
    """A fit of 70,000 weights, of which 30 are counted, and the same dataset with 30 columns."""
    random = np.random.default_rng(8)
    x = random.integers(-1, 2, (600, 30)).astype(np.float32)
    outcome = np.where(random.random(600) < chances(x @ random.normal(0, 60, 30), SCALE), 1.0, -1.0)
    weights = []
    for size, step in ((70_000, 2300), (30, 1)):
        of, index = np.nonzero(x)
        row = np.append(0, np.cumsum(np.bincount(of, minlength=600)))
        layout, nan = Layout((Place("rows", "w", (size,), 0),)), np.full(600, np.nan, np.float32)
        with WideWriter(tmp_path / str(size), size) as writer:
            writer.add_rows(
                Rows(index * step, x[of, index], row, np.full(600, 24), outcome),
                np.ones(600),
                nan,
                nan,
                None,
            )
            names = np.arange(600, dtype=np.uint64)
            writer.add_games(np.arange(600), names, names)
            writer.finish(
                {
                    "program": "evaltune test",
                    "game": "chess",
                    "sources": [{"file": "none", "sha256": "-"}],
                    "options": {},
                    "layout": layout.describe(),
                    "terms": "rows",
                    "phases": 24,
                    "stages": ["all"],
                }
            )
        data = open_dataset(tmp_path / str(size))
        assert data.index.dtype == (np.uint32 if size > 30 else np.uint16)
        start = zeros("chess", layout, ("all",), 24)
        result = fit(
            data, start, FitOptions(prior=None, fit_scale=False, held_out=0.0), note=lambda _: None
        )
        assert (result.uncertainty.draws > 0) == (size > 30)
        weights.append(result.weights[0, :size][::step][:30])
        assert not size > 30 or np.count_nonzero(result.weights) == 31
    np.testing.assert_allclose(weights[0], weights[1], atol=0.05)


def test_errors_that_are_unknown_come_from_no_random_vectors(tmp_path, monkeypatch):
    """More weights than games, without a prior."""
    given, _ = random_sample(tmp_path / "data", seed=4, games=40, columns=60, length=40)
    by_passes(monkeypatch)
    problem = problem_of(given, 1)
    there = problem.datafit.curvature(problem.start)
    null_space = find_null_space(problem, problem.start, there, given.layout.places)
    found = standard_errors(problem, problem.start, there, null_space)
    assert np.isnan(found.standard_errors).all() and found.covariance.unknown
    assert found.draws == 0 and np.isnan(found.noise.of(np.ones((3, 61))))
    assert np.isnan(found.noise.freedom(np.eye(61)))


@pytest.mark.parametrize("told", [[2.0, 1.0, 3.0, 0.0, 0.0], [0.0] * 5, [0.0, 0.0, 4.0, 0.0, 1.0]])
def test_the_root_of_a_band_is_that_of_the_matrix_where_the_loss_tells_nothing(told):
    root = Root(np.array([[2.0] * 5, [0.5] * 5]), True)
    lower = root.lower.toarray()
    wanted = np.eye(5) + lower.T @ np.diag(told) @ lower
    half = banded_root(root, np.array(told)).solve(np.eye(5))
    np.testing.assert_allclose(half.T @ half, np.linalg.inv(wanted), rtol=1e-10, atol=1e-12)
