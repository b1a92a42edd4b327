"""`--prior play`: how far to go from the starting weights to those that predict results best.

The automatic prior finds a width for each list and stage, by empirical Bayes. Its optimum predicts held-out results better than
the start and still loses matches, for two reasons. It contains sampling noise, whose price `tuner.fit.noise` knows. And weights
that predict results are not those that win: strong players reach positions that look worse than they are, so a part of what
results teach is of no use for play. If S is the mean square of what results teach, N that of sampling noise (both as
differences of evaluations between neighbouring positions of a game), u the useful share and P the price in Elo, weights that go
the share f of the way have

    gain(f) = P (2 u f - f^2) S,    cost(f) = P f^2 N,

and gain - cost is largest at f = u S / (S + N). S + N is measured on the learned weights, N by their covariance. P and the
constants below are those of `classic` in chess. A centipawn of another evaluation counts for as
many of `classic` as it is worth.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from games.streams import InputError
from tuner.fit.noise import PRICE, deviation, neighbours
from tuner.fit.problem import Problem
from tuner.fit.standard_errors import Uncertainty
from tuner.parameters.parameters import Parameters

PLAY = "play"  # a prior
USEFUL = 0.25  # least useful share, of changes to a good evaluation: measured by matches, see docs/what-the-numbers-mean.md
OWN_USEFUL = 0.5  # the same for games of the evaluation itself: errors there are its own
MEASURED = 100.0  # Elo, up to which the price is that of matches
MISFIT = 40.0  # centipawns by which weights that predict results differ from those that win: all of a larger change is useful


class PlayStep(NamedTuple):
    """The `share` of the way to go, and the `gain` and `cost` that are expected then, in Elo if it is
    known how many centipawns of `classic` one of the evaluation is worth."""

    share: float
    gain: float
    cost: float


def play_step(problem: Problem, weights: np.ndarray, found: Uncertainty, part: np.ndarray,
              centipawn: float, least: float = USEFUL) -> PlayStep:
    """Return the share of the way from the starting weights to the optimum `weights` that maximises gain - cost, if the weights
    of `part` (stages, columns + 1 or 2, bool) go it; a centipawn is worth `centipawn` of `classic`,
    and `least` is the least useful share."""
    pairs = neighbours(problem, problem.start)
    if pairs is None:
        raise InputError("--prior play: needs games of which several positions are learned from, to compare neighbouring ones; "
                         "use --prior auto")
    differences = (pairs[1] - pairs[0]) * part.ravel()
    differences *= centipawn
    return best_step(float(((differences @ (weights - problem.start).ravel())**2).mean()),
                     deviation(differences[:, found.coordinates], found.noise)**2, least)


def best_step(moved: float, noise: float, least: float = USEFUL) -> PlayStep:
    """Return the step for the mean squares S + N (`moved`) and N (`noise`), in squared centipawns of chess."""
    taught = max(moved - noise, 0.0)
    if taught == 0:
        return PlayStep(0.0, 0.0, 0.0)
    useful = max(least, 1 - MISFIT**2 / taught)
    share = useful * taught / (taught + noise)
    return PlayStep(share, PRICE.elo * (2 * useful * share - share**2) * taught, PRICE.elo * share**2 * noise)


def stepping(parameters: Parameters, shape: tuple[int, ...]) -> np.ndarray:
    """Return which weights (stages, columns + 1 or 2) go a share of the way. Those with a prior of their own in the file go all
    of it, as do the intercept and the width of a draw, which are no part of the evaluation."""
    part = np.zeros(shape, np.bool_)
    part[:, :parameters.weights.shape[1]] = ~parameters.mask(tuple(name for name, _ in parameters.prior))
    return part


def shortened(problem: Problem, weights: np.ndarray, found: Uncertainty, part: np.ndarray,
              share: float) -> tuple[np.ndarray, Uncertainty]:
    """Return weights of which those of `part` go a share of the way from the start, within the bounds, and their errors."""
    factors = np.where(part, share, 1.0)
    moved = np.clip(problem.start + factors * (weights - problem.start), problem.low, problem.high)
    moved = np.where(problem.free, moved, weights)
    flat = factors.ravel()[found.coordinates]
    both = np.outer(flat, flat)
    return moved, replace(found, standard_errors=found.standard_errors * factors, sampling=found.sampling * factors,
                          naive=found.naive * factors, covariance=found.covariance * both, noise=found.noise * both)


def play_line(step: PlayStep, elo: bool) -> str:
    """Return a step as a line of text; `elo`: gain and cost are known in Elo."""
    if step.share == 0:
        return ("prior play: what these games teach does not exceed sampling noise; weights go 0 % of "
                "the way to those that predict results best")
    gain, cost = (f"{value:.0f}" if value <= MEASURED else f"more than {MEASURED:g}"
                  for value in (step.gain, step.cost))
    expected = (f"expected gain {gain} Elo, cost of sampling noise {cost}" if elo else
                "how far is best was measured with `classic` in chess alone: let a match compare other "
                "priors, such as --prior 5")
    return f"prior play: weights go {100 * step.share:.0f} % of the way to those that predict results best; {expected}"
