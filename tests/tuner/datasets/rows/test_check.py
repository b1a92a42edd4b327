"""The row check says how many rows agree, and shows those that differ most; what rounding explains
passes."""

import numpy as np
import pytest

from tests.tuner.datasets.rows.support import ENGINE, PHASES, STAGES, Engine, places_with
from tuner.datasets.rows.check import RowCheck, check_rows
from tuner.datasets.rows.values import RowBatch
from tuner.parameters.parameters import Stages

SEEDS = range(6)
NAMES = [place.path for place in ENGINE.places]


def check(rows: RowBatch, weights: np.ndarray, phases: int = PHASES) -> RowCheck:
    return check_rows([rows], weights.astype(np.float64), ENGINE, Stages(STAGES, phases))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_fit_have_no_fault(seed):
    engine = Engine.random(seed)
    found = check(engine.rows(), engine.weights)
    assert found.fits and found.exact == found.checked == 1000 and found.remarks == ()
    assert found.lines() == [
        "1,000 of 1,000 rows (100 %) agree with the engine's evaluation within rounding; mean"
        f" difference {found.mean:.2f} centipawns"
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_with_rounded_weights_fits(seed):
    """As after an export: many small differences add up to more than the rounding of one
    evaluation."""
    engine = Engine.random(seed)
    engine = Engine(40 * engine.counts, engine.weights, engine.phase, engine.side)
    shift = np.random.default_rng(seed).uniform(-0.499, 0.499, engine.weights.shape)
    found = check(engine.rows(), engine.weights + shift)
    assert found.fits and found.exact < found.checked == found.rounded
    assert "rounded to whole numbers" in found.lines()[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_terms_that_divide_pass(seed):
    """Each of three terms is rounded towards zero by itself: 77 % of such rows agreed in an engine
    that nothing was wrong with."""
    engine = Engine.random(seed)
    random = np.random.default_rng(seed)
    lost = random.uniform(0, 1, (len(engine.phase), 3)).sum(axis=1) * np.sign(engine.evaluation())
    found = check(engine.rows(evaluation=np.trunc(engine.evaluation() - lost)), engine.weights)
    assert found.share < 0.9 and found.fits
    assert "rounding explains the differences" in "\n".join(found.lines())


FAULTS = {
    "half of a term": lambda e, at: {"counts": _times(e, at, 2)},
    "another sign": lambda e, at: {"counts": _times(e, at, -1)},
    "a constant": lambda e, at: {"evaluation": e.evaluation() + 5},
    "noise": lambda e, at: {
        "evaluation": e.evaluation() + np.random.default_rng(1).integers(-60, 60, len(e.phase))
    },
    "the phase from the other end": lambda e, at: {"phase": PHASES - e.phase},
}


def _times(engine, places, factor):
    counts = engine.counts.copy()
    counts[:, places] *= factor
    return counts


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_no_rounding_explains_is_refused(seed, name):
    engine = Engine.random(seed)
    changed = FAULTS[name](engine, places_with("squares"))
    found = check(engine.rows(**changed), engine.weights)
    assert not found.fits
    worst = found.worst[0]
    assert found.lines()[1].startswith(f"largest differences: {worst.text} (row {worst.row:,})")
    sizes = [abs(each.engine - each.rows) for each in found.worst]
    assert len(sizes) == 3 and sizes == sorted(sizes, reverse=True) and sizes[0] > 4
    # what is shown of a row adds up to nearly all of what it says
    assert abs(sum(share for _, share in worst.terms)) > 0.2 * abs(worst.rows) - 50
    assert all(label.partition("[")[0] in NAMES for label, _ in worst.terms)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_number_that_no_row_counts_is_named(seed):
    engine, name = Engine.random(seed), NAMES[seed % len(NAMES)]
    found = check(engine.rows(counts=_times(engine, places_with(name), 0)), engine.weights)
    assert not found.fits
    assert f"No row counts {name}, although the weights are not 0" in found.lines()[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_evaluations_by_side_to_move_are_named(seed):
    engine = Engine.random(seed)
    turned = {"evaluation": engine.side * engine.evaluation()}
    counts = {"counts": engine.counts * engine.side[:, None]}
    for changed in (turned, counts):
        found = check(engine.rows(**changed), engine.weights)
        assert not found.fits and found.of_mover
        assert "are of the side to move" in found.lines()[-1]


def test_rows_without_evaluations_are_not_checked():
    engine = Engine.random(3)
    unknown = np.full(len(engine.phase), np.nan, np.float32)
    found = check(engine.rows(evaluation=unknown), engine.weights)
    assert not found.fits and found.checked == 0
    assert "none of 1,000 rows has an evaluation" in found.lines()[0]
    some = engine.evaluation().astype(np.float32)
    some[::2] = np.nan
    found = check(engine.rows(evaluation=some), engine.weights)
    assert found.fits and "500 rows have no evaluation" in found.lines()[-1]


def test_counts_and_evaluations_that_are_both_of_the_side_to_move_are_found_by_the_results():
    engine = Engine.random(8)
    outcome = np.sign(engine.evaluation()).astype(np.float32)
    rows = engine.rows(
        counts=engine.counts * engine.side[:, None],
        evaluation=engine.side * engine.evaluation(),
        outcome=outcome,
    )
    found = check(rows, engine.weights)
    assert found.share == 1 and not found.fits and found.of_mover
    assert check(engine.rows(outcome=outcome), engine.weights).fits
