"""`--as`: one game's update is that of the document's formulas, in NumPy and by differences of the
evaluation."""

import random
from dataclasses import replace

import chess
import numpy as np
import pytest

from games.record import Choice, find
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

    def __init__(self, game: str = "chess") -> None:
        self._random, self._game = random.Random(3), find(game)

    def begin(self, seed: str, start: np.ndarray) -> None:
        pass

    def choose(self, line, moves, left) -> Choice:
        return Choice(self._random.choice(self._game.legal_moves(line[-1])))


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


@pytest.mark.parametrize("opponent", [None, "zero"])
@pytest.mark.parametrize("result", [1.0, 0.0, -1.0])
def test_results_of_games_by_themselves(result, opponent):
    """w -= rate dE/dw, where E is the log loss; a draw is half a win and half a loss."""
    _, settings = run_for("classic", {"as_": "coulom", "learning_rate": 0.5, **others(opponent)})
    evaluation = load_evaluation("classic")
    learner = new_learner(evaluation, settings)
    episode = replace(played(evaluation, 30, opponent and Mover()), outcome=result)
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


def others(opponent):
    """The option that names an opponent, if there is one."""
    return {} if opponent is None else {"opponents": (opponent,)}


@pytest.mark.parametrize("opponent", [None, "shogi/zero"])
@pytest.mark.parametrize("alpha", [8e3, 8e6])
def test_shogi(alpha, opponent):
    given = {"as_": "shogi", "learning_rate": alpha / 8000, **others(opponent)}
    _, settings = run_for("shogi/classic", given)
    evaluation = load_evaluation("shogi/classic")
    learner = new_learner(evaluation, replace(settings, fixed=()))
    episode = replace(played(evaluation, 40, opponent and Mover("shogi")), outcome=-1.0)
    assert np.isnan(episode.known).all()
    learner.learn([episode])
    here = evaluations("shogi/classic", episode.leaves)
    p = 1 / (1 + np.exp(-2 * evaluation.scale * here))
    found = errors(list(p), 0.0, 0.9 if opponent is None else 0.81)  # for each ply
    for column in COLUMNS:
        counts = evaluations("shogi/classic", episode.leaves, (0, column)) - here
        slopes = p * (1 - p) * counts * 2 * evaluation.scale
        expected = np.clip(alpha * (found @ slopes) / (2000 * evaluation.scale), -20, 20)
        change = (learner.weights - evaluation.weights)[0, column]
        assert change == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert (np.abs(learner.weights - evaluation.weights).max() == 20) == (alpha > 8e4)


@pytest.mark.parametrize("opponent", [None, "zero"])
@pytest.mark.parametrize("hidden", [(), (8,), (6, 5)])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_networks_of_the_dissertation(hidden, activation, opponent):
    """Its output is v = tanh(a h), ours p = 1 / (1 + exp(-a h)), so v = tanh(a h / 2): the weights
    of the output are half of ours, and alpha is 0.01 for all. Gradients by backpropagation, written
    here once more."""
    new = {"hidden": hidden, "encoding": "antisymmetric384"}
    new |= {"activation": activation} if hidden else {}
    _, settings = run_for("chess", {"as_": "hui", **new, **others(opponent)})
    evaluation = start_of("chess", new)
    learner = new_learner(evaluation, settings)
    episode = replace(played(evaluation, 40, opponent and Mover()), outcome=1.0)
    learner.learn([episode])
    x = inputs_of(evaluation.encoding, episode.positions).toarray()
    second = np.array([evaluation.game.second_to_move(words) for words in episode.positions])
    sign = np.where(second & evaluation.encoding.for_mover, -1.0, 1.0)
    layers = [[layer.weights, layer.biases] for layer in evaluation.network.layers]
    layers[-1] = [part / 2 for part in layers[-1]]
    squash, slope = (
        (np.tanh, lambda y: 1 - y**2)
        if activation == "tanh"
        else (lambda z: np.maximum(z, 0), lambda y: (y > 0) * 1.0)
    )
    outputs = [x]
    for weights, biases in layers[:-1]:
        outputs.append(squash(outputs[-1] @ weights + biases))
    v = sign * np.tanh(outputs[-1] @ layers[-1][0] + layers[-1][1])[:, 0]
    found = errors(list(v), 1.0, 0.7 if opponent is None else 0.49)  # for each ply
    back = (found * sign * (1 - v**2))[:, None]
    expected = []
    for k, (weights, biases) in reversed(list(enumerate(layers))):
        expected.insert(0, biases + 0.01 * back.sum(0))
        expected.insert(0, weights + 0.01 * outputs[k].T @ back)
        back = back @ weights.T * slope(outputs[k])
    learned = [
        part / (2 if k == len(layers) - 1 else 1)
        for k, layer in enumerate(evaluation.network.with_flat(learner.weights).layers)
        for part in (layer.weights, layer.biases)
    ]
    for mine, his, begun in zip(learned, expected, sum(layers, []), strict=True):
        np.testing.assert_allclose(mine, his, rtol=0, atol=1e-8)
        assert np.abs(his - begun).max() > 1e-6


@pytest.mark.parametrize("first", [None, 0, 1])
def test_the_table_of_the_dissertation(tmp_path, first):
    """Section 3.3.4: a number for each man and square, x - x of the mirrored board, no bias."""
    table = tmp_path / "table.yaml"
    done("params", "--new", "piece_square", "--stages", "all", "-o", table)
    _, settings = run_for(str(table), {"as_": "hui", **others(None if first is None else "zero")})
    start = load_evaluation(table)
    noise = np.random.default_rng(1).normal(0, 9, start.weights.shape)
    evaluation = start.with_weights(np.where(start.free(()), noise, 0.0))
    learner = new_learner(evaluation, settings)
    episode = played(evaluation, 40, None if first is None else Mover(), first or 0)
    learner.learn([replace(episode, outcome=-1.0)])
    x = np.array([squares_of(evaluation.game.text(words)) for words in episode.positions])
    w = 0.00255 * evaluation.weights[0]
    v = np.tanh(x @ w)
    found = np.array(errors(list(v), -1.0, 0.7 if first is None else 0.49))  # for each ply
    expected = w + 0.01 * (found * (1 - v**2)) @ x
    moved = 0.00255 * learner.weights[0]
    np.testing.assert_allclose(moved, np.where(start.free(())[0], expected, w), rtol=0, atol=1e-8)
    assert np.abs(moved - w).max() > 1e-3


def squares_of(fen):
    """Each man and square of White, less those of Black on the mirrored board (6 * 64,)."""
    x = np.zeros((6, 64))
    for square, piece in chess.Board(fen).piece_map().items():
        if piece.color:
            x[piece.piece_type - 1, square] += 1
        else:
            x[piece.piece_type - 1, chess.square_mirror(square)] -= 1
    return x.ravel()


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
    said = refused("selfplay", "backgammon/zero", "--as", "tesauro")
    assert "--as tesauro: updates networks of games with dice, and backgammon/zero is none" in said
    words = ("--as", "tesauro", "--games", 2, "--hidden", 2, "--run", tmp_path / "b")
    ran = done("selfplay", "backgammon", *words)
    assert (
        "as tesauro: --lambda 0.7 --learning-rate 0.1 --final-rate 1 --wins --encoding" in ran.err
    )
    assert "encoding: tesauro198" in (tmp_path / "b" / "net.yaml").read_text()
    said = refused("selfplay", "chess", "--hidden", 2, "--as", "tesauro")
    assert "--as tesauro: updates networks of games with dice, and chess is none" in said
