"""Evaluations of more stages than two: compiled ones agree with slow ones, in games and searches,
with sums kept and without; and terms that say in which phase a position is."""

import ctypes
import re
from dataclasses import replace

import chess
import numpy as np
import pytest

from evalterms.framework.compose import compose, load_terms
from evalterms.framework.emit import UNIT
from games.chess.files.fen import fen
from games.search.context import SUMS
from games.search.searcher import Limits
from games.streams import InputError
from tests.evalterms.support import some_positions
from tests.evalterms.test_kept import WORDS
from tests.evalterms.test_user_terms import written
from tests.support import refusal
from tuner.evaluation.explain import explain
from tuner.evaluation.loading import engine_of, load_engine, spec_of
from tuner.parameters.parameters import staged
from tuner.parameters.writer import write_parameters

FOUR = {"opening": (20, 24), "middle": (11, 15), "ending": (5, 5), "mating": (0, 2)}
PHASE = """
@{name}.phases({steps})
def steps(us, them):
    return {value}
"""
TERM = """
from evalterms.term import Term
from games.{where} import popcount
buckets = Term("buckets")
TEMPO = buckets.parameter("tempo")
@buckets.counts
def count_tempo(us, them, emit):
    emit(TEMPO, int(us.to_move))
"""
IN_CHESS = TERM.format(where="bits") + PHASE.format(
    name="buckets", steps=7, value="(popcount(us.pieces | them.pieces) - 1) >> 2"
)
IN_SHOGI = TERM.format(where="shogi.rules.squares") + PHASE.format(
    name="buckets", steps=4, value="min((40 - popcount(us.men) - popcount(them.men)) >> 1, 4)"
)


def file_of(folder, name, stages, terms=(), seed=1):
    """A file with these stages and random weights that compiled code need not round, loaded."""
    random = np.random.default_rng(seed)
    _, p = load_engine(name, terms, add_missing=bool(terms))
    p = staged(p, tuple(stages), tuple(stages.values()))
    moved = p.weights + random.integers(-60, 61, p.weights.shape)
    taking_part = p.weights.any(axis=0) | np.array(
        [x.startswith("buckets") for x in p.layout.labels()]
    )
    path = folder / "stages.yaml"
    write_parameters(path, replace(p, weights=np.where(taking_part, np.round(moved), 0)))
    return load_engine(path, terms)


def slowly(engine, parameters, positions, phase):
    """Evaluations of linear terms, by shares that NumPy interpolates."""
    counts = engine.coefficients(positions).matrix(engine.layout.size)
    spans = dict(zip(parameters.stages, parameters.spans, strict=True))
    order = sorted(spans, key=spans.__getitem__)
    knots = [step for stage in order for step in spans[stage]]
    total = np.zeros(len(positions))
    for stage, weights in zip(parameters.stages, parameters.weights, strict=True):
        height = [float(other == stage) for other in order for _ in range(2)]
        total += np.interp(phase, knots, height) * (counts @ weights)
    return total


def chess_phase(positions):
    worth = {chess.KNIGHT: 1, chess.BISHOP: 1, chess.ROOK: 2, chess.QUEEN: 4}
    boards = (chess.Board(fen(words)) for words in positions)
    found = [sum(worth.get(p.piece_type, 0) for p in b.piece_map().values()) for b in boards]
    return np.minimum(found, 24)


