"""Passes over evaluations that are not linear: against differences, by themselves and by those of
the moved evaluation."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.evalterms.support import some_positions
from tests.support import refusal
from tests.tuner.fit.device.fake_gpu import needs_compiler, paper
from tests.tuner.support import by_passes, temporal_of
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows.formats import batches_of
from tuner.datasets.writing import DatasetWriter, merge, part
from tuner.evaluation.loading import load_engine
from tuner.fit.device.differences import Differences
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import newton
from tuner.fit.setup import FitOptions, make_problem
from tuner.objectives.temporal import TemporalData

GAMES, EACH = 30, 20
FREE = ("king_danger.*", "late_scale.*", "material.*")


def written(folder, engine, positions, outcome):
    """A dataset of games of EACH positions."""
    with DatasetWriter(folder) as writer:
        rows = engine.coefficients(positions)
        writer.add_positions(rows._replace(outcome=outcome.astype(np.float32)))
        first = np.arange(0, len(positions), EACH)
        names = np.arange(len(first), dtype=np.uint64) + 5
        writer.add_games(first, names, names)
        writer.finish(
            {
                "program": "evaltune 0",
                "game": "chess",
                "sources": [],
                "options": {},
                "layout": engine.layout.describe(),
                "terms": engine.composition.name,
                "apart": engine.composition.curved,
                "phases": engine.phases,
                "stages": list(engine.game.stages),
                "read": {},
            }
        )
    return open_dataset(folder)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The engine and parameters of `modern`, a dataset of random outcomes, and its positions."""
    engine, parameters = load_engine("modern")
    positions = some_positions("chess")[-GAMES * EACH :]
    outcome = np.random.default_rng(1).choice([-1, 0, 1], len(positions))
    return (
        engine,
        parameters,
        written(tmp_path_factory.mktemp("linearised") / "data", engine, positions, outcome),
        positions,
    )


def test_counts_of_both_players_are_subtracted_and_added(sample):
    engine, _, data, positions = sample
    inputs = engine.coefficients(positions).dense(len(engine.composition.form.column))
    second = engine.composition.form.column[data.columns :]
    assert (data.sums().toarray() == inputs[:, second] + inputs[:, data.columns :]).all()
    difference = inputs[:, : data.columns].copy()
    difference[:, second] -= inputs[:, data.columns :]
    assert (data.matrix().toarray() == difference).all()


@pytest.fixture(scope="module")
def problems(sample):
    """The same problem by analytic derivatives and by central differences, and weights to look
    at."""
    engine, parameters, data, positions = sample
    options = FitOptions(only=FREE, prior=None, device=engine.cpu(2))
    problem = make_problem(data, parameters, options, np.arange(GAMES), parameters.scale)
    weights, problem = problem.start.copy(), problem.datafit
    weights[:, -1] = 7.0, -3.0
    return (
        problem,
        replace(
            problem,
            device=Differences(2, evaluator=engine, positions=positions, step=0.001, central=True),
        ),
        weights,
    )


def test_gradient_is_that_of_differences(problems):
    problem, other, weights = problems
    (loss, gradient), (expected, by_steps) = (p.loss_gradient(weights) for p in (problem, other))
    assert loss == pytest.approx(expected, rel=1e-7)
    free = problem.free
    np.testing.assert_allclose(
        gradient[free], by_steps[free], rtol=1e-4, atol=2e-6 * np.abs(gradient[free]).max()
    )
    assert np.count_nonzero(gradient[free]) > 60


def test_gauss_newton_scores_and_products_are_those_of_differences(problems):
    problem, other, weights = problems
    free = np.flatnonzero(problem.free.ravel())
    found, expected = (p.gauss_newton(weights)[np.ix_(free, free)] for p in (problem, other))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    found, expected = (p.score_products(weights, free) for p in (problem, other))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    found, expected = (p.score_squares(weights)[free] for p in (problem, other))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_td_errors_and_their_matrix_are_those_of_differences(problems):
    problem, other, weights = problems
    n, free = problem.data.positions, np.flatnonzero(problem.free.ravel())
    extra = TemporalData(np.full(n, 0.7), np.full(n, np.nan))
    one, two = (temporal_of(p, extra) for p in (problem, other))
    games = problem.whole_games
    for found, expected in zip(
        one.residual(weights, games), two.residual(weights, games), strict=True
    ):
        found, expected = (
            np.ravel(x)[free] if np.ndim(x) else np.asarray(x) for x in (found, expected)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    found, expected = (t.slope(weights, games).matrix[np.ix_(free, free)] for t in (one, two))
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-3 * np.abs(expected).max())


