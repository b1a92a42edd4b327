"""Fit the scale of an evaluation, from centipawns to probability, to the results of games.

v = tanh(scale * evaluation) is fitted to results by logistic regression. Some endings are drawn
however large the evaluation (a lone bishop against pawns, won endings that a shallow search fails
to win): a few of them, with large evaluations, would flatten the whole curve. Phases in which the
side that is far ahead scores badly are therefore left out.

Slopes by phase say how strongly an advantage predicts results in each phase, relative to the
scale."""

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from tuner.datasets.dataset import Dataset, whole_games
from tuner.fit.datafit import Datafit
from tuner.fit.problem import Problem

# of sampled games: enough for two digits, although positions of a game share its result
POSITIONS = 500_000
DECIDED = 0.85  # |v| from which the side ahead should score 0.925 or more
HARDLY = 0.75  # smallest score of the side ahead, in phases that are used
# games with decided positions to assess a phase; positions to fit a slope
FEWEST_GAMES, FEWEST_POSITIONS = 10, 100
OTHERWISE = 1.5  # ratio of two scales that is reported


class Scale(NamedTuple):
    """A scale: its `value` in 1 / centipawns, the `phases` left out, and their `share` of the
    positions."""

    value: float
    phases: tuple[int, ...] = ()
    share: float = 0.0


def fit_scale(problem: Problem) -> Scale | None:
    """Return the scale at which the starting weights predict outcomes best; None if they do not
    predict outcomes."""
    datafit = problem.datafit
    outcomes = outcomes_of(datafit, problem.start, datafit.sampled_games(POSITIONS))
    evaluation, outcome, phase, game = outcomes
    left_out = _dead_phases(evaluation, outcome, phase, game, datafit.data.phases)
    kept = ~np.isin(phase, left_out)
    if 2 * kept.sum() < len(kept):  # too many to be a few endings
        left_out, kept = [], np.ones(len(kept), np.bool_)
    slope = slope_of(evaluation[kept], outcome[kept])
    return (
        None
        if slope is None
        else Scale(slope, tuple(int(p) for p in left_out), float(1 - kept.mean()))
    )


def scale_lines(found: Scale | None, before: float) -> list[str]:
    """Return notes about a fitted scale; `before` is the scale of the file."""
    if found is None:
        return [f"the starting values do not predict the results: the scale stays at {before:g}"]
    lines = []
    if found.phases:
        lines.append(
            f"scale: fitted without phase {_runs(found.phases)}, {100 * found.share:.0f} % of the"
            f" positions, where the side that is far ahead scores less than {HARDLY:g}"
        )
    ratio = found.value / before
    if not 1 / OTHERWISE <= ratio <= OTHERWISE:
        lines.append(
            f"scale: {found.value:.3g} fits these results, {ratio:.2f} times the {before:g} of the"
            f" file: the same evaluation wins {'more' if ratio > 1 else 'less'} often in these"
            f" games than the file predicts; the learned file gets the new scale; --scale"
            f" {before:g}"
            " keeps the old one"
        )
    return lines


def outcomes_of(
    datafit: Datafit, weights: np.ndarray, games: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return, for the positions (n,) of some games, evaluations in centipawns and
    outcomes, first player's view, steps of the phase, and which of the games each is of."""
    ranges = whole_games(datafit.data, games)
    evaluation = datafit.evaluations(weights, ranges)
    outcome, code = (
        np.concatenate([array[low:high] for low, high in ranges])
        for array in (datafit.data.outcome, datafit.data.phase)
    )
    phase = datafit.data.phase_scale[code, 0].astype(np.int64)
    datafit.release()
    return (
        evaluation,
        outcome.astype(np.float64),
        phase,
        np.repeat(np.arange(len(games)), ranges[:, 1] - ranges[:, 0]),
    )


def _dead_phases(
    evaluation: np.ndarray, outcome: np.ndarray, phase: np.ndarray, game: np.ndarray, phases: int
) -> list[int]:
    """Return the phases in which a side that is far ahead scores less than HARDLY. "Far" is
    measured by the median, over positions, of the slopes of the single phases: dead phases hardly
    change it."""
    if phases < 2:
        return []
    slopes, weights = [], []
    for f in range(phases + 1):
        here = phase == f
        slope = (
            slope_of(evaluation[here], outcome[here]) if here.sum() >= FEWEST_POSITIONS else None
        )
        if here.any():
            slopes.append(slope or 0.0)
            weights.append(int(here.sum()))
    order = np.argsort(slopes)
    middle = slopes[order[np.searchsorted(np.cumsum(np.array(weights)[order]), sum(weights) / 2)]]
    if middle <= 0:
        return []
    decided = np.abs(evaluation) > np.arctanh(DECIDED) / middle
    dead = []
    for f in range(phases + 1):
        here = decided & (phase == f)
        if len(np.unique(game[here])) >= FEWEST_GAMES:
            if (1 + (np.sign(evaluation[here]) * outcome[here]).mean()) / 2 < HARDLY:
                dead.append(f)
    return dead


def slope_of(evaluation: np.ndarray, outcome: np.ndarray) -> float | None:
    """Return half the slope of the logistic regression of (1 + outcome) / 2 on the evaluation and
    an intercept; None if it is not a plausible scale."""
    columns = np.stack([evaluation, np.ones_like(evaluation)], axis=1)
    # from 0: Newton's method diverges from a slope that is much too steep
    q, coefficients = (1 + outcome) / 2, np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(columns @ coefficients, -500, 500)))
        hessian = columns.T @ (columns * (p * (1 - p))[:, None])
        if not np.isfinite(hessian).all() or np.linalg.cond(hessian) > 1e14:
            return None
        change = np.linalg.solve(hessian, columns.T @ (q - p))
        coefficients += change
        if abs(change[0]) < 1e-9:
            break
    scale = coefficients[0] / 2
    return float(scale) if 1e-5 < scale < 0.1 else None


def _runs(numbers: tuple[int, ...]) -> str:
    """Return ascending integers as ranges, such as 0-2, 5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


FEWEST_IN_PHASE = 200  # of a slope; phases with fewer share the games of the phases around them
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
    games = datafit.sampled_games(POSITIONS)
    evaluation, outcome, phase, game = outcomes_of(datafit, problem.start, games)
    slopes = np.ones(datafit.data.phases + 1)
    for step in range(len(slopes)):
        for reach in range(len(slopes)):
            here = np.abs(phase - step) <= reach
            if len(np.unique(game[here])) >= min(FEWEST_IN_PHASE, len(games)):
                slope = slope_of(evaluation[here], outcome[here])
                slopes[step] = (
                    np.clip((slope or 0.0) / scale, MIN_SLOPE, MAX_SLOPE)
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
