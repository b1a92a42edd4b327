"""Networks in NumPy against HIPS autograd and finite differences, and compiled against NumPy."""

import numpy as np
import pytest

from evalterms.framework.encoding import encodings_of
from games.backgammon.rules.play import WHOLE_GAMES
from games.chess.files.fen import position
from tests.evalterms.chess.test_counts import played_boards as boards
from tests.tuner.evaluation.networks.support import SHAPES, counts_of_positions, network
from tuner.evaluation.networks.model import compiled_outputs, counts_of, inputs_of, random_network
from tuner.evaluation.networks.td import TdLearner, TdSettings

every_shape = pytest.mark.parametrize("layers", SHAPES, ids=str)


def some_counts(n: int, inputs: int) -> np.ndarray:
    random = np.random.default_rng(3)
    return random.integers(1, 4, (n, inputs)) * (random.random((n, inputs)) < 0.15)


@every_shape
def test_gradients_are_those_of_autograd(layers):
    autograd = pytest.importorskip("autograd", reason="needs autograd")
    made, inputs = network(50, layers), np.random.default_rng(2).normal(0, 1, (20, 50))
    errors = np.random.default_rng(5).normal(0, 1, (20, layers[-1][0]))

    def total(flat):
        import autograd.numpy as anp

        out, at = inputs, 0
        for layer in made.layers:
            rows, width = layer.weights.shape
            sums = (
                anp.dot(out, flat[at : at + rows * width].reshape(rows, width))
                + flat[at + rows * width : at + (rows + 1) * width]
            )
            at += (rows + 1) * width
            out = {
                "sigmoid": lambda x: 1 / (1 + anp.exp(-x)),
                "tanh": anp.tanh,
                "relu": lambda x: anp.maximum(x, 0),
                "linear": lambda x: x,
            }[layer.activation](sums)
        return anp.sum(out * errors)

    expected = autograd.grad(total)(made.flat())
    assert abs(made.pull(inputs, errors) - expected).max() < 1e-10


@every_shape
def test_compiled_outputs_are_those_of_numpy(layers):
    inputs = 198
    made, counts, units = (
        network(inputs, layers),
        some_counts(200, inputs),
        np.random.default_rng(1).uniform(0.05, 1, inputs),
    )
    found = compiled_outputs(made, units, counts)
    single = made.with_flat(made.flat().astype(np.float32).astype(np.float64))
    expected = single.outputs(counts * units.astype(np.float32))
    assert abs(found - expected).max() < (1e-6 if layers[-1][1] != "linear" else 1e-5)
    assert expected.std() > 0.01


def test_a_sigmoid_is_precise_wherever_it_is_not_0_or_1():
    made = random_network(1, [(1, "sigmoid")], 1).with_flat(np.array([1.0, 0.0]))
    counts = np.arange(-3000, 3001)[:, None]
    found = compiled_outputs(made, np.array([0.01]), counts)[:, 0].astype(np.float64)
    expected = 1 / (1 + np.exp(-counts[:, 0] * np.float64(np.float32(0.01))))
    assert abs(found / expected - 1).max() < 3e-6
    assert (np.diff(found[::10]) >= 0).all()
    far = compiled_outputs(made, np.array([1.0]), np.array([[-500], [500]]))[:, 0]
    assert far[0] < 1e-12 and far[1] == 1


def test_weights_in_one_array_and_back():
    made = network(12, SHAPES[3])
    again = made.with_flat(made.flat())
    assert made.size == len(made.flat()) == 12 * 7 + 7 + 7 * 3 + 3 + 3 + 1
    inputs = np.random.default_rng(1).normal(0, 1, (3, 12))
    assert (again.outputs(inputs) == made.outputs(inputs)).all()
    assert (again.with_flat(np.zeros(made.size)).flat() == 0).all()


def positions_of(game: str) -> np.ndarray:
    if game == "chess":
        return np.array([position(board.fen()) for board in boards(60)])
    encoding = encodings_of(game)["tesauro198"]
    return np.array(
        TdLearner(
            network(encoding.size, [(1, "tanh")]), encoding, WHOLE_GAMES, TdSettings(rate=0.1)
        ).play(1, 60)[1]
    )


@pytest.mark.parametrize("game", ["chess", "backgammon"])
def test_inputs_are_counts_times_units(game, monkeypatch):
    # several parts, the last one short
    monkeypatch.setattr("tuner.evaluation.networks.model.POSITIONS_AT_ONCE", 25)
    some = positions_of(game)
    for encoding in encodings_of(game).values():
        counts = counts_of_positions(encoding, some)
        assert (counts_of(encoding, some).toarray() == counts).all() and counts.any(axis=1).all()
        found = inputs_of(encoding, some)
        assert found.dtype == np.float32
        assert found.toarray() == pytest.approx(counts * encoding.units, rel=1e-6)


def test_no_positions_have_no_inputs():
    encoding = encodings_of("chess")["bitboard768"]
    assert inputs_of(encoding, np.zeros((0, 10), np.uint64)).shape == (0, 768)
