"""Noisy copies of an evaluation: opponents that differ a little, so that games differ and results carry information."""

from __future__ import annotations

import numpy as np

from games.streams import InputError
from tuner.engine.engine import Engine
from tuner.parameters.parameters import Parameters

DRAWS = 16  # of noise, to measure what it does to evaluations
COPY = 1  # numbers the stream of random numbers of the copies; 0 is that of the measurement


def copy_of(parameters: Parameters, spread: float, seed: int, number: int) -> Parameters:
    """Return copy `number` of the parameters: every weight but those that are 0 in all stages moves by normal noise with
    standard deviation `spread`, in centipawns."""
    moved = _noise(parameters, np.random.default_rng([seed, COPY, number]))
    return parameters.with_weights(parameters.weights + spread * moved)


def spread_of(engine: Engine, parameters: Parameters, positions: np.ndarray, noise: float, seed: int) -> float:
    """Return the standard deviation of the noise of one weight at which evaluations of positions (n, words) move by `noise`
    centipawns (root mean square). InputError if all weights are 0."""
    if not parameters.weights.any():
        raise InputError("all weights are 0, so that every move would be chosen at random; start from other values, such as "
                         "material")
    before, squares = engine.evaluate_many(positions, parameters), []
    dice = np.random.default_rng([seed, 0])
    for _ in range(DRAWS):
        moved = parameters.with_weights(parameters.weights + _noise(parameters, dice))
        squares.append(np.mean((engine.evaluate_many(positions, moved) - before) ** 2))
    unit = float(np.sqrt(np.mean(squares)))
    return noise / unit if unit else 0.0


def _noise(parameters: Parameters, dice: np.random.Generator) -> np.ndarray:
    """Return noise of 1 centipawn (stages, columns) on the weights that take part."""
    weights = parameters.weights
    return np.where((weights != 0).any(axis=0), dice.standard_normal(weights.shape), 0.0)
