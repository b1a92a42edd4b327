"""Sums of u u' over sparse vectors: against the product of a dense matrix."""

import numpy as np
import pytest

from tests.tuner.support import game_scores, problem_of, random_sample
from tuner.fit.device.cpu import sums
from tuner.fit.device.cpu.device import Cpu
from tuner.fit.device.cpu.sums import order_of, products, symmetric_products


@pytest.mark.parametrize("shares", [(0.05, 0.9), (0.01, 0.1), (0.5, 1.0), (0.0, 0.0)], ids=str)
def test_products_are_those_of_the_dense_matrix(shares):
    random = np.random.default_rng(1)
    share = random.uniform(*shares, 60)
    vectors = random.normal(size=(300, 60)) * (random.random((300, 60)) < share)
    chosen = np.sort(random.permutation(60)[:41])
    order, dense = order_of(vectors[:100], chosen)
    assert sorted(order) == chosen.tolist()
    frequent = (vectors[:100, order] != 0).mean(axis=0) > 0.2
    assert frequent[:dense].all() and not frequent[dense:].any()
    sums = products([vectors[:7], vectors[7:]], order, dense)
    expected = vectors[:, chosen].T @ vectors[:, chosen]
    np.testing.assert_allclose(
        symmetric_products(sums, order, chosen),
        expected,
        rtol=0,
        atol=1e-12 * max(1, np.abs(expected).max()),
    )


def test_scores_of_games_by_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(sums, "GROUPS", 7)
    sample, _ = random_sample(tmp_path / "data", seed=4, games=120, columns=20)
    problem = problem_of(sample)
    weights, chosen = (
        np.random.default_rng(1).normal(0, 50, problem.start.shape),
        np.arange(0, problem.start.size, 2),
    )
    scores = game_scores(problem, weights)[:, chosen]
    one, three = (
        Cpu(workers).score_products(problem.datafit, weights, chosen) for workers in (1, 3)
    )
    assert (one == three).all()
    np.testing.assert_allclose(one, scores.T @ scores, rtol=1e-10, atol=1e-18)
    squares = Cpu(2).score_squares(problem.datafit, weights)
    np.testing.assert_allclose(
        squares, (game_scores(problem, weights) ** 2).sum(axis=0), rtol=1e-10
    )
