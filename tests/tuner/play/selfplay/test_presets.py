"""`--as`: one game's update is that of the document's formulas, in NumPy and by differences of the
evaluation."""

import random
from dataclasses import replace

import numpy as np
import pytest

from games.record import Choice
from games.search.searcher import Limits
from tests.commands.support import done, refused
from tests.tuner.evaluation.networks.support import TESAURO
from tests.tuner.evaluation.networks.test_td import by_definition
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.loading import load_engine
from tuner.evaluation.networks.model import inputs_of
from tuner.play.openings import Opening
from tuner.play.selfplay.begin import run_for
from tuner.play.selfplay.games import Plan, play_episode
from tuner.play.selfplay.learner import new_learner
from tuner.play.selfplay.network import NetworkLearning, start_of

COLUMNS = range(5)  # the piece values


class Mover:
    """Plays random moves."""

    def __init__(self) -> None:
        self._random = random.Random(3)

    def begin(self, seed: str, start: np.ndarray) -> None:
        pass

    def choose(self, line, moves, left) -> Choice:
        from games.record import find

        return Choice(self._random.choice(find("chess").legal_moves(line[-1])))


def played(evaluation, plies: int, opponent=None, first: int = 0):
    """A game of the evaluation with itself or an opponent, at depth 2."""
    searcher = evaluation.searcher(playing=False, megabytes=1)
    start = Opening(evaluation.game.start())
    plan = Plan(Limits(depth=2), random_plies=4, plies=plies)
    return play_episode(evaluation.game, searcher, plan, 0, 5, start, opponent, first)


def errors(values, result, lambda_, predicted=None) -> list[float]:
    """c_i: the sum of lambda^(m - i) d_m over m >= i, where d is the difference of two values, or
    of the result and the last one; gains that were not predicted count nothing."""
    d = [b - a for a, b in zip(values, [*values[1:], result], strict=True)]
    if predicted is not None:
        d = [x if known else min(x, 0.0) for x, known in zip(d, predicted, strict=True)]
    return [sum(lambda_ ** (m - i) * d[m] for m in range(i, len(d))) for i in range(len(d))]


def evaluations(name: str, leaves, change=None) -> np.ndarray:
    """The evaluations of positions in centipawns, with one number changed by 1."""
    engine, parameters = load_engine(name)
    weights = parameters.weights.copy()
    if change is not None:
        weights[change] += 1.0
    return engine.values(leaves, weights)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", ["exchess", "knightcap"])
def test_chess_against_others(name, first):
    _, settings = run_for("classic", {"as_": name, "opponents": ("zero",)})
    evaluation = load_evaluation("classic")
    learner = new_learner(evaluation, settings)
    game = played(evaluation, 24, Mover(), first)
    episode = replace(game, outcome=2.0 * first - 1)  # it loses: a win that is not predicted is 0
    assert np.isnan(episode.known).all() and len(episode.ply) > 8
    learner.learn([episode])
    scale, own = evaluation.scale, 1 - 2 * first
    values = np.tanh(scale * evaluations("classic", episode.leaves))
    found = errors(list(own * values), -1.0, 0.7, episode.predicted)
    for stage in range(2):
        for column in COLUMNS:
            moved = evaluations("classic", episode.leaves, (stage, column))
            if name == "exchess":  # alpha 1, derivatives per pawn from a step of a centipawn
                slopes = (np.tanh(scale * moved) - values) / 0.01
                expected = 1.0 * (found @ (own * slopes))
            else:
                counts = moved - evaluations("classic", episode.leaves)
                expected = 0.1 * (found @ (own * (1 - values**2) * counts))
            change = (learner.weights - evaluation.weights)[stage, column]
            assert change == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert np.abs(learner.weights - evaluation.weights).max() > 0.01


@pytest.mark.parametrize("result", [1.0, 0.0, -1.0])
def test_results_of_games_by_themselves(result):
    """w -= rate dE/dw, where E is the log loss; a draw is half a win and half a loss."""
    _, settings = run_for("classic", {"as_": "coulom", "learning_rate": 0.5})
    evaluation = load_evaluation("classic")
    learner = new_learner(evaluation, settings)
    episode = replace(played(evaluation, 30), outcome=result)
    learner.learn([episode])
    share, scale = (1 + result) / 2, 2 * evaluation.scale
    here = evaluations("classic", episode.positions)
    p = 1 / (1 + np.exp(-scale * here))
    for stage in range(2):
        for column in COLUMNS:
            change = (stage, column)
            counts = evaluations("classic", episode.positions, change) - here
            slope = -share * ((1 - p) * scale) @ counts + (1 - share) * (p * scale) @ counts
            expected = -0.5 * slope * 2 / scale  # our rate is that of v, in centipawns
            found = (learner.weights - evaluation.weights)[change]
            assert found == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert np.abs(learner.weights - evaluation.weights).max() > 0.01


