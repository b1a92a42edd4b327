"""Update rules, from the gradient of a batch to a change of the weights.

A gradient is the sum over n positions of c (1 - v^2) * coefficient, the direction of ascent. A rule
has a state, a dictionary of arrays of the weights' shape (stages, columns), and returns a step in
units of its learning rate. Links that follow it in a `chain` make a change of the weights of that:
by a schedule of learning rates, within a limit."""

import itertools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.problem import Problem

State = dict[str, np.ndarray]
SMALL = 1e-12


class At(NamedTuple):
    """Where a learner is: the positions `n` of a batch, its number `t` = 1, 2, ..., and how many
    `games` were learned from before it."""

    n: int
    t: int
    games: float = 0.0


Link: TypeAlias = Callable[[State, np.ndarray, At], np.ndarray]


def chain(*links: Link) -> Link:
    """Return the change that links make one after another, the first of a gradient."""

    def change(state: State, gradient: np.ndarray, at: At) -> np.ndarray:
        for link in links:
            gradient = link(state, gradient, at)
        return gradient

    return change


def scheduled(
    rate: float, floor: float, half_life: float, of_weights: np.ndarray | float = 1.0
) -> Link:
    """Return a link with learning rates: from `rate`, times that `of_weights`, they fall as 1 / (1
    + games / half_life), down to the share `floor`."""

    def change(state: State, step: np.ndarray, at: At) -> np.ndarray:
        return learning_rate(rate, floor, half_life, at.games) * of_weights * step

    return change


def learning_rate(rate: float, floor: float, half_life: float, games: float) -> float:
    """Return the learning rate after some games, see `scheduled`."""
    return rate * max(floor, 1 / (1 + games / half_life))


def within(largest: float | None) -> Link:
    """Return a link that limits the change of each weight; what is not finite stays so."""

    def change(state: State, step: np.ndarray, at: At) -> np.ndarray:
        if largest is None or not np.isfinite(step).all():
            return step
        return np.clip(step, -largest, largest)

    return change


class UpdateRule(NamedTuple):
    """An update rule: the `names` of the arrays of its state, initially zero; its `step`, a link,
    which updates the state; its default learning `rate` in centipawns, and `network_rate`, for the
    weights of networks; and whether its steps are `scale_free`: they do not depend on the size of
    gradients, nor on that of noise."""

    names: tuple[str, ...]
    step: Link
    rate: float
    network_rate: float = 0.01
    scale_free: bool = False


def _sgd(state: State, gradient: np.ndarray, at: At) -> np.ndarray:
    return gradient


def adam(memory: float, rate: float) -> UpdateRule:
    """Return Adam (Kingma and Ba 2015); `memory` is the decay of the mean square, in the paper
    0.999."""

    def step(state: State, gradient: np.ndarray, at: At) -> np.ndarray:
        mean = gradient / max(at.n, 1)
        state["first"] += 0.1 * (mean - state["first"])
        state["second"] += (1 - memory) * (mean**2 - state["second"])
        size = np.sqrt(state["second"] / (1 - memory**at.t)) + SMALL
        return state["first"] / (1 - 0.9**at.t) / size

    return UpdateRule(("first", "second"), step, rate, 0.0003, scale_free=True)


def _adagrad(state: State, gradient: np.ndarray, at: At) -> np.ndarray:
    """AdaGrad (Duchi, Hazan and Singer 2011)."""
    state["squares"] += gradient**2
    return gradient / (np.sqrt(state["squares"]) + SMALL)


def _coherence(state: State, gradient: np.ndarray, at: At) -> np.ndarray:
    """Temporal coherence (Beal and Smith 1999): a weight's rate is |N| / A, the share of its
    changes that did not cancel."""
    state["net"] += gradient
    state["absolute"] += np.abs(gradient)
    return gradient * np.abs(state["net"]) / np.maximum(state["absolute"], SMALL)


RULES = {
    "sgd": UpdateRule((), _sgd, 1.0),  # KnightCap's step is 0.1, Homan's 0.255
    "adam": adam(0.99, 3.0),
    "adagrad": UpdateRule(("squares",), _adagrad, 20.0, scale_free=True),
    "coherence": UpdateRule(("net", "absolute"), _coherence, 3.0),
}


# of a loss, in steps of some positions, and of an equation without one, in steps of some games
OF_LOSS, OF_EQUATION = adam(0.999, 8.0), RULES["adam"]
EPOCHS, EQUATION_EPOCHS = 40, 20
BATCH_GAMES = 64


def adam_epochs(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the weights after some epochs of steps by Adam, the best of them if there is a loss.
    The learning rate, in centipawns a step, falls exponentially."""
    fit, random, steps = problem.datafit, np.random.default_rng(options.seed), itertools.count(1)
    if fit.has_value:
        rule, epochs = OF_LOSS, options.iterations or EPOCHS
        units, size, unit = fit.positions, options.batch, 1.0
    else:
        rule, epochs = OF_EQUATION, options.iterations or EQUATION_EPOCHS
        units, size, unit = len(fit.whole_games), BATCH_GAMES, fit.scale
    batches = -(-units // size)
    rate = options.learning_rate or rule.rate
    decay = options.final_rate ** (1 / max(1, epochs * batches))
    weights = problem.inside
    state = {name: np.zeros(weights.shape) for name in rule.names}
    for _ in range(epochs):
        for batch in np.array_split(random.permutation(units), batches):
            residual = problem.residual(weights, fit.some(np.sort(batch)))[1]
            change = rule.step(state, -residual / unit, At(1, next(steps)))
            weights = np.clip(weights + rate * change, problem.low, problem.high)
            rate *= decay
        record(weights, problem.residual(weights)[0], learning_rate=rate)
    if not fit.has_value:
        record.best = weights
    return record.weights
