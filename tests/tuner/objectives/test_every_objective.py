"""Every loss, field by field: the compiled block, the formulas in NumPy, the CUDA text and the
bound agree with each other and with differences of the loss."""

import itertools
import subprocess

import numpy as np
import pytest
from scipy.special import expit, log1p

from games.compile.jit import PLAIN, Unit
from tests.tuner.fit.device.fake_gpu import COMPILER
from tests.tuner.objectives.support import by_block
from tests.tuner.support import SCALE
from tuner.objectives.base import BLOCK
from tuner.objectives.exponential import exp_minus
from tuner.objectives.table import DRAW_MODELS, OBJECTIVES
from tuner.unit import TUNER

EVERY = pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
STEP = 1e-2


@pytest.fixture
def positions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Evaluations, widths and outcomes (n,)."""
    random = np.random.default_rng(8)
    n = 400
    return (
        random.normal(0, 300, n),
        random.uniform(20, 300, n),
        random.choice([-1.0, 0.0, 1.0, 0.3, -0.75], n),
    )


@EVERY
def test_formulas_are_derivatives_of_the_loss(objective, positions):
    evaluation, width, outcome = positions
    above, below = (
        objective.loss(SCALE, evaluation + step, width, outcome) for step in (STEP, -STEP)
    )
    np.testing.assert_allclose(
        objective.residual(SCALE, *positions), (above - below) / (2 * STEP), rtol=1e-6, atol=1e-10
    )
    up, down = (
        objective.residual(SCALE, evaluation + step, width, outcome) for step in (STEP, -STEP)
    )
    second = (up - down) / (2 * STEP)
    if objective.second is not None:
        np.testing.assert_allclose(
            objective.second(SCALE, *positions), second, rtol=1e-4, atol=1e-11
        )
    if not objective.convex:
        # the Gauss-Newton part is (dp/de)^2 times the second derivative by p, that is 2
        scores = [
            objective.expected_score(SCALE, evaluation + step, width) for step in (STEP, -STEP)
        ]
        second = 2 * ((scores[0] - scores[1]) / (2 * STEP)) ** 2
    np.testing.assert_allclose(
        objective.curvature(SCALE, *positions), second, rtol=1e-5, atol=1e-11
    )


@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
@EVERY
def test_the_compiled_block_is_the_formula(objective, positions):
    weight = np.linspace(0.25, 2, len(positions[0]))
    loss, found = by_block(objective, *positions, weight)
    assert loss == pytest.approx((weight * objective.loss(SCALE, *positions)).sum(), rel=1e-12)
    np.testing.assert_allclose(
        found[0], weight * objective.residual(SCALE, *positions), rtol=1e-9, atol=1e-15
    )
    np.testing.assert_allclose(
        found[2], weight * objective.curvature(SCALE, *positions), rtol=1e-9, atol=1e-15
    )


@EVERY
def test_no_residual_is_larger_than_the_bound_and_some_come_close(objective):
    grid = np.array(
        list(
            itertools.product(
                np.linspace(-4000, 4000, 401), [1.0, 60.0, 400.0], [-1.0, 0.0, 0.5, 1.0]
            )
        )
    )
    residuals = np.abs(objective.residual(SCALE, *grid.T))
    assert (
        0.99 * objective.largest_residual * SCALE
        < residuals.max()
        <= objective.largest_residual * SCALE * (1 + 1e-12)
    )


@EVERY
def test_expected_scores_rise_from_0_to_1_and_are_symmetric(objective):
    evaluation = np.linspace(-6000, 6000, 601)
    score = objective.expected_score(SCALE, evaluation, np.full(601, 80.0))
    assert (np.diff(score) >= 0).all() and score[0] < 1e-6 and score[-1] > 1 - 1e-6
    np.testing.assert_allclose(score + score[::-1], 1, atol=1e-12)


@EVERY
def test_a_loss_with_a_width_has_starting_values(objective):
    assert (
        bool(objective.widths)
        == (objective.name in DRAW_MODELS)
        == bool(objective.probabilities)
        == bool(objective.start)
    )


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler; install the Debian package g++")
@EVERY
def test_the_cuda_text_is_the_formula(objective, positions, tmp_path):
    """The statements compiled as C++, one position after another."""
    lines = [
        "#include <cmath>",
        "#include <cstdio>",
        "using namespace std;",
        "struct Terms { double loss, residual, curvature, drawn, cross, bend; };",
        "int main() { double scale, evaluation, width, z, mass;",
        'while (scanf("%lf %lf %lf %lf %lf", &scale, &evaluation, &width, &z, &mass) == 5) {',
        (
            "Terms t = {0, 0, 0, 0, 0, 0}; double unit = 2.0 * scale, a = unit * evaluation;"
            " (void)a; (void)width;"
        ),
        objective.cuda,
        'printf("%.17g %.17g %.17g\\n", t.loss, t.residual, t.curvature); } }',
    ]
    (tmp_path / "loss.cpp").write_text("\n".join(lines))
    subprocess.run([COMPILER, "-O1", "-o", tmp_path / "loss", tmp_path / "loss.cpp"], check=True)
    mass = np.linspace(0.25, 2, len(positions[0]))
    given = "\n".join(
        " ".join(map(repr, [SCALE, *map(float, line)]))
        for line in zip(*positions, mass, strict=True)
    )
    done = subprocess.run(
        [tmp_path / "loss"], input=given, capture_output=True, text=True, check=True
    )
    found = np.array([line.split() for line in done.stdout.splitlines()], float)
    for column, formula in enumerate((objective.loss, objective.residual, objective.curvature)):
        np.testing.assert_allclose(
            found[:, column], mass * formula(SCALE, *positions), rtol=1e-9, atol=1e-14
        )


@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
def test_the_exponential_is_right_to_two_units_in_the_last_place():
    from numba.core import types

    vector = types.Array(types.float64, 1, "C")
    unit = Unit("tests", lambda: [], salt=TUNER.name)

    @unit.entry(types.void(vector, vector))
    def fill(t, out):
        for i in range(len(t)):
            out[i] = exp_minus(t[i])

    t = np.concatenate([np.linspace(0, 40, 200_001), np.linspace(0, 700, 50_001)])
    out = np.empty_like(t)
    fill(t, out)
    exact = np.exp(-t.astype(np.longdouble))
    assert np.abs(out / exact - 1).max() < 2 * 2.0**-52


@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
@pytest.mark.parametrize("name", ["cross-entropy", "mse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_of_two_outcomes_equal_scipys_logistic_function(name, weighted):
    """A whole block, with evaluations that are zero, tiny and huge."""
    random = np.random.default_rng(3)
    evaluation = np.concatenate(
        [random.normal(0, 400, BLOCK - 6), [0.0, -0.0, 9e4, -9e4, 1e-9, 2e5]]
    )
    outcome = random.choice([-1.0, 0.0, 1.0, 0.3], BLOCK)
    weight = random.uniform(0.2, 3, BLOCK) if weighted else np.ones(BLOCK)
    loss, found = by_block(OBJECTIVES[name], evaluation, np.zeros(BLOCK), outcome, weight)
    logit, q = 2 * SCALE * evaluation, (1 + outcome) / 2
    p = expit(logit)
    slope = 2 * SCALE * p * expit(-logit)
    expected, residual, curvature = (
        ((p - q) ** 2, 2 * (p - q) * slope, 2 * slope**2)
        if name == "mse"
        else (
            np.maximum(logit, 0) - q * logit + log1p(np.exp(-np.abs(logit))),
            2 * SCALE * (p - q),
            2 * SCALE * slope,
        )
    )
    assert loss == pytest.approx((weight * expected).sum(), rel=1e-13)
    np.testing.assert_allclose(found[0], weight * residual, rtol=1e-11, atol=1e-18)
    np.testing.assert_allclose(found[2], weight * curvature, rtol=1e-11, atol=1e-300)
