"""Squared error of the expected score. With p = 1 / (1 + exp(-2 * scale * e)) and q = (1 + outcome)
/ 2:

loss (p - q)^2     residual 4 scale (p - q) p (1 - p)     curvature 8 scale^2 (p (1 - p))^2, its
Gauss-Newton part. With v = 2 p - 1, v' = scale (1 - v^2) and z the outcome, the second derivative
is v'^2 / 2 - scale v v' (v - z)."""

import numpy as np

from tuner.objectives.base import SIGNATURE, Objective, expected_by_tanh
from tuner.objectives.exponential import exp_minus
from tuner.unit import entry


@entry(SIGNATURE, fastmath={"reassoc"})
def block(n, scale, evaluation, outcome, weight, curvature):
    """Return the squared error of n positions; `evaluation` is replaced by weight * residual."""
    loss = 0.0
    for i in range(n):
        logit = 2.0 * scale * evaluation[i]
        q, w = 0.5 + 0.5 * outcome[i], weight[i]
        small = exp_minus(abs(logit))
        larger = 1.0 / (1.0 + small)
        p = larger if logit >= 0.0 else small * larger
        slope = 2.0 * scale * small * larger * larger
        error = p - q
        loss += w * error * error
        evaluation[i] = w * 2.0 * error * slope
        curvature[i] = w * 2.0 * slope * slope
    return loss


def _loss(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    return (0.5 * np.tanh(scale * evaluation) - 0.5 * outcome) ** 2


def _residual(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    value = np.tanh(scale * evaluation)
    return 0.5 * scale * (value - outcome) * (1 - value**2)


def _curvature(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    return 0.5 * (scale * (1 - np.tanh(scale * evaluation) ** 2)) ** 2


def _second(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    value = np.tanh(scale * evaluation)
    slope = scale * (1 - value**2)
    return 0.5 * slope**2 - scale * value * slope * (value - outcome)


SQUARED_ERROR = Objective(
    name="mse",
    convex=False,
    widths=0,
    block=block,
    loss=_loss,
    residual=_residual,
    curvature=_curvature,
    second=_second,
    expected_score=expected_by_tanh,
    largest_residual=16 / 27,  # at p = 2/3 of a lost game
    cuda="""
        double q = 0.5 + 0.5 * z, tail = exp(-fabs(a)), larger = 1.0 / (1.0 + tail);
        double p = a >= 0.0 ? larger : tail * larger, slope = tail * larger * larger;
        t.loss = mass * (p - q) * (p - q);
        t.residual = mass * 2.0 * (p - q) * unit * slope;
        t.curvature = mass * 2.0 * unit * unit * slope * slope;
""",
)
