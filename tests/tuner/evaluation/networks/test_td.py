"""TD(lambda) in compiled whole games against its definition, from the positions of the games."""

import re

import numpy as np
import pytest

from games.backgammon.rules.board import dice_of, start, turn_of, with_dice
from games.backgammon.rules.dice import first_roll, roll
from games.backgammon.rules.play import WHOLE_GAMES, afterstates, points
from tests.support import refusal
from tests.tuner.evaluation.networks.support import (
    PERSPECTIVE,
    TESAURO,
    counts_of_positions,
    network,
)
from tuner.evaluation.networks.model import Network
from tuner.evaluation.networks.td import TdLearner, TdSettings

CASES = [
    (encoding, layers, lambda_, by_points)
    for encoding in (TESAURO, PERSPECTIVE)
    for layers in (
        [(1, "tanh")],
        [(9, "sigmoid"), (1, "sigmoid")],
        [(6, "relu"), (4, "tanh"), (1, "tanh")],
    )
    for lambda_, by_points in ((0.0, False), (0.7, True))
]


def value(made: Network, encoding, words: np.ndarray) -> tuple[float, np.ndarray]:
    """V for the first player, in units of the output, and its gradient."""
    counts = counts_of_positions(encoding, words[None])
    output = float(made.outputs(counts * encoding.units)[0, 0])
    gradient = made.pull(counts * encoding.units, np.ones((1, 1)))
    if encoding.for_mover and turn_of(words):
        return (1 - output if made.layers[-1].activation == "sigmoid" else -output), -gradient
    return output, gradient


def by_definition(
    made: Network, encoding, line: list[np.ndarray], outcome: float, rate: float, lambda_: float
) -> Network:
    """Learn from one game: after each ply the weights move by rate * (V(s') - V(s)) * sum of
    lambda^(t - k) * gradient(s_k), each gradient at the weights of its time."""
    gradients: list[np.ndarray] = []
    for t, words in enumerate(line):
        now, gradient = value(made, encoding, words)
        then = value(made, encoding, line[t + 1])[0] if t + 1 < len(line) else outcome
        gradients.append(gradient)
        trace = sum(lambda_ ** (t - k) * each for k, each in enumerate(gradients))
        made = made.with_flat(made.flat() + rate * (then - now) * trace)
    return made


@pytest.mark.parametrize("encoding, layers, lambda_, by_points", CASES)
def test_weights_after_games_are_those_of_the_definition(encoding, layers, lambda_, by_points):
    made = network(encoding.size, layers)
    made = made.with_flat(made.flat().astype(np.float32).astype(np.float64))
    learner = TdLearner(
        made,
        encoding,
        WHOLE_GAMES,
        TdSettings(rate=0.05, lambda_=lambda_, points=by_points, seed=4),
    )
    for _ in range(2):
        made = learner.network
        (result,), record = learner.play(1, record=2000)
        *line, last = record
        assert points(last) == result and result != 0
        outcome = result / 3 if by_points else np.sign(result)
        if layers[-1][1] == "sigmoid":
            outcome = (1 + outcome) / 2
        expected = by_definition(made, encoding, line, outcome, 0.05, lambda_)
        moved = abs(expected.flat() - made.flat()).max()
        assert moved > 1e-3
        assert abs(expected.flat() - learner.network.flat()).max() < 2e-4 * moved + 1e-6


def test_the_rate_falls_by_games_to_its_floor_whatever_was_played_at_once():
    """Half of it within `halving` games; and the squared differences of v are those of the
    definition."""
    made = network(TESAURO.size, [(4, "sigmoid"), (1, "sigmoid")])
    made = made.with_flat(made.flat().astype(np.float32).astype(np.float64))
    settings = TdSettings(rate=0.2, halving=2, floor=0.45, seed=4)
    learner, whole = (TdLearner(made, TESAURO, WHOLE_GAMES, settings) for _ in range(2))
    squares = 0.0
    for rate in (0.2, 0.2 / 1.5, 0.1, 0.09, 0.09):
        made = learner.network
        (result,), record = learner.play(1, record=2000)
        *line, _ = record
        expected = by_definition(made, TESAURO, line, float(result > 0), rate, 0.0)
        moved = abs(expected.flat() - made.flat()).max()
        assert abs(expected.flat() - learner.network.flat()).max() < 2e-4 * moved + 1e-6
        for t, words in enumerate(line):  # the weights of a ply are those after all before it
            then = value(made, TESAURO, line[t + 1])[0] if t + 1 < len(line) else float(result > 0)
            here, gradient = value(made, TESAURO, words)
            squares += 4 * (then - here) ** 2
            made = made.with_flat(made.flat() + rate * (then - here) * gradient)
    assert learner.squares == pytest.approx(squares, rel=1e-3)
    whole.play(5)
    assert whole.weights.tobytes() == learner.weights.tobytes()


