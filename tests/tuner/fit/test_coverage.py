"""95 % intervals hold the truth about 95 times in 100 simulations; tests/benchmarks/coverage.py asks more of more of them."""

from __future__ import annotations

import pytest

from games.jit import PLAIN
from tests.tuner.simulation import WEIGHTS, covered, simulated, walk_weights, walked

SIMULATIONS = 150


@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
@pytest.mark.parametrize("loss", ["cross-entropy", *(pytest.param(name, marks=pytest.mark.long)
                                                      for name in ("mse", "ordered", "davidson"))])
def test_intervals_of_regressions_cover_the_truth_and_naive_ones_do_not(loss):
    clustered, naive = covered([simulated(loss, seed) for seed in range(SIMULATIONS)], WEIGHTS)
    assert 0.91 < clustered < 0.98 and naive < 0.8


@pytest.mark.long
@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set")
@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_intervals_of_td_cover_the_truth(lambda_):
    clustered, naive = covered([walked(seed, lambda_) for seed in range(SIMULATIONS)], walk_weights())
    assert 0.91 < clustered < 0.98 and (lambda_ == 0 or naive < 0.85)
