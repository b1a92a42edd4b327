"""What pieces are worth to an evaluation, by taking them away."""

import random

import numpy as np
import pytest

from games.record import find
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.loading import parameter_path
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
