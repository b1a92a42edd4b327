"""Coverage of 95 % intervals over 1,000 simulations of each loss: `pytest -s
tests/benchmarks/coverage.py` (about 2 minutes)."""

import pytest

from tests.tuner.simulation import WEIGHTS, covered, simulated, walk_weights, walked

SIMULATIONS = 1000
LOSSES = {
    loss: (lambda seed, loss=loss: simulated(loss, seed), WEIGHTS)
    for loss in ("cross-entropy", "mse", "ordered")
}
LAMBDAS = {
    f"TD({lambda_:g})": (lambda seed, lambda_=lambda_: walked(seed, lambda_), walk_weights())
    for lambda_ in (0.0, 0.7, 0.95, 1.0)
}


@pytest.mark.parametrize("name", [*LOSSES, *LAMBDAS])
def test_intervals_cover_the_truth(name):
    simulate, truth = {**LOSSES, **LAMBDAS}[name]
    share = covered([simulate(seed) for seed in range(SIMULATIONS)], truth)
    print(f"{name}: {share:.1%} of the 95 % intervals hold the truth")
    assert 0.93 <= share <= 0.97
