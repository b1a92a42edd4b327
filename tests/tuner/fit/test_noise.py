"""Sampling noise of evaluations: by the dense matrix, by resampled games, by simulations, and the
matches that price it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.tuner.simulation import dataset_of
from tests.tuner.support import (
    SCALE,
    flat_layout,
    problem_of,
    random_coefficients,
    random_sample,
    write_sample,
)
from tuner.fit.datafit import Datafit
from tuner.fit.errors import standard_errors
from tuner.fit.fit import fit
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import newton
from tuner.fit.noise import (
    LARGEST,
    OWN_REACH,
    PRICE,
    REACH,
    Noise,
    PlayStep,
    neighbours,
    noise_of,
    play_line,
    step_of,
)
from tuner.fit.null_space import find_null_space
from tuner.fit.scale import with_slopes
from tuner.fit.setup import FitOptions
from tuner.parameters.parameters import Parameters

# matches of `classic` plus noise against `classic`, depth 4: centipawns between neighboring
# positions, Elo, 95 % interval
MATCHES = (
    (15.2, -41, -63, -19),
    (17.0, -64, -89, -41),
    (8.7, -23, -46, -1),
    (21.7, -101, -128, -76),
    (20.5, -92, -117, -69),
    (11.7, -15, -38, 8),
    (8.5, -17, -41, 6),
)


def fitted(problem):
    """Weights, their covariance and their null space."""
    weights = newton(problem, LearnerOptions(), Record())
    curvature = problem.datafit.curvature(weights)
    null_space = find_null_space(problem, weights, curvature, problem.datafit.data.layout.places)
    return weights, curvature, null_space, standard_errors(problem, weights, curvature, null_space)


def dense(sample, stages):
    """Coefficients of all positions, those of the next position of the same game, and where there
    is one."""
    design = sample.design(stages)
    return (
        design,
        np.roll(design, -1, axis=0),
        np.append(sample.group[1:] == sample.group[:-1], False),
    )


def without_intercept(found, design, columns, stages):
    """The covariance of the evaluation alone: the intercept is no part of it."""
    kept = found.coordinates % (columns + 1) != columns
    return found.noise.matrix[np.ix_(kept, kept)], design[:, found.coordinates[kept]]


@pytest.mark.parametrize("stages", [1, 2])
def test_noise_is_that_of_the_dense_matrix(tmp_path, stages):
    sample, _ = random_sample(tmp_path / "data", seed=3, games=150, columns=6)
    problem = problem_of(sample, stages)
    _, _, _, found = fitted(problem)
    here, there, both = dense(sample, stages)
    result = noise_of(found, problem.datafit, problem.start)
    covariance, x = without_intercept(found, here, 6, stages)
    x = x - x.mean(axis=0)
    assert result.evaluations == pytest.approx(
        np.sqrt(np.einsum("ij,jk,ik->i", x, covariance, x).mean()), rel=1e-9
    )
    _, z = without_intercept(found, (there - here)[both], 6, stages)
    assert result.differences == pytest.approx(
        np.sqrt(np.einsum("ij,jk,ik->i", z, covariance, z).mean()), rel=1e-9
    )
    assert result.elo(0.5).value == pytest.approx(PRICE.value * (result.differences / 2) ** 2)
    assert result.elo(1.0).low < result.elo(1.0).value < result.elo(1.0).high


def test_slopes_by_phase_are_no_part_of_the_evaluation_that_plays(tmp_path):
    sample, _ = random_sample(tmp_path / "data", seed=3, games=150, columns=6)
    problem = problem_of(sample, 2)
    _, _, _, found = fitted(problem)
    sloped = with_slopes(problem.datafit, np.linspace(0.5, 2, 25))
    assert noise_of(found, sloped, problem.start) == noise_of(found, problem.datafit, problem.start)


def test_large_datasets_are_sampled(tmp_path, monkeypatch):
    sample, _ = random_sample(tmp_path / "data", seed=4, games=400, columns=5)
    problem = problem_of(sample, 1, games=np.arange(0, 400, 2))
    _, _, _, found = fitted(problem)
    whole = noise_of(found, problem.datafit, problem.start)
    few = Datafit.sampled_places
    monkeypatch.setattr(Datafit, "sampled_places", lambda self: few(self, 1000))
    some = noise_of(found, problem.datafit, problem.start)
    assert some != whole and some.evaluations == pytest.approx(whole.evaluations, rel=0.05)
    places = problem.datafit.sampled_places()
    assert len(np.unique(places)) == 1000 and (sample.group[places] % 2 == 1).all()


def test_games_of_one_position_have_no_neighbours(tmp_path):
    sample, _ = random_sample(tmp_path / "data", seed=5, games=400, columns=4)
    alone = write_sample(
        tmp_path / "alone", sample.coefficients[:300], sample.outcome[:300], np.ones(300, int)
    )
    problem = problem_of(alone, 1)
    _, _, _, found = fitted(problem)
    assert neighbours(problem.datafit, problem.start) is None
    result = noise_of(found, problem.datafit, problem.start)
    assert result.evaluations > 0 and result.differences is None and result.elo(1.0) is None


def test_positions_drawn_from_games_are_no_neighbours_unless_there_are_many(tmp_path):
    sample, _ = random_sample(tmp_path / "data", seed=3, games=150, columns=6)
    problem = problem_of(sample, 1)
    _, _, _, found = fitted(problem)
    for drawn, known in ((0, True), (4, False), (39, False), (50, True)):
        again = replace(
            problem.datafit,
            data=replace(
                sample.data, manifest={**sample.data.manifest, "options": {"per_game": drawn}}
            ),
        )
        assert (noise_of(found, again, problem.start).differences is not None) == known


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
        data = replace(sample.data, weight=times.repeat(lengths).astype(np.float32))
        again = replace(problem, datafit=replace(problem.datafit, data=data))
        refits.append(newton(again, LearnerOptions(), Record(), weights, matrix).ravel())
    spread = np.cov(np.array(refits)[:, :4], rowvar=False)
    here, there = here[:, :4], there[:, :4]
    centred = here - here.mean(axis=0)
    result = noise_of(found, problem.datafit, problem.start)
    assert result.evaluations == pytest.approx(
        np.sqrt(np.einsum("ij,jk,ik->i", centred, spread, centred).mean()), rel=0.2
    )
    z = (there - here)[both]
    assert result.differences == pytest.approx(
        np.sqrt(np.einsum("ij,jk,ik->i", z, spread, z).mean()), rel=0.2
    )


def test_the_price_is_that_of_the_matches():
    """Weighted least squares through the origin, of Elo on the squared difference."""
    sd, elo, low, high = np.array(MATCHES, float).T
    weight = ((high - low) / 3.92) ** -2
    price = -(weight * sd**2 * elo).sum() / (weight * sd**4).sum()
    error = (weight * sd**4).sum() ** -0.5
    assert price == pytest.approx(PRICE.value, abs=0.005)
    assert (PRICE.low, PRICE.high) == pytest.approx(
        (price - 1.96 * error, price + 1.96 * error), abs=0.01
    )
    chi = (weight * (elo + price * sd**2) ** 2).sum()
    # one line fits three shapes of noise: 95 % of chi-squared with 6 degrees of freedom
    assert chi < 12.6
    assert Noise(0.0, 10.0).elo(1.0).value == pytest.approx(100 * PRICE.value)


def parameters_of(sample, weights, game="none", **changes):
    return Parameters(game, sample.layout, ("mg", "eg"), weights[:, :-1], SCALE, **changes)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Games, and an evaluation that is good but not the best."""
    sample, truth = random_sample(
        tmp_path_factory.mktemp("play") / "data", seed=1, games=500, columns=8
    )
    return sample, truth, 0.8 * truth


