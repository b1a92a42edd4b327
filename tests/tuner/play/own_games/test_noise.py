"""The noise of copies: as large as asked for, by an independent formula, and the same for the same
number."""

import numpy as np
import pytest

from games.record import find
from games.streams import InputError
from tests.tuner.evaluation.networks.support import network
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile
from tuner.play.own_games.play import copy_of, spread_of


@pytest.fixture(scope="module")
def positions():
    game, found = find("chess"), []
    dice = np.random.default_rng(1)
    for _ in range(4):
        words = game.start()
        for _ in range(70):
            legal = game.legal_moves(words)
            if not legal:
                break
            words = game.play(words, legal[dice.integers(len(legal))])
            found.append(words)
    return np.array(found[::4])


@pytest.mark.parametrize("name", ["pesto", "material"])
def test_evaluations_move_by_the_noise(name, positions):
    """A sum of independent noise of spread s has variance s^2 times the sum of squares of the
    tapered counts."""
    evaluation = load_evaluation(name)
    engine, parameters = evaluation
    spread = spread_of(evaluation, positions, 10.0, 1)
    moved = (parameters.weights != 0).any(axis=0)
    unit = np.zeros_like(parameters.weights)
    squares = np.zeros(len(positions))
    zero = parameters.with_weights(unit)
    base = engine.evaluate_many(positions, zero)
    for stage in range(len(unit)):
        for column in np.flatnonzero(moved):
            one = unit.copy()
            one[stage, column] = 1
            squares += (engine.evaluate_many(positions, parameters.with_weights(one)) - base) ** 2
    assert spread == pytest.approx(10 / np.sqrt(squares.mean()), rel=0.15)  # 16 draws measure it
    changes = [
        copy_of(evaluation, spread, 1, number).values(positions)
        - engine.evaluate_many(positions, parameters)
        for number in range(30)
    ]
    assert np.sqrt(np.mean(np.square(changes))) == pytest.approx(10, rel=0.15)


def test_evaluations_of_a_network_move_by_the_noise(positions):
    """It moves them nearly in proportion."""
    made = network(768, [(16, "relu"), (1, "sigmoid")])
    found = evaluation_of(NetworkFile("chess", "bitboard768", made, 1, "a test", 0.00255))
    spread = spread_of(found, positions, 10.0, 1)
    changes = [
        copy_of(found, spread, 1, number).values(positions) - found.values(positions)
        for number in range(30)
    ]
    assert np.sqrt(np.mean(np.square(changes))) == pytest.approx(10, rel=0.2)


def test_a_copy_depends_on_its_number_and_the_seed():
    parameters = load_evaluation("material")
    one, same, other, seeded = (
        copy_of(parameters, 3.0, seed, number).weights
        for seed, number in ((1, 5), (1, 5), (1, 6), (2, 5))
    )
    assert (one == same).all() and (one != other).any() and (one != seeded).any()
    still = (parameters.weights == 0).all(axis=0)
    assert (
        still.any()
        and (one[:, still] == 0).all()
        and (one[:, ~still] != parameters.weights[:, ~still]).all()
    )
    assert (copy_of(parameters, 0.0, 1, 5).weights == parameters.weights).all()


def test_weights_that_are_all_zero_are_refused(positions):
    with pytest.raises(InputError, match="all weights are 0"):
        spread_of(load_evaluation("zero"), positions, 10.0, 1)
