"""Slopes by phase: how strongly an advantage predicts results in each phase of the game, relative
to the scale."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.fit.datafit import Datafit
from tuner.fit.problem import Problem
from tuner.fit.scale import outcomes_of, sampled_games, slope_of

FEWEST_GAMES = 200  # of a slope; phases with fewer share the games of the phases around them
MIN_SLOPE, MAX_SLOPE = 0.02, 10.0  # evaluations hardly count where results do not follow them
MIN_SLOPE_RATIO = 1.25  # ratio of the largest to the least slope that is reported


@dataclass(frozen=True, repr=False)
class SlopedDataset(Dataset):
    """A dataset in whose evaluations the phases have slopes: `slopes`, one for each step of the
    phase, from 0 on."""

    slopes: tuple[float, ...] = ()

    def shares(self, stages: int, scaled: bool = True) -> np.ndarray:
        """Return the shares (stages, codes) of the stages, multiplied by the slope of the
        position's phase."""
        return (
            super().shares(stages, scaled)
            * np.array(self.slopes)[self.phase_scale[:, 0].astype(np.int64)]
        )


def with_slopes(datafit: Datafit, slopes: np.ndarray) -> Datafit:
    """Return the datafit with a slope for each step of the phase, from 0 on."""
    arrays = {field.name: getattr(datafit.data, field.name) for field in fields(Dataset)}
    data = SlopedDataset(**arrays, slopes=tuple(float(slope) for slope in slopes))
    return replace(datafit, data=data)


def fit_slopes(problem: Problem, scale: float) -> np.ndarray:
    """Return the slopes (phases + 1,) at which the starting evaluation predicts outcomes best in
    each phase, relative to `scale`. They are 1 if the starting weights are zero."""
    datafit = problem.datafit
    games = sampled_games(datafit)
    evaluation, outcome, phase, game = outcomes_of(datafit, problem.start, games)
    slopes = np.ones(datafit.data.phases + 1)
    for step in range(len(slopes)):
        for reach in range(len(slopes)):
            here = np.abs(phase - step) <= reach
            if len(np.unique(game[here])) >= min(FEWEST_GAMES, len(games)):
                found = slope_of(evaluation[here], outcome[here])
                slopes[step] = (
                    np.clip((found or 0.0) / scale, MIN_SLOPE, MAX_SLOPE)
                    if evaluation.any()
                    else 1.0
                )
                break
    return slopes


def slope_lines(slopes: np.ndarray) -> list[str]:
    """Return notes about slopes by phase."""
    low, high = slopes.min(), slopes.max()
    if high < MIN_SLOPE_RATIO * low:
        return []
    return [
        f"slopes by phase: an advantage predicts results {low:.2f} (phase"
        f" {slopes.argmin()}) to {high:.2f} (phase {slopes.argmax()}) times as strongly as the"
        " scale assumes; the fit corrects for this"
    ]
