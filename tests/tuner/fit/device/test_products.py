"""Sums over games by any number of threads."""

import numpy as np

from tests.tuner.support import game_scores, problem_of, random_sample
from tuner.fit.device.cpu import sums
from tuner.fit.device.cpu.device import Cpu


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
