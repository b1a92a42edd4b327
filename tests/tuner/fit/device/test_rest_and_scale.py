"""Passes over rows of other programs: a part that is not tuned, a scale of the last stage, counts
that are not small."""

import re

import numpy as np
import pytest

from tests.support import refusal
from tests.tuner.fit.device.fake_gpu import needs_compiler, paper
from tests.tuner.support import flat_layout
from tuner.datasets.dataset import Dataset, Rows
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import WideWriter, merge, part
from tuner.fit.device.base import Model
from tuner.fit.device.cpu import sums as scaled
from tuner.fit.device.cpu.device import Cpu
from tuner.objectives.table import OBJECTIVES

POSITIONS, COLUMNS, STEPS, SCALE = 600, 6, 24, 0.003
KINDS = ["narrow", "fractions", "many scales"]


class Written:
    """Random rows as a dataset, and what they were written from."""

    def __init__(self, folder, kind: str, stages: int = 2, seed: int = 1) -> None:
        random = np.random.default_rng(seed)
        n = POSITIONS
        counts = np.where(
            random.random((n, COLUMNS)) < 0.6, random.integers(-4, 5, (n, COLUMNS)), 0
        ).astype(np.float32)
        if kind == "fractions":
            counts *= np.float32(1.25)
        self.counts = counts
        self.factor = (
            random.random(n) if kind == "many scales" else random.choice([1, 0.5, 0], n)
        ).astype(np.float32)
        self.rest = random.normal(0, 50, n).astype(np.float32)
        self.phase, self.outcome = (
            random.integers(0, STEPS + 1, n),
            random.choice([-1, 0, 1], n).astype(np.float32),
        )
        of, index = np.nonzero(counts)
        row = np.append(0, np.cumsum(np.bincount(of, minlength=n)))
        unknown = np.full(n, np.nan, np.float32)
        with WideWriter(folder, counts.shape[1]) as writer:
            writer.add_rows(
                Rows(index, counts[of, index], row, self.phase, self.outcome, None, self.rest),
                self.factor,
                unknown,
                np.where(self.phase > 3, self.rest, np.nan).astype(np.float32),
                [f"position {i}" for i in range(n)],
            )
            names = np.arange(n // 10, dtype=np.uint64)
            writer.add_games(np.arange(0, n, 10), names, names)
            writer.finish(
                {
                    "program": "evaltune test",
                    "game": "none",
                    "sources": [{"file": "none", "sha256": "-"}],
                    "options": {},
                    "layout": flat_layout(COLUMNS).describe(),
                    "terms": "rows",
                    "phases": STEPS,
                    "stages": ["mg", "eg"][:stages],
                }
            )
        self.data = open_dataset(folder)

    def design(self, stages: int, constants: int) -> np.ndarray:
        """(n, d) what each weight is multiplied with: counts by share and scale; intercept and
        width by share alone."""
        first = self.phase / STEPS
        shares = [first, 1 - first] if stages == 2 else [np.ones(POSITIONS)]
        scaled_shares = (
            [first, (1 - first) * self.factor]
            if stages == 2
            else [first + (1 - first) * self.factor]
        )
        return np.hstack(
            [
                np.hstack([c[:, None] * self.counts, np.repeat(s[:, None], constants, axis=1)])
                for s, c in zip(shares, scaled_shares, strict=True)
            ]
        )


def model_of(data: Dataset, objective: str, stages: int) -> tuple[Model, np.ndarray]:
    loss = OBJECTIVES[objective]
    weights = np.random.default_rng(2).normal(0, 40, (stages, COLUMNS + 1 + loss.widths))
    weights[:, COLUMNS + 1 :] = 90
    return Model(data, np.arange(data.games), loss, SCALE, np.ones(weights.shape, bool)), weights


@pytest.fixture(scope="module", params=KINDS)
def written(request, tmp_path_factory):
    return Written(tmp_path_factory.mktemp("rows") / "data", request.param)


def test_arrays_are_as_small_as_they_fit(tmp_path):
    narrow, fractions, many = (Written(tmp_path / kind, kind).data for kind in KINDS)
    assert not narrow.wide and narrow.codes == 3 * (STEPS + 1) and narrow.phase.dtype == np.uint8
    assert fractions.wide and fractions.count.dtype == np.float32 and many.wide and many.codes > 256
    assert narrow.manifest["optional"] == ["rest", "score", "text", "text_end"]
    assert narrow.texts(np.array([0, 7, POSITIONS - 1])) == [
        "position 0",
        "position 7",
        f"position {POSITIONS - 1}",
    ]


@pytest.mark.parametrize("saved", [0.0, 1e9], ids=["own matrices", "one matrix"])
@pytest.mark.parametrize("stages", [1, 2])
@pytest.mark.parametrize("objective", ["cross-entropy", "mse", "ordered"])
def test_sums_are_those_of_dense_formulas(written, monkeypatch, objective, stages, saved):
    monkeypatch.setattr(scaled, "SAVED", saved)
    model, weights = model_of(written.data, objective, stages)
    loss, constants, cpu = model.objective, 1 + model.objective.widths, Cpu(2)
    design, flat = written.design(stages, constants), weights.ravel()
    widths = np.zeros(weights.shape, bool)
    widths[:, COLUMNS + 1 :] = True
    of_width = widths.ravel()

    def terms(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (
            written.rest + design[:, ~of_width] @ flat[~of_width],
            design[:, of_width] @ flat[of_width],
        )

    def total(flat: np.ndarray) -> float:
        evaluation, width = terms(flat)
        return float(
            loss.loss(
                SCALE, evaluation, width if loss.widths else 0.0, written.outcome.astype(float)
            ).sum()
        )

    found, gradient = cpu.loss_gradient(model, weights, model.ranges)
    steps = np.eye(flat.size) * 1e-3
    numeric = np.array([(total(flat + step) - total(flat - step)) / 2e-3 for step in steps])
    assert found == pytest.approx(total(flat), rel=1e-12)
    np.testing.assert_allclose(gradient.ravel(), numeric, atol=1e-6 * np.abs(numeric).max())
    np.testing.assert_allclose(
        cpu.evaluations(model, weights, model.ranges), terms(flat)[0], atol=1e-9
    )
    matrix = cpu.gauss_newton(model, weights, model.ranges)
    if objective == "ordered":  # its matrix is the Hessian

        def slope(flat: np.ndarray) -> np.ndarray:
            return cpu.loss_gradient(model, flat.reshape(weights.shape), model.ranges)[1].ravel()

        expected = np.array([(slope(flat + step) - slope(flat - step)) / 2e-3 for step in steps])
    else:
        evaluation = terms(flat)[0]
        outcome = written.outcome.astype(float)
        expected = design.T @ (loss.curvature(SCALE, evaluation, 0.0, outcome)[:, None] * design)
        residual = loss.residual(SCALE, evaluation, 0.0, outcome)
        scores = np.add.reduceat(residual[:, None] * design, np.arange(0, POSITIONS, 10), axis=0)
        products = cpu.score_products(model, weights, np.arange(flat.size))
        np.testing.assert_allclose(products, scores.T @ scores, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            cpu.score_squares(model, weights), (scores**2).sum(axis=0), rtol=1e-9
        )
    np.testing.assert_allclose(matrix, expected, atol=1e-6 * np.abs(expected).max())


@needs_compiler
@pytest.mark.parametrize("stages", [1, 2])
@pytest.mark.parametrize("objective", ["cross-entropy", "ordered"])
def test_a_gpu_gives_the_sums_of_the_cpu(tmp_path, monkeypatch, objective, stages):
    data = Written(tmp_path / "data", "narrow").data
    device, here = paper(monkeypatch, tmp_path), Cpu()
    model, weights = model_of(data, objective, stages)
    for ranges in (model.ranges, np.array([[3, 140], [150, 590]])):
        (loss, gradient), (expected_loss, expected) = (
            one.loss_gradient(model, weights, ranges) for one in (device, here)
        )
        assert loss == pytest.approx(expected_loss, rel=1e-9)
        np.testing.assert_allclose(
            gradient, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max()
        )
        np.testing.assert_allclose(
            device.gauss_newton(model, weights, ranges),
            here.gauss_newton(model, weights, ranges),
            rtol=1e-9,
            atol=1e-16,
        )
    some = np.arange(weights.size)
    np.testing.assert_allclose(
        device.score_products(model, weights, some),
        here.score_products(model, weights, some),
        rtol=1e-9,
        atol=1e-12,
    )


@needs_compiler
def test_a_gpu_refuses_wide_rows(tmp_path, monkeypatch):
    data = Written(tmp_path / "data", "fractions").data
    device = paper(monkeypatch, tmp_path)
    model, weights = model_of(data, "mse", 2)
    assert re.search(
        "--device gpu: these rows have counts that are not whole numbers .*choose --device cpu",
        refusal(device.loss_gradient, model, weights, model.ranges),
    )


def test_a_single_stage_is_scaled_as_a_whole(tmp_path):
    written = Written(tmp_path / "data", "narrow", stages=1)
    model, weights = model_of(written.data, "mse", 1)
    expected = (
        written.rest
        + written.factor * (written.counts @ weights[0, :COLUMNS])
        + weights[0, COLUMNS]
    )
    np.testing.assert_allclose(Cpu().evaluations(model, weights, model.ranges), expected, atol=1e-9)


def test_parts_and_merged_datasets_keep_everything(written, tmp_path):
    data = written.data
    half = np.arange(data.games // 2)
    first, second = (
        part(data, half, tmp_path / "a", "x"),
        part(data, half + len(half), tmp_path / "b", "x"),
    )
    both = merge([first, second], tmp_path / "both")
    open_dataset(tmp_path / "both")
    assert both.wide == data.wide and both.codes == data.codes
    assert np.array_equal(both.phase_scale[both.phase], data.phase_scale[data.phase])
    for name in ("rest", "score", "count", "index", "outcome", "text", "text_end"):
        assert np.array_equal(
            getattr(both, name), getattr(data, name), equal_nan=name == "score"
        ), name
