"""Self-play learns the same by finite differences as by analytic gradients."""

import numpy as np
import pytest

from tests.commands.support import done, refused
from tests.tuner.core.support import read_checkpoint
from tuner.evaluation.engine import MovedPositions, counted_positions
from tuner.evaluation.loading import load_engine


@pytest.mark.parametrize("method", ["td-leaf", "td", "rootstrap", "treestrap"])
def test_the_weights_are_the_same_to_a_millionth(tmp_path, method):
    for gradient in ("analytic", "finite-difference"):
        done(
            "selfplay",
            "--method",
            method,
            "--games",
            24,
            "--batch",
            4,
            "--depth",
            1,
            "--gradient",
            gradient,
            "--run",
            tmp_path / gradient,
        )
    one, other = (
        read_checkpoint(tmp_path / gradient)["weights"]
        for gradient in ("analytic", "finite-difference")
    )
    assert np.abs(one - other).max() < 1e-6 and np.abs(one).sum() > 0
    assert (np.abs(one - read_checkpoint(tmp_path / "analytic")["kept"][0]) > 1e-3).any()


def test_forward_differences_have_the_bias_of_theory(small_dataset):
    """h v'' / 2 for each weight: v'' = -2 scale^2 v (1 - v^2) x^2."""
    engine, parameters = load_engine("classic")
    rng, line = np.random.default_rng(1), [engine.game.start()]
    while len(line) < 80 and engine.game.result(line) is None:
        moves = engine.game.legal_moves(line[-1])
        line.append(engine.game.play(line[-1], moves[rng.integers(len(moves))]))
    positions, scale, step = np.array(line), parameters.scale, 1.0
    factors, rows = rng.normal(size=len(positions)), counted_positions(engine, positions, 2)
    analytic = rows.slopes(factors, scale, parameters.weights)
    forward = MovedPositions(engine, positions, step, False).slopes(
        factors, scale, parameters.weights
    )
    central = MovedPositions(engine, positions, 0.01, True).slopes(
        factors, scale, parameters.weights
    )
    np.testing.assert_allclose(central, analytic, rtol=0, atol=1e-6 * np.abs(analytic).max())
    v = np.tanh(scale * rows.evaluations(parameters.weights))
    dense = engine.coefficients(positions).dense(engine.layout.size)
    second = np.stack(
        [(share * dense.T) ** 2 @ (factors * -2 * scale * v * (1 - v**2)) for share in rows.shares]
    )
    np.testing.assert_allclose(
        forward - analytic,
        0.5 * step * second,
        rtol=0,
        atol=0.03 * np.abs(0.5 * step * second).max(),
    )


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("--step 2", "--step: is for finite differences; the gradient is analytic"),
        ("--method td --noisy", "--noisy: applies to rootstrap and treestrap"),
        ("--method treestrap --lambda 0.5", "--lambda: treestrap learns from searches"),
        (
            "--method treestrap --truncated draw",
            "--truncated: treestrap does not learn from results",
        ),
        ("--method rootstrap --blunders keep", "--blunders keep: applies to td and td-leaf"),
    ],
)
def test_options_that_the_method_does_not_use_are_refused(tmp_path, arguments, wanted):
    assert (
        wanted in refused("selfplay", *arguments.split(), "--run", tmp_path / "run")
        and not (tmp_path / "run").exists()
    )
