"""The row check names the fault that was planted, and no other."""

import numpy as np
import pytest

from tests.tuner.datasets.rows.support import ENGINE, PHASES, STAGES, Engine, places_with
from tuner.datasets.rows.check import RowCheck, check_rows
from tuner.datasets.rows.values import RowBatch
from tuner.parameters.parameters import Stages

SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 20))]
NAMES = [place.path for place in ENGINE.places]


def check(rows: RowBatch, weights: np.ndarray, phases: int = PHASES) -> RowCheck:
    return check_rows([rows], weights.astype(np.float64), ENGINE, Stages(STAGES, phases))


def only_fault(found: RowCheck) -> tuple[str, str]:
    assert len(found.faults) == 1, found.lines()
    assert not found.fits
    assert found.faults[0].explained >= 0.95
    return found.faults[0].kind, found.faults[0].name


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_fit_have_no_fault(seed):
    engine = Engine.random(seed)
    found = check(engine.rows(), engine.weights)
    assert found.fits and found.exact == found.checked == 1000 and found.faults == ()
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
    assert (
        found.fits
        and found.exact < found.checked
        and [fault.kind for fault in found.faults] == ["rounded"]
    )
    assert (
        "rounded to whole numbers" in found.lines()[-1] and "nothing is wrong" in found.lines()[-1]
    )


