"""Passes that other processes take part in, and the order of their sums."""

import math

import numpy as np
import pytest

from tests.commands.support import done, tictactoe_file
from tests.support import refusal
from tuner.datasets import dataset as ranges_module
from tuner.datasets.reader import open_dataset
from tuner.fit.device.base import Model
from tuner.fit.device.cpu import device as device_module
from tuner.fit.device.cpu import device as ranged
from tuner.fit.device.cpu import sums
from tuner.fit.device.cpu.device import Cpu, RangedCpu
from tuner.fit.device.cpu.sums import TreeSum, sum_of
from tuner.objectives.table import OBJECTIVES
from tuner.parallel import OnThreads


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranged")
    done(
        "dataset", tictactoe_file(folder, 300), "--params", "tictactoe/classic", "-o", folder / "ds"
    )
    return open_dataset(folder / "ds")


@pytest.fixture
def small(monkeypatch):
    """Pieces of 64 positions, in groups of 3: many groups."""
    monkeypatch.setattr(ranges_module.blocks, "__defaults__", (64,))
    for module in (ranges_module, ranged, sums):
        monkeypatch.setattr(module, "BLOCK", 64)
    for module in (ranged, sums, device_module):
        for name in ("GRADIENT_GROUP", "MATRIX_GROUP"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, 3)


def test_a_sum_is_that_of_its_groups_and_within_rounding_the_exact_one():
    parts = np.random.default_rng(1).normal(size=(50, 4)) * 10.0 ** np.arange(4)
    one, groups = TreeSum(8), TreeSum(8)
    for part in parts:
        one.add(part)
    for begin in range(0, 50, 8):
        groups.add_group(sum_of(iter(parts[begin : begin + 8])))
    assert one.total((4,)).tobytes() == groups.total((4,)).tobytes()
    exact = [math.fsum(column) for column in parts.T.tolist()]
    assert np.allclose(groups.total((4,)), exact, rtol=1e-12, atol=1e-9)
    assert TreeSum(8).total((2, 3)).tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("loss", ["cross-entropy", "ordered"])
def test_sums_are_the_same_bits_as_on_threads(data, small, loss):
    dice = np.random.default_rng(3)
    games = np.flatnonzero(dice.random(data.games) < 0.8)
    objective = OBJECTIVES[loss]
    weights = dice.normal(size=(1, data.columns + 1 + bool(objective.widths))) * 20
    weights[:, -1] = np.abs(weights[:, -1]) + 1
    model = Model(data, games, objective, 0.004, np.ones(weights.shape, np.bool_))
    assert len(list(ranges_module.blocks(model.ranges))) > 9
    shared = RangedCpu(1, executor=OnThreads(2), data=data)
    loss_here, gradient = Cpu(2).loss_gradient(model, weights, model.ranges)
    loss_there, same = shared.loss_gradient(model, weights, model.ranges)
    assert loss_here == loss_there and gradient.tobytes() == same.tobytes()
    here, there = (device.gauss_newton(model, weights, model.ranges) for device in (Cpu(2), shared))
    assert here.tobytes() == there.tobytes() and np.array_equal(here, here.T)


def test_other_weights_of_the_positions_are_passed_over_here(data):
    from dataclasses import replace

    class Nowhere(OnThreads):
        def start(self, job, ahead=1):
            raise AssertionError("these positions are not those on disk")

    other = replace(data, weight=np.full(data.positions, 2.0, np.float32))
    weights = np.zeros((1, data.columns + 1))
    model = Model(
        other,
        np.arange(data.games),
        OBJECTIVES["cross-entropy"],
        0.004,
        np.ones(weights.shape, np.bool_),
    )
    device = RangedCpu(1, executor=Nowhere(1), data=data)
    assert device.loss_gradient(model, weights, model.ranges)[0] == pytest.approx(
        2 * data.positions * math.log(2)
    )


def test_another_dataset_of_that_name_is_refused(data, tmp_path):
    spec = ranged.RangesSpec(str(data.path), "0" * 64, ranged.GAUSS_NEWTON, "cross-entropy", 0.004)
    assert "is not the same dataset on the machine of a worker" in refusal(
        ranged.RangesReader, spec, lambda: False
    )
