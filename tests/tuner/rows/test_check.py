"""The row check names the fault that was planted, and no other."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tuner.rows.support import ENGINE, PHASES, STAGES, Engine, places_with
from tuner.rows.batch import RowBatch
from tuner.rows.check import RowCheck, check_rows

SEEDS = range(20)
NAMES = [place.path for place in ENGINE.places]


def check(rows: RowBatch, weights: np.ndarray, phases: int = PHASES) -> RowCheck:
    return check_rows([rows], weights.astype(np.float64), phases, ENGINE, STAGES)


def only_fault(found: RowCheck) -> tuple[str, str]:
    assert len(found.faults) == 1, found.lines()
    assert not found.fits
    assert found.faults[0].explained >= 0.95
    return found.faults[0].kind, found.faults[0].name


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_fit_have_no_fault(seed):
    engine = Engine.random(seed)
    found = check(engine.rows(), engine.weights)
    assert found.fits and found.exact == found.checked == 3000 and found.faults == ()
    assert found.lines() == [f"3,000 of 3,000 rows (100 %) agree with the engine's evaluation within rounding; mean difference "
                             f"{found.mean:.2f} centipawns"]


@pytest.mark.parametrize("seed", SEEDS)
def test_evaluations_by_side_to_move_are_named(seed):
    engine = Engine.random(seed)
    turned = engine.side * engine.evaluation()
    assert only_fault(check(engine.rows(evaluation=turned), engine.weights)) == ("perspective", "")
    assert only_fault(check(engine.rows(evaluation=turned, texts=False), engine.weights)) == ("perspective", "")
    counts = engine.counts * engine.side[:, None]
    assert only_fault(check(engine.rows(counts=counts), engine.weights)) == ("perspective", "")


@pytest.mark.parametrize("seed", SEEDS)
def test_exchanged_stages_are_named(seed):
    engine = Engine.random(seed)
    assert only_fault(check(engine.rows(), engine.weights[::-1])) == ("stages", "")
    assert only_fault(check(engine.rows(phase=PHASES - engine.phase), engine.weights)) == ("stages", "")


@pytest.mark.parametrize("seed", SEEDS)
def test_exchanged_stages_of_one_term_are_named(seed):
    engine = Engine.random(seed)
    for name in (NAMES[seed % len(NAMES)], ("material", "squares", "pawns")[seed % 3]):
        weights = engine.weights.copy()
        weights[:, places_with(name)] = weights[::-1, places_with(name)]
        assert only_fault(check(engine.rows(), weights)) == ("stages", name)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("factor, words", [(2, "is counted twice in the rows"), (-1, "The sign of")])
def test_a_term_that_is_counted_twice_or_with_the_wrong_sign_is_named(seed, factor, words):
    engine = Engine.random(seed)
    for name in (NAMES[seed % len(NAMES)], ("material", "squares", "pawns")[seed % 3]):
        counts = engine.counts.copy()
        counts[:, places_with(name)] *= factor
        found = check(engine.rows(counts=counts), engine.weights)
        assert only_fault(found) == ("term", name)
        assert words in found.faults[0].text


@pytest.mark.parametrize("seed", SEEDS)
def test_a_term_that_is_missing_in_the_rows_is_named(seed):
    engine = Engine.random(seed)
    for name in (NAMES[seed % len(NAMES)], ("material", "squares", "pawns")[seed % 3]):
        counts = engine.counts.copy()
        counts[:, places_with(name)] = 0
        found = check(engine.rows(counts=counts), engine.weights)
        assert not found.fits
        assert (found.faults[0].kind, found.faults[0].name) == ("missing", name)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_term_that_the_engine_lacks_or_adds_twice_is_named(seed):
    for factor in (0, 2):
        engine = Engine.random(seed)
        name, weights = NAMES[seed % len(NAMES)], engine.weights.copy()
        engine.weights[:, places_with(name)] *= factor
        assert only_fault(check(engine.rows(), weights)) == ("term", name)