@pytest.mark.parametrize("rounding", [False, True])
def test_a_fault_in_few_rows_is_not_excused_by_rounding(rounding):
    """Two of 3,000 rows count a number whose weights in engine and file differ by 12 centipawns."""
    engine = Engine.random(1, 3000)
    column = ENGINE.labels().index("king.shelter")
    engine.counts[:, column] = 0
    engine.counts[[50, 1700], column] = 1
    shift = np.random.default_rng(1).uniform(-0.499, 0.499, engine.weights.shape)
    weights = engine.weights + rounding * shift
    weights[:, column] += 12
    found = check(engine.rows(), weights)
    assert "nothing is wrong" not in "\n".join(found.lines())
    if not rounding:
        assert found.fits and found.share > 0.999
        assert [fault.name for fault in found.faults] == ["king.shelter"]
    else:
        assert found.lines()[-1].endswith(
            f"the rows that differ agree, except {200 / (found.checked - found.exact):.2g} % of"
            " them, which are wrong in another way: see the largest difference."
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_evaluations_by_side_to_move_are_named(seed):
    engine = Engine.random(seed)
    turned = engine.side * engine.evaluation()
    assert only_fault(check(engine.rows(evaluation=turned), engine.weights)) == ("perspective", "")
    assert only_fault(check(engine.rows(evaluation=turned, texts=False), engine.weights)) == (
        "perspective",
        "",
    )
    counts = engine.counts * engine.side[:, None]
    assert only_fault(check(engine.rows(counts=counts), engine.weights)) == ("perspective", "")


@pytest.mark.parametrize("seed", SEEDS)
def test_exchanged_stages_are_named(seed):
    engine = Engine.random(seed)
    assert only_fault(check(engine.rows(), engine.weights[::-1])) == ("stages", "")
    assert only_fault(check(engine.rows(phase=PHASES - engine.phase), engine.weights)) == (
        "stages",
        "",
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_exchanged_stages_of_one_term_are_named(seed):
    engine = Engine.random(seed)
    for name in (NAMES[seed % len(NAMES)], ("material", "squares", "pawns")[seed % 3]):
        weights = engine.weights.copy()
        weights[:, places_with(name)] = weights[::-1, places_with(name)]
        assert only_fault(check(engine.rows(), weights)) == ("stages", name)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "factor, words", [(2, "is counted twice in the rows"), (-1, "The sign of")]
)
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


def test_a_wrong_weight_is_named_with_both_values():
    engine = Engine.random(1)
    weights = engine.weights.copy()
    column = ENGINE.labels().index("mobility.knight[3]")
    weights[0, column] += 7
    weights[1, column + 2] -= 11
    found = check(engine.rows(), weights)
    assert [fault.name for fault in found.faults] == ["mobility.knight[5]", "mobility.knight[3]"]
    assert found.faults[1].text.startswith(
        f"mobility.knight[3].mg is {weights[0, column]:g} in the parameter file, "
        f"{engine.weights[0, column]:g} in the engine."
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_list_that_the_engine_reads_differently_is_named(seed):
    engine = Engine.random(seed)
    ways = {
        "with its index reversed": ("mobility.knight", lambda own: own[:, ::-1]),
        "one number back": ("pawns.passed", lambda own: np.roll(own, 1, axis=1)),
        "with its first index reversed": (
            "squares.king",
            lambda own: own.reshape(2, 4, 2)[:, ::-1],
        ),
    }
    for what, (name, change) in ways.items():
        weights, columns = engine.weights.copy(), places_with(name)
        weights[:, columns] = change(weights[:, columns]).reshape(2, -1)
        found = check(
            Engine(engine.counts, weights, engine.phase, engine.side).rows(), engine.weights
        )
        assert only_fault(found) == ("term", name)
        assert what in found.faults[0].text


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_that_the_rows_count_from_the_wrong_end_for_one_side_is_named(seed):
    engine, random = Engine.random(seed), np.random.default_rng(seed)
    columns, n = places_with("squares.king"), len(engine.phase)
    own, their = (np.eye(8, dtype=int)[random.integers(0, 8, n)] for _ in range(2))
    engine.counts[:, columns] = own - their
    counts = engine.counts.copy()
    counts[:, columns] = own - their.reshape(n, 4, 2)[:, ::-1].reshape(n, 8)
    found = check(engine.rows(counts=counts), engine.weights)
    assert found.faults[0].name == "squares.king" and not found.fits
    assert "with its first index reversed for the second player" in found.faults[0].text


def test_weights_of_one_stage_that_are_used_for_both_are_named():
    engine = Engine.random(1)
    weights, columns = engine.weights.copy(), places_with("mobility.knight")
    weights[1, columns] = weights[0, columns]
    found = check(Engine(engine.counts, weights, engine.phase, engine.side).rows(), engine.weights)
    assert only_fault(found) == ("stages", "mobility.knight")
    assert "uses the mg weights of mobility.knight for eg" in found.faults[0].text


@pytest.mark.parametrize("seed", SEEDS)
def test_two_faults_at_once_are_both_named(seed):
    engine = Engine.random(seed)
    counts = engine.counts.copy()
    counts[:, places_with("squares.pawn")] *= 2
    counts[:, places_with("pieces.pair")] *= -1
    found = check(engine.rows(counts=counts), engine.weights)
    assert {fault.name for fault in found.faults} == {"squares.pawn", "pieces.pair"}
    turned = engine.side * (engine.evaluation() + 12 * engine.side)
    found = check(engine.rows(counts=counts, evaluation=turned), engine.weights)
    assert [fault.kind for fault in found.faults[:1]] == ["perspective"]
    assert {fault.name for fault in found.faults[1:]} == {"", "squares.pawn", "pieces.pair"}
    counts = engine.counts.copy()
    counts[:, places_with("material.rook")] = 0
    counts[:, places_with("king.shelter")] *= 2
    found = check(engine.rows(counts=counts), engine.weights)
    assert [fault.name for fault in found.faults] == ["material.rook", "king.shelter"]


def test_a_phase_that_is_one_too_large_is_named():
    engine = Engine.random(3)
    known = engine.phase < PHASES
    evaluation = np.where(known, engine.evaluation(), np.nan)
    rows = engine.rows(phase=np.minimum(engine.phase + 1, PHASES), evaluation=evaluation)
    found = check(rows, engine.weights)
    assert only_fault(found) == ("taper", "") and "one too large" in found.faults[0].text


def test_letters_say_who_is_to_move():
    engine = Engine.random(4)
    rows = engine.rows(evaluation=engine.evaluation() - 12 * engine.side)
    stages = Stages(STAGES, PHASES)
    found = check_rows([rows], engine.weights.astype(np.float64), ENGINE, stages, "bw")
    assert only_fault(found) == ("constant", "")
    assert "+12 centipawns more for the side to move" in found.faults[0].text


def test_a_constant_and_a_tempo_are_told_apart():
    engine = Engine.random(2)
    assert only_fault(check(engine.rows(evaluation=engine.evaluation() + 15), engine.weights)) == (
        "constant",
        "",
    )
    found = check(engine.rows(evaluation=engine.evaluation() + 12 * engine.side), engine.weights)
    assert only_fault(found) == ("constant", "")
    assert "+12 centipawns more for the side to move (a tempo)" in found.faults[0].text
    assert check(
        engine.rows(rest=15 + 0 * engine.phase, evaluation=engine.evaluation() + 15), engine.weights
    ).fits


def test_a_tempo_is_found_after_the_perspective():
    engine = Engine.random(2)
    found = check(engine.rows(evaluation=engine.side * engine.evaluation() + 20), engine.weights)
    assert [fault.kind for fault in found.faults] == ["perspective", "constant"]


def test_another_unit_of_the_evaluation_is_a_factor_of_the_whole():
    engine = Engine.random(3)
    found = check(engine.rows(evaluation=np.trunc(engine.evaluation() * 0.72)), engine.weights)
    assert only_fault(found) == ("term", "")
    assert "0.72 times the whole evaluation" in found.faults[0].text


def test_another_number_of_steps_and_another_curve_are_named():
    engine = Engine.random(4)
    found = check(engine.rows(), engine.weights, 30)
    assert only_fault(found) == ("taper", "")
    assert "24 steps instead of 30" in found.faults[0].text
    curve = (engine.phase / PHASES) ** 2
    evaluation = np.trunc(curve * engine.sums(0) + (1 - curve) * engine.sums(1))
    found = check(engine.rows(evaluation=evaluation), engine.weights)
    assert only_fault(found) == ("taper", "")
    assert "0.25 at phase 12" in found.faults[0].text


def test_a_taper_of_256_steps_is_named_with_what_to_print():
    engine = Engine.random(4, 5000)
    share = (engine.phase * 256 + 12) // 24 / 256
    evaluation = np.trunc(2 * (share * engine.sums(0) + (1 - share) * engine.sums(1)))
    found = check(engine.rows(evaluation=evaluation), 2 * engine.weights)
    assert [fault.kind for fault in found.faults] == ["taper"], found.lines()
    assert "set phases: 256" in found.faults[0].text


def test_few_rows_that_are_off_by_whole_divisions_fit():
    """Four of 106 are off by 1.6 centipawns: no fault, and no factor of 0.999."""
    engine = Engine.random(6, 106)
    share = engine.phase / PHASES
    exact = share * engine.sums(0) + (1 - share) * engine.sums(1)
    evaluation = np.trunc(exact)
    evaluation[:4] = exact[:4] - 1.6 * np.sign(exact[:4])
    found = check(engine.rows(evaluation=evaluation), engine.weights)
    assert found.fits and not found.faults and found.exact == 102
    evaluation[:4] -= np.sign(exact[:4])
    assert not check(engine.rows(evaluation=evaluation), engine.weights).fits


def test_a_scale_of_the_last_stage_is_named_and_one_that_is_printed_fits():
    engine = Engine.random(5)
    scale = np.where(np.arange(len(engine.phase)) % 4 == 0, 0.5, 1).astype(np.float32)
    share = engine.phase / PHASES
    evaluation = np.trunc(share * engine.sums(0) + (1 - share) * np.trunc(scale * engine.sums(1)))
    found = check(engine.rows(evaluation=evaluation), engine.weights)
    assert only_fault(found) == ("scale", "")
    assert "0.50" in found.faults[0].text
    assert check(engine.rows(evaluation=evaluation, scale=scale), engine.weights).fits


def test_a_missing_piece_value_is_seen_in_its_squares():
    engine = Engine.random(6)
    engine.counts[:, 0] = engine.counts[:, places_with("squares.pawn")].sum(axis=1)
    counts = engine.counts.copy()
    counts[:, 0] = 0
    found = check(engine.rows(counts=counts), engine.weights)
    assert "material.pawn" in found.faults[0].text


def test_what_no_single_fault_explains_is_said_with_what_comes_closest():
    engine, random = Engine.random(7), np.random.default_rng(7)
    evaluation = (
        engine.evaluation()
        + random.integers(-200, 200, len(engine.phase))
        + 2 * engine.counts[:, 2] * 400
    )
    found = check(engine.rows(evaluation=evaluation), engine.weights)
    assert [fault.kind for fault in found.faults] == ["unknown"]
    assert found.faults[0].name == "material.rook"
    assert not found.fits and found.share < 0.05
    assert f"in row {found.largest_row:,}: 8/8/8 " in found.lines()[1]


def test_counts_and_evaluations_that_are_both_of_the_side_to_move_are_found_by_the_results():
    engine = Engine.random(8)
    outcome = np.sign(engine.evaluation()).astype(np.float32)
    rows = engine.rows(
        counts=engine.counts * engine.side[:, None],
        evaluation=engine.side * engine.evaluation(),
        outcome=outcome,
    )
    found = check(rows, engine.weights)
    assert found.share == 1 and not found.fits
    assert [fault.kind for fault in found.faults] == ["perspective"]
    assert check(engine.rows(outcome=outcome), engine.weights).fits


def test_rows_without_evaluations_are_not_said_to_fit():
    engine = Engine.random(9)
    nothing = engine.rows(evaluation=np.full(1000, np.nan))
    found = check(nothing, engine.weights)
    assert not found.fits and found.checked == 0 and len(found.lines()) == 1
    half = engine.rows(evaluation=np.where(np.arange(1000) % 2, np.nan, engine.evaluation()))
    found = check(half, engine.weights)
    assert found.fits and found.checked == 500
    assert found.lines()[-1] == "500 rows have no evaluation and were not checked"


def test_one_stage_needs_no_phase():
    engine = Engine.random(10)
    rows = engine.rows(phase=0 * engine.phase, evaluation=engine.sums(0))
    found = check_rows(
        [rows, rows], engine.weights[:1].astype(np.float64), ENGINE, Stages(("all",), 1)
    )
    assert found.fits and found.rows == 2000
    counts = engine.counts.copy()
    counts[:, places_with("mobility")] *= -1
    flipped = engine.rows(counts=counts, phase=0 * engine.phase, evaluation=engine.sums(0))
    found = check_rows(
        [flipped], engine.weights[:1].astype(np.float64), ENGINE, Stages(("all",), 1)
    )
    assert only_fault(found) == ("term", "mobility.knight")


def test_the_sample_of_many_rows_is_bounded(monkeypatch):
    from tuner.datasets.rows import sample as residuals

    monkeypatch.setattr(residuals, "MOST_ROWS", 1000)
    engine = Engine.random(11)
    counts = engine.counts.copy()
    counts[:, places_with("pieces.pair")] *= 2
    found = check_rows(
        [engine.rows(counts=counts)] * 5,
        engine.weights.astype(np.float64),
        ENGINE,
        Stages(STAGES, PHASES),
    )
    assert found.rows == 5000 and only_fault(found) == ("term", "pieces.pair")
    assert found.as_dict()["faults"][0]["name"] == "pieces.pair"
