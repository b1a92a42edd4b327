"""Properties of every term of every game."""

import ctypes
import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

from evalterms.emit import UNIT
from evalterms.types import complaints
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
from tuner.parameters.parameters import LARGEST_WEIGHT

every_game = pytest.mark.parametrize("game", GAMES)
LINEAR = [case for case in CASES if linear_columns(case[0])[columns(*case)].all()]
linear_term = pytest.mark.parametrize(("game", "term"), LINEAR, ids=[NAMES[CASES.index(case)] for case in LINEAR])
every_term = pytest.mark.parametrize(("game", "term"), CASES, ids=NAMES)


def weighted(game: str, weights: np.ndarray) -> np.ndarray:
    """Coefficients times weights (2, columns) in steps of 1/256 centipawn: whole numbers, rounded down as compiled code does."""
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
    for weights in (random.normal(0, 50, (2, size)), random.choice([-1.0, 1.0], (2, size)) * LARGEST_WEIGHT,
                    np.full((2, size), LARGEST_WEIGHT)):
        weights = weights * linear_columns(game)
        assert (scores(game, some_positions(game), packed(game, weights)) == weighted(game, weights)).all()


@every_game
def test_search_sees_the_evaluation_of_the_side_to_move(game):
    random, size = np.random.default_rng(2), engine(game).layout.size
    weights = packed(game, random.normal(0, 50, (2, size)))
    native = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        engine(game).composition.glue.score.address())
    positions = some_positions(game)[-300:].copy()
    signs = [-1 if find(game).second_to_move(words) else 1 for words in positions]
    assert 1 in signs and -1 in signs
    for words, expected, sign in zip(positions, scores(game, positions, weights), signs, strict=True):
        assert native(words.ctypes.data, weights.ctypes.data, None) == expected * sign


@every_game
def test_phase_lies_between_its_ends(game):
    phases = dense_coefficients(game)[1]
    assert phases.min() >= 0 and phases.max() == engine(game).phases


@pytest.fixture(scope="module", params=GAMES)
def plain(request, tmp_path_factory):
    """Coefficients and scores of some positions, compiled and in plain Python."""
    game, folder = request.param, tmp_path_factory.mktemp("plain")
    positions = some_positions(game)
    positions = positions[np.random.default_rng(3).permutation(len(positions))[:150]]
    weights = packed(game, np.random.default_rng(4).normal(0, 50, (2, engine(game).layout.size)))
    np.savez(folder / "in.npz", positions=positions, packed=weights)
    subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.evalterms.plain", game, folder / "in.npz",
                    folder / "out.npz"], check=True, cwd=REPOSITORY, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    rows = engine(game).coefficients(positions)
    counted = rows.dense(len(engine(game).composition.form.column))
    compiled = counted, rows.phase.copy(), scores(game, positions, weights), differences(game, counted)
    return compiled, np.load(folder / "out.npz")


def test_plain_python_counts_and_scores_what_compiled_code_does(plain):
    (coefficients, phases, found, _), python = plain
    assert (python["coefficients"] == coefficients).all()
    assert (python["phases"] == phases).all()
    assert (python["scores"] == found).all()
    assert (np.abs(python["kept"]) == np.abs(found)).all()  # for the side to move; sums computed, then found in the table


def test_every_index_lies_within_the_parameter_that_it_starts_from(plain):
    assert (plain[1]["checked"] == plain[0][3]).all()  # the subprocess fails at the first that does not


@every_term
def test_types_of_a_term_hold_no_trap(game, term):
    view = importlib.import_module(f"evalterms.{game}.view")
    assert list(complaints(engine(game).composition.terms[term], view)) == []


@every_term
def test_a_term_says_what_it_counts(game, term):
    assert len(engine(game).composition.terms[term].documentation) > 20
