"""Temporal differences within one game.

Let v_t in [-1, 1] be the values of n positions, in order and from one point of view, and z the
outcome. With d_t = v_{t+1} - v_t, and z - v_n for the last, the errors are c_t = d_t + decay_t
c_{t+1}: one reverse scan. `decay` is lambda to the power of the plies between a position and the
next one.

c_t is the difference to the lambda-return G_t: c_t = G_t - v_t. With lambda = 1 the sum telescopes
to z - v_t, the error of a regression on outcomes; with lambda = 0 it is d_t alone. Learning by Sum
c_t dv_t/dw is the gradient of 1/2 Sum (G_t - v_t)^2 with G held fixed (Sutton 1988; Baxter,
Tridgell and Weaver 1998, there with the leaf's value)."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TemporalData:
    """The data of TD for the positions of a dataset, besides their counts: `decay` (n,) to the next
    position of the game, and `known` (n,), NaN or the value of a leaf where the game is over."""

    decay: np.ndarray
    known: np.ndarray


def differences(values: np.ndarray, outcome: float | None) -> np.ndarray:
    """Return d (n,) of values (n,). Without an outcome (an unfinished game) the last value is taken
    as right: d_n = 0."""
    following = np.append(values[1:], values[-1:] if outcome is None else outcome)
    return following - values


def errors(d: np.ndarray, decay: np.ndarray | float) -> np.ndarray:
    """Return c (n,) of d (n,): c_t = d_t + decay_t c_{t+1}. decay_t = 0 cuts the sum off after
    t."""
    c = d.tolist()
    factors = np.broadcast_to(decay, d.shape).tolist()
    for t in range(len(c) - 2, -1, -1):
        c[t] += factors[t] * c[t + 1]
    return np.array(c)


def decays(lambda_: float, plies: np.ndarray) -> np.ndarray:
    """Return lambda^(plies between each position and the next) for positions at these plies (n,);
    the last is not used."""
    return lambda_ ** np.diff(plies, append=plies[-1:] + 1).astype(float)


def unpredicted_blunders(d: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return d without gains from moves of the opponent that the learner did not predict
    (KnightCap's rule).

    Values are from the learner's view, at its own moves; predicted[t] is whether the opponent's
    move between the learner's moves t and t + 1 was the predicted one; the last entry is for the
    end of the game."""
    return np.where(predicted, d, np.minimum(d, 0.0))
