"""How fast passes over a dataset and fits are."""

import json
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from games.record import ReadOptions, scale_of
from tests.benchmarks.speed import Row, Workload, cpu_seconds, published, target_of
from tuner.datasets.dataset import Dataset
from tuner.datasets.files import is_dataset
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import DatasetWriter
from tuner.evaluation.evaluation import quiescence_of
from tuner.evaluation.loading import load_engine
from tuner.fit.fit import fit
from tuner.fit.learners.base import LearnerOptions
from tuner.fit.setup import FitOptions, make_problem
from tuner.io.files import QUIESCENCE
from tuner.learn.build import build, checked
from tuner.learn.sources import sources_of
from tuner.parameters.parameters import Layout, Parameters

SMALL_FIT = 300  # columns
NEAR = 1e-5  # of the optimum, relative


def whole_data(work: Workload) -> Dataset:
    """Return the dataset to measure with; build it if games are given."""
    engine, _ = load_engine(work.params)
    if is_dataset(work.games):
        return checked(open_dataset(work.games), engine)
    made = work.folder / "whole"
    if is_dataset(made):
        return open_dataset(made)
    return build(
        engine,
        sources_of([str(work.games)], engine.game),
        made,
        ReadOptions(),
        quiescence_of(engine.game, QUIESCENCE),
        lambda text: None,
    )[0]


def without_terms(data: Dataset, dropped: set[str], target: Path) -> Dataset:
    """Copy a dataset without the columns of some terms."""
    layout = data.layout
    keep = np.zeros(layout.size, np.bool_)
    for place in layout.places:
        keep[place.columns] = place.term not in dropped
    new = np.cumsum(keep) - 1
    with DatasetWriter(target) as writer:
        for begin in range(0, data.positions, 1 << 16):
            end = min(begin + (1 << 16), data.positions)
            rows = data.rows(begin, end)
            chosen = keep[rows.index]
            row = np.concatenate([[0], np.cumsum(chosen)])[rows.row - rows.row[0]]
            writer.add_positions(
                rows._replace(index=new[rows.index[chosen]], count=rows.count[chosen], row=row)
            )
        writer.add_games(data.first[:-1], data.game, data.opening)
        writer.finish(
            {
                **data.manifest,
                "layout": [
                    [place.path, list(place.shape)]
                    for place in layout.places
                    if place.term not in dropped
                ],
            }
        )
    return open_dataset(target)


def largest_terms(layout: Layout, most: int) -> set[str]:
    """Return the largest terms, so many that at most `most` columns remain without them."""
    sizes: dict[str, int] = {}
    for place in layout.places:
        sizes[place.term] = sizes.get(place.term, 0) + place.size
    dropped: set[str] = set()
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if sum(size for term, size in sizes.items() if term not in dropped) <= most:
            break
        dropped.add(name)
    return dropped


def _zero(data: Dataset) -> Parameters:
    layout = data.layout
    stages = tuple(data.manifest["stages"])
    return Parameters(
        data.manifest["game"], layout, stages, np.zeros((len(stages), layout.size)), _scale(data)
    )


def _scale(data: Dataset) -> float:
    return scale_of(data.manifest["game"])


