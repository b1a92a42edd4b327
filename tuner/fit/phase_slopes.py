"""Slopes by phase: how steeply results follow the starting evaluation in each phase, relative to the scale of the fit.

The same advantage decides more games in an endgame than after the opening, and some endings are drawn whatever the evaluation
says. A fit with one scale bends its weights until they say so: on games of strong engines, which draw much, that cost about
130 Elo (docs/what-the-numbers-mean.md: -206 without slopes, -77 with them). With slopes, v = tanh(scale * slope(phase) *
evaluation), and weights learn only what the starting evaluation misses.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from tuner.datasets.dataset import Dataset
from tuner.fit.problem import Problem
from tuner.fit.scale import outcomes_of, sampled_games, slope_of

FEWEST_GAMES = 200  # of a slope; phases with fewer share the games of the phases around them
LEAST, LARGEST = 0.02, 10.0  # slopes: evaluations hardly count where results do not follow them
SHOWN = 1.25  # ratio of the largest to the least slope that is reported


@dataclass(frozen=True, repr=False)
class SlopedDataset(Dataset):
    """A dataset in whose evaluations the phases have slopes: `slopes`, one for each step of the phase, from 0 on."""

    slopes: tuple[float, ...] = ()

    def shares(self, stages: int, scaled: bool = True) -> np.ndarray:
        """Return the shares (stages, codes) of the stages, multiplied by the slope of the position's phase."""
        return super().shares(stages, scaled) * np.array(self.slopes)[self.phase_scale[:, 0].astype(np.int64)]


def with_slopes(problem: Problem, slopes: np.ndarray) -> Problem:
    """Return the problem with a slope for each step of the phase, from 0 on."""
    arrays = {field.name: getattr(problem.data, field.name) for field in fields(Dataset)}
    return replace(problem, data=SlopedDataset(**arrays, slopes=tuple(float(slope) for slope in slopes)))


def fit_slopes(problem: Problem, scale: float) -> np.ndarray:
    """Return the slopes (phases + 1,) at which the starting evaluation predicts outcomes best in each phase, relative to
    `scale`. They are 1 if the starting weights are zero."""
    games = sampled_games(problem)
    evaluation, outcome, phase, game = outcomes_of(problem, games)
    slopes = np.ones(problem.data.phases + 1)
    for step in range(len(slopes)):
        for reach in range(len(slopes)):
            here = np.abs(phase - step) <= reach
            if len(np.unique(game[here])) >= min(FEWEST_GAMES, len(games)):
                found = slope_of(evaluation[here], outcome[here])
                slopes[step] = np.clip((found or 0.0) / scale, LEAST, LARGEST) if evaluation.any() else 1.0
                break
    return slopes


def slope_lines(slopes: np.ndarray) -> list[str]:
    """Return notes about slopes by phase."""
    low, high = slopes.min(), slopes.max()
    if high < SHOWN * low:
        return []
    return [f"slopes by phase: results follow the starting evaluation {low:.2f} (phase {slopes.argmin()}) to {high:.2f} (phase "
            f"{slopes.argmax()}) times as steeply as the scale says; the fit takes that from them, not from the weights"]
