"""Estimates: their text and plain data, and intervals as SciPy has them."""

import math

import pytest
from scipy import stats

from tuner.core.estimates import (
    AT_LEAST,
    AT_MOST,
    GIVEN,
    Estimate,
    chance_below,
    estimate_of,
    reach_of,
    student,
)
from tuner.core.records import to_json

OPEN = Estimate(190.0, 160.0, -250.0, math.inf)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (estimate_of(12.345, 1.0), "+12.3 +/- 2.0"),
        (estimate_of(-0.01, 1.0), "0.0 +/- 2.0"),
        (estimate_of(1234.56, math.nan), "+1,234.6"),
        (OPEN, "at least -250.0"),
        (OPEN.turned, "at most +250.0"),
        (Estimate(math.inf, low=-43.0, high=math.inf), "at least -43.0"),
        (Estimate(30.0, low=30.0, how=AT_LEAST), "at least +30.0"),
        (Estimate(30.0, high=30.0, how=AT_MOST), "at most +30.0"),
        (Estimate(3000.0, low=3000.0, high=3000.0, how=GIVEN), "+3,000.0"),
        (Estimate(), "unknown"),
    ],
)
def test_an_estimate_is_written_with_what_is_known_of_it(found, text):
    assert found.text(1, "+,") == text


def test_plain_data_have_four_numbers_and_null_for_what_is_not_finite():
    plain = {"value": 190.0, "low": -250.0, "high": None, "standard_error": 160.0}
    assert OPEN.plain == plain == to_json([OPEN])[0]
    assert set(Estimate().plain.values()) == {None}


def test_another_unit_and_the_other_side_keep_the_interval():
    found = Estimate(2.0, 1.0, -1.0, 6.0)
    assert found.times(10) == Estimate(20.0, 10.0, -10.0, 60.0)
    assert found.turned == Estimate(-2.0, 1.0, -6.0, 1.0) and found.turned.turned == found


@pytest.mark.parametrize("freedom", [1, 4, 30, 200])
def test_reaches_and_chances_are_those_of_scipy(freedom):
    assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom))
    assert chance_below(-1.3, freedom) == pytest.approx(stats.t.cdf(-1.3, freedom))
    assert student(math.inf) == 1.96 == reach_of(50)
    assert reach_of(1) == reach_of(2) == pytest.approx(stats.t.ppf(0.975, 1))
    assert chance_below(-1.96) == pytest.approx(stats.norm.cdf(-1.96))
