"""Identifiability: planted null directions are found; ranks are those of NumPy for the dense
matrix."""

import numpy as np
import pytest

from tests.tuner.support import PHASES, Sample, problem_of, write_sample
from tuner.findings.identifiability import identify
from tuner.fit.null_space import find_null_space
from tuner.parameters.parameters import Layout, Place
from tuner.results.fit import Rare

LAYOUT = Layout(
    (
        Place("material", "man", (), 0),
        Place("material", "king", (), 1),
        Place("table", "man", (2, 2), 2),
        Place("twin", "a", (), 6),
        Place("twin", "b", (), 7),
        Place("list", "rare", (3,), 8),
        Place("close", "a", (), 11),
        Place("close", "b", (), 12),
    )
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Sample:
    """A man counts once for himself and once for his square; twins are alike; one number of a list
    never applies, one does twice; two numbers differ in one position of ten."""
    random = np.random.default_rng(2)
    n = 3000
    table = random.integers(-2, 3, (n, 4))
    twin, close = random.integers(-3, 4, n), random.integers(-3, 4, n)
    rare = np.zeros((n, 3), np.int64)
    rare[:, 0], rare[[5, 900], 1] = random.integers(-1, 2, n), 1
    other = close + (random.random(n) < 0.1)
    columns = [
        table.sum(axis=1),
        random.integers(-2, 3, n),
        *table.T,
        twin,
        twin,
        *rare.T,
        close,
        other,
    ]
    outcome = random.choice([-1.0, 0.0, 1.0], n)
    return write_sample(
        tmp_path_factory.mktemp("identify") / "data",
        np.stack(columns, axis=1).astype(np.int8),
        outcome,
        np.full(n // 10, 10),
        layout=LAYOUT,
        phase=random.integers(1, PHASES, n),
    )


@pytest.mark.parametrize(("stages", "names"), [(1, ("all",)), (2, ("mg", "eg"))])
def test_rank_and_null_directions(sample, stages, names):
    problem = problem_of(sample, stages)
    curvature = problem.datafit.curvature(problem.start)
    null_space = find_null_space(problem, problem.start, curvature, LAYOUT.places)
    found = identify(problem, curvature, null_space, LAYOUT, names)
    assert found.free == stages * 14
    assert found.rank == np.linalg.matrix_rank(sample.design(stages))
    suffixes = [""] if stages == 1 else [" mg", " eg"]
    assert found.never == [f"list.rare[2]{suffix}" for suffix in suffixes]
    texts = {line.text for line in found.null_directions}
    of = "" if stages == 1 else " (mg, eg)"
    assert texts == {f"material.man against all of table.man{of}", f"twin.a against twin.b{of}"}
    for suffix in suffixes:
        assert Rare(f"list.rare[1]{suffix}", 2) in found.rare
    pairs = {frozenset((line.a, line.b)) for line in found.collinear}
    assert pairs == {frozenset((f"close.a{suffix}", f"close.b{suffix}")) for suffix in suffixes}
    values = np.linalg.eigvalsh(_scaled(curvature.matrix))
    assert found.condition == pytest.approx(values[-1] / values[values > 1e-9].min(), rel=1e-6)


def _scaled(matrix: np.ndarray) -> np.ndarray:
    scale = np.sqrt(np.where(np.diag(matrix) > 0, np.diag(matrix), 1))
    return matrix / np.outer(scale, scale)


def test_weights_traded_against_a_mean_are_identified_and_twins_are_not(sample):
    problem = problem_of(sample, 1)
    curvature = problem.datafit.curvature(problem.start)
    null_space = find_null_space(problem, problem.start, curvature, LAYOUT.places)
    loose = dict(zip([*LAYOUT.labels(), "intercept"], null_space.loose.tolist(), strict=True))
    assert {name for name, is_loose in loose.items() if is_loose} == {
        "twin.a",
        "twin.b",
        "list.rare[2]",
    }


def test_effective_parameters_are_the_trace_of_the_smoother(sample):
    precision = np.full(14, 2e-6)
    problem = problem_of(sample, 1, precision=precision)
    curvature = problem.datafit.curvature(problem.start)
    matrix = curvature.matrix
    null_space = find_null_space(problem, problem.start, curvature, LAYOUT.places)
    expected = np.trace(np.linalg.solve(matrix + np.diag(precision), matrix))
    assert identify(problem, curvature, null_space, LAYOUT, ("all",)).effective == pytest.approx(
        expected, rel=1e-9
    )
