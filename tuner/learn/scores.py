"""Scores as targets: where they come from, and the dataset whose outcomes they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import Game, SearchLimits
from games.streams import InputError
from tuner.datasets.dataset import BLOCK, Dataset, whole_games
from tuner.datasets.files import ArrayWriter
from tuner.fit.device.base import Device
from tuner.fit.setup import FitOptions, make_problem
from tuner.learn.build import Scores, recorded_scores, selected
from tuner.learn.methods import fitting_of
from tuner.learn.targets import (
    ScoreScale,
    Searched,
    blended,
    close,
    fit_score_scale,
    later_blended,
    scale_line,
)
from tuner.learn.teacher import Teacher
from tuner.options.option import no_use
from tuner.options.tune import TuneSettings
from tuner.parallel import Executor
from tuner.parameters.parameters import Parameters

TARGETS = "targets.npy"


class ScoreTargets(NamedTuple):
    """A dataset whose outcomes are targets; the results (n,) of its games; which positions (m,) of
    those read are in it, None for all; the scale of the scores, None if they are not used; and
    lines about them."""

    data: Dataset
    results: np.ndarray
    keep: np.ndarray | None
    scale: ScoreScale | None
    lines: list[str]


@contextlib.contextmanager
def source_of(
    game: Game, options: TuneSettings, searched: Searched, executor: Executor, lines: list[str]
) -> Iterator[Scores | None]:
    """Yield where the scores of positions come from, for resolved options; None if the method uses
    none. A teacher ends after the block, and a line about its scores is added to `lines`; it runs
    on the executor, and `searched` is called for each of its positions."""
    if options.targets != "scores":
        yield None
    elif options.teacher is None:
        yield recorded_scores
    else:
        limits = SearchLimits(nodes=options.nodes)
        with Teacher(game, options.teacher, limits, executor, searched=searched) as teacher:
            yield teacher.scores
            lines.append(teacher.text)


def with_score_targets(
    data: Dataset,
    scores: np.ndarray,
    results: np.ndarray,
    unknown: int,
    parameters: Parameters,
    options: TuneSettings,
    folder: Path,
    device: Device | None = None,
) -> ScoreTargets:
    """Return the dataset with targets blended of the scores and results (n,) of its positions, see
    `tuner.learn.targets`; files go to `folder`. `unknown` positions were left out because they have
    no score.

    Scores of the starting values' own searches are on the scale of the file; the rest is scaled by
    the results of the games. Positions without a score (unless lambda is 1), and those whose score
    is further than `max_difference` from the evaluation of `parameters`, are left out."""
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
        near = close(
            scores, _evaluations(data, parameters, fitting_of(options, device)), scale.value, most
        )
        far = int((keep & ~near).sum())
        keep &= near
        lines.append(f"--max-difference {most:g}: {far:,} of {len(near):,} positions left out")
        if not keep.any():
            raise InputError(
                f"--max-difference {most:g}: leaves out every position; expected more centipawns"
            )
    if keep.all():
        chosen = None
    else:
        chosen, results = keep, results[keep]
        data = selected(data, keep, folder / "chosen")
        scores = scores[keep]
    unit = scale.value if scale else 0.0
    writer = ArrayWriter(folder / TARGETS, np.float32)
    for first in blocks_of_games(data.first):
        part = slice(first[0], first[-1])
        block = scores[part], results[part], unit, lambda_
        later = options.blend == "later"
        writer.append(later_blended(*block, first - first[0]) if later else blended(*block))
    writer.close()
    outcome = np.asarray(np.load(folder / TARGETS, mmap_mode="r"))
    return ScoreTargets(replace(data, outcome=outcome), results, chosen, scale, lines)


def blocks_of_games(first: np.ndarray) -> Iterator[np.ndarray]:
    """Yield parts of `first` (games + 1,), the first positions of the games of a dataset and its
    end: each of whole games with about BLOCK positions, and its end."""
    begin = 0
    while begin < len(first) - 1:
        end = max(begin + 1, int(np.searchsorted(first, first[begin] + BLOCK, "right")) - 1)
        yield first[begin : end + 1]
        begin = end


def _evaluations(data: Dataset, parameters: Parameters, fitting: FitOptions) -> np.ndarray:
    """Return the static evaluations (n,) of all positions in centipawns, first player's view."""
    if not parameters.weights.any():
        raise InputError(
            no_use(
                "--max-difference",
                "the starting values are all zero, so there is no evaluation to compare "
                "scores with",
            )
        )
    every = np.arange(data.games)
    problem = make_problem(data, parameters, fitting, every, parameters.scale)
    return problem.evaluations(problem.start, whole_games(data, every))