def pieces(positions):
    boards = (chess.Board(fen(words)) for words in positions)
    return np.array([(len(board.piece_map()) - 1) // 4 for board in boards])


EIGHT = {f"b{i}": (i, i) for i in range(8)}
HANDS = {"full": (4, 4), "some": (2, 3), "none": (0, 0)}


CASES = [
    "buckets",
    pytest.param("chess", marks=pytest.mark.long),
    pytest.param("shogi", marks=pytest.mark.long),
]


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    """An engine, parameters, positions and their phases as another program sees them."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "chess":
        positions = some_positions("chess")[-500:].copy()
        return *file_of(folder, "classic", FOUR), positions, chess_phase(positions)
    if request.param == "buckets":
        positions = some_positions("chess")[-500:].copy()
        terms = [written(folder, IN_CHESS)]
        return *file_of(folder, "classic", EIGHT, terms), positions, pieces(positions)
    positions = some_positions("shogi")[:400].copy()
    engine, parameters = file_of(folder, "shogi/classic", HANDS, [written(folder, IN_SHOGI)])
    texts = [engine.game.text(words).split()[:3] for words in positions]
    held = [
        sum(int(n or 1) for n, _ in re.findall(r"(\d*)([A-Za-z])", hand)) for _, _, hand in texts
    ]
    return engine, parameters, positions, np.minimum(np.array(held) // 2, 4)


def test_compiled_evaluations_are_the_slow_ones(case):
    engine, parameters, positions, phase = case
    assert len(np.unique(phase)) > 2
    assert np.array_equal(engine.coefficients(positions).phase, phase)
    slow = slowly(engine, parameters, positions, phase)
    np.testing.assert_allclose(engine.evaluate_many(positions, parameters), slow, atol=1e-8)
    # shares are parts of 1 << 20, and compiled values whole steps
    most = 1 / UNIT + 2e-6 * np.abs(parameters.weights).max() * 200
    np.testing.assert_allclose(engine.evaluate(positions, parameters), slow, atol=most)
    shown = explain(engine, parameters, positions[7])
    assert shown["evaluation"] == pytest.approx(slow[7], abs=0.01)
    assert shown["phases"] == engine.phases and len(shown["shares"]) == len(parameters.stages)


@pytest.mark.parametrize("case", CASES[:2], indirect=True)
def test_sums_are_kept_for_each_row_of_weights(case):
    """A table that knows the pawns and kings of a position still has the sums of the right
    stages."""
    engine, parameters, positions, _ = case
    bound = engine.evaluation(parameters)  # keeps the weights alive
    address, weights = bound
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    score, table = kind(address), np.zeros(WORDS * SUMS, np.uint64)
    before = [score(words.ctypes.data, weights, None) for words in positions]
    bare = positions.copy()  # the same pawns and kings in other phases
    kept = bare[:, 2] | bare[:, 7]
    for word in range(8):
        bare[:, word] &= kept
    for some in (positions, bare, positions):
        found = [score(words.ctypes.data, weights, table.ctypes.data) for words in some]
    assert found == before and np.count_nonzero(table) > 300
    alone = [score(words.ctypes.data, weights, None) for words in bare]
    assert alone == [score(words.ctypes.data, weights, table.ctypes.data) for words in bare]


def test_searches_do_not_depend_on_what_is_left_out(case):
    engine, parameters, positions, _ = case
    weights = parameters.weights.copy()
    weights[:, engine.layout.places[-2].columns] = 0
    parameters = parameters.with_weights(weights)
    lean, whole = engine.searcher(parameters), engine.searcher(parameters, lean=False)
    other = engine_of(spec_of(engine)).searcher(parameters)
    for words in positions[:: len(positions) // 6]:
        values = [one.search([words], Limits(depth=3)).value for one in (lean, whole, other)]
        assert len(set(values)) == 1


def test_one_stage_of_an_engine_with_more(tmp_path):
    engine, parameters = file_of(tmp_path, "classic", FOUR)
    positions = some_positions("chess")[:200]
    one = staged(parameters, ("all",))
    counts = engine.coefficients(positions).matrix(engine.layout.size)
    np.testing.assert_allclose(engine.evaluate(positions, one), counts @ one.weights[0], atol=0.3)


def test_counts_are_those_of_two_stages(tmp_path):
    """So that datasets serve files of any stages."""
    engine, _ = file_of(tmp_path, "classic", FOUR)
    plain, _ = load_engine("classic")
    assert engine.composition.name == plain.composition.name
    assert engine.composition.glue is not plain.composition.glue


@pytest.mark.parametrize(
    ("steps", "value", "said"),
    [
        ("3", "popcount(us.pieces)", "its phase is 16, expected a whole number from 0 to 3"),
        ("64", "popcount(us.pawns) / 2", "its phase is 4.0, expected a whole number from 0 to 64"),
        ("16", "popcount(us.pawns) + int(us.to_move)", "its phase is 9 for one side and 8 for the"),
        ("300", "1", "buckets has 300 phases, expected 1 to 255"),
    ],
)
def test_a_wrong_phase_is_one_line(tmp_path, steps, value, said):
    text = TERM.format(where="bits") + PHASE.format(name="buckets", steps=steps, value=value)
    with pytest.raises(InputError, match=re.escape(said)) as problem:
        load_engine("classic", [written(tmp_path, text)], add_missing=True)
    assert "\n" not in str(problem.value)


def test_two_terms_with_phases_are_refused(tmp_path):
    text = IN_CHESS + IN_CHESS.replace("buckets", "other")
    terms = load_terms("chess", [written(tmp_path, text)])
    assert "terms buckets and other both have phases" in refusal(
        compose, "chess", terms, error=ValueError
    )
