"""The table of numbers, and the values of the first term, against `tuner diff` and their
formulas."""

import math

import pytest

from tests.tuner.report.support import findings, learned_from
from tuner.core.estimates import Estimate
from tuner.core.records import convert
from tuner.evaluation.loading import load_parameters
from tuner.parameters.diff import compare, differences
from tuner.report.weights import (
    HELD,
    headline_values,
    list_curves,
    noise_tile,
    significance_of,
    weight_rows,
)
from tuner.results.fit import NoiseCost, Ratio


@pytest.fixture(scope="module")
def pair():
    initial = load_parameters("classic")
    return initial, learned_from(initial)


def test_rows_are_those_of_diff(pair):
    expected = [
        (row["parameter"], stage, row[stage])
        for row in differences(compare(pair))["rows"]
        for stage in ("mg", "eg")
    ]
    found, number = weight_rows(compare(pair), significance_of(compare(pair)))
    assert number == len(found)
    assert len(found) == len(expected) == 462
    kinds = set()
    for row, (name, stage, entry) in zip(found, expected, strict=True):
        assert (row["parameter"], row["stage"]) == (name, stage)
        assert (row["initial"], row["learned"]) == (entry["initial"], entry["learned"])
        assert row["change"] == pytest.approx(entry["change"], abs=1e-4)
        error = entry["standard_error"]
        kinds.add(row["sure"])
        if error is None:
            assert row["sure"] == "not identified" and row["error"] is None
        elif error == 0:
            assert row["sure"] == HELD and row["error"] is None and row["change"] == 0
        else:
            assert row["error"] == pytest.approx(1.96 * error)
            assert row["sure"] == ("yes" if abs(row["change"]) > row["error"] else "no")
    assert kinds == {"yes", "no", HELD, "not identified"}


def test_values_are_those_of_the_first_term_in_units_of_its_first(pair):
    found = headline_values(compare(pair), [])
    learned = pair[1]
    assert (found["term"], found["unit"], found["intervals"]) == ("material", "pawn", False)
    means = {
        row["name"]: sum(entry["learned"].value for entry in row["stages"]) / 2
        for row in found["rows"]
    }
    assert list(means) == ["pawn", "knight", "bishop", "rook", "queen"]
    for i, row in enumerate(found["rows"]):
        assert row["ratio"].value == pytest.approx(means[row["name"]] / means["pawn"])
        assert math.isnan(row["ratio"].low)
        for s, entry in enumerate(row["stages"]):
            error = learned.standard_errors[s, i]
            half = entry["learned"].half_width
            assert (
                math.isnan(half) if error == 0 else half == pytest.approx(1.96 * error, nan_ok=True)
            )
    ratios = findings()["result"]["ratios"]
    given = headline_values(compare(pair), [convert(ratio, Ratio, "") for ratio in ratios])
    assert given["intervals"] and [
        (row["ratio"].value, row["ratio"].low) for row in given["rows"][1:]
    ] == [(ratio["ratio"]["value"], ratio["ratio"]["low"]) for ratio in ratios]


@pytest.mark.long
def test_every_list_has_a_curve_for_each_stage(pair):
    charts = list_curves(compare(pair))
    lists = [place.path for place in pair[0].layout.places if len(place.shape) == 1]
    assert [chart.title for chart in charts] == [
        f"{name} · {stage}" for name in lists for stage in ("mg", "eg")
    ]


def test_noise_shows_its_price_or_its_size():
    label, value, detail = noise_tile(
        NoiseCost(14.24, 8.1, elo=Estimate(13.8, low=11.8, high=15.7)), "centipawns"
    )
    assert (label, value) == ("Cost of sampling noise", "14 Elo")
    assert (
        "12" in detail
        and "16" in detail
        and "at depth 4; evaluations ±14.2 centipawns, differences between" in detail
    )
    label, value, detail = noise_tile(NoiseCost(3.0), "centipawns")
    assert (label, value, detail) == ("Sampling noise", "±3.0", "evaluations ±3.0 centipawns")
    assert noise_tile(None, "centipawns") is None
