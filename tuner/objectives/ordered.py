"""Log loss of win, draw and loss by the ordered model (Rao and Kupper 1967 with ln theta = t).

With the logit a = 2 * scale * e and t = 2 * scale * width > 0, both linear in the weights, and s(x)
= 1 / (1 + exp(-x)): P(win) = s(a - t), P(loss) = s(-a - t), the rest is drawn. A fractional outcome
is a mixture of its two neighbors. A width is in centipawns, and like any weight there is one for
each stage. The loss is convex."""

import math

import numpy as np

from tuner.objectives.base import WIDTH_SIGNATURE, Objective, expected_by, log_loss
from tuner.objectives.exponential import exp_minus
from tuner.unit import entry

NARROWEST = 1e-3  # of t: at 0 no draw is possible


@entry(WIDTH_SIGNATURE, fastmath={"reassoc"})
def block(n, scale, evaluation, width, outcome, weight, curvature, cross, bend):
    """Return the log loss of n positions. `evaluation` and `width` are replaced by weight * the
    derivatives by them; `curvature`, `cross` and `bend` get weight * the second derivatives: by
    evaluation, by both, by width."""
    loss, unit = 0.0, 2.0 * scale
    for i in range(n):
        a, t, w = unit * evaluation[i], max(unit * width[i], NARROWEST), weight[i]
        win, lost = max(outcome[i], 0.0), max(-outcome[i], 0.0)
        drawn = 1.0 - win - lost
        above, below = a - t, -a - t
        small, tiny = exp_minus(abs(above)), exp_minus(abs(below))
        larger, other = 1.0 / (1.0 + small), 1.0 / (1.0 + tiny)
        p = larger if above >= 0.0 else small * larger  # of winning
        q = other if below >= 0.0 else tiny * other  # of losing
        gap = exp_minus(2.0 * t)
        # log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|))
        soft_above, soft_below = (
            max(above, 0.0) + math.log1p(small),
            max(below, 0.0) + math.log1p(tiny),
        )
        loss += w * (
            win * (soft_above - above)
            + lost * (soft_below - below)
            + drawn * (soft_above + soft_below - math.log1p(-gap))
        )
        first, second = w * unit, w * unit * unit
        evaluation[i] = first * (-win * (1.0 - p) + lost * (1.0 - q) + drawn * (p - q))
        width[i] = first * (
            win * (1.0 - p) + lost * (1.0 - q) - drawn * (p + q + 2.0 * gap / (1.0 - gap))
        )
        alpha, beta = small * larger * larger, tiny * other * other
        curvature[i] = second * ((win + drawn) * alpha + (lost + drawn) * beta)
        cross[i] = second * ((lost + drawn) * beta - (win + drawn) * alpha)
        bend[i] = second * (
            (win + drawn) * alpha
            + (lost + drawn) * beta
            + drawn * 4.0 * gap / ((1.0 - gap) * (1.0 - gap))
        )
    return loss


def probabilities(scale: float, evaluation: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return the probabilities (n, 3) of loss, draw and win for the first player."""
    win, loss = _win_and_loss(scale, evaluation, width)
    return np.stack([loss, 1 - win - loss, win], axis=1)


def _win_and_loss(
    scale: float, evaluation: np.ndarray, width: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    a, t = 2 * scale * evaluation, np.maximum(2 * scale * width, NARROWEST)
    win, loss = (1 / (1 + np.exp(np.clip(t - side, -700, 700))) for side in (a, -a))
    return win, loss


def _residual(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    p, q = _win_and_loss(scale, evaluation, width)
    win, lost = np.maximum(outcome, 0), np.maximum(-outcome, 0)
    return 2 * scale * (lost * (1 - q) - win * (1 - p) + (1 - win - lost) * (p - q))


def _curvature(
    scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    p, q = _win_and_loss(scale, evaluation, width)
    win, lost = np.maximum(outcome, 0), np.maximum(-outcome, 0)
    return (2 * scale) ** 2 * ((1 - lost) * p * (1 - p) + (1 - win) * q * (1 - q))


def _start(drawn: float) -> tuple[float, float]:
    t = 2 * math.atanh(drawn)
    win = 1 / (1 + math.exp(t))
    return t, 0.25 / (win * (1 - win))


ORDERED = Objective(
    name="ordered",
    widths=1,
    block=block,
    loss=log_loss(probabilities),
    residual=_residual,
    curvature=_curvature,
    expected_score=expected_by(probabilities),
    largest_residual=2.0,
    probabilities=probabilities,
    start=_start,
    narrowest=NARROWEST,
    cuda="""
        double first = mass * unit, second = mass * unit * unit;
        double s = fmax(unit * width, 1e-3), above = a - s, below = -a - s;
        double win = fmax(z, 0.0), lost = fmax(-z, 0.0), even = 1.0 - win - lost;
        double small = exp(-fabs(above)), tiny = exp(-fabs(below));
        double larger = 1.0 / (1.0 + small), other = 1.0 / (1.0 + tiny);
        double p = above >= 0.0 ? larger : small * larger, q = below >= 0.0 ? other : tiny * other;
        double gap = exp(-2.0 * s);
        double soft_above = fmax(above, 0.0) + log1p(small);
        double soft_below = fmax(below, 0.0) + log1p(tiny);
        double alpha = small * larger * larger, beta = tiny * other * other;
        t.loss = mass * (win * (soft_above - above) + lost * (soft_below - below)
                         + even * (soft_above + soft_below - log1p(-gap)));
        t.residual = first * (-win * (1.0 - p) + lost * (1.0 - q) + even * (p - q));
        t.drawn = first * (win * (1.0 - p) + lost * (1.0 - q)
                           - even * (p + q + 2.0 * gap / (1.0 - gap)));
        t.curvature = second * ((win + even) * alpha + (lost + even) * beta);
        t.cross = second * ((lost + even) * beta - (win + even) * alpha);
        t.bend = second * ((win + even) * alpha + (lost + even) * beta
                           + even * 4.0 * gap / ((1.0 - gap) * (1.0 - gap)));
""",
)