def passes(work: Workload) -> list[Row]:
    """Measure loss and gradient in one pass, against the same with a sparse matrix of SciPy."""
    from scipy.sparse import csr_matrix

    whole, rows = whole_data(work), []
    sizes, scale = whole.layout, _scale(whole)
    for data in (
        whole,
        without_terms(whole, largest_terms(sizes, sizes.size - 1), work.folder / "narrower"),
    ):
        problem = make_problem(data, _zero(data), FitOptions(), np.arange(data.games), scale)
        weights = np.random.default_rng(1).normal(0, 10, problem.start.shape)
        problem.datafit.loss_gradient(weights)
        seconds = cpu_seconds(partial(problem.datafit.loss_gradient, weights))
        some = min(100_000, data.positions)
        matrix = csr_matrix(
            (
                data.count[: data.row[some]].astype(np.float64),
                data.index[: data.row[some]].astype(np.int32),
                data.row[: some + 1],
            ),
            shape=(some, data.columns),
        )
        share = (data.phase[:some] / data.manifest["phases"])[:, None]
        shares = np.concatenate([share, 1 - share], axis=1)[:, : problem.datafit.stages]
        target = (1 + data.outcome[:some].astype(np.float64)) / 2

        def scipy_pass(matrix=matrix, shares=shares, target=target, w=weights) -> np.ndarray:
            p = 1 / (1 + np.exp(-2 * scale * ((matrix @ w[:, :-1].T) * shares).sum(axis=1)))
            _ = -(target * np.log(p) + (1 - target) * np.log1p(-p)).mean()
            return matrix.T @ ((p - target)[:, None] * shares)

        theirs = some / cpu_seconds(scipy_pass)
        nonzeros = len(data.index) / data.positions
        rows.append(
            Row(
                f"fused pass, {nonzeros:.1f} nonzeros, {problem.datafit.stages} stages",
                data.positions / seconds / 1e6,
                "M positions/s",
                target_of(work.of_game, "pass") if nonzeros < 40 else None,
                reference=("NumPy + SciPy", theirs / 1e6),
            )
        )
    return rows


def fits(work: Workload) -> list[Row]:
    """Measure fits from zero with standard errors, each in its own process, and their memory."""
    whole, rows, bench = whole_data(work), [], work.of_game
    layout, stages = whole.layout, len(whole.manifest["stages"])
    measured: list[tuple[Dataset, float | None]] = [(whole, None)]
    left_out = largest_terms(layout, SMALL_FIT // stages)
    if left_out:
        measured.insert(
            0, (without_terms(whole, left_out, work.folder / "small"), target_of(bench, "fit"))
        )
    for data, target in measured:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.speed.fits", str(data.path)],
            stdout=subprocess.PIPE,
            check=True,
        )
        found = json.loads(done.stdout)
        what = f"{data.positions:,} positions, {data.columns} x {stages}"
        rows.append(
            Row(
                f"fit from zero, {what}, {found['error']:.0e} from the optimum",
                found["cpu_seconds"],
                "CPU s",
                target,
                True,
                published(bench, "fit"),
            )
        )
        rows.append(
            Row(
                f"  the same with the automatic prior, {what}",
                found["prior_cpu_seconds"],
                "CPU s",
                None,
                True,
            )
        )
        rows.append(
            Row(
                f"  memory above the imports, {what}",
                found["megabytes"],
                "MB",
                target_of(bench, "memory"),
                True,
                published(bench, "memory"),
            )
        )
    return rows


def peak_megabytes() -> float:
    """Return the peak memory of this process in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would include the process that started it
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measure(path: str) -> dict:
    """Return CPU seconds and memory of a fit, and its relative distance from the optimum."""
    data = open_dataset(path)
    parameters = _zero(data)
    games = np.arange(min(50, data.games))
    tiny = make_problem(data, parameters, FitOptions(), games, _scale(data))
    tiny.datafit.gauss_newton(tiny.start)  # compiles and loads what a fit needs
    tiny.datafit.score_products(tiny.start, np.arange(tiny.start.size))
    before = peak_megabytes()
    options = FitOptions(held_out=0.0, prior=None, learning=LearnerOptions(tolerance=NEAR / 4))
    started = time.process_time()
    result = fit(data, parameters, options)
    seconds = time.process_time() - started
    memory = peak_megabytes() - before
    started = time.process_time()
    fit(data, parameters, FitOptions())
    with_prior = time.process_time() - started
    best = fit(
        data,
        parameters,
        FitOptions(
            held_out=0.0, prior=None, errors=False, learning=LearnerOptions(tolerance=1e-12)
        ),
    )
    return {
        "cpu_seconds": seconds,
        "megabytes": memory,
        "prior_cpu_seconds": with_prior,
        "error": result.loss_after / best.loss_after - 1,
    }


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