def test_evaluations_and_derivatives_of_single_positions(sample, problems):
    engine, _, data, positions = sample
    problem, by_differences, weights = problems
    shares = problem.shares[:, data.phase]
    expected = engine.values(positions, weights[:, :-1]) + weights[:, -1] @ shares
    np.testing.assert_allclose(
        problem.evaluations(weights, problem.ranges), expected, rtol=0, atol=1e-3
    )
    some = np.array([3, 77, 500])
    derivatives, other = (
        one.derivatives(weights, some).toarray().reshape(3, *weights.shape)[:, :, :-1]
        for one in (problem, by_differences)
    )
    free, column = problem.free[:, :-1], 700
    assert (derivatives[:, free] != 0).any()
    np.testing.assert_allclose(other[:, free], derivatives[:, free], rtol=1e-3, atol=1e-3)
    for stage in range(2):
        moved = weights[:, :-1].copy()
        moved[stage, column] += 1e-3
        steps = (
            engine.values(positions[some], moved) - engine.values(positions[some], weights[:, :-1])
        ) / 1e-3
        np.testing.assert_allclose(derivatives[:, stage, column], steps, rtol=1e-3, atol=1e-3)


def test_any_number_of_threads_gives_the_same_bits(sample, problems):
    engine, _, _, _ = sample
    problem, _, weights = problems
    results = [
        engine.cpu(workers).loss_gradient(problem, weights, problem.ranges) for workers in (1, 3)
    ]
    assert results[0][0] == results[1][0] and (results[0][1] == results[1][1]).all()


def test_planted_scales_are_found_again(tmp_path):
    engine, start = load_engine("modern")
    positions = np.repeat(some_positions("chess"), 6, axis=0)
    positions = positions[: len(positions) // EACH * EACH]
    truth = start.weights.copy()
    names = start.layout.labels()
    chosen = [names.index(f"late_scale.our_pawns[{n}]") for n in (2, 3, 4)]
    truth[:, chosen] = [[-30.0, 20.0, 10.0], [-50.0, 30.0, -20.0]]
    value = np.tanh(start.scale * engine.values(positions, truth))
    outcome = np.where(np.random.default_rng(2).random(len(positions)) < (1 + value) / 2, 1, -1)
    data = written(tmp_path / "data", engine, positions, outcome)
    only = tuple(f"late_scale.our_pawns[{n}]" for n in (2, 3, 4))
    options = FitOptions(only=only, prior=None, intercept=False, device=engine.cpu(2))
    problem = make_problem(data, start, options, np.arange(data.games), start.scale)
    weights = newton(problem, LearnerOptions(), Record())
    matrix = problem.datafit.gauss_newton(weights) * problem.datafit.total_weight
    free = np.flatnonzero(problem.free.ravel())
    errors = np.sqrt(np.diag(np.linalg.inv(matrix[np.ix_(free, free)])))
    away = (weights.ravel()[free] - np.pad(truth, ((0, 0), (0, 1))).ravel()[free]) / errors
    assert np.abs(away).max() < 3.5 and errors.max() < 25


def test_datasets_keep_both_sides(sample, tmp_path):
    engine, _, data, positions = sample
    assert data.apart == ["king_danger", "late_scale"] and len(data.column) == 726 + 66
    again = merge(
        [
            part(data, np.arange(10), tmp_path / "a", "a"),
            part(data, np.arange(10, GAMES), tmp_path / "b", "b"),
        ],
        tmp_path / "c",
    )
    assert (
        again.apart == data.apart
        and (again.index == data.index).all()
        and (again.count == data.count).all()
    )
    matrix, inputs = data.matrix().toarray(), engine.coefficients(positions).dense(726 + 66)
    np.testing.assert_array_equal(matrix[:, 660:], inputs[:, 660:726] - inputs[:, 726:])


def test_what_has_no_coefficients_is_refused_in_one_line(sample):
    _, _, data, _ = sample
    assert "king_danger is not linear in its weights, so that there are no rows" in refusal(
        next, iter(batches_of(data))
    )


@needs_compiler
def test_a_gpu_is_refused_in_one_line(problems, tmp_path, monkeypatch):
    problem, _, weights = problems
    gpu = paper(monkeypatch, tmp_path)
    assert re.search(
        "--device gpu: term king_danger is not linear in its weights.*choose --device cpu",
        refusal(gpu.loss_gradient, problem, weights, problem.ranges),
    )


def test_a_damaged_list_of_terms_is_one_line(sample, tmp_path):
    import json

    engine, _, data, positions = sample
    copy = part(data, np.arange(5), tmp_path / "copy", "copy")
    manifest = json.loads((copy.path / "manifest.json").read_text())
    for wrong in (["nothing"], "king_danger", [1], ["king_danger", "king_danger"]):
        (copy.path / "manifest.json").write_text(json.dumps(manifest | {"apart": wrong}))
        assert "apart is damaged; build the dataset again" in refusal(open_dataset, copy.path)


def test_products_with_vectors_are_those_of_the_matrix(problems, monkeypatch):
    by_passes(monkeypatch)
    problem, _, weights = problems
    vectors = np.random.default_rng(3).normal(size=(weights.size, 3))
    expected = problem.gauss_newton(weights) @ vectors
    np.testing.assert_allclose(
        problem.curvature(weights).products(vectors), expected, rtol=1e-6, atol=1e-9
    )
