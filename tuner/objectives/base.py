"""The definition of a loss: one record with its compiled block, its formulas in NumPy and its CUDA
text.

A loss depends on the evaluation e of a position in centipawns, the outcome z in [-1, 1] and, if it
models draws, on the width of a draw. A compiled block works in place on at most BLOCK positions and
returns the sum of weight * loss, so that one compiled pass serves every loss."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import types

from games.compile.jit import Entry

BLOCK = 512
numbers = types.CPointer(types.float64)
# n, scale, evaluation, outcome, weight, curvature: `evaluation` is replaced by weight * dL/de
SIGNATURE = types.float64(types.int64, types.float64, *[numbers] * 4)
# n, scale, evaluation, width, outcome, weight, curvature, cross, bend: `evaluation` and `width` are
# replaced by weight * the derivatives by them, the last three get weight * the second ones: by
# evaluation, by both, by width
WIDTH_SIGNATURE = types.float64(types.int64, types.float64, *[numbers] * 7)

# (scale, evaluation (n,), width (n,), outcome (n,)) -> (n,); losses without a width ignore it and
# take a number, too
Formula = Callable[[float, np.ndarray, Any, np.ndarray], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Objective:
    """A loss. `tests/tuner/objectives/test_every_objective.py` checks that the fields of every loss
    agree."""

    name: str  # on the command line and in files
    widths: int  # columns of weights behind the intercept: 1 for the width of a draw, else 0
    block: Entry  # of SIGNATURE, or of WIDTH_SIGNATURE with a width
    loss: Formula
    residual: Formula  # dL/de
    curvature: Formula  # d2L/de2, or its Gauss-Newton part if the loss is not `convex` in e
    # (scale, evaluation, width) -> (n,) in [0, 1]
    expected_score: Callable[[float, np.ndarray, np.ndarray], np.ndarray]
    largest_residual: float  # |dL/de| <= largest_residual * scale, for a weight of 1
    # statements that set fields of `Terms t` (tuner/fit/device/gpu/kernels/position.cu) from the
    # doubles scale, unit = 2 * scale, a = unit * evaluation, width, z and mass
    cuda: str
    # (n, 3) probabilities of loss, draw and win for the first player
    probabilities: Callable[[float, np.ndarray, np.ndarray], np.ndarray] | None = None
    # from the share of draws, 0 < share < 1, to (t, growth): t = 2 * scale * width with this share
    # of draws at evaluation 0, and the factor of the scale with which the expected score is as
    # steep there as without draws
    start: Callable[[float], tuple[float, float]] | None = None
    narrowest: float = -np.inf  # smallest t
    convex: bool = True
    second: Formula | None = None  # d2L/de2 if `curvature` is not


def expected_by_tanh(scale: float, evaluation: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return (1 + tanh(scale * e)) / 2, the expected score if a draw is half a win."""
    expected: np.ndarray = 0.5 + 0.5 * np.tanh(scale * evaluation)
    return expected


def log_loss(probabilities: Callable[[float, np.ndarray, np.ndarray], np.ndarray]) -> Formula:
    """Return the log loss of these probabilities; a fractional outcome is a mixture of its two
    neighbors."""

    def loss(
        scale: float, evaluation: np.ndarray, width: np.ndarray, outcome: np.ndarray
    ) -> np.ndarray:
        counted = np.stack(
            [np.maximum(-outcome, 0), 1 - np.abs(outcome), np.maximum(outcome, 0)], axis=1
        )
        losses: np.ndarray = -(
            counted * np.log(np.maximum(probabilities(scale, evaluation, width), 1e-300))
        ).sum(axis=1)
        return losses

    return loss


def expected_by(
    probabilities: Callable[[float, np.ndarray, np.ndarray], np.ndarray],
) -> Callable[..., np.ndarray]:
    """Return the expected score: the probability of a win plus half the probability of a draw."""

    def expected(scale: float, evaluation: np.ndarray, width: np.ndarray) -> np.ndarray:
        chances = probabilities(scale, evaluation, width)
        return chances[:, 2] + chances[:, 1] / 2

    return expected
