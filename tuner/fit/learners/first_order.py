"""Adam and stochastic gradient descent on batches of adjacent games, with an exponentially decaying learning rate."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from tuner.datasets.ranges import blocks
from tuner.fit.learners.base import LearnerOptions, Record
from tuner.fit.learners.lbfgs import column_scale
from tuner.fit.learners.rules import ADAM, adam_step
from tuner.fit.problem import Problem

EPOCHS = 40
ADAM_RATE = 8.0  # centipawns a step
ADAM_MEMORY = 0.999


def adam(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the best weights of some epochs of Adam; the learning rate is in centipawns a step."""
    state, move, steps = {name: np.zeros(problem.start.shape) for name in ADAM}, adam_step(ADAM_MEMORY), itertools.count(1)

    def step(gradient: np.ndarray) -> np.ndarray:
        return move(state, -gradient, 1, next(steps))

    return _descend(problem, options, record, step, options.learning_rate or ADAM_RATE)


def sgd(problem: Problem, options: LearnerOptions, record: Record) -> np.ndarray:
    """Return the best weights of some epochs of gradient descent on weights scaled by how often each applies.

    A learning rate of 1 corresponds to one over the largest curvature at the start, the largest stable step there.
    """
    scale = column_scale(problem)
    largest = _largest_curvature(problem, scale)

    def step(gradient: np.ndarray) -> np.ndarray:
        return -gradient * scale ** 2 / largest

    return _descend(problem, options, record, step, options.learning_rate or 1.0)


def _largest_curvature(problem: Problem, scale: np.ndarray, rounds: int = 12) -> float:
    """Return the largest eigenvalue of the scaled Hessian, by power iteration on gradient differences."""
    random = np.random.default_rng(0)
    direction = np.where(problem.free, random.normal(size=scale.shape), 0.0)
    _, here = problem.loss_gradient(problem.start)
    value = 0.0
    for _ in range(rounds):
        if not direction.any():
            break
        direction /= np.linalg.norm(direction)
        _, there = problem.loss_gradient(problem.start + direction * scale)
        direction = np.where(problem.free, (there - here) * scale, 0.0)
        value = float(np.linalg.norm(direction))
    return value or 1.0


def _descend(problem: Problem, options: LearnerOptions, record: Record, step: Callable[[np.ndarray], np.ndarray],
             rate: float) -> np.ndarray:
    random = np.random.default_rng(options.seed)
    batches = list(blocks(problem.ranges, options.batch))
    # batches differ in size, the last one most: each is weighted by its positions, or the optimum would be biased
    shares = [float((piece[:, 1] - piece[:, 0]).sum()) * len(batches) / problem.positions for piece in batches]
    epochs = options.iterations or EPOCHS
    decay = options.final_rate ** (1 / max(1, epochs * len(batches)))
    weights = np.clip(problem.start, problem.low, problem.high)
    for _ in range(epochs):
        for b in random.permutation(len(batches)):
            _, gradient = problem.loss_gradient(weights, batches[b])
            gradient = np.where(problem.free, shares[b] * gradient + problem.prior_gradient(weights), 0.0)
            weights = np.clip(weights + rate * step(gradient), problem.low, problem.high)
            rate *= decay
        record(weights, problem.loss(weights) + problem.prior(weights), learning_rate=rate)
    return record.best
