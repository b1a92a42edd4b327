"""What networks of chess are held to: `pytest tests/benchmarks/networks.py`, some minutes on an
idle machine."""

import time

import numpy as np
import pytest

from evalterms.framework.encoding import encodings_of
from games.record import find
from tests.evalterms.chess.test_counts import played_boards
from tuner.evaluation.networks.compiled import scores
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile
from tuner.evaluation.networks.learn import Examples, LearnOptions, learn
from tuner.evaluation.networks.model import compiled_outputs, counts_of, inputs_of, random_network

CHESS, POSITIONS = find("chess"), 20_000
LAYERS = [(64, "relu"), (1, "sigmoid")]


@pytest.fixture(scope="module")
def positions() -> np.ndarray:
    return np.array([CHESS.position(board.fen()) for board in played_boards(POSITIONS // 10)] * 10)


def per_second(work, n: int) -> float:
    """How many of n a second of this thread."""
    work()
    started = time.thread_time()
    work()
    return n / (time.thread_time() - started)


@pytest.mark.parametrize("name", encodings_of("chess"))
def test_compiled_evaluations_are_fast(positions, name):
    """With a 64-unit network, as a search evaluates positions: a million a second on one thread,
    half of it for lists of pieces, which have four numbers for each; and from counts."""
    encoding = encodings_of("chess")[name]
    evaluation = evaluation_of(
        NetworkFile("chess", name, random_network(encoding.size, LAYERS, 1), 1, "random", 0.00255)
    )
    memory, out = evaluation.memory(), np.zeros(len(positions), np.int64)
    flat = positions.ravel()
    searched = per_second(
        lambda: scores(flat, positions.shape[1], memory.data, out), len(positions)
    )
    counts = counts_of(encoding, positions[:2000]).toarray()
    forward = per_second(
        lambda: compiled_outputs(evaluation.network, encoding.units, counts), len(counts)
    )
    print(f"{name}: {searched:,.0f} positions, {forward:,.0f} rows of counts a second")
    assert searched > (1e6 if counts.astype(bool).sum(1).mean() < 64 else 5e5)


@pytest.mark.parametrize("name", encodings_of("chess"))
def test_forward_passes_are_those_of_numpy(positions, name):
    encoding = encodings_of("chess")[name]
    some, network = (
        counts_of(encoding, positions[:2000]).toarray(),
        random_network(encoding.size, LAYERS, 1),
    )
    single = network.with_flat(network.flat().astype(np.float32).astype(np.float64))
    found = compiled_outputs(network, encoding.units, some)
    assert abs(found - single.outputs(some * encoding.units.astype(np.float32))).max() < 1e-6


def test_learning_takes_seconds(positions):
    """An epoch of 100,000 positions on one thread."""
    n = 100_000
    encoding = encodings_of("chess")["bitboard768"]
    inputs = inputs_of(encoding, np.tile(positions, (n // len(positions), 1)))
    random = np.random.default_rng(1)
    examples = Examples(inputs, random.random(n), np.zeros(n), np.ones(n), np.arange(n) // 16)
    started = time.process_time()
    learn(
        random_network(encoding.size, LAYERS, 1),
        examples,
        examples.only(slice(1000)),
        LearnOptions(epochs=1),
    )
    assert time.process_time() - started < 2
