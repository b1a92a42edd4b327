"""Loss, derivatives and scores of a problem, compared with dense NumPy and with finite
differences."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from tests.tuner.support import (
    LAYOUT,
    PHASES,
    SCALE,
    dense_loss,
    game_scores,
    losses,
    problem_of,
    random_coefficients,
    write_sample,
)
from tuner.datasets.dataset import blocks, ranges_of
from tuner.fit.device import base as module
from tuner.fit.device.cpu import sums
from tuner.fit.device.cpu.device import Cpu
from tuner.objectives.table import OBJECTIVES

COLUMNS, GAMES = LAYOUT.size, 150
TWO_OUTCOMES = ["cross-entropy", "mse"]
KINDS = pytest.mark.parametrize(
    ("objective", "stages"), list(itertools.product(TWO_OUTCOMES, (1, 2)))
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Games of 0 to 29 positions (one has 1500), some with two entries, with fractional outcomes
    and uneven weights."""
    random = np.random.default_rng(1)
    lengths = random.integers(0, 30, GAMES)
    lengths[40], lengths[-1] = 1500, 0
    identities = np.where(np.arange(GAMES) % 10 == 3, 5, np.arange(GAMES))
    n = int(lengths.sum())
    return write_sample(
        tmp_path_factory.mktemp("problem") / "data",
        random_coefficients(random, n, COLUMNS),
        random.choice([-1, -0.5, 0, 1], n),
        lengths,
        phase=random.integers(0, PHASES + 1, n),
        weight=random.choice([1, 1, 0.25, 3], n),
        layout=LAYOUT,
        identities=identities,
    )


@pytest.fixture
def weights(request):
    stages = request.node.callspec.params.get("stages", 2)
    return np.random.default_rng(2).normal(0, 60, (stages, COLUMNS + 1))


@pytest.fixture
def small_blocks(monkeypatch):
    """Passes that read few positions at a time and release their memory."""
    monkeypatch.setattr(sums, "BLOCK", 700)
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(blocks, "__defaults__", (700,))


def some_games(sample):
    """Games with gaps between them, and a mask of their positions."""
    games = np.flatnonzero(np.random.default_rng(3).random(GAMES) < 0.6)
    chosen = np.zeros(len(sample.phase), np.bool_)
    for low, high in ranges_of(sample.data, games):
        chosen[low:high] = True
    return games, chosen


def slopes(sample, objective, weights):
    """dLoss/de and the curvature of each position, from finite differences of the loss in extended
    precision."""
    e = (sample.design(len(weights)) @ weights.ravel()).astype(np.longdouble)
    q, h = (1 + sample.outcome) / 2, np.longdouble(1e-4)

    def p(evaluation):
        return 1 / (1 + np.exp(-2 * SCALE * evaluation))

    first = (losses(objective, p(e + h), q) - losses(objective, p(e - h), q)) / (2 * h)
    slope = (p(e + h) - p(e - h)) / (2 * h)
    # Gauss-Newton: the curvature of the loss in p times the squared slope of p; for cross-entropy
    # the whole of it
    second = 2 * slope**2 if objective == "mse" else slope**2 / (p(e) * (1 - p(e)))
    return first.astype(np.float64), second.astype(np.float64)


@KINDS
def test_loss_is_the_mean_by_definition(sample, weights, objective, stages, small_blocks):
    games, chosen = some_games(sample)
    assert problem_of(sample, stages, objective).datafit.loss(weights) == pytest.approx(
        dense_loss(sample, objective, weights), rel=1e-12
    )
    part = problem_of(sample, stages, objective, games=games).datafit
    assert part.loss(weights) == pytest.approx(
        dense_loss(sample, objective, weights, chosen=chosen), rel=1e-12
    )


@pytest.mark.parametrize("objective", TWO_OUTCOMES)
@pytest.mark.parametrize("factor", [1, 1e3, 1e6])
def test_loss_and_gradient_stay_finite_however_large_the_evaluation(sample, objective, factor):
    weights = factor * np.random.default_rng(2).normal(0, 60, (2, COLUMNS + 1))
    loss, gradient = problem_of(sample, 2, objective).datafit.loss_gradient(weights)
    expected = OBJECTIVES[objective].loss(
        SCALE, sample.design(2) @ weights.ravel(), 0.0, sample.outcome
    )
    assert loss == pytest.approx(np.average(expected, weights=sample.weight), rel=1e-9)
    assert np.isfinite(gradient).all()


@KINDS
def test_gradient_is_that_of_the_dense_loss(sample, weights, objective, stages, small_blocks):
    residual, _ = slopes(sample, objective, weights)
    for games, chosen in (
        (np.arange(GAMES), np.ones(len(sample.phase), np.bool_)),
        some_games(sample),
    ):
        _, gradient = problem_of(sample, stages, objective, games=games).datafit.loss_gradient(
            weights
        )
        mass = sample.weight * chosen
        expected = sample.design(stages).T @ (mass * residual) / mass.sum()
        np.testing.assert_allclose(
            gradient.ravel(), expected, rtol=0, atol=1e-8 * abs(expected).max()
        )


@KINDS
def test_gradient_over_some_ranges_is_that_of_their_positions(sample, weights, objective, stages):
    games, chosen = some_games(sample)
    loss, gradient = problem_of(sample, stages, objective).datafit.loss_gradient(
        weights, ranges_of(sample.data, games)
    )
    part = problem_of(sample, stages, objective, games=games).datafit
    assert loss == pytest.approx(dense_loss(sample, objective, weights, chosen=chosen), rel=1e-12)
    np.testing.assert_allclose(gradient, part.loss_gradient(weights)[1], rtol=1e-12)


