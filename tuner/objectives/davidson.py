"""Log loss of win, draw and loss by the model of Davidson (1970).

With the logit a = 2 * scale * e and t = 2 * scale * width, both linear in the weights, P(win),
P(draw) and P(loss) are in the ratio exp(a / 2) : exp(t) : exp(-a / 2). A fractional outcome is a
mixture of its two neighbours. The loss is convex."""

from __future__ import annotations

import math

import numpy as np

from tuner.objectives.base import WIDTH_SIGNATURE, Objective, expected_by, log_loss
from tuner.objectives.exponential import exp_minus
from tuner.unit import entry


@entry(WIDTH_SIGNATURE, fastmath={"reassoc"})
def block(n, scale, evaluation, width, outcome, weight, curvature, cross, bend):
    """Return the log loss of n positions. `evaluation` and `width` are replaced by weight * the
    derivatives by them; `curvature`, `cross` and `bend` get weight * the second derivatives: by
    evaluation, by both, by width."""
    loss, unit = 0.0, 2.0 * scale
    for i in range(n):
        a, t, w, z = unit * evaluation[i], unit * width[i], weight[i], outcome[i]
        drawn = 1.0 - abs(z)
        most = max(0.5 * abs(a), t)
        won, even, lost = exp_minus(most - 0.5 * a), exp_minus(most - t), exp_minus(most + 0.5 * a)
        total = won + even + lost
        p, d, q = won / total, even / total, lost / total
        loss += w * (most + math.log(total) - 0.5 * z * a - drawn * t)
        first, second = w * unit, w * unit * unit
        evaluation[i] = first * 0.5 * (p - q - z)
        width[i] = first * (d - drawn)
        curvature[i] = second * 0.25 * (p + q - (p - q) * (p - q))
        cross[i] = -second * 0.5 * (p - q) * d
        bend[i] = second * d * (1.0 - d)
    return loss


def probabilities(scale: float, evaluation: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return the probabilities (n, 3) of loss, draw and win for the first player."""
    a, t = 2 * scale * evaluation, 2 * scale * width
    logits = np.stack([-a / 2, t, a / 2], axis=1)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _residual(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    chances = probabilities(scale, evaluation, width)
    return scale * (chances[:, 2] - chances[:, 0] - outcome)


def _curvature(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    chances = probabilities(scale, evaluation, width)
    return scale**2 * (chances[:, 2] + chances[:, 0] - (chances[:, 2] - chances[:, 0]) ** 2)


def _start(drawn: float) -> tuple[float, float]:
    ratio = 2 * drawn / (1 - drawn)
    return math.log(ratio), (2 + ratio) / 2


DAVIDSON = Objective(
    name="davidson",
    widths=1,
    block=block,
    loss=log_loss(probabilities),
    residual=_residual,
    curvature=_curvature,
    expected_score=expected_by(probabilities),
    largest_residual=2.0,
    probabilities=probabilities,
    start=_start,
    cuda="""
        double first = mass * unit, second = mass * unit * unit;
        double s = unit * width, even = 1.0 - fabs(z), most = fmax(0.5 * fabs(a), s);
        double won = exp(0.5 * a - most), level = exp(s - most), gone = exp(-0.5 * a - most);
        double total = won + level + gone;
        double p = won / total, d = level / total, q = gone / total;
        t.loss = mass * (most + log(total) - 0.5 * z * a - even * s);
        t.residual = first * 0.5 * (p - q - z);
        t.drawn = first * (d - even);
        t.curvature = second * 0.25 * (p + q - (p - q) * (p - q));
        t.cross = -second * 0.5 * (p - q) * d;
        t.bend = second * d * (1.0 - d);
""",
)
