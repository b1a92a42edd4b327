"""Compiled blocks of losses, called for any number of positions."""

import ctypes

import numpy as np

from tests.tuner.support import SCALE
from tuner.objectives.base import Objective


def by_block(
    objective: Objective,
    evaluation: np.ndarray,
    width: np.ndarray,
    outcome: np.ndarray,
    weight: np.ndarray,
) -> tuple[float, np.ndarray]:
    """The summed loss, and (5, n) derivatives, each times the weight: by evaluation and width, and
    the second ones by evaluation, both, and width; of losses without a width those by evaluation
    alone."""
    found = np.stack([evaluation, width, *np.empty((3, len(evaluation)))])
    arrays = [found[0], found[1], outcome, weight, found[2], found[3], found[4]]
    if not objective.widths:
        arrays = [found[0], outcome, weight, found[2]]
    kind = ctypes.CFUNCTYPE(
        ctypes.c_double, ctypes.c_int64, ctypes.c_double, *[ctypes.c_void_p] * len(arrays)
    )
    return (
        kind(objective.block.address())(
            len(evaluation), SCALE, *(array.ctypes.data for array in arrays)
        ),
        found,
    )
