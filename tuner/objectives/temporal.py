"""Temporal differences within one game.

Values v_t in [-1, 1] of the n positions learnt from, in their order and from one point of view, and the outcome z. With
d_t = v_{t+1} - v_t, and z - v_n for the last, the errors are c_t = d_t + decay_t c_{t+1}: one reverse scan. `decay` is
lambda to the power of the plies between a position and the next one.

c_t is what the lambda-return G_t lacks: c_t = G_t - v_t. With lambda = 1 the sum telescopes to z - v_t, the error of a
regression on outcomes; with lambda = 0 it is d_t alone. Learning by Sum c_t dv_t/dw is the gradient of
1/2 Sum (G_t - v_t)^2 with G held fixed (Sutton 1988; Baxter, Tridgell and Weaver 1998, there with the leaf's value).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TemporalData:
    """What TD has to know of the positions of a dataset beside their counts: `decay` (n,) to the next position of the game,
    and `known` (n,), NaN or the value of a leaf where the game is over."""

    decay: np.ndarray
    known: np.ndarray


def differences(values: np.ndarray, outcome: float | None) -> np.ndarray:
    """d (n,) of values (n,). With no outcome, for a game that was broken off, the last value is taken for right: d_n = 0."""
    following = np.append(values[1:], values[-1:] if outcome is None else outcome)
    return following - values


def errors(d: np.ndarray, decay: np.ndarray | float) -> np.ndarray:
    """c (n,) of d (n,): c_t = d_t + decay_t c_{t+1}. decay_t = 0 ends the trace behind t."""
    c = d.tolist()
    factors = np.broadcast_to(decay, d.shape).tolist()
    for t in range(len(c) - 2, -1, -1):
        c[t] += factors[t] * c[t + 1]
    return np.array(c)


def decays(lambda_: float, plies: np.ndarray) -> np.ndarray:
    """lambda^(plies between each position and the next) for positions at these plies (n,); the last is not used."""
    return lambda_ ** np.diff(plies, append=plies[-1:] + 1).astype(float)


def unpredicted_blunders(d: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """d without gains that come from a move the other side was not expected to make (KnightCap's rule).

    The values are the learner's, from its own view, at its own moves; predicted[t] tells whether the move between its
    moves t and t + 1 was the one it expected, and for the last t stands for the end of the game.
    """
    return np.where(predicted, d, np.minimum(d, 0.0))
