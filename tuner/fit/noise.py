"""Sampling noise of evaluations, its price in Elo, and `--prior play`: how far to go from the
starting weights to those that predict results best.

The automatic prior finds a width for each list, by empirical Bayes. Its optimum predicts held-out
results better than the start and still loses matches: it contains sampling noise, and weights that
predict results are not those that win. Strong players reach positions that look worse than they
are, so a part of what results teach is of no use for play, and held-out games cannot tell which.
Matches could: with the results of others, evaluations gained most when the step changed them by
10 to 25 centipawns, whatever the games, their number, the prior and the length of the way, and lost
from about twice that on; with those of games of the evaluation itself by twice as much (see
docs/measurements.md). The step is therefore a distance. It is measured on what the author has set:
where lists are all zero, an evaluation is young, and results teach most of it.

If S is the mean square of what results teach, and N that of sampling noise, a step goes the share
S / (S + N) of what it would go without noise. Results that say nothing also move weights, towards
"every game is a draw": there is a step only if the optimum differs from the one for drawn games by
more than noise. A centipawn of another evaluation counts for as many of `classic` as it is
worth."""

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import chdtri

from tuner.core.estimates import CONFIDENCE, Estimate
from tuner.fit.covariance import Uncertainty
from tuner.fit.curvature import Curvature
from tuner.fit.datafit import Datafit
from tuner.fit.problem import Problem
from tuner.parameters.parameters import Parameters

MIN_PAIRS = 100  # pairs from which a variance is estimated
FEWEST_DRAWN = 40  # of about 70 quiet positions of a game: fewer are too far apart


# Elo per squared centipawn of noise between neighboring positions, measured by matches
PRICE = Estimate(0.21, low=0.18, high=0.24)


class Noise(NamedTuple):
    """Standard deviations in centipawns that sampling noise gives evaluations, and differences
    between neighboring positions of a game; None if hardly any game has two positions, or if few
    of each game were drawn at random: those are far apart."""

    evaluations: float
    differences: float | None

    def elo(self, centipawn: float) -> Estimate | None:
        """Return what the noise of differences costs in Elo, with a 95 % interval, where a
        centipawn of the evaluation is worth `centipawn` of `classic`."""
        if self.differences is None:
            return None
        return PRICE.times((centipawn * self.differences) ** 2)


def noise_of(found: Uncertainty, datafit: Datafit, weights: np.ndarray) -> Noise | None:
    """Return the noise of evaluations, near some weights, on the positions of a datafit; None
    without positions, and if the weights have no noise or it is unknown.

    The mean over positions is taken out of evaluations: moving all of them alike is no noise.
    """
    places = datafit.sampled_places()
    if not len(places) or not found.noise.variances.sum() > 0:
        return None
    here = datafit.derivatives(weights, places)[:, found.coordinates]
    drawn = datafit.data.manifest.get("options", {}).get("per_game", 0)
    pairs = None if 0 < drawn < FEWEST_DRAWN else neighbours(datafit, weights)
    return Noise(
        max(found.noise.of(here, centred=True), 0.0) ** 0.5,
        (
            None
            if pairs is None
            else max(found.noise.of((pairs[1] - pairs[0])[:, found.coordinates]), 0.0) ** 0.5
        ),
    )


def neighbours(
    datafit: Datafit, weights: np.ndarray
) -> tuple[sparse.csr_array, sparse.csr_array] | None:
    """Return the coefficients by stage (n, d) of sampled positions, and of the next position of the
    same game in the dataset; None if hardly any game has two positions."""
    data, places = datafit.data, datafit.sampled_places()
    places = (
        places[places + 1 < data.first[np.searchsorted(data.first, places, side="right")]]
        if len(places)
        else places
    )
    if len(places) < MIN_PAIRS:
        return None
    return datafit.derivatives(weights, places), datafit.derivatives(weights, places + 1)


PLAY: Final = "play"  # a prior
# centipawns by which a step changes evaluations (root mean square over positions): measured by
# matches with results of others, and with those of games of the evaluation itself
REACH, OWN_REACH = 15.0, 30.0
LARGEST = 0.5  # share of the way: more did not gain with the results of any games


class PlayStep(NamedTuple):
    """The `share` of the way to go, and by how many centipawns it changes evaluations (root mean
    square over positions)."""

    share: float
    change: float


