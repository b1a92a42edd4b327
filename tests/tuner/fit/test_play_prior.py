"""`--prior play`: the step with the largest gain minus cost, and what a fit does with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from games.streams import InputError
from tests.tuner.support import SCALE, random_sample, write_sample
from tuner.fit.noise import PRICE, noise_of
from tuner.fit.options import FitOptions
from tuner.fit.play_prior import MISFIT, OWN_USEFUL, USEFUL, best_step, play_line
from tuner.fit.regression import fit
from tuner.parameters.parameters import Parameters


def parameters_of(sample, weights, game="none", **changes):
    return Parameters(game, sample.layout, ("mg", "eg"), weights[:, :-1], SCALE, **changes)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Games, and an evaluation that is good but not the best."""
    sample, truth = random_sample(tmp_path_factory.mktemp("play") / "data", seed=1, games=500, columns=8)
    return sample, truth, 0.8 * truth


@pytest.mark.parametrize("least", [USEFUL, OWN_USEFUL])
@pytest.mark.parametrize(("taught", "noise"), [(400.0, 50.0), (400.0, 1000.0), (1e6, 50.0), (2500.0, 2500.0)])
def test_the_step_maximises_gain_minus_cost(taught, noise, least):
    step = best_step(taught + noise, noise, least)
    useful = max(least, 1 - MISFIT**2 / taught)

    def loss(share):
        return PRICE.elo * (share**2 * noise - (2 * useful * share - share**2) * taught)

    best = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
    assert step.share == pytest.approx(best.x, abs=1e-6) and step.cost - step.gain == pytest.approx(best.fun, rel=1e-6)
    assert step.gain > step.cost > 0


def test_noise_alone_teaches_nothing():
    assert best_step(100.0, 120.0) == (0.0, 0.0, 0.0)
    assert "does not exceed sampling noise" in play_line(best_step(100.0, 120.0), True)


def test_the_gain_is_that_of_simulated_changes():
    """Second derivation: squared distances to what wins, which results show with an error that is the same in all games."""
    random = np.random.default_rng(2)
    taught, noise, useful = 900.0, 300.0, USEFUL
    shown = random.normal(0, taught**0.5, 400_000)
    wins = useful * shown + random.normal(0, (useful * (1 - useful) * taught) ** 0.5, len(shown))
    step = best_step(taught + noise, noise)
    learned = step.share * (shown + random.normal(0, noise**0.5, len(shown)))
    gained = PRICE.elo * (wins**2 - (learned - wins) ** 2).mean()
    assert gained == pytest.approx(step.gain - step.cost, rel=0.03)


def test_weights_go_a_share_of_the_way(games):
    sample, _, start = games
    notes = []
    options = FitOptions(prior="play", held_out=0.0, centipawn=1.0)
    result = fit(sample.data, parameters_of(sample, start), options, note=notes.append)
    share = result.share
    assert 0 < share < 1 and any(line == play_line(result.step, False) for line in notes)
    problem = result.problem
    # the way ends at the optimum of the same problem
    ahead = problem.start + (result.weights - problem.start) / share
    ahead[:, -1] = result.weights[:, -1]
    _, gradient = problem.loss_gradient(ahead)
    assert np.abs(gradient + problem.prior_gradient(ahead)).max() < 0.01 * np.abs(problem.loss_gradient(problem.start)[1]).max()
    noise = noise_of(result.uncertainty, problem, problem.start)
    assert result.step.cost == pytest.approx(noise.elo(1.0).elo, rel=1e-9)
    diagonal = np.sqrt(np.diag(result.uncertainty.covariance))
    np.testing.assert_allclose(result.uncertainty.standard_errors.ravel()[result.uncertainty.coordinates], diagonal, rtol=1e-9)


@pytest.mark.parametrize("known", [True, False])
def test_the_step_does_not_depend_on_what_an_evaluation_calls_a_centipawn(games, known):
    """Neither where its worth is known, nor where the scale of the fit says it."""
    sample, _, start = games
    found, notes, unit = [], [], 3.0
    for times in (1.0, unit):
        parameters = parameters_of(sample, times * start, game="chess")
        parameters = replace(parameters, scale=SCALE / times)
        options = FitOptions(prior="play", held_out=0.0, centipawn=1 / times if known else None)
        found.append(fit(sample.data, parameters, options, note=notes.append))
    assert found[1].share == pytest.approx(found[0].share, rel=0.02)
    assert found[1].step.cost == pytest.approx(found[0].step.cost, rel=0.05)
    np.testing.assert_allclose(found[1].weights, unit * found[0].weights, rtol=0.01, atol=0.6)
    for line in notes:
        if line.startswith("prior play"):
            assert ("expected gain " in line) == known
            assert ("how far is best was measured with `classic` in chess alone" in line) != known


def test_gains_beyond_those_of_the_matches_are_not_extrapolated():
    line = play_line(best_step(60.0**2, 50.0), True)
    assert "expected gain more than 100 Elo, cost of sampling noise 3" in line


def test_constants_and_bounds_are_kept(games):
    sample, _, start = games
    names = [place.path for place in sample.layout.places]
    high = float(start[:, 1].max() - 5)
    parameters = parameters_of(sample, start, fixed=(names[0],), bounds=((names[1], (-500.0, high)),))
    result = fit(sample.data, parameters, FitOptions(prior="play", held_out=0.0))
    np.testing.assert_array_equal(result.parameters.weights[:, 0], start[:, 0])
    assert (result.parameters.weights[:, 1] <= high).all()


def test_priors_of_the_file_are_followed_all_the_way(games):
    sample, _, start = games
    name = sample.layout.places[0].path
    parameters = parameters_of(sample, start, prior=((name, (70.0, 0.01)),))
    result = fit(sample.data, parameters, FitOptions(prior="play", held_out=0.0))
    np.testing.assert_allclose(result.parameters.weights[:, 0], 70.0, atol=0.1)
    assert 0 < result.share < 1


def test_a_poor_start_is_left_behind(games):
    sample, truth, start = games
    steps = [fit(sample.data, parameters_of(sample, weights), FitOptions(prior="play", held_out=0.0)).share
             for weights in (0.98 * truth, -0.5 * truth)]
    assert steps[0] < 0.3 and steps[1] > 0.8


def test_positions_without_neighbours_are_refused(tmp_path, games):
    sample, _, start = games
    alone = write_sample(tmp_path / "alone", sample.coefficients, sample.outcome, np.ones(len(sample.outcome), int),
                         phase=sample.phase)
    with pytest.raises(InputError, match="--prior play: needs games of which several positions are learned from"):
        fit(alone.data, parameters_of(alone, start), FitOptions(prior="play", held_out=0.0))
