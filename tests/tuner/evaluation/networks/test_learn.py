"""Supervised learning: gradients and steps by their definitions, whole games, choice of the epoch,
other devices."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.support import refusal
from tests.tuner.evaluation.networks.strict_arrays import StrictArrays
from tests.tuner.evaluation.networks.support import network
from tuner.evaluation.networks import learn as module
from tuner.evaluation.networks.learn import Examples, LearnOptions, learn, logits, mean_loss
from tuner.evaluation.networks.model import Network

LAYERS = [
    [(1, "sigmoid")],
    [(1, "tanh")],
    [(9, "relu"), (1, "sigmoid")],
    [(6, "tanh"), (4, "relu"), (1, "tanh")],
]
every_shape = pytest.mark.parametrize(
    "layers", LAYERS, ids=lambda layers: "-".join(f"{n}{kind}" for n, kind in layers)
)
GAMES, LENGTH, WIDTH = 300, 8, 12


def examples(seed: int, games: int = GAMES) -> Examples:
    """Positions whose values are a product of two inputs, and so of no single neuron."""
    random, n = np.random.default_rng(seed), games * LENGTH
    inputs = random.integers(-2, 3, (n, WIDTH)) * (random.random((n, WIDTH)) < 0.6)
    q = 1 / (1 + np.exp(-0.9 * inputs[:, 0] * inputs[:, 1] - 0.4 * inputs[:, 2]))
    return Examples(
        csr_array(inputs.astype(np.float32)),
        q,
        random.normal(0, 0.1, n),
        random.integers(1, 3, n).astype(float),
        np.repeat(np.arange(games), LENGTH),
    )


def loss_of(made: Network, some: Examples, loss: str = "cross-entropy") -> float:
    """The mean loss from the outputs of the network itself."""
    out = made.outputs(some.inputs.toarray())[:, 0]
    p = out if made.layers[-1].activation == "sigmoid" else (1 + out) / 2
    odds = p / (1 - p) * np.exp(some.offset)
    p = odds / (1 + odds)
    by_game = (p - some.q) ** 2
    if loss == "cross-entropy":
        by_game = -(some.q * np.log(p) + (1 - some.q) * np.log(1 - p))
    return float(some.mass @ by_game / some.mass.sum())


@every_shape
@pytest.mark.parametrize("loss", module.LOSSES)
def test_gradients_are_differences_of_the_loss(layers, loss):
    made, some = network(WIDTH, layers), examples(1, 5)
    made = made.with_flat(made.flat().astype(np.float32))
    factor, ways = module.logit_factor(made), module.LOSSES[loss]
    found, total = module._gradient(made, some, factor, np, *ways)
    assert total / some.mass.sum() == pytest.approx(loss_of(made, some, loss), rel=1e-5)
    assert mean_loss(made, some, np, ways[0]) == pytest.approx(loss_of(made, some, loss), rel=1e-5)
    flat = made.flat().astype(np.float64)
    for i in range(len(flat)):
        step = np.zeros(len(flat))
        step[i] = 1e-5
        above, below = (
            loss_of(made.with_flat(at), some, loss) for at in (flat + step, flat - step)
        )
        slope = (above - below) / 2e-5
        assert found[i] == pytest.approx(slope, abs=3e-6)


def test_steps_are_those_of_adam():
    """Two steps of one minibatch each, from the formulas of Kingma and Ba with their bias
    correction."""
    made, some, aside = network(WIDTH, LAYERS[2]), examples(1, 10), examples(2, 10)
    made = made.with_flat(made.flat().astype(np.float32))
    found = learn(made, some, aside, LearnOptions(rate=0.01, batch=10**6, epochs=2))
    assert found.epochs[2]["aside"] < found.epochs[1]["aside"] < found.epochs[0]["aside"]
    flat = made.flat().astype(np.float64)
    m, v, ways = np.zeros(len(flat)), np.zeros(len(flat)), module.LOSSES["cross-entropy"]
    for t in (1, 2):
        g = module._gradient(made.with_flat(flat), some, 1.0, np, *ways)[0].astype(np.float64)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        flat = flat - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    assert found.network.flat() == pytest.approx(
        flat, abs=3e-4
    )  # of 0.02: steps of weights that hardly matter are rounding


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_a_hidden_layer_learns_what_a_neuron_cannot(activation):
    some, aside, others = examples(1, 600), examples(2), examples(3)
    least = mean_loss_of_truth(others)
    hidden, neuron = (
        learn(network(WIDTH, layers), some, aside, LearnOptions(rate=0.01, epochs=40)).network
        for layers in ([(16, "relu"), (1, activation)], [(1, activation)])
    )
    lacking = [mean_loss(each, others) - least for each in (hidden, neuron)]
    assert lacking[0] < 0.1 * lacking[1] and lacking[1] > 0.05


def mean_loss_of_truth(some: Examples) -> float:
    q = some.q
    return float(some.mass @ -(q * np.log(q) + (1 - q) * np.log(1 - q)) / some.mass.sum())


def test_minibatches_hold_whole_games_and_every_position_once():
    some = examples(1)
    options = LearnOptions(batch=100)
    batches = list(module._batches(some, options, 1))
    games = [np.unique(batch.game) for batch in batches]
    assert sorted(np.concatenate(games)) == list(range(GAMES))
    assert all(
        len(batch.q) == LENGTH * len(found) for batch, found in zip(batches, games, strict=True)
    )
    assert all(96 <= len(batch.q) <= 112 for batch in batches[:-1])
    again = list(module._batches(some, options, 2))
    assert again[0].game.tolist() != batches[0].game.tolist()


def test_the_network_is_that_of_the_best_epoch_on_games_set_aside():
    some, aside = examples(1, 20), examples(2)
    found = learn(
        network(WIDTH, [(40, "relu"), (1, "sigmoid")]),
        some,
        aside,
        LearnOptions(rate=0.05, batch=32, epochs=30),
    )
    losses = [line["aside"] for line in found.epochs]
    assert mean_loss(found.network, aside) == pytest.approx(min(losses), rel=1e-6)
    assert len(losses) < 31  # it ended, because halving the rate did not help
    assert found.epochs[-1]["rate"] == 0.05 / 2**4


def test_the_same_seed_gives_the_same_bits_and_another_one_does_not():
    def bits(seed: int, arrays=np) -> bytes:
        options = LearnOptions(batch=64, epochs=3, seed=seed)
        return (
            learn(network(WIDTH, LAYERS[2]), examples(1), examples(2), options, arrays)
            .network.flat()
            .tobytes()
        )

    assert bits(1) == bits(1) != bits(2)
    assert bits(1, StrictArrays()) == bits(1, StrictArrays())


def test_a_device_learns_the_same():
    """With arrays that refuse to meet those of NumPy; there inputs are dense, so that sums are
    rounded otherwise."""
    here, there = (
        learn(
            network(WIDTH, LAYERS[3]),
            examples(1),
            examples(2),
            LearnOptions(batch=64, epochs=3),
            arrays,
        )
        for arrays in (np, StrictArrays())
    )
    assert there.network.flat() == pytest.approx(here.network.flat(), abs=1e-4)
    inputs = examples(3).inputs
    assert logits(here.network, inputs, StrictArrays()) == pytest.approx(
        logits(here.network, inputs), abs=1e-5
    )


def test_the_number_of_threads_of_the_matrix_products_changes_no_bit():
    limits = pytest.importorskip(
        "threadpoolctl", reason="threadpoolctl is not installed"
    ).threadpool_limits
    random = np.random.default_rng(1)
    inputs = random.integers(0, 2, (3000, 768)).astype(np.float32)
    some = Examples(
        csr_array(inputs), random.random(3000), np.zeros(3000), np.ones(3000), np.arange(3000) // 10
    )
    found = []
    for threads in (1, 2, 3):
        with limits(threads):
            learned = learn(
                network(768, [(64, "relu"), (1, "sigmoid")]),
                some,
                some.only(slice(500)),
                LearnOptions(epochs=2),
            )
            found.append(learned.network.flat().tobytes())
    assert found[0] == found[1] == found[2]


def test_logits_are_those_of_the_output():
    some = examples(1)
    for layers in LAYERS:
        made = network(WIDTH, layers)
        out = made.outputs(some.inputs.toarray())[:, 0]
        p = out if layers[-1][1] == "sigmoid" else (1 + out) / 2
        assert logits(made, some.inputs) == pytest.approx(np.log(p / (1 - p)), abs=1e-4)


@pytest.mark.parametrize("layers", [[(1, "linear")], [(2, "sigmoid")]])
def test_networks_without_one_expected_score_are_refused(layers):
    assert "expected one output of a sigmoid or tanh, found" in refusal(
        learn, network(WIDTH, layers), examples(1), examples(2), LearnOptions(), error=ValueError
    )