def test_a_game_that_is_broken_off_has_no_result_and_is_learned_from_up_to_there():
    made = network(TESAURO.size, [(4, "sigmoid"), (1, "sigmoid")])
    made = made.with_flat(made.flat().astype(np.float32).astype(np.float64))
    learner = TdLearner(made, TESAURO, WHOLE_GAMES, TdSettings(rate=0.1, seed=4, longest=9))
    (result,), record = learner.play(1, record=2000)
    assert result == 0 and len(record) == learner.plies == 9
    expected = made
    for words, after in zip(record[:-1], record[1:], strict=True):
        here, gradient = value(expected, TESAURO, words)
        expected = expected.with_flat(
            expected.flat() + 0.1 * (value(expected, TESAURO, after)[0] - here) * gradient
        )
    moved = abs(expected.flat() - made.flat()).max()
    assert (
        moved > 1e-4 and abs(expected.flat() - learner.network.flat()).max() < 2e-4 * moved + 1e-7
    )


@pytest.mark.parametrize("encoding", [TESAURO, PERSPECTIVE], ids=lambda encoding: encoding.name)
def test_moves_are_greedy_and_dice_those_of_the_game(encoding):
    made = network(encoding.size, [(9, "sigmoid"), (1, "sigmoid")])
    learner = TdLearner(made, encoding, WHOLE_GAMES, TdSettings(rate=0.0, seed=8))
    learner.play(3)
    _, record = learner.play(1, record=2000)
    dice, second = first_roll(8, 3)
    words = start()
    words[4] = np.uint64(second)
    for ply, after in enumerate(record):
        words = with_dice(words, dice if ply == 0 else roll(8, 3, ply))
        assert dice_of(words) != (0, 0)
        found, _ = afterstates(words)
        sign = -1 if turn_of(words) else 1

        def liking(each, sign=sign):
            if points(each):
                return sign * np.sign(points(each))
            return sign * (2 * value(made, encoding, each)[0] - 1)

        assert liking(after) > max(map(liking, found)) - 1e-6
        assert any((after == each).all() for each in found)
        words = after
    assert points(words)


def test_a_linear_network_learns_to_beat_one_that_knows_nothing():
    learner = TdLearner(
        network(PERSPECTIVE.size, [(1, "tanh")]).with_flat(np.zeros(197)),
        PERSPECTIVE,
        WHOLE_GAMES,
        TdSettings(rate=0.05, seed=2),
    )
    learner.play(2000)
    assert 40 < learner.plies / learner.games < 80  # untrained games are longer


def test_it_goes_on_where_it_was():
    def after(parts):
        learner = TdLearner(
            network(TESAURO.size, [(5, "tanh"), (1, "tanh")]),
            TESAURO,
            WHOLE_GAMES,
            TdSettings(rate=0.1, lambda_=0.5, seed=3),
        )
        results = np.concatenate([learner.play(part)[0] for part in parts])
        return results.tolist(), learner.weights.tobytes()

    assert after([20]) == after([1, 7, 12])


def test_a_learner_made_from_its_network_goes_on_bit_for_bit():
    settings = TdSettings(rate=0.1, lambda_=0.5, seed=3)
    whole = TdLearner(
        network(TESAURO.size, [(5, "tanh"), (1, "tanh")]), TESAURO, WHOLE_GAMES, settings
    )
    whole.play(6)
    resumed = TdLearner(whole.network, TESAURO, WHOLE_GAMES, settings, played=6)
    assert whole.play(5)[0].tolist() == resumed.play(5)[0].tolist()
    assert whole.weights.tobytes() == resumed.weights.tobytes()


@pytest.mark.parametrize(
    "layers, message", [([(1, "linear")], "one output"), ([(2, "tanh")], "one output")]
)
def test_networks_without_an_output_for_learning_are_refused(layers, message):
    assert re.search(
        message,
        refusal(
            TdLearner,
            network(TESAURO.size, layers),
            TESAURO,
            WHOLE_GAMES,
            TdSettings(rate=0.1),
            error=ValueError,
        ),
    )
    assert "a network of 5 inputs for an encoding of 198" in refusal(
        TdLearner,
        network(5, [(1, "tanh")]),
        TESAURO,
        WHOLE_GAMES,
        TdSettings(rate=0.1),
        error=ValueError,
    )
