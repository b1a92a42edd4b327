"""Intervals by resampling openings, against the formulas for means and ratios of clusters."""

from __future__ import annotations

import numpy as np
import pytest

from tuner.diagnostics.validation import mean_of_clusters
from tuner.headroom.resampling import MOST_BLOCKS, Sums, block_sums, plain


def clustered(clusters: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    group = random.integers(0, clusters, n)
    shared = random.normal(0, 1, clusters)[group]
    return group.astype(np.uint64) << np.uint64(40), 0.2 + shared + random.normal(0, 1, n), 1 + random.random(n)


def test_the_interval_of_a_mean_is_that_of_the_formula():
    group, values, _ = clustered(300, 6000)
    found = Sums(group, {"a": values, "mass": np.ones(len(values))}).interval(lambda sums: sums["a"] / sums["mass"])
    _, order = np.unique(group, return_inverse=True)
    formula = mean_of_clusters(np.bincount(order, values), np.bincount(order).astype(float))
    assert found.value == pytest.approx(formula.value)
    assert found.high - found.low == pytest.approx(formula.high - formula.low, rel=0.08)


def test_the_interval_of_a_ratio_is_that_of_the_delta_method():
    group, values, mass = clustered(400, 4000)
    found = Sums(group, {"a": values, "b": mass}).interval(lambda sums: sums["a"] / sums["b"])
    _, order = np.unique(group, return_inverse=True)
    a, b = np.bincount(order, values), np.bincount(order, mass)
    ratio = a.sum() / b.sum()
    error = np.sqrt(((a - ratio * b) ** 2).sum()) / b.sum()
    assert found.value == pytest.approx(ratio) and found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_many_openings_are_joined_into_blocks_with_the_same_interval():
    group, values, _ = clustered(3 * MOST_BLOCKS, 9 * MOST_BLOCKS)
    assert len(block_sums(group, values[:, None])) == MOST_BLOCKS
    found = Sums(group, {"a": values, "mass": np.ones(len(values))}).interval(lambda sums: sums["a"] / sums["mass"])
    _, order = np.unique(group, return_inverse=True)
    formula = mean_of_clusters(np.bincount(order, values), np.bincount(order).astype(float))
    assert found.high - found.low == pytest.approx(formula.high - formula.low, rel=0.1)


def test_one_opening_has_no_interval():
    found = Sums(np.ones(5, np.uint64), {"a": np.arange(5.0), "mass": np.ones(5)}).interval(lambda sums: sums["a"] / sums["mass"])
    assert plain(found) == {"value": 2.0, "low": None, "high": None}
