"""Passes by finite differences: against analytic ones, a naive loop and Taylor's formula; and what
is not linear."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.tuner.support import PHASES, SCALE, datafit_of, random_sample, temporal_of
from tuner.fit.device.cpu.device import Cpu
from tuner.fit.device.differences import Differences
from tuner.objectives.temporal import TemporalData

COLUMNS = 5
KINDS = pytest.mark.parametrize(
    ("objective", "stages"), [("cross-entropy", 1), ("cross-entropy", 2), ("mse", 2)]
)


@dataclass
class Dense:
    """An evaluation of rows of counts, which positions (n, 1) name: linear, or with squares of the
    first column's part."""

    counts: np.ndarray
    phase: np.ndarray
    curved: bool = False

    def values(self, positions, weights):
        chosen = positions[:, 0].astype(int)
        first = self.phase[chosen] / PHASES if len(weights) == 2 else np.ones(len(chosen))
        total = np.zeros(len(chosen))
        for share, line in zip((first, 1 - first), weights, strict=False):
            parts = self.counts[chosen] * line
            if self.curved:
                parts[:, 0] *= np.abs(parts[:, 0]) / 50
            total += share * parts.sum(axis=1)
        return total

    def changes(self, positions, index, ends, weights, step):
        of = np.repeat(np.arange(len(positions)), np.diff(ends, prepend=0))
        here, found = self.values(positions, weights), np.zeros((len(index), len(weights), 2))
        for column in np.unique(index):
            some = index == column
            for stage in range(len(weights)):
                for side, sign in enumerate((1, -1)):
                    moved = weights.copy()
                    moved[stage, column] += sign * step
                    found[some, stage, side] = (
                        self.values(positions[of[some]], moved) - here[of[some]]
                    )
        return found


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Few games: every weight is moved in every position by itself."""
    return random_sample(
        tmp_path_factory.mktemp("differences") / "data", seed=4, games=40, columns=COLUMNS
    )[0]


def by_differences(problem, sample, step=0.01, central=True, curved=False, workers=1):
    """The same, with its passes by differences."""
    positions = np.arange(len(sample.phase), dtype=np.uint64)[:, None]
    return replace(
        problem,
        device=Differences(
            workers,
            evaluator=Dense(sample.coefficients, sample.phase.astype(float), curved),
            positions=positions,
            step=step,
            central=central,
        ),
    )


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(8).normal(0, 80, (2, COLUMNS + 1))


@KINDS
def test_all_passes_over_something_linear_are_the_analytic_ones(sample, weights, objective, stages):
    problem, w = datafit_of(sample, stages, objective), weights[:stages]
    moved = by_differences(problem, sample)
    loss, gradient = problem.loss_gradient(w)
    assert moved.loss_gradient(w)[0] == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(
        moved.loss_gradient(w)[1], gradient, rtol=0, atol=1e-6 * np.abs(gradient).max()
    )
    chosen = np.arange(w.size)
    for one in (
        lambda p: p.gauss_newton(w),
        lambda p: p.score_products(w, chosen),
        lambda p: p.score_squares(w),
        lambda p: p.evaluations(w, p.ranges[:1]),
    ):
        np.testing.assert_allclose(
            one(moved), one(problem), rtol=0, atol=1e-6 * np.abs(one(problem)).max()
        )


@KINDS
@pytest.mark.parametrize("central", [False, True], ids=["forward", "central"])
@pytest.mark.parametrize("curved", [False, True])
def test_differences_are_those_of_a_naive_loop(sample, weights, objective, stages, central, curved):
    """One weight moved at a time, the whole loss computed anew: as Homan (forward) and Coulom
    (central) wrote it."""
    w, step = weights[:stages], 2.0
    problem = by_differences(datafit_of(sample, stages, objective), sample, step, central, curved)
    expected, moved = np.zeros(w.shape), w.copy()
    for place in np.ndindex(*w.shape):
        moved[place] = w[place] + step
        above = problem.loss_gradient(moved)[0]
        moved[place] = w[place] - step if central else w[place]
        expected[place] = (above - problem.loss_gradient(moved)[0]) / (
            2 * step if central else step
        )
        moved[place] = w[place]
    np.testing.assert_allclose(problem.loss_gradient(w)[1], expected, rtol=0, atol=1e-10)


@KINDS
def test_a_forward_difference_has_the_bias_of_theory(sample, weights, objective, stages):
    """h L'' / 2 (Taylor), for L the loss as a function of one weight."""
    w, small = weights[:stages], 1e-3
    problem = datafit_of(sample, stages, objective)
    gradient = problem.loss_gradient(w)[1]
    second = np.zeros(w.shape)
    for place in np.ndindex(*w.shape):
        above, below = w.copy(), w.copy()
        above[place] += small
        below[place] -= small
        second[place] = (problem.loss_gradient(above)[1] - problem.loss_gradient(below)[1])[
            place
        ] / (2 * small)
    for step in (0.5, 1.0):
        bias = by_differences(problem, sample, step, central=False).loss_gradient(w)[1] - gradient
        np.testing.assert_allclose(
            bias, 0.5 * step * second, rtol=0, atol=0.02 * np.abs(0.5 * step * second).max()
        )


@pytest.fixture(scope="module", params=[0.0, 0.7, 1.0])
def extra(request, sample):
    random = np.random.default_rng(3)
    n = len(sample.phase)
    return TemporalData(
        request.param ** random.integers(1, 4, n), np.where(random.random(n) < 0.2, 0.0, np.nan)
    )


def test_temporal_passes_over_something_linear_are_the_analytic_ones(sample, weights, extra):
    problem = datafit_of(sample, 2)
    one, other = (temporal_of(p, extra) for p in (problem, by_differences(problem, sample)))
    games, chosen = problem.whole_games, np.arange(weights.size)
    for found in (
        lambda p: p.residual(weights, games)[1],
        lambda p: p.slope(weights).matrix,
        lambda p: p.slope(weights, games).matrix,
        lambda p: p.score_products(weights, chosen),
    ):
        np.testing.assert_allclose(
            found(other), found(one), rtol=0, atol=1e-6 * np.abs(found(one)).max()
        )
    assert other.residual(weights)[0] == pytest.approx(one.residual(weights)[0], rel=1e-12)


def test_a_forward_difference_of_values_has_the_bias_of_theory(sample, weights, extra):
    """Under TD(lambda) the sum of c (v' + h v'' / 2): v'' = -2 scale v v' x for v = tanh(scale * x
    w)."""
    problem, step = datafit_of(sample, 2), 1.0
    moved, plain = (
        temporal_of(p, extra)
        for p in (by_differences(problem, sample, step, central=False), problem)
    )
    games = problem.whole_games
    x = sample.design(2)
    v = np.tanh(SCALE * x @ weights.ravel())
    known = np.isnan(extra.known)
    # c of each position, from the equation of weights that touch one position alone, is the scan's:
    # compute it plainly
    c = np.zeros(len(v))
    for low, high in games:
        later, following = 0.0, sample.outcome[high - 1]
        for t in range(high - 1, low - 1, -1):
            value = v[t] if known[t] else extra.known[t]
            later = following - value + extra.decay[t] * later
            c[t], following = later, value
    bias = 0.5 * step * x**2 * (-2 * SCALE**2 * v * (1 - v**2))[:, None]
    expected = ((c * known)[:, None] * bias).sum(axis=0)
    found = (plain.residual(weights)[1] - moved.residual(weights)[1]).ravel() * problem.positions
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02 * np.abs(expected).max())


def test_a_step_away_from_what_is_not_linear_the_gradient_is_that_of_the_whole(sample, weights):
    from scipy.optimize import approx_fprime

    problem = by_differences(datafit_of(sample, 2), sample, curved=True)
    gradient = problem.loss_gradient(weights)[1]
    expected = approx_fprime(
        weights.ravel(), lambda w: problem.loss_gradient(w.reshape(weights.shape))[0], 1e-4
    )
    np.testing.assert_allclose(
        gradient.ravel(), expected, rtol=0, atol=1e-5 * np.abs(gradient).max()
    )
    linear = datafit_of(sample, 2).loss_gradient(weights)[1]
    assert np.abs(gradient - linear).max() > 0.1 * np.abs(linear).max()


def test_only_free_weights_are_moved(sample, weights):
    free = np.ones(weights.shape, bool)
    free[:, 1:COLUMNS] = False
    whole, part = (
        by_differences(datafit_of(sample, 2, free=given), sample) for given in (True, free)
    )
    expected = whole.loss_gradient(weights)[1]
    np.testing.assert_allclose(part.loss_gradient(weights)[1][free], expected[free])
    assert not part.loss_gradient(weights)[1][~free].any() and expected[~free].any()


def test_the_number_of_threads_changes_no_bit(sample, weights, monkeypatch):
    monkeypatch.setattr("tuner.fit.device.differences.PIECE", 50)
    one, three = (
        by_differences(datafit_of(sample, 2), sample, workers=workers) for workers in (1, 3)
    )
    assert (one.loss_gradient(weights)[1] == three.loss_gradient(weights)[1]).all()
    assert (one.gauss_newton(weights) == three.gauss_newton(weights)).all()
    assert (
        isinstance(one.device, Cpu) and "central differences of 0.01 centipawns" in one.device.name
    )