@pytest.mark.parametrize(
    ("moved", "noise", "of_set", "reach", "share"),
    [
        (100.0**2, 0.0, 100.0**2, REACH, 0.15),
        (100.0**2, 0.0, 100.0**2, OWN_REACH, 0.3),
        (100.0**2, 60.0**2, 100.0**2, REACH, 0.15 * 0.64),
        (20.0**2, 0.0, 20.0**2, REACH, LARGEST),
        (100.0**2, 0.0, 50.0**2, REACH, 0.3),  # half of the change is of lists that were not set
        (100.0**2, 0.0, 0.0, REACH, LARGEST),
        (100.0, 120.0, 100.0, REACH, 0.0),
    ],
)
def test_the_step_is_a_distance_and_shrinks_with_noise(moved, noise, of_set, reach, share):
    assert step_of(moved, noise, of_set, reach) == pytest.approx(share, abs=1e-12)


def test_weights_go_a_share_of_the_way(games):
    sample, _, start = games
    notes = []
    options = FitOptions(prior="play", held_out=0.0, centipawn=1.0)
    result = fit(sample.data, parameters_of(sample, start), options, note=notes.append)
    share = result.share
    assert 0 < share < 1 and play_line(result.step, "centipawns") in notes
    problem = result.problem
    # the way ends at the optimum of the same problem
    ahead = problem.start + (result.weights - problem.start) / share
    ahead[:, -1] = result.weights[:, -1]
    _, gradient = problem.datafit.loss_gradient(ahead)
    assert (
        np.abs(gradient + problem.penalty.gradient(ahead)).max()
        < 0.01 * np.abs(problem.datafit.loss_gradient(problem.start)[1]).max()
    )
    ranges = np.array([[0, sample.data.positions]])
    before, after = (
        problem.datafit.evaluations(weights, ranges)
        for weights in (result.reference, result.weights)
    )
    assert result.step.change == pytest.approx((after - before).std(), rel=0.1)
    assert result.step.change < REACH
    diagonal = np.sqrt(result.uncertainty.covariance.variances)
    np.testing.assert_allclose(
        result.uncertainty.standard_errors.ravel()[result.uncertainty.coordinates],
        diagonal,
        rtol=1e-9,
    )