def play_step(
    problem: Problem,
    weights: np.ndarray,
    curvature: Curvature,
    found: Uncertainty,
    part: np.ndarray,
    centipawn: float,
    reach: float = REACH,
) -> PlayStep:
    """Return the share of the way from the starting weights to the optimum `weights` that the
    weights of `part` (stages, columns + 1 or 2, bool) go; a centipawn is worth `centipawn` of
    `classic`, in which `reach` is given. `curvature` is that of the loss at the optimum."""
    datafit = problem.datafit
    rows = datafit.derivatives(problem.start, datafit.sampled_places())[:, found.coordinates]
    counted = centipawn * part.ravel()[found.coordinates]
    of_play = found.noise.scaled(counted)

    def square(change: np.ndarray) -> float:
        """The mean square of the change of evaluations by changes (d,) of weights."""
        return float(np.var(rows @ (counted * change)))

    noise = of_play.of(rows, centred=True)
    freedom = of_play.freedom(rows)
    chance = noise * float(chdtri(freedom, 1 - CONFIDENCE)) / freedom  # exceeded by 5 % of noise
    told = beyond_draws(problem, weights, curvature)[found.coordinates]
    beyond = square(told) - chance
    way = (weights - problem.start).ravel()[found.coordinates]
    moved = square(way)
    was_set = lists_that_are_set(problem).ravel()[found.coordinates]
    step = step_of(min(moved, noise + beyond), noise, square(was_set * way), reach)
    return PlayStep(step, step * moved**0.5 / centipawn)


def lists_that_are_set(problem: Problem) -> np.ndarray:
    """Return which weights (stages, columns + 1 or 2) are in a list or table that is not all zero
    at the start."""
    are_set = np.zeros(problem.start.shape, np.bool_)
    for place in problem.datafit.data.layout.places:
        columns = slice(place.first, place.first + place.size)
        are_set[:, columns] = problem.start[:, columns].any()
    return are_set


def step_of(moved: float, noise: float, of_set: float, reach: float = REACH) -> float:
    """Return the share of the way for mean squares in squared centipawns of `classic`: S + N
    (`moved`), N (`noise`), and that of the change by lists that are set."""
    if not moved > noise:
        return 0.0
    return min(LARGEST, reach / max(of_set, 1e-300) ** 0.5) * (moved - noise) / moved


def beyond_draws(problem: Problem, weights: np.ndarray, curvature: Curvature) -> np.ndarray:
    """Return how far (d,) the optimum is from that for games which are all drawn, by one Newton
    step."""
    datafit = problem.datafit
    data = replace(datafit.data, outcome=np.zeros_like(datafit.data.outcome))
    drawn = replace(datafit, data=data)
    pull = drawn.loss_gradient(weights)[1] - datafit.loss_gradient(weights)[1]
    free = np.flatnonzero(problem.free.ravel())
    beyond = np.zeros(weights.size)
    beyond[free] = curvature.solve(problem.penalty, free, pull.ravel()[free])
    return beyond


def weights_that_step(parameters: Parameters, shape: tuple[int, ...]) -> np.ndarray:
    """Return which weights (stages, columns + 1 or 2) go a share of the way. Those with a prior of
    their own in the file go all of it, as do the intercept and the width of a draw, which are no
    part of the evaluation."""
    part = np.zeros(shape, np.bool_)
    part[:, : parameters.weights.shape[1]] = ~parameters.mask(
        tuple(name for name, _ in parameters.prior)
    )
    return part


def go_part_of_the_way(
    problem: Problem, weights: np.ndarray, found: Uncertainty, part: np.ndarray, share: float
) -> tuple[np.ndarray, np.ndarray, Uncertainty]:
    """Return weights of which those of `part` go a share of the way from the start; the optimum and
    its errors, both of the start where that share is 0; and the noise of these weights."""
    factors = np.where(part & problem.free, share, 1.0)
    flat = factors.ravel()[found.coordinates]
    moved = problem.start + factors * (weights - problem.start)
    moved = np.clip(moved, problem.low, problem.high)
    return (
        moved,
        np.where(factors, weights, moved),
        replace(
            found,
            standard_errors=np.where(factors, found.standard_errors, 0.0),
            noise=found.noise.scaled(flat),
        ),
    )


def play_line(step: PlayStep, unit: str) -> str:
    """Return a step as a line of text."""
    if step.share == 0:
        return (
            "prior play: what these games teach does not exceed sampling noise; weights move 0 % of"
            " the way to those that predict results best"
        )
    return (
        f"prior play: weights move {100 * step.share:.0f} % of the way to the best predictor of"
        f" results, which changes evaluations by {step.change:.0f} {unit}"
    )
