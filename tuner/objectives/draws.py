"""Objectives with draws as a third outcome: how likely each result is, given an evaluation and the width of a draw.

With the logit a = 2 * scale * e of an evaluation e and t = 2 * scale * width, both linear in the weights, s = 1 / (1 + exp(-x)):

    ordered    P(win) = s(a - t), P(loss) = s(-a - t), the rest is drawn (t > 0; Rao and Kupper 1967 with ln theta = t)
    davidson   P(win), P(draw), P(loss) in the ratio exp(a / 2) : exp(t) : exp(-a / 2)    (Davidson 1970)

An outcome between those counts as so much of its two neighbours. Widths are in centipawns, and like other weights one a
stage. Both losses are convex.
"""

from __future__ import annotations

import math

import numpy as np
from numba.core import types

from games.jit import Entry
from tuner.objectives.exponential import exp_minus
from tuner.objectives.two_outcomes import numbers
from tuner.unit import entry

SIGNATURE = types.float64(types.int64, types.float64, *[numbers] * 7)
NARROWEST = 1e-3  # of t in the ordered model, where no draw can be


@entry(SIGNATURE, fastmath={"reassoc"})
def ordered(n, scale, evaluation, width, outcome, weight, curvature, cross, bend):
    """Log loss of n positions. `evaluation` and `width` are replaced by weight * the derivatives by them, `curvature`,
    `cross` and `bend` get weight * the second ones: by evaluation, by both, by width."""
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
        soft_above, soft_below = max(above, 0.0) + math.log1p(small), max(below, 0.0) + math.log1p(tiny)
        loss += w * (win * (soft_above - above) + lost * (soft_below - below)
                     + drawn * (soft_above + soft_below - math.log1p(-gap)))
        first, second = w * unit, w * unit * unit
        evaluation[i] = first * (-win * (1.0 - p) + lost * (1.0 - q) + drawn * (p - q))
        width[i] = first * (win * (1.0 - p) + lost * (1.0 - q) - drawn * (p + q + 2.0 * gap / (1.0 - gap)))
        alpha, beta = small * larger * larger, tiny * other * other
        curvature[i] = second * ((win + drawn) * alpha + (lost + drawn) * beta)
        cross[i] = second * ((lost + drawn) * beta - (win + drawn) * alpha)
        bend[i] = second * ((win + drawn) * alpha + (lost + drawn) * beta + drawn * 4.0 * gap / ((1.0 - gap) * (1.0 - gap)))
    return loss


@entry(SIGNATURE, fastmath={"reassoc"})
def davidson(n, scale, evaluation, width, outcome, weight, curvature, cross, bend):
    """As `ordered`."""
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


DRAW_MODELS: dict[str, Entry] = {"ordered": ordered, "davidson": davidson}


def chances_of(model: str, scale: float, evaluation: np.ndarray, width: np.ndarray) -> np.ndarray:
    """(n, 3) probabilities of loss, draw and win for the first player, at evaluations and widths (n,) in centipawns."""
    a, t = 2 * scale * evaluation, 2 * scale * width
    if model == "ordered":
        win, loss = (1 / (1 + np.exp(np.clip(t - side, -700, 700))) for side in (a, -a))
        return np.stack([loss, 1 - win - loss, win], axis=1)
    logits = np.stack([-a / 2, t, a / 2], axis=1)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def start_of(model: str, drawn: float) -> tuple[float, float]:
    """Where fits begin when this share of the games is drawn, 0 < drawn < 1: t that gives as many draws at an evaluation of 0,
    and by how much `scale` has to grow so that the expected score grows there as fast as without draws."""
    if model == "ordered":
        t = 2 * math.atanh(drawn)
        win = 1 / (1 + math.exp(t))
        return t, 0.25 / (win * (1 - win))
    ratio = 2 * drawn / (1 - drawn)
    return math.log(ratio), (2 + ratio) / 2
