"""The bootstrap by game: fits to games resampled with replacement, as a check of the standard
errors."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tuner.datasets.dataset import together
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.solvers import newton
from tuner.fit.result import FitResult

TOLERANCE = 1e-6


def bootstrap(
    result: FitResult, replicates: int, seed: int, watch: Callable[[int], None] = lambda done: None
) -> np.ndarray:
    """Return the standard deviations (stages, columns + 1) of weights over fits to resampled games
    (Efron 1979).

    Games of one identity are resampled together. Each fit starts at the result and keeps its prior
    and scale."""
    problem, random = result.problem, np.random.default_rng([seed, replicates])
    data = problem.data
    names, group = problem.model.groups
    ranges, found = problem.model.whole_games, []
    with tempfile.TemporaryFile() as file:
        file.truncate(data.weight.nbytes)
        pages = mmap.mmap(
            file.fileno(), data.weight.nbytes
        )  # the weights of all positions may be larger than memory
        weight = np.frombuffer(pages, np.float32)
        resampled = replace(data, weight=weight, _maps=(*data._maps, pages))
        for done in range(replicates):
            times = np.bincount(random.integers(0, len(names), len(names)), minlength=len(names))[
                group
            ].astype(np.float32)
            for some in together(ranges):
                for (begin, end), count in zip(ranges[some].tolist(), times[some], strict=True):
                    weight[begin:end] = count * data.weight[begin:end]
                resampled.release()
            again = replace(problem, data=resampled, meter=type(problem.meter)())
            weights = newton(
                again, LearnerOptions(tolerance=TOLERANCE), Record(), result.weights, result.matrix
            )
            found.append(result.null_space.restore(problem, weights))
            watch(done + 1)
    return np.std(found, axis=0, ddof=1)


def checked_errors(
    result: FitResult, replicates: int, seed: int, watch: Callable[[int], None]
) -> dict:
    """Return median and quartiles of the ratio of bootstrap errors to reported errors, over all
    weights with an error. Both exclude what the prior adds: it is the same in all replicates."""
    spread = bootstrap(result, replicates, seed, watch) * result.share
    assert result.uncertainty is not None, "a fit that is checked has errors"
    reported = result.uncertainty.sampling
    known = reported > 0
    low, median, high = np.quantile(spread[known] / reported[known], [0.25, 0.5, 0.75])
    return {
        "replicates": replicates,
        "median": round(float(median), 3),
        "low": round(float(low), 3),
        "high": round(float(high), 3),
    }