def test_errors_are_those_of_the_optimum_which_the_file_has(games, tmp_path):
    sample, _, start = games
    found = [
        fit(sample.data, parameters_of(sample, start), FitOptions(prior=prior, held_out=0.0))
        for prior in ("auto", "play")
    ]
    best, part = (result.parameters for result in found)
    assert best.optimum is None and best.estimate is best.weights
    # slopes by phase, which play alone has, change little here
    np.testing.assert_allclose(part.estimate, best.weights, atol=3)
    np.testing.assert_allclose(part.standard_errors, best.standard_errors, rtol=0.1)
    way, whole_way = part.weights - start[:, :-1], part.estimate - start[:, :-1]
    np.testing.assert_allclose(way, found[1].share * whole_way)
    noise = [np.sqrt(result.uncertainty.noise.variances) for result in found]
    assert (noise[1][:3] < noise[0][:3]).all()


@pytest.mark.parametrize("start", [0.0, pytest.param(60.0, marks=pytest.mark.long)])
def test_results_that_say_nothing_move_nothing(start):
    """Shuffled results: also a start that they contradict is kept, since no change would help."""
    steps = []
    for seed in range(20):
        random = np.random.default_rng([seed, 3])
        outcome = random.choice([-1.0, 1.0], 200).repeat(10)
        data = dataset_of(random_coefficients(random, 2000, 8), outcome, 200)
        begun = Parameters(
            "simulation", flat_layout(8), ("all",), start * random.normal(size=(1, 8)), SCALE
        )
        result = fit(data, begun, FitOptions(prior="play", held_out=0.0))
        steps.append(result.share)
        if not result.share:
            np.testing.assert_array_equal(result.parameters.weights, begun.weights)
            assert result.parameters.optimum is None
            assert not result.parameters.standard_errors.any()  # held: there is nothing to test
    assert np.mean(np.array(steps) > 0.05) <= 0.05


def test_the_step_is_said():
    assert play_line(PlayStep(0.114, 13.6), "centipawns").endswith(
        "weights move 11 % of the way to the best predictor of results, which changes evaluations"
        " by 14 centipawns"
    )
    assert "does not exceed sampling noise" in play_line(PlayStep(0.0, 0.0), "centipawns")


def test_constants_and_bounds_are_kept(games):
    sample, _, start = games
    names = [place.path for place in sample.layout.places]
    high = float(start[:, 1].max() - 5)
    parameters = parameters_of(
        sample, start, fixed=(names[0],), bounds=((names[1], (-500.0, high)),)
    )
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


def test_a_young_evaluation_goes_farther(games):
    """Lists that nobody has set are learned from results; what was set moves by the reach."""
    sample, truth, _ = games
    young = np.where(np.arange(truth.shape[1]) < 2, truth, 0.0)
    wrong = np.where(young != 0, young, 1.0)
    far, near = (
        fit(
            sample.data, parameters_of(sample, weights), FitOptions(prior="play", held_out=0.0)
        ).share
        for weights in (young, wrong)
    )
    assert far > 2 * near and far > 0.8 * LARGEST


def test_positions_without_neighbours_have_a_step(tmp_path, games):
    sample, _, start = games
    alone = write_sample(
        tmp_path / "alone",
        sample.coefficients,
        sample.outcome,
        np.ones(len(sample.outcome), int),
        phase=sample.phase,
    )
    options = FitOptions(prior="play", held_out=0.0)
    assert 0 < fit(alone.data, parameters_of(alone, start), options).share < 1