@KINDS
def test_gauss_newton_is_the_dense_matrix(sample, weights, objective, stages, small_blocks):
    games, chosen = some_games(sample)
    _, curvature = slopes(sample, objective, weights)
    design, mass = sample.design(stages), sample.weight * chosen
    expected = design.T @ (design * (mass * curvature)[:, None]) / mass.sum()
    close = {"rtol": 0, "atol": 1e-7 * abs(expected).max()}
    np.testing.assert_allclose(
        problem_of(sample, stages, objective, games=games).datafit.gauss_newton(weights),
        expected,
        **close,
    )
    of_ranges = problem_of(sample, stages, objective).datafit.gauss_newton(
        weights, ranges_of(sample.data, games)
    )
    np.testing.assert_allclose(of_ranges, expected, **close)


@pytest.mark.parametrize("stages", [1, 2])
def test_gauss_newton_of_cross_entropy_is_its_hessian(sample, weights, stages):
    problem = problem_of(sample, stages)
    matrix, step, flat = problem.datafit.gauss_newton(weights), 1e-3, weights.ravel()
    for i in np.random.default_rng(4).permutation(len(flat))[:6]:
        above, below = (
            problem.datafit.loss_gradient(
                (flat + sign * step * (np.arange(len(flat)) == i)).reshape(weights.shape)
            )[1]
            for sign in (1, -1)
        )
        np.testing.assert_allclose(
            (above - below).ravel() / (2 * step), matrix[i], rtol=0, atol=1e-7 * abs(matrix).max()
        )


@KINDS
def test_scores_are_the_gradients_of_the_summed_loss_of_each_game(
    sample, weights, objective, stages, small_blocks, monkeypatch
):
    residual, _ = slopes(sample, objective, weights)
    design = sample.design(stages) * (sample.weight * residual)[:, None]
    names = list(dict.fromkeys(sample.data.game.tolist()))  # in the order in which they come
    expected = np.array([design[sample.group == name].sum(axis=0) for name in names])
    for most in (256, 7):
        monkeypatch.setattr(sums, "GROUPS", most)
        found = game_scores(problem_of(sample, stages, objective), weights)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * abs(expected).max())


@pytest.mark.parametrize("stages", [1, 2])
def test_evaluations_are_coefficients_times_weights(sample, weights, stages, small_blocks):
    games, chosen = some_games(sample)
    found = problem_of(sample, stages).datafit.evaluations(weights, ranges_of(sample.data, games))
    np.testing.assert_allclose(
        found, sample.design(stages)[chosen] @ weights.ravel(), rtol=0, atol=1e-9
    )


def test_the_prior_is_a_parabola_round_its_mean(sample):
    random = np.random.default_rng(5)
    mean, precision, weights = (random.random((2, COLUMNS + 1)) for _ in range(3))
    problem = problem_of(sample, mean=mean, precision=precision)
    assert problem.penalty.value(weights) == pytest.approx(
        sum(
            p * (w - m) ** 2 / 2
            for p, w, m in zip(precision.ravel(), weights.ravel(), mean.ravel(), strict=True)
        )
    )
    expected = approx_fprime(
        weights.ravel(), lambda w: problem.penalty.value(w.reshape(weights.shape)), 1e-6
    )
    np.testing.assert_allclose(problem.penalty.gradient(weights).ravel(), expected, atol=1e-6)


@pytest.mark.parametrize("stages", [1, 2])
def test_use_counts_positions_and_absolute_counts_by_phase(sample, stages):
    games, chosen = some_games(sample)
    positions, total = problem_of(sample, stages, games=games).datafit.use
    for phase in range(PHASES + 1):
        rows = sample.coefficients[chosen & (sample.phase == phase)]
        assert (positions[phase] == (rows != 0).sum(axis=0)).all()
        assert (total[phase] == abs(rows).sum(axis=0)).all()


@pytest.mark.parametrize("seed", range(20))
def test_blocks_hold_every_position_once_and_span_no_more_than_they_may(seed):
    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, 200, 2 * random.integers(1, 12)))  # some ranges are empty
    ranges, size = ends.reshape(-1, 2), int(random.integers(1, 60))
    found = list(blocks(ranges, size))
    assert [i for piece in found for low, high in piece for i in range(low, high)] == [
        i for low, high in ranges for i in range(low, high)
    ]
    assert all(
        piece[-1, 1] - piece[0, 0] <= size and (piece[:, 0] < piece[:, 1]).all() for piece in found
    )


@KINDS
def test_the_number_of_threads_changes_no_bit(sample, weights, objective, stages, small_blocks):
    one, three = (
        problem_of(sample, stages, objective, device=Cpu(workers)).datafit for workers in (1, 3)
    )
    assert one.loss_gradient(weights)[0] == three.loss_gradient(weights)[0]
    assert (one.loss_gradient(weights)[1] == three.loss_gradient(weights)[1]).all()
    assert (one.gauss_newton(weights) == three.gauss_newton(weights)).all()


def test_a_loss_asked_for_again_takes_no_pass(sample, monkeypatch):
    problem = problem_of(sample)
    weights = np.ones(problem.start.shape)
    first, other = problem.datafit.loss(weights), problem.datafit.loss(2 * weights)
    assert other != first
    monkeypatch.setattr(Cpu, "loss_gradient", lambda *given: pytest.fail("a pass"))
    assert (
        problem.datafit.loss(weights.copy()) == first and problem.datafit.loss(2 * weights) == other
    )
