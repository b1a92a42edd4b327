"""Wilson's interval: that of statsmodels and scipy, and right where the simple one is not."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint

from tuner.statistics.intervals import wilson_interval


@pytest.mark.parametrize(
    "successes, trials", [(0, 1), (1, 1), (0, 30), (30, 30), (3, 10), (764, 1000), (1, 100_000)]
)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_interval_is_that_of_statsmodels_and_scipy(successes, trials, confidence):
    found = wilson_interval(successes, trials, confidence)
    assert found == pytest.approx(
        proportion_confint(successes, trials, 1 - confidence, "wilson"), abs=1e-12
    )
    other = binomtest(successes, trials).proportion_ci(confidence, "wilson")
    assert found == pytest.approx((other.low, other.high), abs=1e-12)


def test_interval_covers_on_average_what_it_says_even_for_few_trials():
    """Exactly, by summing the binomial: mean over shares from 0.02 to 0.98."""
    intervals = np.array([wilson_interval(successes, 20) for successes in range(21)])
    shares = np.linspace(0.02, 0.98, 193)
    inside = (intervals[:, :1] <= shares) & (shares <= intervals[:, 1:])
    covered = (binom.pmf(np.arange(21)[:, None], 20, shares) * inside).sum(axis=0)
    assert covered.mean() == pytest.approx(0.95, abs=0.01)


def test_swapping_success_and_failure_mirrors_the_interval():
    low, high = wilson_interval(3.5, 11)
    assert wilson_interval(7.5, 11) == pytest.approx((1 - high, 1 - low))


def test_no_trials_leave_everything_open():
    assert wilson_interval(0, 0) == (0, 1)


@pytest.mark.parametrize("successes, trials", [(-1, 4), (5, 4)])
def test_what_is_no_proportion_is_refused(successes, trials):
    with pytest.raises(ValueError, match=f"{successes} successes of {trials} trials"):
        wilson_interval(successes, trials)
