"""The table of numbers, and the values of the first term, against `tuner diff` and their
formulas."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.tuner.parameters.test_diff import drawn, parameters
from tests.tuner.report.support import findings, learned_from, selfplay_run
from tuner.core.estimates import Estimate, Ratio
from tuner.core.records import convert
from tuner.evaluation.loading import load_parameters
from tuner.parameters.diff import compare, differences
from tuner.report.run import read_run
from tuner.report.weights import (
    CHANCE,
    HELD,
    SURE,
    UNIDENTIFIED,
    headline_values,
    list_curves,
    noise_tile,
    significance_of,
    significance_of_selfplay,
    tables,
    weight_rows,
)
from tuner.results.fit import NoiseCost


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


ADAM = {
    "learner": "adam",
    "learning_rate": None,
    "half_life": 200.0,
    "batch": 1,
    "floor": 0.1,
    "average": 0.99,
}


def pairs():
    """Two files each: with errors of the learned one, of both, and of few games."""
    start, random = load_parameters("classic"), np.random.default_rng(5)
    learned = learned_from(start)
    errors = np.round(random.uniform(4, 20, start.weights.shape), 2)
    return [
        (start, learned),
        (replace(start, standard_errors=errors), learned),
        (start, replace(learned, learned={"games": 9})),
    ]


@pytest.mark.parametrize("which", range(3), ids=["learned", "both", "nine games"])
def test_a_page_and_diff_call_the_same_changes_significant(which):
    found = compare(pairs()[which])
    sure, said, counted = significance_of(found), differences(found), {SURE: 0, CHANCE: 0}
    by_name = {(line["parameter"], line["stage"]): line for line in weight_rows(found, sure)[0]}
    for row in said["rows"]:
        for stage in found.stages:
            line, entry = by_name[row["parameter"], stage], row[stage]
            if entry["significant"] is None or line["sure"] == HELD:
                assert line["sure"] in (UNIDENTIFIED, HELD)
            else:
                assert line["sure"] == (SURE if entry["significant"] else CHANCE)
                assert line["error"] == pytest.approx(
                    found.evidence.reach[0, 0, 0] * entry["change_error"], abs=2e-4
                )
                counted[line["sure"]] += 1
    marks = {
        (table.parameter, table.stage): [
            [cell.mark for cell in row] for row in table.boards[2].rows
        ]
        for table in tables(found, sure)[0]
    }
    for grid in said["grids"]:
        for significant, mark in zip(
            np.array(grid["significant"]).ravel(),
            np.ravel(marks[grid["parameter"], grid["stage"]]),
            strict=True,
        ):
            assert mark == {True: "", False: "weak"}.get(significant, mark)
    assert min(counted.values()) > 20
    assert (
        f"{said['significant']:,} of {said['tested']:,} changes are significant at the 5 % level"
        in sure.sentence
    )
    assert f"{said['supported']:,} remain at a false discovery rate" in sure.sentence
    assert ("errors a and b of both files" in sure.detail) == (which == 1)


def test_a_file_that_was_learned_without_errors_is_not_taken_for_exact():
    start, errors = drawn(4), np.full(drawn(4).shape, 2.0)
    first = parameters(start, errors)
    byhand, selfplay = parameters(start + 50), parameters(start + 50, command="selfplay")
    assert compare([first, byhand]).evidence.significant.all()
    found = compare([first, selfplay])
    assert not found.evidence.tested.any() and not significance_of(found).judged
    assert differences(found)["tested"] == 0


def test_no_single_weight_of_selfplay_is_judged(tmp_path):
    """Each may be noise, which does not say that all of them are."""
    run = read_run(selfplay_run(tmp_path / "run", 60), [])
    sure = significance_of_selfplay(run.comparison, run.history)
    assert not sure.judged
    assert "after 480 games any single difference may be noise, and none is judged" in sure.sentence
    assert "The file as a whole is judged by its matches and by its values" in sure.sentence
    assert {
        cell.mark
        for table in tables(run.comparison, sure)[0]
        for board in table.boards
        for row in board.rows
        for cell in row
    } == {""}
