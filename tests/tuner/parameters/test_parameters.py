"""The record of parameters: masks, limits and stages."""

from __future__ import annotations

import numpy as np

from tests.tuner.parameters.support import GOOD, read
from tuner.parameters.parameters import LARGEST_WEIGHT, tapered, untapered


def test_untapered_parameters_are_the_mean_of_the_stages(tmp_path):
    p = untapered(read(tmp_path, GOOD))
    assert p.stages == ("all",) and p.weights.tolist() == [[105.125, -0.25, 0, 0, 0, 0, 6.5, 7.5, 8.5]]
    assert p.bounds and p.fixed


def test_tapered_parameters_have_the_same_weights_in_every_stage(tmp_path):
    p = tapered(untapered(read(tmp_path, GOOD)), ("mg", "eg"))
    assert p.stages == ("mg", "eg") and p.weights.tolist() == [[105.125, -0.25, 0, 0, 0, 0, 6.5, 7.5, 8.5]] * 2


def test_limits_are_those_of_the_bounds_and_of_all_weights_elsewhere(tmp_path):
    low, high = read(tmp_path, GOOD).limits()
    assert low[:, 0].tolist() == [50, 50] and high[:, 0].tolist() == [150.5, 150.5]
    assert np.unique(low[:, 1:]) == -LARGEST_WEIGHT and np.unique(high[:, 1:]) == LARGEST_WEIGHT


def test_a_mask_has_the_numbers_that_any_of_its_names_means(tmp_path):
    assert read(tmp_path, GOOD).mask(("files.open.mg", "material.king")).tolist() == [
        [False, True, *[False] * 4, True, True, True], [False, True, *[False] * 7]]
