"""The null space: as many directions as NumPy finds, and fixed so that no evaluation changes."""

import numpy as np
import pytest
from scipy import linalg, optimize

from tests.tuner.support import PHASES, learn, problem_of, write_sample
from tuner.datasets.dataset import ranges_of
from tuner.fit.null_space import find_null_space, null_basis
from tuner.fit.setup import FitOptions, make_problem
from tuner.parameters.parameters import Layout, Place

# a man has a value, and more or less on each square; a list counts by rank what a table does
PLACES = (
    Place("material", "man", (), 0),
    Place("material", "king", (), 1),
    Place("squares", "man", (3, 3), 2),
    Place("squares", "king", (3, 3), 11),
    Place("rank", "man", (4,), 20),
    Place("side", "tempo", (), 24),
)
SQUARES = 9


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Boards of three by three: one king a side and 0 to 3 men; rank 3 of the list never
    applies."""
    random = np.random.default_rng(1)
    n = 1200
    x = np.zeros((n, 25), np.int8)
    for row in x:
        for sign in (1, -1):
            men = random.choice(
                SQUARES, random.integers(0, 4), replace=False, p=np.arange(1, 10) / 45
            )
            row[0] += sign * len(men)
            row[2 + men] += sign
            np.add.at(row, 20 + men // 3, sign)
            row[11 + random.choice(SQUARES)] += sign
        row[24] = random.choice([-1, 1])
    chance = 1 / (1 + np.exp(-0.5 * x[:, 0] - 0.1 * x[:, 2:11] @ np.arange(-4, 5)))
    outcome = np.where(random.random(n) < chance, 1.0, -1.0)
    return write_sample(
        tmp_path_factory.mktemp("null_space") / "data",
        x,
        outcome,
        np.full(n // 10, 10),
        phase=random.integers(0, PHASES + 1, n),
        layout=Layout(PLACES),
    )


def null_space_of(problem, weights):
    return find_null_space(problem, weights, problem.datafit.curvature(weights), PLACES)


def start_weights(stages):
    return np.random.default_rng(2).normal(0, 30, (stages, 26))


def means(sample, stages, weights):
    """Mean of each list or table, each number counted as often as it applies, by stage: from the
    dense matrix."""
    first = sample.phase / PHASES
    shares = np.ones((1, len(first))) if stages == 1 else np.array([first, 1 - first])
    used = shares @ abs(sample.coefficients)
    return np.array(
        [
            (
                np.average(weights[:, p.columns], axis=1, weights=None)
                if p.size == 1
                else (weights[:, p.columns] * used[:, p.columns]).sum(axis=1)
                / used[:, p.columns].sum(axis=1)
            )
            for p in PLACES
            if p.size > 1
        ]
    )


@pytest.mark.parametrize("stages", [1, 2])
def test_there_are_as_many_directions_as_the_matrix_lacks_rank(sample, stages):
    problem = problem_of(sample, stages)
    null_space = null_space_of(problem, np.zeros((stages, 26)))
    design = sample.design(stages)
    # by stage: table of men, list of ranks, table of kings, the king that never counts by itself, a
    # rank that never applies
    assert null_space.dimension == design.shape[1] - np.linalg.matrix_rank(design)
    assert null_space.dimension == stages * (1 + 3 + 1 + 1 + 1)
    assert abs(design @ null_space.basis).max() < 1e-9
    expected = linalg.null_space(design)
    np.testing.assert_allclose(
        expected @ (expected.T @ null_space.basis), null_space.basis, atol=1e-9
    )


@pytest.mark.parametrize("stages", [1, 2])
def test_restoring_changes_no_evaluation_and_keeps_the_means_of_tables(sample, stages):
    start = start_weights(stages)
    problem = problem_of(sample, stages, start=start)
    weights, _ = learn(problem)
    random = np.random.default_rng(3)
    null_space = null_space_of(problem, weights)
    shifted = weights + (null_space.basis @ random.normal(0, 100, null_space.dimension)).reshape(
        weights.shape
    )
    for given in (weights, shifted):
        restored = null_space.restore(problem, given)
        design = sample.design(stages)
        np.testing.assert_allclose(
            design @ restored.ravel(), design @ given.ravel(), rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(restored, null_space.restore(problem, weights), atol=1e-6)
    before, after = (means(sample, stages, w) for w in (start, restored))
    # the ranks' three directions against the table's rows are held by least change; their mean is
    # part of it
    np.testing.assert_allclose(after, before, atol=1e-4)
    np.testing.assert_allclose(restored[:, [1, 23]], start[:, [1, 23]], atol=1e-9)


def test_restoring_keeps_within_bounds_and_still_changes_no_evaluation(sample):
    start = np.zeros((2, 26))
    free, _ = learn(problem_of(sample, 2, start=start))
    low, high = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    low[0, 0], high[0, 0], low[1, 2], high[1, 20] = 0, free[0, 0] / 4, 10, 5
    problem = problem_of(sample, 2, start=start, low=low, high=high)
    weights, _ = learn(problem)
    null_space = null_space_of(problem, weights)
    restored = null_space.restore(problem, weights)
    assert (restored >= low).all() and (restored <= high).all()
    design = sample.design(2)
    np.testing.assert_allclose(
        design @ restored.ravel(), design @ weights.ravel(), rtol=0, atol=1e-9
    )
    unbounded = null_space.restore(problem_of(sample, 2, start=start), weights)
    assert (unbounded < low).any() or (unbounded > high).any()


def test_fixed_numbers_leave_no_direction_that_would_move_them(sample):
    free = np.ones((2, 26), np.bool_)
    free[0, 2:11] = False
    problem = problem_of(sample, 2, free=free, start=start_weights(2))
    weights, _ = learn(problem)
    null_space = null_space_of(problem, weights)
    dense = sample.design(2)[:, free.ravel()]
    assert null_space.dimension == dense.shape[1] - np.linalg.matrix_rank(dense)
    assert (null_space.restore(problem, weights)[~free] == problem.start[~free]).all()


@pytest.mark.parametrize(("size", "rank"), [(1, 1), (1, 0), (5, 5), (5, 2), (5, 0), (0, 0)])
def test_a_null_basis_is_orthonormal_and_complete(size, rank):
    half = np.random.default_rng(size + rank).normal(size=(size, rank))
    basis = null_basis(half @ half.T)
    assert basis.shape == (size, size - rank)
    np.testing.assert_allclose(basis.T @ basis, np.eye(size - rank), atol=1e-12)
    np.testing.assert_allclose(half.T @ basis, 0, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("untapered", [True, False])
def test_chess_material_tables_and_tempo_lack_the_rank_that_numpy_says(chess, untapered):
    engine, parameters, data = chess(untapered)
    options = FitOptions(only=("material", "piece_square", "space.tempo"), intercept=False)
    games = np.arange(120)
    problem = make_problem(data, parameters, options, games, parameters.scale)
    # few games: at the optimum some positions would be certain, without information
    weights, _ = learn(problem, iterations=2)
    curvature = problem.datafit.curvature(problem.start)
    null_space = find_null_space(problem, problem.start, curvature, engine.layout.places)

    low, high = ranges_of(data, games)[0]
    rows = np.repeat(np.arange(low, high), np.diff(data.row[low : high + 1]))
    dense = np.zeros((high - low, engine.layout.size))
    dense[rows, data.index[data.row[low] : data.row[high]]] = data.count[
        data.row[low] : data.row[high]
    ]
    share = (data.phase[low:high] / engine.phases)[:, None]
    chosen = parameters.mask(options.only)[0]
    dense = (
        dense[:, chosen]
        if untapered
        else np.hstack([share * dense[:, chosen], (1 - share) * dense[:, chosen]])
    )
    assert chosen.sum() == 390
    # 16 squares without pawns, five pieces against their tables, and the king's table
    lacking = dense.shape[1] - np.linalg.matrix_rank(dense)
    assert lacking >= (22 if untapered else 44)
    assert null_space.dimension == lacking

    restored = null_space.restore(problem, weights)
    np.testing.assert_allclose(
        dense @ (restored - weights)[:, :-1][:, chosen].ravel(), 0, atol=1e-7
    )
    used = problem.datafit.shares @ problem.datafit.use[1]
    for place in engine.layout.places:
        if place.term == "piece_square":
            before, after = (
                (w[:, place.columns] * used[:, place.columns]).sum(axis=1)
                / used[:, place.columns].sum(axis=1)
                for w in (parameters.weights, restored)
            )
            np.testing.assert_allclose(after, before, atol=1e-3)


@pytest.mark.parametrize("stages", [1, 2])
@pytest.mark.parametrize("what", ["all", "the man", "the table", "the rank"])
def test_directions_that_the_prior_decides_are_those_of_a_dense_solution(sample, stages, what):
    """In weights, not in evaluations alone; what prior and data leave open keeps its means."""
    start, columns = start_weights(stages), {"the man": [0], "the table": range(2, 11)}
    precision = np.zeros(start.shape)
    chosen = list(columns.get(what, range(25) if what == "all" else range(20, 24)))
    precision[:, chosen] = 1e-5 if what == "all" else 1.0
    problem = problem_of(sample, stages, start=start, precision=precision)
    weights, _ = learn(problem)
    undecided = null_space_of(problem, weights).under(problem)
    found = undecided.restore(problem, weights)
    assert (undecided.dimension == 0) == (what == "all")
    design, outcome = sample.design(stages), np.asarray(problem.datafit.data.outcome, float)

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        logit, shift = (
            2 * problem.datafit.scale * (design @ w),
            (w - start.ravel()) * precision.ravel(),
        )
        gradient = -2 * problem.datafit.scale * (outcome / (1 + np.exp(outcome * logit))) @ design
        loss = np.logaddexp(0, -outcome * logit).mean()
        return loss + 0.5 * shift @ (w - start.ravel()), gradient / len(outcome) + shift

    best = optimize.minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", tol=1e-14, options={"maxiter": 5000}
    )
    assert objective(found.ravel())[0] <= best.fun + 1e-7
    dense = best.x.reshape(found.shape)
    np.testing.assert_allclose(design @ dense.ravel(), design @ found.ravel(), atol=0.5)
    if what == "all":
        np.testing.assert_allclose(found[:, :25], dense[:, :25], atol=0.5)
    else:
        np.testing.assert_allclose(found[:, chosen], start[:, chosen], atol=0.5)
