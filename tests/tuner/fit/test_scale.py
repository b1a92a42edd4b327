"""The scale of the starting weights: that of a logistic regression on the evaluation, whatever the
weights are measured in."""

import numpy as np
import pytest
import statsmodels.api as sm

from tests.tuner.support import chances, problem_of, random_coefficients, write_sample
from tuner.fit import scale
from tuner.fit.fit import fit
from tuner.fit.scale import Scale, fit_scale, scale_lines
from tuner.fit.setup import FitOptions
from tuner.parameters.parameters import Parameters

TRUE = 0.004
COLUMNS = 6


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Games with outcomes from weights at a scale of TRUE and an advantage of the first player; and
    the weights."""
    random = np.random.default_rng(1)
    lengths = random.integers(1, 20, 400)
    n = int(lengths.sum())
    x, weights = random_coefficients(random, n, COLUMNS), np.zeros((2, COLUMNS + 1))
    weights[:, :-1] = random.normal(0, 40, (2, COLUMNS))
    phase = random.integers(0, 25, n)
    folder = tmp_path_factory.mktemp("scale")
    sample = write_sample(folder / "none", x, np.zeros(n), lengths, phase=phase)
    p = chances(sample.design(2) @ weights.ravel() + 30, TRUE)
    width, drawn = 0.1 * np.minimum(p, 1 - p), random.random(n)
    # draws leave the expectation as it is
    outcome = np.where(drawn < p - width, 1.0, np.where(drawn > p + width, -1.0, 0.0))
    return write_sample(folder / "data", x, outcome, lengths, phase=phase), weights


def expected_scale(sample, weights, chosen=slice(None)):
    """Half the slope of the regression of statsmodels with an intercept."""
    evaluation = sample.design(len(weights))[chosen] @ weights.ravel()
    fitted = sm.GLM(
        (1 + sample.outcome[chosen]) / 2, sm.add_constant(evaluation), family=sm.families.Binomial()
    ).fit(tol=1e-12)
    return fitted.params[1] / 2


def test_the_scale_is_that_of_statsmodels(drawn):
    sample, weights = drawn
    found = fit_scale(problem_of(sample, 2, start=weights)).value
    assert found == pytest.approx(expected_scale(sample, weights), rel=1e-8)
    assert found == pytest.approx(TRUE, rel=0.1)


def test_only_the_games_of_the_problem_are_used(drawn):
    sample, weights = drawn
    games = np.arange(0, 400, 3)
    found = fit_scale(problem_of(sample, 2, start=weights, games=games)).value
    assert found == pytest.approx(
        expected_scale(sample, weights, np.isin(sample.group, games + 1)), rel=1e-8
    )
    assert found != pytest.approx(expected_scale(sample, weights), rel=1e-6)


@pytest.mark.parametrize("unit", [0.25, 3.0])
def test_weights_in_another_unit_have_another_scale(drawn, unit):
    sample, weights = drawn
    assert fit_scale(problem_of(sample, 2, start=unit * weights)).value == pytest.approx(
        fit_scale(problem_of(sample, 2, start=weights)).value / unit, rel=1e-8
    )


@pytest.mark.parametrize("guess", [1e-4, 0.02])
def test_the_scale_does_not_depend_on_the_one_to_begin_with(drawn, guess):
    sample, weights = drawn
    assert fit_scale(problem_of(sample, 2, start=weights, scale=guess)).value == pytest.approx(
        expected_scale(sample, weights), rel=1e-6
    )


@pytest.mark.parametrize(
    "games", [np.arange(400), np.arange(0, 400, 2)], ids=["neighbours", "with gaps"]
)
def test_of_many_positions_games_are_sampled_uniformly(drawn, monkeypatch, games):
    sample, weights = drawn
    monkeypatch.setattr(scale, "POSITIONS", 700)
    problem = problem_of(sample, 2, start=weights, games=games)
    chosen = problem.datafit.sampled_games(700)
    assert (np.diff(chosen) > 0).all() and np.isin(chosen, games).all()
    lengths = np.diff(sample.data.first)
    assert lengths[chosen].sum() == pytest.approx(700, rel=0.2)
    # a sample that took neighbors, or long games first, would have another mean length or other
    # gaps
    assert lengths[chosen].mean() == pytest.approx(
        lengths[games].mean(), abs=4 * lengths.std() / len(chosen) ** 0.5
    )
    assert np.median(np.diff(chosen)) > np.median(np.diff(games))
    expected = expected_scale(sample, weights, np.isin(sample.group, chosen + 1))
    assert fit_scale(problem).value == pytest.approx(expected, rel=1e-8)


def dead_endings(folder, share: float):
    """Games of two phases: in the first one results follow the evaluation, in the second, large
    ones are mostly drawn."""
    random = np.random.default_rng(2)
    lengths, n = np.full(600, 10), 6000
    x = random_coefficients(random, n, COLUMNS)
    phase = np.where(np.tile(np.arange(10), 600) < 7, 20, 1)
    x[phase == 1] *= 3
    weights = random.normal(0, 60, (2, COLUMNS + 1))
    weights[:, -1] = 0
    sample = write_sample(folder / "none", x, np.zeros(n), lengths, phase=phase)
    p = chances(sample.design(2) @ weights.ravel(), TRUE)
    outcome = np.where(random.random(n) < p, 1.0, -1.0)
    outcome[(phase == 1) & (random.random(n) < share)] = 0.0
    return write_sample(folder / "data", x, outcome, lengths, phase=phase), weights


def test_drawn_endings_are_left_out_with_a_note(tmp_path):
    sample, weights = dead_endings(tmp_path, 0.9)
    problem = problem_of(sample, 2, start=weights)
    found = fit_scale(problem)
    assert (
        found.phases == (1,)
        and found.share == pytest.approx(0.3)
        and found.value == pytest.approx(TRUE, rel=0.1)
    )
    assert expected_scale(sample, weights) < 0.5 * TRUE  # what all positions say
    assert scale_lines(found, TRUE) == [
        "scale: fitted without phase 1, 30 % of the positions, where the side that is far ahead"
        " scores less than 0.75"
    ]


def test_endings_as_decided_as_the_evaluation_says_are_kept(tmp_path):
    sample, weights = dead_endings(tmp_path, 0.0)
    found = fit_scale(problem_of(sample, 2, start=weights))
    assert found == (pytest.approx(expected_scale(sample, weights), rel=1e-8), (), 0.0)
    assert found.value == pytest.approx(TRUE, rel=0.1)


def test_a_scale_far_from_that_of_the_file_is_noted_with_a_remedy():
    assert scale_lines(Scale(0.0026), 0.00255) == []
    (line,) = scale_lines(Scale(0.00122), 0.00255)
    assert (
        "0.48 times the 0.00255 of the file" in line
        and "less often" in line
        and "--scale 0.00255" in line
    )
    (line,) = scale_lines(Scale(0.01), 0.00255)
    assert "more often" in line
    assert "do not predict" in scale_lines(None, 0.00255)[0]


def test_weights_without_information_have_no_scale(drawn):
    sample, weights = drawn
    assert fit_scale(problem_of(sample, 2, start=0.0)) is None
    assert fit_scale(problem_of(sample, 2, start=-weights)) is None
    constant = np.zeros_like(weights)
    constant[:, -1] = 50
    assert fit_scale(problem_of(sample, 2, start=constant)) is None


def test_outcomes_predicted_perfectly_have_no_scale(tmp_path):
    x = np.array([[1], [-1]] * 30, np.int8)
    sample = write_sample(tmp_path / "data", x, x[:, 0].astype(float), np.full(6, 10))
    assert fit_scale(problem_of(sample, 1, start=100.0 * np.array([[1, 0]]))) is None


@pytest.mark.parametrize(("options", "kept"), [({}, False), ({"fit_scale": False}, True)])
def test_a_fit_finds_the_scale_unless_it_is_fixed(drawn, options, kept):
    sample, weights = drawn
    parameters = Parameters("none", sample.layout, ("mg", "eg"), weights[:, :-1], scale=0.001)
    found = fit(sample.data, parameters, FitOptions(held_out=0, prior=None, **options)).parameters
    assert found.scale == pytest.approx(
        0.001 if kept else expected_scale(sample, weights), rel=1e-6
    )


def test_a_fit_from_zeros_or_from_nonsense_keeps_its_scale_with_a_note(drawn):
    sample, weights = drawn
    for start, said in ((0 * weights, False), (-weights, True)):
        notes = []
        parameters = Parameters("none", sample.layout, ("mg", "eg"), start[:, :-1], scale=0.001)
        found = fit(sample.data, parameters, FitOptions(prior=None), note=notes.append)
        assert found.parameters.scale == 0.001
        assert any("do not predict" in note for note in notes) == said
