"""Targets of `--targets scores`: where the scores come from, and the dataset with the targets blended of scores and results."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.evaluators import SearchLimits
from games.record import Game
from games.streams import InputError
from tuner.datasets.array_files import ArrayWriter
from tuner.datasets.dataset import Dataset
from tuner.datasets.ranges import BLOCK, whole_games
from tuner.device.base import Device
from tuner.fit.options import FitOptions
from tuner.fit.setup import make_problem
from tuner.ingest.build import recorded_scores
from tuner.ingest.kept import Scores
from tuner.ingest.recorded import ScoreScale, blended, close, fit_score_scale, scale_line
from tuner.ingest.search_targets import Searched
from tuner.ingest.selected import selected
from tuner.ingest.teacher import Teacher
from tuner.parallel import Executor
from tuner.parameters.parameters import Parameters
from tuner.tuning.options import TuneOptions

TARGETS = "targets.npy"


class ScoreTargets(NamedTuple):
    """A dataset whose outcomes are targets; the results (n,) of its games; which positions (m,) of those read are in it, None for
    all; the scale of the scores, None if they are not used; and lines about them."""

    data: Dataset
    results: np.ndarray
    keep: np.ndarray | None
    scale: ScoreScale | None
    lines: list[str]


@contextlib.contextmanager
def source_of(game: Game, options: TuneOptions, searched: Searched, executor: Executor,
              lines: list[str]) -> Iterator[Scores | None]:
    """Yield where the scores of positions come from, for resolved options; None if the method uses none. A teacher ends after the
    block, and a line about its scores is added to `lines`; it runs on the executor, and `searched` is called for each of its
    positions."""
    if options.targets != "scores":
        yield None
    elif options.teacher is None:
        yield recorded_scores
    else:
        limits = SearchLimits(nodes=options.nodes)
        with Teacher(game, options.teacher, limits, executor, searched=searched) as teacher:
            yield teacher.scores
            lines.append(teacher.text)


def with_score_targets(data: Dataset, scores: np.ndarray, results: np.ndarray, unknown: int, parameters: Parameters,
                       options: TuneOptions, folder: Path,
                       device: Device | None = None) -> ScoreTargets:
    """Return the dataset with targets blended of the scores and results (n,) of its positions, see `tuner.ingest.recorded`;
    files go to `folder`. `unknown` positions were left out for want of a score.

    Scores of the starting values' own searches are on the scale of the file; others are scaled by the results of the games.
    Positions without a score (unless lambda is 1), and those whose score is further than `max_difference` from the evaluation of
    `parameters`, are left out.
    """
    what = "scores of the teacher" if options.teacher else "recorded scores"
    lambda_, most = options.lambda_ or 0.0, options.max_difference
    games = np.repeat(data.game, np.diff(data.first))
    keep = np.full(len(scores), True) if lambda_ == 1 else ~np.isnan(scores)
    unknown += int((~keep).sum())
    scale = None
    if options.own_scores:
        scale = ScoreScale(parameters.scale, 0.0, data.games, int(np.isfinite(scores).sum()))
    elif lambda_ < 1 or most is not None:
        scale = fit_score_scale(scores, results, games, what)
    lines = [scale_line(scale, what)] if scale and not options.own_scores else []
    if unknown:
        lines.append(f"{unknown:,} positions without a score left out")
    if scale and most is not None:
        near = close(scores, _evaluations(data, parameters, options.fitting(device)), scale.value, most)
        far = int((keep & ~near).sum())
        keep &= near
        lines.append(f"--max-difference {most:g}: {far:,} of {len(near):,} positions left out")
        if not keep.any():
            raise InputError(f"--max-difference {most:g}: leaves out every position; expected more centipawns")
    if keep.all():
        chosen = None
    else:
        chosen, results = keep, results[keep]
        data = selected(data, keep, folder / "chosen")
        scores = scores[keep]
    return ScoreTargets(_with_outcomes(data, scores, results, scale, lambda_, folder), results, chosen, scale, lines)


def _with_outcomes(data: Dataset, scores: np.ndarray, results: np.ndarray, scale: ScoreScale | None, lambda_: float,
                   folder: Path) -> Dataset:
    writer = ArrayWriter(folder / TARGETS, np.float32)
    for begin in range(0, data.positions, BLOCK):
        part = slice(begin, begin + BLOCK)
        writer.append(blended(scores[part], results[part], scale.value if scale else 0.0, lambda_))
    writer.close()
    return replace(data, outcome=np.asarray(np.load(folder / TARGETS, mmap_mode="r")))


def _evaluations(data: Dataset, parameters: Parameters, fitting: FitOptions) -> np.ndarray:
    """Return the static evaluations (n,) of all positions in centipawns, first player's view."""
    if not parameters.weights.any():
        raise InputError("--max-difference: the starting values are all zero, so there is no evaluation to compare scores with; "
                         "leave it out")
    every = np.arange(data.games)
    problem = make_problem(data, parameters, fitting, every, parameters.scale)
    return problem.evaluations(problem.start, whole_games(data, every))
