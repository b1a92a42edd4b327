"""The terms of tic-tac-toe against a second count, based on text, in all positions."""

from pathlib import Path

import numpy as np
import pytest

from tests.games.tictactoe.support import all_positions
from tuner.evaluation.loading import load_engine, make_engine

REPOSITORY = Path(__file__).resolve().parents[3]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def count(board: str, mover: str, us: str, them: str) -> dict[str, int]:
    """How often each parameter applies for one side."""
    contents = [[board[square] for square in line] for line in LINES]
    twos = sum(line.count(us) == 2 and them not in line for line in contents)
    return {
        "lines.open[0]": sum(line.count(us) == 1 and them not in line for line in contents),
        "lines.open[1]": twos,
        "lines.win": twos if mover == us else 0,
        "squares.centre": board[4] == us,
        "squares.corner": sum(board[square] == us for square in (0, 2, 6, 8)),
        "squares.edge": sum(board[square] == us for square in (1, 3, 5, 7)),
        "squares.tempo": mover == us,
    }


@pytest.fixture(scope="module")
def positions():
    engine = make_engine("tictactoe")
    return engine, np.array([engine.game.position(text) for text in all_positions()])


def test_every_count_is_right_in_every_position(positions):
    engine, words = positions
    dense = engine.coefficients(words).dense(engine.layout.size)
    for text, row in zip(all_positions(), dense, strict=True):
        board, mover = text.replace("/", "").split()
        x, o = count(board, mover, "x", "o"), count(board, mover, "o", "x")
        assert dict(zip(engine.layout.labels(), row, strict=True)) == {
            name: x[name] - o[name] for name in x
        }, text


def test_the_compiled_evaluation_is_counts_times_weights(positions):
    engine, words = positions
    _, parameters = load_engine(REPOSITORY / "tests/fixtures/params/tictactoe" / "classic.yaml")
    dense = engine.coefficients(words).dense(engine.layout.size)
    assert np.array_equal(engine.evaluate(words, parameters), dense @ parameters.weights[0])
