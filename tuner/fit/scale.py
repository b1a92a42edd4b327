"""The scale of an evaluation: how much probability a centipawn is worth, by the results of games.

v = tanh(scale * evaluation) is fitted to results by logistic regression. Some endings are drawn however large the evaluation
is (a lone bishop against pawns, won endings that a shallow search cannot win): a few of them, far from zero as they lie, would
flatten the whole curve. Phases of the game in which the side that is far ahead hardly scores are therefore left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuner.datasets.ranges import whole_games
from tuner.fit.problem import Problem

POSITIONS = 500_000  # of games drawn at random: enough for two digits, results being as alike as they are within a game
DECIDED = 0.85  # of |v|: the side ahead should score 0.925 and more
HARDLY = 0.75  # what the side ahead scores at least, in a phase that counts
FEWEST_GAMES, FEWEST_POSITIONS = 10, 100  # in which positions of a phase are decided, to judge it; in which a slope is fitted
OTHERWISE = 1.5  # times another scale: a difference that has to be spoken of


class Scale(NamedTuple):
    """The `value`, in 1 / centipawns; the `phases` that were left out, and which `share` of the positions they hold."""

    value: float
    phases: tuple[int, ...] = ()
    share: float = 0.0


def fit_scale(problem: Problem) -> Scale | None:
    """The scale at which the starting weights predict outcomes best; None if they do not predict them at all."""
    games = _sampled(problem)
    ranges = whole_games(problem.data, games)
    evaluation = problem.evaluations(problem.start, ranges)
    outcome, phase = (np.concatenate([array[low:high] for low, high in ranges]) for array in (
        problem.data.outcome, problem.data.phase))
    problem.model.release()
    outcome, game = outcome.astype(np.float64), np.repeat(np.arange(len(games)), ranges[:, 1] - ranges[:, 0])
    left_out = _dead_phases(evaluation, outcome, phase, game, problem.phases)
    kept = ~np.isin(phase, left_out)
    if 2 * kept.sum() < len(kept):  # then it is not some endings
        left_out, kept = [], np.ones(len(kept), np.bool_)
    slope = _slope(evaluation[kept], outcome[kept])
    return None if slope is None else Scale(slope, tuple(int(p) for p in left_out), float(1 - kept.mean()))


def scale_lines(found: Scale | None, before: float) -> list[str]:
    """What a reader has to know of a scale that was fitted, where the file's was `before`."""
    if found is None:
        return [f"the starting values do not predict the results: the scale stays at {before:g}"]
    lines = []
    if found.phases:
        lines.append(f"scale: fitted without phase {_runs(found.phases)}, {100 * found.share:.0f} % of the positions, where the "
                     f"side that is far ahead scores less than {HARDLY:g}")
    ratio = found.value / before
    if not 1 / OTHERWISE <= ratio <= OTHERWISE:
        lines.append(f"scale: {found.value:.3g} fits these results, {ratio:.2f} times the {before:g} of the file: the same "
                     f"evaluation wins {'more' if ratio > 1 else 'less'} often in these games than the file says; the learned "
                     f"file gets the new scale; --scale {before:g} keeps the old one")
    return lines


def _sampled(problem: Problem) -> np.ndarray:
    """All games, or some of them, each equally likely, that hold about POSITIONS positions; ascending."""
    if problem.positions <= POSITIONS:
        return problem.games
    wanted = round(len(problem.games) * POSITIONS / problem.positions)
    chosen = np.random.default_rng(len(problem.games)).choice(len(problem.games), max(wanted, 1), replace=False)
    return problem.games[np.sort(chosen)]


def _dead_phases(evaluation: np.ndarray, outcome: np.ndarray, phase: np.ndarray, game: np.ndarray, phases: int) -> list[int]:
    """Phases in which a side that is far ahead scores less than HARDLY. How far that is, is judged by the median over the
    positions of the slopes of the single phases, which the dead ones hardly move."""
    if phases < 2:
        return []
    slopes, weights = [], []
    for f in range(phases + 1):
        here = phase == f
        slope = _slope(evaluation[here], outcome[here]) if here.sum() >= FEWEST_POSITIONS else None
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


def _slope(evaluation: np.ndarray, outcome: np.ndarray) -> float | None:
    """Half the slope of the logistic regression of (1 + outcome) / 2 on the evaluation and an intercept; None if that is no
    scale of an evaluation."""
    columns = np.stack([evaluation, np.ones_like(evaluation)], axis=1)
    q, coefficients = (1 + outcome) / 2, np.zeros(2)  # Newton's method goes astray from a slope that is much too steep
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
    """Ascending whole numbers with neighbours joined: 0-2, 5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)
