"""Properties of every term of every game."""

import ctypes
import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

from evalterms.framework.check import complaints
from evalterms.framework.compose import compose
from evalterms.framework.emit import UNIT
from evalterms.term import Term
from games.bits import popcount
from games.record import find
from tests.evalterms.support import (
    CASES,
    GAMES,
    NAMES,
    REPOSITORY,
    columns,
    dense_coefficients,
    differences,
    engine,
    linear_columns,
    packed,
    scores,
    some_positions,
)
from tuner.evaluation.engine import CompiledTerms
from tuner.parameters.parameters import LARGEST_WEIGHT, layout_of

every_game = pytest.mark.parametrize("game", GAMES)
LINEAR = [case for case in CASES if linear_columns(case[0])[columns(*case)].all()]
linear_term = pytest.mark.parametrize(
    ("game", "term"), LINEAR, ids=[NAMES[CASES.index(case)] for case in LINEAR]
)
every_term = pytest.mark.parametrize(("game", "term"), CASES, ids=NAMES)


def weighted(game: str, weights: np.ndarray) -> np.ndarray:
    """Coefficients times weights (2, columns) in steps of 1/256 centipawn: whole numbers, rounded
    down as compiled code does."""
    coefficients, phases = dense_coefficients(game)
    early, late = (coefficients @ np.round(stage * UNIT).astype(np.int64) for stage in weights)
    most = engine(game).phases
    return (early * phases + late * (most - phases)) // most


@linear_term
def test_score_is_coefficients_times_weights(game, term):
    random, weights = np.random.default_rng(term), np.zeros((2, engine(game).layout.size))
    where = columns(game, term)
    for fractional in (False, True):
        drawn = random.normal(0, 100, (2, where.stop - where.start))
        weights[:, where] = drawn if fractional else np.round(drawn)
        found = scores(game, some_positions(game), packed(game, weights))
        assert (found == weighted(game, weights)).all()
        assert found.any()


@every_game
def test_score_of_all_linear_terms_together_is_coefficients_times_weights(game):
    random, size = np.random.default_rng(1), engine(game).layout.size
    for weights in (
        random.normal(0, 50, (2, size)),
        random.choice([-1.0, 1.0], (2, size)) * LARGEST_WEIGHT,
        np.full((2, size), LARGEST_WEIGHT),
    ):
        weights = weights * linear_columns(game)
        assert (
            scores(game, some_positions(game), packed(game, weights)) == weighted(game, weights)
        ).all()


@every_game
def test_search_sees_the_evaluation_of_the_side_to_move(game):
    random, size = np.random.default_rng(2), engine(game).layout.size
    weights = packed(game, random.normal(0, 50, (2, size)))
    native = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        engine(game).composition.glue.score.address()
    )
    positions = some_positions(game)[-300:].copy()
    signs = [-1 if find(game).second_to_move(words) else 1 for words in positions]
    assert 1 in signs and -1 in signs
    for words, expected, sign in zip(
        positions, scores(game, positions, weights), signs, strict=True
    ):
        assert native(words.ctypes.data, weights.ctypes.data, None) == expected * sign


@every_game
def test_phase_lies_between_its_ends(game):
    phases = dense_coefficients(game)[1]
    assert phases.min() >= 0 and phases.max() == engine(game).phases


@pytest.fixture(scope="module", params=GAMES)
def plain(request, tmp_path_factory):
    """Coefficients, scores and numbers of moves of some positions, compiled and in plain Python."""
    game, folder = request.param, tmp_path_factory.mktemp("plain")
    positions = some_positions(game)
    positions = positions[np.random.default_rng(3).permutation(len(positions))[:150]]
    weights = packed(game, np.random.default_rng(4).normal(0, 50, (2, engine(game).layout.size)))
    np.savez(folder / "in.npz", positions=positions, packed=weights)
    subprocess.run(
        [
            sys.executable,
            "-W",
            "error::RuntimeWarning",
            "-m",
            "tests.evalterms.plain",
            game,
            folder / "in.npz",
            folder / "out.npz",
        ],
        check=True,
        cwd=REPOSITORY,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    rows = engine(game).coefficients(positions)
    counted = rows.dense(len(engine(game).composition.form.column))
    moves = [len(find(game).legal_moves(words)) for words in positions]
    compiled = (
        counted,
        rows.phase.copy(),
        scores(game, positions, weights),
        differences(game, counted),
        moves,
    )
    return compiled, np.load(folder / "out.npz")


def test_plain_python_counts_and_scores_what_compiled_code_does(plain):
    (coefficients, phases, found, _, moves), python = plain
    assert python["moves"].tolist() == moves
    assert (python["coefficients"] == coefficients).all()
    assert (python["phases"] == phases).all()
    assert (python["scores"] == found).all()
    assert (
        np.abs(python["kept"]) == np.abs(found)
    ).all()  # for the side to move; sums computed, then found in the table


def test_every_index_lies_within_the_parameter_that_it_starts_from(plain):
    assert (
        plain[1]["checked"] == plain[0][3]
    ).all()  # the subprocess fails at the first that does not


@every_term
def test_types_of_a_term_hold_no_trap(game, term):
    view = importlib.import_module(f"evalterms.{game}.view")
    assert list(complaints(engine(game).composition.terms[term], view)) == []


@every_term
def test_a_term_says_what_it_counts(game, term):
    assert len(engine(game).composition.terms[term].documentation) > 20


many = Term("many")
SIXTEEN = many.parameter("sixteen_a_pawn")


@many.counts
def count_many(us, them, emit):
    """Every pawn sixteen times."""
    emit(SIXTEEN, popcount(us.pawns) * 16)


@pytest.fixture(scope="module")
def counts():
    """The coefficient of some FENs, behind a hundred positions without any."""
    engine = CompiledTerms(find("chess"), compose("chess", [many]), layout_of([many]))

    def count(*fens):
        positions = np.array(
            [engine.game.position("4k3/8/8/8/8/8/8/4K3 w - - 0 1")] * 100
            + [engine.game.position(text) for text in fens]
        )
        return engine.coefficients(positions).dense(1)[100:, 0].tolist()

    return count


def test_the_most_and_the_least_that_fit_are_counted(counts):
    fens = [
        "4k3/p7/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
        "4k3/pppppppp/8/8/8/8/8/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/P7/4K3 w - - 0 1",
    ]
    assert counts(*fens) == [112, -128, 16]


def test_a_count_beyond_eight_bits_raises(counts):
    with pytest.raises(OverflowError, match="127"):
        counts("4k3/8/8/8/8/8/PPPPPPPP/4K3 w - - 0 1")


def test_threads_may_compose_the_same_evaluation_at_once(tmp_path, monkeypatch):
    """Without a cache all of them find nothing written yet."""
    monkeypatch.setenv("EVALTUNE_CACHE", str(tmp_path))
    script = (
        "import threading\nfrom tuner.evaluation.loading import make_engine\nproblems = []\ndef"
        " work():\n    try:\n        make_engine('tictactoe').composition.glue.PHASES\n    except"
        " BaseException as problem:\n        problems.append(problem)\nthreads ="
        " [threading.Thread(target=work) for _ in range(16)]\n[thread.start() for thread in"
        " threads]\n[thread.join() for thread in threads]\nassert not problems, problems\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=REPOSITORY
    )
    assert finished.returncode == 0, finished.stderr