@pytest.mark.parametrize("alpha", [8e3, 8e6])
def test_shogi_by_itself(alpha):
    _, settings = run_for("shogi/classic", {"as_": "shogi", "learning_rate": alpha / 8000})
    evaluation = load_evaluation("shogi/classic")
    learner = new_learner(evaluation, replace(settings, fixed=()))
    episode = replace(played(evaluation, 40), outcome=-1.0)
    assert np.isnan(episode.known).all()
    learner.learn([episode])
    here = evaluations("shogi/classic", episode.leaves)
    p = 1 / (1 + np.exp(-2 * evaluation.scale * here))
    found = errors(list(p), 0.0, 0.9)
    for column in COLUMNS:
        counts = evaluations("shogi/classic", episode.leaves, (0, column)) - here
        slopes = p * (1 - p) * counts * 2 * evaluation.scale
        expected = np.clip(alpha * (found @ slopes) / (2000 * evaluation.scale), -20, 20)
        change = (learner.weights - evaluation.weights)[0, column]
        assert change == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert (np.abs(learner.weights - evaluation.weights).max() == 20) == (alpha > 8e4)


def test_one_neuron_of_the_dissertation():
    """Its neuron has v = tanh(w x), ours p = 1 / (1 + exp(-w x)), so v = tanh(w x / 2)."""
    new = {"hidden": (), "encoding": "antisymmetric384"}
    _, settings = run_for("chess", {"as_": "hui", **new})
    evaluation = start_of("chess", new)
    learner = new_learner(evaluation, settings)
    episode = replace(played(evaluation, 40), outcome=1.0)
    learner.learn([episode])
    x = inputs_of(evaluation.encoding, episode.positions).toarray()
    x = np.column_stack([x, np.ones(len(x))])
    second = np.array([evaluation.game.second_to_move(words) for words in episode.positions])
    sign = np.where(second & evaluation.encoding.for_mover, -1.0, 1.0)
    weights = evaluation.weights / 2
    v = sign * np.tanh(x @ weights)
    found = errors(list(v), 1.0, 0.7)
    expected = weights + 0.01 * (found * sign * (1 - v**2)) @ x
    np.testing.assert_allclose(learner.weights / 2, expected, rtol=0, atol=1e-8)
    assert np.abs(expected - weights).max() > 1e-4


def test_a_network_of_backgammon_after_every_ply():
    """In single precision: to a rounding of each of some hundred steps."""
    new = {"hidden": (4,), "encoding": "tesauro198"}
    _, settings = run_for("backgammon", {"as_": "tesauro", **new})
    start = start_of("backgammon", new)
    begun = start.network.with_flat(start.network.flat().astype(np.float64))
    learner = NetworkLearning(start, settings)._learner
    (result,), record = learner.play(1, record=2000)
    expected = by_definition(begun, TESAURO, list(record[:-1]), float(result > 0), 0.1, 0.7)
    moved = np.abs(expected.flat() - begun.flat()).max()
    assert moved > 1e-2 and settings.floor == 1.0
    assert np.abs(expected.flat() - learner.network.flat()).max() < 1e-4 * moved


def test_what_is_given_beside_wins_and_is_named(tmp_path):
    words = ("--as", "knightcap", "--batch", 1, "--games", 2, "--depth", 1, "--run", tmp_path / "a")
    ran = done("selfplay", "material", *words)
    assert "as knightcap: --learner sgd --lag 0 --average 0 --final-rate 1" in ran.err
    assert "; given in place of its own: --batch" in ran.err
    said = refused("selfplay", "material", "--as", "hui")
    assert "--as hui: updates networks, and material is none" in said
    said = refused("selfplay", "chess", "--hidden", 2, "--as", "tesauro")
    assert "--as tesauro: updates networks of games with dice, and chess is none" in said
