"""A GPU against two CPU threads, on random games that resemble a dataset: agreement, times, and the
bandwidth of a pass relative to copying."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.speed import Row, Workload
from tests.benchmarks.speed.fits import whole_data
from tests.tuner.support import temporal_of
from tuner.datasets.dataset import Dataset, Rows
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import DatasetWriter
from tuner.fit.datafit import Datafit
from tuner.fit.device.choose import required_gpu
from tuner.fit.device.cpu.device import Cpu
from tuner.fit.device.gpu.device import Gpu
from tuner.fit.fit import fit
from tuner.fit.result import FitResult
from tuner.fit.setup import FitOptions, make_problem
from tuner.objectives.temporal import TemporalData
from tuner.parameters.parameters import Layout, Parameters, Place

# SPREAD of weights in centipawns, so that few games are decided
PARAMETERS, SCALE, SPREAD = 400, 0.00255, 15.0
CHECKED, SOME = 1_000_000, 10_000_000  # positions of comparisons, and of `make bench BENCH=gpu`
COUNTS = np.array([-2, -1, 1, 2], np.int8)
POSITION_BYTES, EIGHT_BYTES = 16, 24  # that a pass reads per position, and per eight nonzeros
MOST = 1e-6  # relative difference
COPIED = 1 << 30  # bytes, each read and written


def random_games(like: Dataset, positions: int, folder: Path, seed: int = 1) -> Dataset:
    """Write a dataset of about `positions` positions: repeated games of a dataset, with the
    PARAMETERS columns that apply most often, random counts, and results sampled by random
    weights."""
    random = np.random.default_rng(seed)
    use = np.bincount(like.index, minlength=like.columns)
    chosen = np.sort(np.argsort(-use, kind="stable")[:PARAMETERS])
    keep, number = np.zeros(like.columns, np.bool_), np.zeros(like.columns, np.uint16)
    keep[chosen], number[chosen] = True, np.arange(len(chosen))
    taken = keep[like.index]
    index, ends = number[like.index[taken]], np.concatenate([[0], np.cumsum(taken)])[like.row]
    phases, weights, here = (
        like.manifest["phases"],
        random.normal(0, SPREAD, (2, PARAMETERS)),
        Cpu(),
    )
    share = (np.arange(phases + 1) / phases)[:, None]
    table = np.hstack([share * weights[0] + (1 - share) * weights[1], np.zeros((phases + 1, 1))])
    sizes = np.diff(like.first)
    with DatasetWriter(folder) as writer:
        for copy in range(max(1, round(positions / like.positions))):
            count = COUNTS[random.integers(0, len(COUNTS), len(index))]
            rows = Rows(index, count, ends, like.phase)
            evaluation = here.evaluate(rows, table)
            mean = np.add.reduceat(evaluation, like.first[:-1]) / sizes
            won = random.random(len(sizes)) < 1 / (1 + np.exp(-2 * SCALE * mean))
            first = like.first[:-1] + writer.positions
            writer.add_positions(rows._replace(outcome=np.where(won, 1.0, -1.0).repeat(sizes)))
            names = np.arange(len(sizes), dtype=np.uint64) + np.uint64(copy * len(sizes) + 1)
            writer.add_games(first, names, names)
        layout = _layout()
        writer.finish(
            {
                "program": "benchmark",
                "game": "none",
                "sources": [],
                "options": {},
                "layout": layout.describe(),
                "terms": "none",
                "phases": phases,
                "stages": ["mg", "eg"],
            }
        )
    return open_dataset(folder, check=False)


@dataclass(frozen=True)
class GpuComparison:
    """A GPU, two CPU threads, and a dataset of random games."""

    gpu: Gpu
    data: Dataset

    @cached_property
    def here(self) -> Cpu:
        return Cpu(2)

    @cached_property
    def weights(self) -> np.ndarray:
        return np.random.default_rng(2).normal(0, SPREAD, (2, PARAMETERS + 1))

    def datafit(self, device: Cpu | Gpu, most: int | None = None) -> Datafit:
        """Return the datafit of all games, or on the first ones with about `most` positions."""
        games = (
            self.data.games
            if most is None
            else max(1, int(np.searchsorted(self.data.first, most, side="right")) - 1)
        )
        options = replace(OPTIONS, device=device)
        return make_problem(self.data, _zero(), options, np.arange(games), SCALE).datafit

    def differences(self) -> dict[str, float]:
        """Return the largest difference between the results of GPU and CPU, relative to the largest
        value."""
        both = [self.datafit(device, CHECKED) for device in (self.gpu, self.here)]
        n, some = self.data.positions, np.arange(0, self.weights.size, 3)
        extra = TemporalData(np.full(n, 0.7), np.full(n, np.nan))
        rows = self.data.rows(0, CHECKED)
        questions: dict[str, Callable[[Datafit], Any]] = {
            "loss": lambda d: np.array([d.loss(self.weights)]),
            "gradient": lambda d: d.loss_gradient(self.weights)[1],
            "matrix": lambda d: d.gauss_newton(self.weights),
            "scores": lambda d: d.score_products(self.weights, some),
            "evaluations": lambda d: d.device.evaluate(rows, d.table(self.weights)),
            "TD(0.7)": lambda d: temporal_of(d, extra).residual(self.weights)[1],
        }
        found = {}
        for name, ask in questions.items():
            value, wanted = (ask(datafit) for datafit in both)
            found[name] = float(np.abs(value - wanted).max() / np.abs(wanted).max())
        return found

    def same_bits(self) -> bool:
        """Return whether two passes give the same bits."""
        datafit = self.datafit(self.gpu)
        first, second = (datafit.loss_gradient(self.weights) for _ in range(2))
        return first[0] == second[0] and first[1].tobytes() == second[1].tobytes()

    def fit(self, games: np.ndarray | None = None) -> FitResult:
        """Fit on the GPU to all games or some."""
        return fit(self.data, _zero(), replace(OPTIONS, device=self.gpu), games=games)

    def rows(self) -> list[Row]:
        """Return the times of a pass and of a fit as rows."""
        whole, part, data = self.datafit(self.gpu), self.datafit(self.here, CHECKED), self.data
        passing = seconds(lambda: whole.loss_gradient(self.weights))
        eights = sum(
            int((-(-np.diff(data.row[a : a + CHECKED + 1]) // 8)).sum())
            for a in range(0, data.positions, CHECKED)
        )
        moved = POSITION_BYTES * data.positions + EIGHT_BYTES * eights
        bandwidth = 2 * COPIED / seconds(self.gpu.copying(COPIED))
        slow = seconds(lambda: part.loss_gradient(self.weights)) * data.positions / part.positions
        matrix = seconds(lambda: whole.gauss_newton(self.weights), 3)
        self.fit(np.arange(len(part.games)))  # compiles on first use
        begin = time.perf_counter()
        result = self.fit()
        fitting = time.perf_counter() - begin
        what = f"{data.positions:,} positions x {PARAMETERS} x 2"
        return [
            Row(
                f"fused pass, {what}, {self.gpu.name}",
                data.positions / passing / 1e6,
                "M positions/s",
                100 * data.positions / slow / 1e6,
                reference=(self.here.name, data.positions / slow / 1e6),
            ),
            Row(
                "  bytes moved by it",
                moved / passing / 1e9,
                "GB/s",
                0.6 * bandwidth / 1e9,
                reference=("a copy on the GPU", bandwidth / 1e9),
            ),
            Row("  Gauss-Newton matrix", matrix, "s"),
            Row(
                f"  Newton fit with standard errors, {len(result.history) - 1} iterations",
                fitting,
                "s",
                10.0,
                True,
            ),
        ]


def compared(work: Workload, positions: int) -> tuple[GpuComparison, dict[str, float]]:
    """Compare GPU and CPU on a dataset of this size; return the comparison and the differences.
    InputError without a GPU, AssertionError if they differ, or if two runs on the GPU do."""
    gpu = required_gpu()
    comparison = GpuComparison(
        gpu, random_games(whole_data(work), positions, work.folder / "random")
    )
    differences = comparison.differences()
    if not max(differences.values()) < MOST or not comparison.same_bits():
        raise AssertionError(
            f"{gpu.name} and {comparison.here.name} differ, or two runs do: {differences}"
        )
    return comparison, differences


def passes_on_a_gpu(work: Workload) -> list[Row]:
    """Measure a pass and a fit on a GPU; InputError without a GPU."""
    return compared(work, SOME)[0].rows()


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """Return the median time of some runs, after a first one."""
    work()
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return float(np.median(found))


def _layout() -> Layout:
    return Layout(tuple(Place("single", f"n{i}", (), i) for i in range(PARAMETERS)))


def _zero() -> Parameters:
    return Parameters("none", _layout(), ("mg", "eg"), np.zeros((2, PARAMETERS)), SCALE)


OPTIONS = FitOptions(prior=None, fit_scale=False, held_out=0.0)
