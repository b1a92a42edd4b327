"""The bootstrap by game: fits to games drawn again and again with replacement, as a check of the standard errors."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tuner.datasets.ranges import together
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.newton import newton
from tuner.fit.result import FitResult

TOLERANCE = 1e-6


def bootstrap(result: FitResult, replicates: int, seed: int,
              watch: Callable[[int], None] = lambda done: None) -> np.ndarray:
    """(stages, columns + 1) standard deviations of weights over fits to games drawn with replacement (Efron 1979).

    Games of one identity are drawn together. Each fit begins at the result and keeps its prior and scale.
    """
    problem, random = result.problem, np.random.default_rng([seed, replicates])
    data = problem.data
    names, group = problem.model.groups
    ranges, found = problem.model.whole_games, []
    with tempfile.TemporaryFile() as file:
        file.truncate(data.weight.nbytes)
        pages = mmap.mmap(file.fileno(), data.weight.nbytes)  # a weight for each position may be more than memory holds
        weight = np.frombuffer(pages, np.float32)
        drawn = replace(data, weight=weight, _maps=(*data._maps, pages))
        for done in range(replicates):
            times = np.bincount(random.integers(0, len(names), len(names)), minlength=len(names))[group].astype(np.float32)
            for some in together(ranges):
                for (begin, end), count in zip(ranges[some].tolist(), times[some], strict=True):
                    weight[begin:end] = count * data.weight[begin:end]
                drawn.release()
            again = replace(problem, data=drawn, meter=type(problem.meter)())
            weights = newton(again, LearnerOptions(tolerance=TOLERANCE), Record(), result.weights, result.matrix)
            found.append(result.null_space.restore(problem, weights))
            watch(done + 1)
    return np.std(found, axis=0, ddof=1)


def checked_errors(result: FitResult, replicates: int, seed: int, watch: Callable[[int], None]) -> dict:
    """The errors of a bootstrap over those told, of all numbers that have one: median and quartiles. The prior is the same
    in all replicates: what it adds to the errors is left out of both."""
    spread = bootstrap(result, replicates, seed, watch)
    told = result.uncertainty.sampling
    known = told > 0
    low, median, high = np.quantile(spread[known] / told[known], [0.25, 0.5, 0.75])
    return {"replicates": replicates, "median": round(float(median), 3), "low": round(float(low), 3),
            "high": round(float(high), 3)}
