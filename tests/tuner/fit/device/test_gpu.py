"""Passes of the GPU against those of the CPU: the kernels run as plain C++, thread by thread."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.support import refusal
from tests.tuner.fit.device import fake_gpu
from tests.tuner.fit.device.fake_gpu import needs_compiler, paper
from tests.tuner.fit.test_temporal import walk
from tests.tuner.support import (
    by_passes,
    datafit_of,
    learn,
    on_device,
    problem_of,
    random_sample,
    temporal_of,
    write_sample,
)
from tuner.datasets.dataset import Dataset
from tuner.fit.device.cpu.device import Cpu
from tuner.fit.device.gpu import chunks
from tuner.fit.device.gpu import chunks as library
from tuner.fit.device.gpu import device as sums
from tuner.fit.device.gpu.chunks import arrange
from tuner.fit.errors import standard_errors
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import newton_of_equation as temporal_newton
from tuner.fit.null_space import find_null_space
from tuner.objectives.table import OBJECTIVES
from tuner.objectives.temporal import TemporalData

COLUMNS = 5
KINDS = pytest.mark.parametrize(
    ("objective", "stages"), list(itertools.product(OBJECTIVES, (1, 2)))
)
HOWS = ["resident", "in chunks", "streamed"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Positions with different weights, in games of which some share an identity."""
    given, _ = random_sample(
        tmp_path_factory.mktemp("gpu") / "data", seed=4, games=120, columns=COLUMNS
    )
    random = np.random.default_rng(1)
    lengths, names = np.diff(given.data.first), np.arange(1, 121)
    names[[5, 60, 119]] = names[5]
    return write_sample(
        tmp_path_factory.mktemp("gpu") / "data",
        given.coefficients.astype(np.int8),
        given.outcome,
        lengths,
        phase=given.phase,
        weight=random.uniform(0.5, 2, len(given.phase)),
        identities=names,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gpu")


def paper_with_room(monkeypatch, folder, how):
    """Return a GPU on which a dataset is resident as a whole, resident in chunks, or streamed; and
    a list that gets the first position of each chunk that is made."""
    made = []
    if how != "resident":
        monkeypatch.setattr(chunks, "RESIDENT" if how == "in chunks" else "STREAMED", 300)
        monkeypatch.setattr(sums, "ROWS_BYTES", 8 * 14 * 50)
    monkeypatch.setattr(chunks, "arrange", lambda *given: made.append(given[-1]) or arrange(*given))
    return paper(monkeypatch, folder, **({"free": 1000} if how == "streamed" else {})), made


def as_it_should_stay(made: list[int], how: str) -> bool:
    """Return whether these chunks were made in more than one pass on such a GPU."""
    if how == "streamed":
        return len(made) > 2 * len(set(made)) > 4
    return len(made) == len(set(made)) and (len(made) == 1 if how == "resident" else len(made) > 2)


def problem_on(sample, objective: str, stages: int, device):
    return datafit_of(sample, stages, objective, device=device)


@needs_compiler
@KINDS
@pytest.mark.parametrize(
    "how", [HOWS[0], *(pytest.param(how, marks=pytest.mark.long) for how in HOWS[1:])]
)
def test_sums_are_those_of_the_cpu(sample, folder, monkeypatch, objective, stages, how):
    device, made = paper_with_room(monkeypatch, folder, how)
    on_gpu, here = (problem_on(sample, objective, stages, which) for which in (device, Cpu()))
    weights = np.random.default_rng(2).normal(0, 80, here.free.shape)
    weights[:, COLUMNS + 1 :] = np.abs(weights[:, COLUMNS + 1 :]) + 20
    ranges, few = (
        np.array([[3, 40], [41, 700], [900, here.positions - 5]]),
        np.array([[3, 5], [6, 40]]),
    )
    for chosen in (None, ranges, few):
        (loss, gradient), (expected_loss, expected) = (
            problem.loss_gradient(weights, chosen) for problem in (on_gpu, here)
        )
        assert loss == pytest.approx(expected_loss, rel=1e-9)
        np.testing.assert_allclose(
            gradient, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max()
        )
        np.testing.assert_allclose(
            on_gpu.gauss_newton(weights, chosen),
            here.gauss_newton(weights, chosen),
            rtol=1e-9,
            atol=1e-20,
        )
    some = np.array([0, 2, here.free.size - 1])
    found, wanted = (problem.score_products(weights, some) for problem in (on_gpu, here))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    np.testing.assert_allclose(
        *(problem.score_squares(weights) for problem in (on_gpu, here)),
        rtol=1e-9,
    )
    assert as_it_should_stay(made, how)


@needs_compiler
def test_a_pass_gives_the_same_bits_however_it_is_split(sample, folder, monkeypatch):
    device = paper(monkeypatch, folder)
    problem = problem_on(sample, "cross-entropy", 2, device)
    weights = np.random.default_rng(3).normal(0, 80, problem.free.shape)
    first = problem.loss_gradient(weights)
    parts = np.array([[low, low + 7] for low in range(0, problem.positions - 7, 7)])
    rest = np.array([[parts[-1, 1], problem.positions]])
    again = problem.loss_gradient(weights, np.concatenate([parts, rest]))
    assert first[0] == again[0] and (first[1] == again[1]).all()


@needs_compiler
@pytest.mark.parametrize("objective", ["cross-entropy", "ordered"])
def test_results_do_not_depend_on_the_order_of_threads(sample, folder, monkeypatch, objective):
    problem = problem_on(sample, objective, 2, paper(monkeypatch, folder))
    weights = np.random.default_rng(3).normal(50, 20, problem.free.shape)
    extra, found = (
        TemporalData(np.full(problem.positions, 0.7), np.full(problem.positions, np.nan)),
        [],
    )
    for order in (False, True):
        fake_gpu.backwards(library.source(), order)
        try:
            temporal = temporal_of(problem, extra)
            found.append(
                [
                    problem.loss_gradient(weights)[1],
                    problem.gauss_newton(weights),
                    problem.score_squares(weights),
                ]
            )
            if objective == "cross-entropy":
                found[-1] += [
                    temporal.residual(weights)[1],
                    temporal.slope(weights).matrix,
                ]
        finally:
            fake_gpu.backwards(library.source(), False)
    assert all((a == b).all() for a, b in zip(*found, strict=True))


@needs_compiler
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_find_the_same_weights_on_a_gpu_and_on_the_cpu(
    sample, folder, monkeypatch, learner
):
    device = paper(monkeypatch, folder)
    options = {"newton": {"tolerance": 1e-13}, "lbfgs": {"tolerance": 1e-12}}.get(
        learner, {"iterations": 3, "batch": 400}
    )
    found, expected = (
        learn(problem_of(sample, 2, device=which), learner, **options)[0]
        for which in (device, Cpu())
    )
    np.testing.assert_allclose(
        found, expected, rtol=1e-6, atol=1e-3
    )  # centipawns; where L-BFGS stops depends on the last bits


@needs_compiler
def test_standard_errors_are_those_of_the_cpu(sample, folder, monkeypatch):
    device = paper(monkeypatch, folder)
    errors = []
    for which in (device, Cpu()):
        problem = problem_of(sample, 2, device=which)
        weights, _ = learn(problem, tolerance=1e-13)
        curvature = problem.datafit.curvature(weights)
        errors.append(
            standard_errors(
                problem,
                weights,
                curvature,
                find_null_space(problem, weights, curvature, sample.layout.places),
            )
        )
    np.testing.assert_allclose(errors[0].standard_errors, errors[1].standard_errors, rtol=1e-6)


@needs_compiler
@KINDS
@pytest.mark.parametrize("how", [HOWS[0], pytest.param(HOWS[2], marks=pytest.mark.long)])
def test_products_with_vectors_are_those_of_the_cpu(
    sample, folder, monkeypatch, objective, stages, how
):
    by_passes(monkeypatch)
    device, made = paper_with_room(monkeypatch, folder, how)
    on_gpu, here = (problem_on(sample, objective, stages, which) for which in (device, Cpu()))
    random = np.random.default_rng(2)
    weights = random.normal(0, 30, here.free.shape)
    weights[:, COLUMNS + 1 :] = 60.0
    vectors = random.normal(size=(weights.size, 40))
    found, expected = (problem.curvature(weights) for problem in (on_gpu, here))
    for times in (1, 1e-6):
        np.testing.assert_allclose(
            found.products(times * vectors),
            expected.products(times * vectors),
            rtol=1e-6,
            atol=1e-12,
        )
    np.testing.assert_allclose(found.diagonal(), expected.diagonal(), rtol=1e-12)
    assert as_it_should_stay(made, how) or how != "resident"


@needs_compiler
def test_fits_of_many_weights_are_those_of_the_cpu(sample, folder, monkeypatch):
    by_passes(monkeypatch)
    found = []
    for which in (paper(monkeypatch, folder), Cpu()):
        problem = problem_of(sample, 2, device=which)
        weights, _ = learn(problem, tolerance=1e-10)
        there = problem.datafit.curvature(weights)
        assert there.matrix is None
        null_space = find_null_space(problem, weights, there, sample.layout.places)
        found.append((weights, standard_errors(problem, weights, there, null_space)))
    (weights, errors), (others, expected) = found
    np.testing.assert_allclose(weights, others, atol=0.1)
    np.testing.assert_allclose(errors.standard_errors, expected.standard_errors, rtol=1e-3)


@needs_compiler
@pytest.mark.parametrize(
    ("lambda_", "how"),
    [
        pytest.param(
            *case, marks=() if case in zip((0.0, 0.7), HOWS, strict=False) else pytest.mark.long
        )
        for case in itertools.product((0.0, 0.7, 1.0), HOWS)
    ],
)
def test_temporal_differences_are_those_of_the_cpu(tmp_path, folder, monkeypatch, lambda_, how):
    device, made = paper_with_room(monkeypatch, folder, how)
    _, given = walk(tmp_path, lambda_, known=0.1)
    both = [on_device(given, which) for which in (device, Cpu(2))]
    on_gpu, here = (problem.datafit for problem in both)
    weights = np.random.default_rng(2).normal(0, 40, given.free.shape)
    for games in (None, here.whole_games[1::3]):
        (squares, found), (wanted, expected) = (
            problem.residual(weights, games) for problem in (on_gpu, here)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
        assert squares == pytest.approx(wanted, rel=1e-12)
        found, expected = (problem.slope(weights, games).matrix for problem in (on_gpu, here))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    some = np.array([0, 3, weights.size - 1])
    found, expected = (problem.score_products(weights, some) for problem in (on_gpu, here))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    weights = [
        temporal_newton(problem, LearnerOptions(tolerance=1e-12), Record()) for problem in both
    ]
    np.testing.assert_allclose(*weights, rtol=1e-6, atol=1e-6)
    assert as_it_should_stay(made, how)


@needs_compiler
def test_games_without_positions_change_nothing(tmp_path, folder, monkeypatch):
    random, outcome = np.random.default_rng(1), np.repeat([1.0, -1.0, 0.0], 20)
    counts, found = random.integers(-3, 4, (60, COLUMNS)), []
    device = paper(monkeypatch, folder)
    for name, lengths in (("with", [0, 20, 0, 20, 20, 0]), ("without", [20, 20, 20])):
        sample = write_sample(tmp_path / name, counts.astype(np.int8), outcome, np.array(lengths))
        extra = TemporalData(np.full(60, 0.7), np.full(60, np.nan))
        for which in (device, Cpu()):
            problem = temporal_of(problem_on(sample, "mse", 2, which), extra)
            weights = np.linspace(-50, 50, problem.free.size).reshape(problem.free.shape)
            found.append(
                np.concatenate(
                    [
                        problem.residual(weights)[1].ravel(),
                        problem.slope(weights).matrix.ravel(),
                    ]
                )
            )
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-9, atol=1e-12 * np.abs(found[0]).max())


@needs_compiler
def test_more_parameters_than_a_block_has_memory_for_are_refused(sample, folder, monkeypatch):
    device = paper(monkeypatch, folder, shared=16 * COLUMNS - 1)
    problem = problem_on(sample, "cross-entropy", 2, device)
    assert (
        "--device gpu: 5 parameters, expected at most 4 on this GPU; choose --device cpu"
        in refusal(problem.loss, np.zeros(problem.free.shape))
    )


@needs_compiler
def test_evaluations(sample, folder, monkeypatch):
    device = paper(monkeypatch, folder)
    here = problem_on(sample, "cross-entropy", 2, Cpu(2))
    weights, data = np.random.default_rng(2).normal(0, 80, here.free.shape), sample.data
    for rows in (slice(0, here.positions), slice(5, 9), slice(7, 7)):
        given = data.rows(rows.start, rows.stop), here.table(weights)
        np.testing.assert_allclose(
            device.evaluate(*given), here.device.evaluate(*given), rtol=1e-12
        )


@needs_compiler
def test_a_dataset_with_other_weights_is_not_read_again(sample, folder, monkeypatch):
    problem = problem_on(sample, "cross-entropy", 2, paper(monkeypatch, folder))
    weights = np.random.default_rng(2).normal(0, 80, problem.free.shape)
    problem.loss_gradient(weights)
    twice = replace(
        problem,
        data=replace(
            sample.data, weight=sample.data.weight * np.float32(2) ** (sample.data.phase % 2)
        ),
    )
    monkeypatch.setattr(Dataset, "rows", lambda *given: pytest.fail("read again"))
    expected = replace(twice, device=Cpu()).loss_gradient(weights)
    found = twice.loss_gradient(weights)
    assert found[0] == pytest.approx(expected[0], rel=1e-9)
    np.testing.assert_allclose(
        found[1], expected[1], rtol=1e-6, atol=1e-7 * np.abs(expected[1]).max()
    )
