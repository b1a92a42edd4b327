"""Nonlinear terms: their values against python-chess, and that they are learned."""

from __future__ import annotations

import json
import textwrap

import chess
import numpy as np
import pytest

from evalterms.check import random_positions
from tests.commands.support import done, tuner
from tuner.engine.loading import load_engine, load_parameters
from tuner.parameters.writer import write_parameters

DANGER = textwrap.dedent('''
    from evalterms.term import Term
    from games.bits import popcount

    danger = Term("danger")
    ATTACKS = danger.parameter("attacks")
    QUEEN = danger.parameter("queen_attacks")

    @danger.counts
    def count_danger(us, them, emit):
        """Squares round their king that we attack."""
        emit(ATTACKS, popcount(us.attacks & them.king_attacks))
        emit(QUEEN, popcount(us.queen_attacks & them.king_attacks))

    @danger.through
    def quadratic(total):
        return total * abs(total) / 100.0
''')
WEIGHTS = np.array([[30.0, 18.0], [12.0, 25.0]])  # stages, attacks and queen_attacks


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file of terms and a parameter file with them: `classic` and WEIGHTS."""
    folder = tmp_path_factory.mktemp("curves")
    terms, start = folder / "danger.py", folder / "start.yaml"
    terms.write_text(DANGER)
    done("params", "classic", "--terms", terms, "--add-missing", "-o", start)
    parameters = load_parameters(start, [terms])
    weights = parameters.weights.copy()
    weights[:, -2:] = WEIGHTS
    write_parameters(folder / "danger.yaml", parameters.with_weights(weights))
    return terms, folder / "danger.yaml"


def by_python_chess(board: chess.Board, phase: int) -> float:
    """What the term adds, in centipawns for White."""
    total = 0.0
    for colour, sign in ((chess.WHITE, 1), (chess.BLACK, -1)):
        zone = board.attacks(board.king(not colour))
        attacked = chess.SquareSet()
        queen = chess.SquareSet()
        for square in chess.SquareSet(board.occupied_co[colour]):
            attacked |= board.attacks(square)
            if board.piece_type_at(square) == chess.QUEEN:
                queen |= board.attacks(square)
        counts = np.array([len(attacked & zone), len(queen & zone)])
        early, late = WEIGHTS @ counts
        tapered = phase / 24 * early + (1 - phase / 24) * late
        total += sign * tapered * abs(tapered) / 100
    return total


def test_values_are_those_of_python_chess_and_the_search_rounds_them_to_a_256th(files):
    terms, start = files
    engine, parameters = load_engine(start, [terms])
    positions = np.array(list(random_positions(engine.game, games=6)))
    linear, classic = load_engine("classic")
    phase = linear.coefficients(positions).phase
    expected = linear.evaluate_many(positions, classic) + [
        by_python_chess(chess.Board(engine.game.text(p)), int(f)) for p, f in zip(positions, phase, strict=True)]
    np.testing.assert_allclose(engine.values(positions, parameters.weights), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(engine.evaluate_many(positions, parameters), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(engine.evaluate(positions, parameters), expected, rtol=0, atol=0.05)
    assert np.abs(expected - linear.evaluate_many(positions, classic)).max() > 20


def test_the_terms_of_one_position_add_up(files):
    terms, start = files
    fen = "r1b2rk1/ppp2ppp/2np1n2/2b1p1N1/2B1P2Q/2NP4/PPP2PPP/R1B2RK1 w - - 0 1"
    said = json.loads(done("eval", start, fen, "--terms", terms, "--json").out)
    assert sum(term["contribution"] for term in said["terms"]) == pytest.approx(said["evaluation"], abs=0.01)
    (danger,) = [term["contribution"] for term in said["terms"] if term["term"] == "danger"]
    assert danger == pytest.approx(by_python_chess(chess.Board(fen), said["phase"]), abs=1e-6)


@pytest.mark.parametrize("gradient", [
    "analytic", pytest.param("finite-difference", marks=pytest.mark.long)])
def test_their_numbers_are_found_again_from_results_that_follow_them(files, tmp_path, gradient):
    terms, start = files
    engine, truth = load_engine(start, [terms])
    positions = np.array(list(random_positions(engine.game, games=60, seed=3)))[::2]
    evaluation = engine.values(positions, truth.weights)
    won = np.random.default_rng(5).random(len(positions)) < 0.5 + 0.5 * np.tanh(truth.scale * evaluation)
    lines = [f'{" ".join(engine.game.text(p).split()[:4])} c9 "{"1-0" if w else "0-1"}";'
             for p, w in zip(positions, won, strict=True)]
    (tmp_path / "drawn.epd").write_text("\n".join(lines) + "\n")
    zero = truth.weights.copy()
    zero[:, -2:] = 5.0
    write_parameters(tmp_path / "start.yaml", truth.with_weights(zero))
    done("tune", tmp_path / "start.yaml", tmp_path / "drawn.epd", "--terms", terms, "--only", "danger.*", "--prior", "none",
         "--scale", truth.scale, "--no-intercept", "--gradient", gradient, "--method", "logistic", "--held-out", 0,
         "-o", tmp_path / "learned.yaml")
    learned = load_parameters(tmp_path / "learned.yaml", [terms])
    found, errors = learned.weights[:, -2:], learned.standard_errors[:, -2:]
    assert (np.abs(found - WEIGHTS) < 3.5 * errors).all() and (errors[0] < 12).all()


@pytest.mark.parametrize("gradient", ["analytic", "finite-difference"])
def test_self_play_moves_them(files, tmp_path, gradient):
    terms, start = files
    done("selfplay", start, "--terms", terms, "--method", "td-leaf", "--gradient", gradient, "--games", 16,
         "--depth", 1, "--run", tmp_path / "run")
    learned = load_parameters(tmp_path / "run" / "params.yaml", [terms])
    assert (np.abs(learned.weights[:, -2:] - WEIGHTS) > 0.02).all()


@pytest.mark.parametrize(("function", "wanted"), [
    ("return total + 1.0", "returns 1.0 for nothing counted, expected 0"),
    ("return total / 0.0 if total else 0.0", "ZeroDivisionError"),
    ("return 'much'", "returns 'much' for 0 centipawns, expected a number"),
    ("return total ** 4", "expected a number of centipawns below 8,000,000"),
])
def test_an_unusable_function_is_one_line_of_error(tmp_path, function, wanted):
    (tmp_path / "terms.py").write_text(DANGER.replace("return total * abs(total) / 100.0", function))
    ran = tuner("params", "classic", "--terms", tmp_path / "terms.py", "--add-missing", "-o", tmp_path / "o.yaml")
    assert ran.status == 2 and wanted in ran.err and ran.err.count("\n") == 1 and "terms.py" in ran.err
