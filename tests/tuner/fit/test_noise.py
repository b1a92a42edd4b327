"""Sampling noise of evaluations: by the dense matrix, by resampled games, by simulations, and the matches that price it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tuner.simulation import simulated
from tests.tuner.support import problem_of, random_sample, write_sample
from tuner.fit import noise as module
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.newton import newton
from tuner.fit.noise import PRICE, Noise, neighbours, noise_of
from tuner.fit.null_space import find_null_space
from tuner.fit.phase_slopes import with_slopes
from tuner.fit.standard_errors import standard_errors

# matches of `classic` plus noise against `classic`, depth 4: centipawns between neighbouring positions, Elo, 95 % interval
MATCHES = ((15.2, -41, -63, -19), (17.0, -64, -89, -41), (8.7, -23, -46, -1), (21.7, -101, -128, -76), (20.5, -92, -117, -69),
           (11.7, -15, -38, 8), (8.5, -17, -41, 6))


def fitted(problem):
    """Weights, their covariance and their null space."""
    weights = newton(problem, LearnerOptions(), Record())
    matrix = problem.gauss_newton(weights)
    null_space = find_null_space(problem, matrix, problem.data.layout.places)
    return weights, matrix, null_space, standard_errors(problem, weights, matrix, null_space)


def dense(sample, stages):
    """Coefficients of all positions, those of the next position of the same game, and where there is one."""
    design = sample.design(stages)
    return design, np.roll(design, -1, axis=0), np.append(sample.group[1:] == sample.group[:-1], False)


def without_intercept(found, design, columns, stages):
    """The covariance of the evaluation alone: the intercept is no part of it."""
    kept = found.coordinates % (columns + 1) != columns
    return found.noise[np.ix_(kept, kept)], design[:, found.coordinates[kept]]


@pytest.mark.parametrize("stages", [1, 2])
def test_noise_is_that_of_the_dense_matrix(tmp_path, stages):
    sample, _ = random_sample(tmp_path / "data", seed=3, games=150, columns=6)
    problem = problem_of(sample, stages)
    _, _, _, found = fitted(problem)
    here, there, both = dense(sample, stages)
    result = noise_of(found, problem, problem.start)
    covariance, x = without_intercept(found, here, 6, stages)
    x = x - x.mean(axis=0)
    assert result.evaluations == pytest.approx(np.sqrt(np.einsum("ij,jk,ik->i", x, covariance, x).mean()), rel=1e-9)
    _, z = without_intercept(found, (there - here)[both], 6, stages)
    assert result.differences == pytest.approx(np.sqrt(np.einsum("ij,jk,ik->i", z, covariance, z).mean()), rel=1e-9)
    assert result.elo(0.5).elo == pytest.approx(PRICE.elo * (result.differences / 2)**2)
    assert result.elo(1.0).low < result.elo(1.0).elo < result.elo(1.0).high


def test_slopes_by_phase_are_no_part_of_the_evaluation_that_plays(tmp_path):
    sample, _ = random_sample(tmp_path / "data", seed=3, games=150, columns=6)
    problem = problem_of(sample, 2)
    _, _, _, found = fitted(problem)
    sloped = with_slopes(problem, np.linspace(0.5, 2, 25))
    assert noise_of(found, sloped, problem.start) == noise_of(found, problem, problem.start)


def test_large_datasets_are_sampled(tmp_path, monkeypatch):
    sample, _ = random_sample(tmp_path / "data", seed=4, games=400, columns=5)
    problem = problem_of(sample, 1, games=np.arange(0, 400, 2))
    _, _, _, found = fitted(problem)
    whole = noise_of(found, problem, problem.start)
    monkeypatch.setattr(module, "SAMPLE", 1000)
    some = noise_of(found, problem, problem.start)
    assert some != whole and some.evaluations == pytest.approx(whole.evaluations, rel=0.05)
    places = module.sampled(problem)
    assert len(np.unique(places)) == 1000 and (sample.group[places] % 2 == 1).all()


def test_games_of_one_position_have_no_neighbours(tmp_path):
    sample, _ = random_sample(tmp_path / "data", seed=5, games=400, columns=4)
    alone = write_sample(tmp_path / "alone", sample.coefficients[:300], sample.outcome[:300], np.ones(300, int))
    problem = problem_of(alone, 1)
    _, _, _, found = fitted(problem)
    assert neighbours(problem, problem.start) is None
    result = noise_of(found, problem, problem.start)
    assert result.evaluations > 0 and result.differences is None and result.elo(1.0) is None


def test_positions_drawn_from_games_are_no_neighbours_unless_there_are_many(tmp_path):
    sample, _ = random_sample(tmp_path / "data", seed=3, games=150, columns=6)
    problem = problem_of(sample, 1)
    _, _, _, found = fitted(problem)
    for drawn, known in ((0, True), (4, False), (39, False), (50, True)):
        again = replace(problem, data=replace(sample.data, manifest={**sample.data.manifest, "options": {"per_game": drawn}}))
        assert (noise_of(found, again, again.start).differences is not None) == known


def test_fits_to_resampled_games_differ_by_this_noise(tmp_path):
    """Bootstrap of games: evaluations of refits, by their own variance."""
    sample, _ = random_sample(tmp_path / "data", seed=6, games=300, columns=4)
    problem = problem_of(sample, 1)
    weights, matrix, null_space, found = fitted(problem)
    random, here, there, both = np.random.default_rng(1), *dense(sample, 1)
    lengths = np.diff(sample.data.first)
    refits = []
    for _ in range(60):
        times = np.bincount(random.integers(0, 300, 300), minlength=300)
        again = replace(problem, data=replace(sample.data, weight=times.repeat(lengths).astype(np.float32)))
        refits.append(newton(again, LearnerOptions(), Record(), weights, matrix).ravel())
    spread = np.cov(np.array(refits)[:, :4], rowvar=False)
    here, there = here[:, :4], there[:, :4]
    centred = here - here.mean(axis=0)
    result = noise_of(found, problem, problem.start)
    assert result.evaluations == pytest.approx(np.sqrt(np.einsum("ij,jk,ik->i", centred, spread, centred).mean()), rel=0.2)
    z = (there - here)[both]
    assert result.differences == pytest.approx(np.sqrt(np.einsum("ij,jk,ik->i", z, spread, z).mean()), rel=0.2)


@pytest.mark.long
def test_fits_to_independent_games_differ_by_this_noise():
    """Many simulations of new games from the same truth."""
    results = [simulated("cross-entropy", seed) for seed in range(60)]
    spread = np.cov(np.array([result.weights[0, :3] for result in results]), rowvar=False)
    predicted, true = [], []
    for result in results:
        here, there = neighbours(result.problem, result.weights)
        z = (there - here)[:, :3]
        true.append(np.einsum("ij,jk,ik->i", z, spread, z).mean())
        predicted.append(noise_of(result.uncertainty, result.problem, result.weights).differences**2)
    assert np.mean(predicted) == pytest.approx(np.mean(true), rel=0.2)


def test_the_price_is_that_of_the_matches():
    """Weighted least squares through the origin, of Elo on the squared difference."""
    sd, elo, low, high = np.array(MATCHES, float).T
    weight = ((high - low) / 3.92) ** -2
    price = -(weight * sd**2 * elo).sum() / (weight * sd**4).sum()
    error = (weight * sd**4).sum() ** -0.5
    assert price == pytest.approx(PRICE.elo, abs=0.005)
    assert (PRICE.low, PRICE.high) == pytest.approx((price - 1.96 * error, price + 1.96 * error), abs=0.01)
    chi = (weight * (elo + price * sd**2) ** 2).sum()
    assert chi < 12.6  # one line fits three shapes of noise: 95 % of chi-squared with 6 degrees of freedom
    assert Noise(0.0, 10.0).elo(1.0).elo == pytest.approx(100 * PRICE.elo)
