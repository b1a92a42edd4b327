"""How sure changes are: as `tuner diff` says; and what noise does to the update rules of
self-play."""

from dataclasses import replace

import numpy as np
import pytest

from tests.tuner.parameters.test_diff import drawn, parameters
from tests.tuner.report.support import learned_from, selfplay_run
from tuner.evaluation.loading import load_parameters
from tuner.parameters.diff import compare, differences
from tuner.report.run import read_run
from tuner.report.weights import (
    CHANCE,
    HELD,
    SURE,
    UNIDENTIFIED,
    significance_of,
    significance_of_selfplay,
    tables,
    weight_rows,
)

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
