"""Update rules, from the gradient of a batch to a change of the weights.

A gradient is the sum over n positions of c (1 - v^2) * coefficient, the direction of ascent. A rule
has a state, a dictionary of arrays of the weights' shape (stages, columns), and returns a step in
units of its learning rate."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from tuner.datasets.dataset import positions_at, size_of
from tuner.fit.learners.base import Learn, LearnerOptions, Record
from tuner.fit.problem import Problem

State = dict[str, np.ndarray]
SMALL = 1e-12


class UpdateRule(NamedTuple):
    """An update rule: the `names` of the arrays of its state, initially zero;
    `step(state, gradient, n, t)` for batch t = 1, 2, ..., which updates the state; its default
    learning `rate` in centipawns, and `network_rate`, for the weights of networks; and whether
    its steps are `scale_free`: they do not depend on the size of gradients, nor on that of
    noise."""

    names: tuple[str, ...]
    step: Callable[[State, np.ndarray, int, int], np.ndarray]
    rate: float
    network_rate: float = 0.01
    scale_free: bool = False


def _sgd(state: State, gradient: np.ndarray, n: int, t: int) -> np.ndarray:
    return gradient


def adam(memory: float, rate: float) -> UpdateRule:
    """Return Adam (Kingma and Ba 2015); `memory` is the decay of the mean square, in the paper
    0.999."""

    def step(state: State, gradient: np.ndarray, n: int, t: int) -> np.ndarray:
        mean = gradient / max(n, 1)
        state["first"] += 0.1 * (mean - state["first"])
        state["second"] += (1 - memory) * (mean**2 - state["second"])
        return state["first"] / (1 - 0.9**t) / (np.sqrt(state["second"] / (1 - memory**t)) + SMALL)

    return UpdateRule(("first", "second"), step, rate, 0.0003, scale_free=True)


def _adagrad(state: State, gradient: np.ndarray, n: int, t: int) -> np.ndarray:
    """AdaGrad (Duchi, Hazan and Singer 2011)."""
    state["squares"] += gradient**2
    return gradient / (np.sqrt(state["squares"]) + SMALL)


def _coherence(state: State, gradient: np.ndarray, n: int, t: int) -> np.ndarray:
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


EPOCHS, EQUATION_EPOCHS = 40, 20
BATCH_GAMES = 64  # of TD


def epochs_by(rule: UpdateRule) -> Learn:
    """Return a learner that takes the best weights of some epochs of steps of a scale-free rule;
    the learning rate is in centipawns a step."""

    def learn(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
        state, steps = (
            {name: np.zeros(problem.start.shape) for name in rule.names},
            itertools.count(1),
        )
        return _minimise(
            problem,
            options,
            record,
            lambda gradient: rule.step(state, -gradient, 1, next(steps)),
            rule.rate,
        )

    return learn


def equation_by(rule: UpdateRule) -> Learn:
    """Return a learner that solves the equation of TD(lambda) by epochs over its games with an
    update rule."""

    def learn(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
        games, steps = problem.model.whole_games, itertools.count(1)
        state, batches = (
            {name: np.zeros(problem.start.shape) for name in rule.names},
            -(-len(games) // BATCH_GAMES),
        )

        def change(weights: np.ndarray, batch: np.ndarray) -> np.ndarray:
            chosen = games[np.sort(batch)]
            n = size_of(chosen)
            gradient = problem.equation(weights, chosen)[0].reshape(weights.shape) * (
                n / problem.scale
            )
            return rule.step(state, np.where(problem.free, gradient, 0.0), n, next(steps))

        epochs = Epochs(
            options.iterations or EQUATION_EPOCHS,
            batches,
            lambda random: np.array_split(random.permutation(len(games)), batches),
            lambda weights: problem.equation(weights)[1],
        )
        record.best = _descend(
            problem, options, record, epochs, change, options.learning_rate or rule.rate
        )
        return record.best  # these solve the equation; they minimize no objective

    return learn


def _minimise(
    problem: Problem,
    options: LearnerOptions,
    record: Record,
    step: Callable[[np.ndarray], np.ndarray],
    rate: float,
) -> np.ndarray:
    batches = -(-problem.positions // options.batch)

    def change(weights: np.ndarray, batch: np.ndarray) -> np.ndarray:
        drawn = positions_at(problem.ranges, np.sort(batch))
        _, gradient = problem.loss_gradient(weights, np.stack([drawn, drawn + 1], axis=1))
        return step(np.where(problem.free, gradient + problem.prior_gradient(weights), 0.0))

    epochs = Epochs(
        options.iterations or EPOCHS,
        batches,
        lambda random: np.array_split(random.permutation(problem.positions), batches),
        lambda weights: problem.loss(weights) + problem.prior(weights),
    )
    _descend(problem, options, record, epochs, change, options.learning_rate or rate)
    return record.weights


class Epochs(NamedTuple):
    """How many epochs, of how many batches; those of an epoch, in a random order; and the objective
    after one."""

    number: int
    batches: int
    order: Callable[[np.random.Generator], Iterable[Any]]
    objective: Callable[[np.ndarray], float]


def _descend(
    problem: Problem,
    options: LearnerOptions,
    record: Record,
    epochs: Epochs,
    change: Callable[[np.ndarray, Any], np.ndarray],
    rate: float,
) -> np.ndarray:
    """Return the weights after some epochs of steps `change(weights, batch)`; the rate falls
    exponentially."""
    random, decay = (
        np.random.default_rng(options.seed),
        options.final_rate ** (1 / max(1, epochs.number * epochs.batches)),
    )
    weights = np.clip(problem.start, problem.low, problem.high)
    for _ in range(epochs.number):
        for batch in epochs.order(random):
            weights = np.clip(weights + rate * change(weights, batch), problem.low, problem.high)
            rate *= decay
        record(weights, epochs.objective(weights), learning_rate=rate)
    return weights
