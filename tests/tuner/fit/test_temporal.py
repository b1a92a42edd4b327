"""TD(lambda) solved: against regression by squared error, against descent, and against its own
derivatives."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.tuner.support import LAYOUT, PHASES, SCALE, write_sample
from tuner.fit.errors import standard_errors
from tuner.fit.fit import fit
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import lbfgs
from tuner.fit.learners.solvers import newton_of_equation as newton
from tuner.fit.null_space import find_null_space
from tuner.fit.setup import FitOptions, make_problem
from tuner.fit.temporal import Temporal
from tuner.objectives.temporal import TemporalData, differences, errors
from tuner.parameters.parameters import Parameters


def walk(
    folder, lambda_: float, games: int = 60, seed: int = 3, loss: str = "mse", known: float = 0.0
):
    """Games whose counts are random walks and whose results depend on them."""
    rng = np.random.default_rng(seed)
    lengths, rows, outcomes, phases = rng.integers(3, 40, games), [], [], []
    truth = rng.normal(0, 60, LAYOUT.size)
    for n in lengths:
        counts = np.clip(np.cumsum(rng.integers(-1, 2, (n, LAYOUT.size)), axis=0), -6, 6)
        rows.append(counts)
        p = 1 / (1 + np.exp(-2 * SCALE * counts[-1] @ truth))
        outcomes.append(np.full(n, 1.0 if rng.random() < p else -1.0))
        phases.append(np.linspace(PHASES, 2, n).round())
    sample = write_sample(
        folder / "data",
        np.concatenate(rows),
        np.concatenate(outcomes),
        lengths,
        phase=np.concatenate(phases),
        layout=LAYOUT,
    )
    parameters = Parameters("test", LAYOUT, ("mg", "eg"), np.zeros((2, LAYOUT.size)), SCALE)
    n = int(lengths.sum())
    values = np.where(rng.random(n) < known, rng.choice([-1.0, 0.0, 1.0], n), np.nan)
    decay = lambda_ ** rng.integers(1, 4, n) if lambda_ < 1 else np.ones(n)
    datafit = partial(Temporal, temporal=TemporalData(decay, values))
    options = FitOptions(loss=loss, prior=None, intercept=False, datafit=datafit)
    return sample, make_problem(sample.data, parameters, options, np.arange(games), SCALE)


def errors_at(temporal, weights) -> np.ndarray:
    """Standard errors (stages, columns + 1)."""
    datafit = temporal.datafit
    null_space = find_null_space(temporal, weights, datafit.curvature(weights), LAYOUT.places)
    return standard_errors(temporal, weights, datafit.slope(weights), null_space).standard_errors


def plain_equation(sample, temporal, weights) -> np.ndarray:
    """The sum of c dv/dw, game by game, from dense matrices; per position."""
    extra, total, design = (
        temporal.datafit.temporal,
        np.zeros(temporal.start.size),
        sample.design(2),
    )
    for low, high in temporal.datafit.whole_games:
        x, known = design[low:high], extra.known[low:high]
        v = np.tanh(SCALE * x @ weights.ravel())
        slope = np.where(np.isnan(known), SCALE * (1 - v**2), 0)
        v = np.where(np.isnan(known), v, known)
        total += x.T @ (slope * errors(differences(v, sample.outcome[low]), extra.decay[low:high]))
    return total / len(sample.outcome)


@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_the_equation_and_its_derivative(tmp_path, lambda_):
    sample, temporal = walk(tmp_path, lambda_, games=20, known=0.1)
    rng = np.random.default_rng(1)
    weights = rng.normal(0, 40, temporal.start.shape)
    found = -temporal.datafit.residual(weights)[1].ravel()
    assert np.abs(found - plain_equation(sample, temporal, weights)).max() < 1e-12
    matrix = temporal.datafit.slope(weights).matrix
    for direction in rng.normal(size=(5, *weights.shape)):
        difference = (
            plain_equation(sample, temporal, weights + 1e-3 * direction)
            - plain_equation(sample, temporal, weights - 1e-3 * direction)
        ) / 2e-3
        assert (
            np.abs(difference + matrix @ direction.ravel()).max()
            < 1e-7 * np.abs(difference).max() + 1e-12
        )


def test_lambda_one_is_the_regression_by_squared_error(tmp_path):
    _, temporal = walk(tmp_path, 1.0)
    found = newton(temporal, LearnerOptions(tolerance=1e-13), Record())
    record = Record()
    regression = replace(temporal, datafit=temporal.datafit.regression)
    wanted = lbfgs(regression, LearnerOptions(tolerance=1e-15, iterations=5000), record)
    loss = temporal.datafit.loss
    assert abs(loss(found) - loss(wanted)) < 1e-8 * loss(wanted)
    assert np.abs(temporal.residual(found)[1]).max() < 1e-10


@pytest.mark.parametrize(
    "lambda_",
    [pytest.param(0.0, marks=pytest.mark.long), 0.5, pytest.param(0.9, marks=pytest.mark.long)],
)
def test_descent_by_td_reaches_the_solution(tmp_path, lambda_):
    _, temporal = walk(tmp_path, lambda_, games=300)
    solved = newton(temporal, LearnerOptions(), Record())
    learned = LEARNERS["adam"].solve(
        temporal, LearnerOptions(iterations=400, learning_rate=3.0, final_rate=1e-4), Record()
    )
    chosen = temporal.free
    assert np.linalg.norm((learned - solved)[chosen]) < 0.03 * np.linalg.norm(solved[chosen])


def test_lambda_changes_the_solution_and_its_errors(tmp_path):
    spread = {}
    for lambda_ in (0.7, 1.0):
        _, temporal = walk(tmp_path / str(lambda_), lambda_, games=400)
        weights = newton(temporal, LearnerOptions(), Record())
        spread[lambda_] = errors_at(temporal, weights)[:, :-1]
    assert np.median(spread[0.7] / spread[1.0]) < 0.9  # METHODS C1: about 0.6 on real games


def test_some_games_are_held_out_and_the_rest_is_learned_from(tmp_path):
    sample, temporal = walk(tmp_path, 0.7)
    parameters = Parameters("test", LAYOUT, ("mg", "eg"), np.zeros((2, LAYOUT.size)), SCALE)
    datafit = partial(Temporal, temporal=temporal.datafit.temporal)
    options = FitOptions(prior=None, held_out=0.2, datafit=datafit)
    found = fit(sample.data, parameters, options)
    held, learned = set(found.held_out.games), set(found.problem.datafit.games)
    assert 0 < len(held) < 30 < len(learned) and held | learned == set(range(60))
    none = fit(sample.data, parameters, replace(options, held_out=0.0))
    assert none.held_out is None and len(none.problem.datafit.games) == 60
