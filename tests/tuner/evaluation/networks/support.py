"""Networks and encodings for tests."""

import ctypes

import numpy as np

from evalterms.backgammon.encodings import ENCODINGS
from evalterms.framework.encoding import Encoding
from games.compile import jit
from tuner.evaluation.networks.model import Network, random_network

SHAPES = [
    [(1, "sigmoid")],
    [(1, "tanh")],
    [(40, "sigmoid"), (1, "sigmoid")],
    [(7, "relu"), (3, "tanh"), (1, "tanh")],
    [(5, "tanh"), (6, "relu"), (5, "linear")],
]
TESAURO, PERSPECTIVE = ENCODINGS["tesauro198"], ENCODINGS["perspective196"]


def network(inputs: int, layers: list[tuple[int, str]], seed: int = 1) -> Network:
    """A random network whose biases are not zero."""
    made = random_network(inputs, layers, seed)
    return made.with_flat(made.flat() + np.random.default_rng(seed).normal(0, 0.1, made.size))


def counts_of_positions(encoding: Encoding, positions: np.ndarray) -> np.ndarray:
    """Counts (n, inputs) of positions, one call of the compiled function each."""
    found = np.zeros((len(positions), encoding.size + 3), np.int32)
    for words, row in zip(positions, found, strict=True):
        if jit.PLAIN:
            encoding.write(words, row)
        else:
            native = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
                encoding.write.address()
            )
            assert native(words.ctypes.data, row.ctypes.data) == encoding.size
    assert not found[:, encoding.size :].any()
    return found[:, : encoding.size]
