"""Networks in NumPy against HIPS autograd and finite differences, and compiled against NumPy."""

import numpy as np
import pytest

from tests.tuner.networks.support import SHAPES, network
from tuner.networks.model import compiled_outputs, random_network

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
            sums = anp.dot(out, flat[at:at + rows * width].reshape(rows, width)) + flat[at + rows * width:at + (rows + 1) * width]
            at += (rows + 1) * width
            out = {"sigmoid": lambda x: 1 / (1 + anp.exp(-x)), "tanh": anp.tanh, "relu": lambda x: anp.maximum(x, 0),
                   "linear": lambda x: x}[layer.activation](sums)
        return anp.sum(out * errors)

    expected = autograd.grad(total)(made.flat())
    assert abs(made.pull(inputs, errors) - expected).max() < 1e-10


@every_shape
def test_gradients_are_finite_differences(layers):
    made, inputs = network(9, layers), np.random.default_rng(2).normal(0, 1, (4, 9))
    errors = np.random.default_rng(5).normal(0, 1, (4, layers[-1][0]))
    flat, found = made.flat(), made.pull(inputs, errors)
    for i in range(0, made.size, 3):
        step = np.zeros(made.size)
        step[i] = 1e-6
        up, down = ((made.with_flat(flat + s).outputs(inputs) * errors).sum() for s in (step, -step))
        assert abs(found[i] - (up - down) / 2e-6) < 1e-7


@every_shape
def test_compiled_outputs_are_those_of_numpy(layers):
    inputs = 198
    made, counts, units = network(inputs, layers), some_counts(200, inputs), np.random.default_rng(1).uniform(0.05, 1, inputs)
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
