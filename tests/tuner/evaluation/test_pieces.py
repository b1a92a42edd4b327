"""What pieces are worth to an evaluation, by taking them away."""

import pickle
import random
from pathlib import Path

import numpy as np
import pytest

from games.record import find
from tests.games.support import REPOSITORY
from tests.support import file_with, refusal
from tuner.evaluation import loading as spec_module
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.loading import (
    EngineSpec,
    engine_of,
    evaluation_spec,
    load_engine,
    parameter_path,
    spec_of,
)
from tuner.evaluation.pieces import piece_values


def positions_of(name: str) -> np.ndarray:
    """Positions (n, words) of random games."""
    game, drawn, found = find(name), random.Random(3), []
    for _ in range(12):
        words = game.start()
        for _ in range(70):
            moves = game.legal_moves(words)
            if not moves:
                break
            words = game.play(words, drawn.choice(moves))
            found.append(words)
    return np.array(found)


@pytest.mark.parametrize(
    ("file", "game", "values"),
    [
        ("material", "chess", {"P": 100, "N": 400, "B": 400, "R": 600, "Q": 1200}),
        (
            "shogi/hand",
            "shogi",
            {"P": 100, "L": 370, "N": 400, "S": 550, "G": 600, "B": 800, "R": 950, "+P": 600},
        ),
    ],
)
def test_an_evaluation_of_piece_values_alone_gives_them_back(file, game, values):
    found = piece_values(load_evaluation(parameter_path(file), ()), positions_of(game))
    assert {kind: found[kind] for kind in values} == pytest.approx(values, abs=0.1)
    assert list(found.values()) == sorted(found.values()) and "K" not in found


def test_games_with_dice_have_no_pieces_to_take_away():
    evaluation = load_evaluation(parameter_path("backgammon/zero"), ())
    assert piece_values(evaluation, find("backgammon").start()[None]) == {}


@pytest.mark.parametrize(
    "terms",
    [(), pytest.param((REPOSITORY / "examples" / "rook_terms.py",), marks=pytest.mark.long)],
)
def test_an_engine_that_is_made_again_evaluates_the_same(monkeypatch, terms):
    engine, parameters = load_engine("classic", terms, add_missing=True)
    spec = pickle.loads(pickle.dumps(evaluation_spec(engine, parameters)))
    assert engine_of(spec.engine) is engine  # this process has it
    monkeypatch.setattr(spec_module, "_engines", type(spec_module._engines)())
    again = engine_of(spec.engine)
    assert again is not engine and again.layout == engine.layout and again is engine_of(spec.engine)
    boards = np.array([engine.game.start()])
    weights = parameters.with_weights(
        np.random.default_rng(1).normal(0, 50, parameters.weights.shape)
    )
    for move in engine.game.legal_moves(boards[0])[:5]:
        boards = np.concatenate(
            [
                boards,
                engine.game.play(boards[-1], engine.game.legal_moves(boards[-1])[move % 3])[None],
            ]
        )
    assert again.evaluate(boards, weights).tolist() == engine.evaluate(boards, weights).tolist()


def test_a_file_of_terms_that_has_changed_is_refused(tmp_path):
    path = file_with(tmp_path / "own.py", (REPOSITORY / "examples" / "rook_terms.py").read_bytes())
    engine, _ = load_engine("classic", (path,), add_missing=True)
    assert spec_of(engine).files[0].content == Path(path).read_bytes()
    path.write_text("# nothing")
    assert "has changed since its terms were read" in refusal(spec_of, engine)


def test_a_term_that_is_unknown_here_is_named():
    assert "chess has no term 'telepathy' here" in refusal(
        engine_of, EngineSpec("chess", ("telepathy",))
    )
