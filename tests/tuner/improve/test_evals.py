"""Versions whose evaluations are compared with what their numbers predict."""

import numpy as np
import pytest

from games.record import find
from tests.tuner.improve.small import write_small
from tuner.core.records import convert
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.loading import load_engine
from tuner.improve.plan import LoopPlan, read_plan
from tuner.improve.proof import compare_evaluations
from tuner.improve.rounds import REAL
from tuner.improve.versions import EVALS, Version
from tuner.learn.build import recorded_scores
from tuner.learn.sources import sources_of
from tuner.measured.copies import build_in, copy_folder
from tuner.measured.measure import measurement_in
from tuner.measured.plan import read_evals_plan
from tuner.measured.rows import measure_rows, read_positions
from tuner.options.option import Reading
from tuner.parameters.writer import write_parameters

TOLD = (
    "evals: ./myengine evals\nsource: {folder: engine, files: [src/eval.h]}\nbuild: sh build.sh\n"
)
LEARNED = {"knight": 260.0, "rook": 400.0}


def version(folder, plan, name, numbers):
    """A version of the small engine with these numbers, built."""
    found = Version(name, folder / name, plan)
    found.folder.mkdir()
    copy_folder(folder / "engine", found.tree)
    (found.folder / EVALS).write_text(TOLD)
    header = found.tree / "src" / "eval.h"
    for piece, value in numbers.items():
        text, was = header.read_text(), f"{piece.capitalize()}Value = 60"
        header.write_text(text.replace(was, f"{piece.capitalize()}Value = {value:.0f}"))
    build_in(found.tree, plan.build, folder / "log", name)
    return found


@pytest.mark.long
@pytest.mark.parametrize("built", [True, False])
def test_the_real_loss_is_compared_with_the_predicted_one(tmp_path, small_pgn, built):
    plan = convert(read_plan(write_small(tmp_path, evals="./myengine evals")), LoopPlan, "plan")
    before = version(tmp_path, plan, "before", {})
    after = version(tmp_path, plan, "after", LEARNED if built else {})
    judge, reading = WeightsEvaluation(*load_engine("classic")), Reading(per_game=6).reading
    games = sources_of([str(small_pgn)], find("chess"))
    positions = read_positions(find("chess"), games, reading, judge, recorded_scores, print)
    told, rows = read_evals_plan(before.folder / EVALS), tmp_path / "rows.ds"
    made = measurement_in(tmp_path / "measured", told, positions.texts, 2, print)
    _, found = measure_rows(made, positions, rows, np.inf, print, lambda done: None)
    start = found.weights.parameters
    weights = start.weights.copy()
    for piece, value in LEARNED.items():
        weights[0, [piece in label for label in start.layout.labels()]] = value
    write_parameters(before.params, start)
    write_parameters(after.params, start.with_weights(weights))
    compared = compare_evaluations(after, before, rows, None)
    assert compared["losses"]["predicted"] < compared["losses"]["before"]
    if built:
        assert compared["real"] == pytest.approx(1, abs=0.01) and compared["near"] > 0.99
    else:  # a version that evaluates as the one before is not taken
        assert compared["real"] == 0 < REAL
