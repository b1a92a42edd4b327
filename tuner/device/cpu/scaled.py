"""Second moments of positions whose last stage is scaled, on CPU threads.

A value of `phase` is then a pair of phase and scale, of which there may be thousands. Those of many positions get a matrix of
their own, as without scales; all others are added to the matrix of all stages, position by position.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tuner.datasets.ranges import BLOCK, ahead
from tuner.device.cpu import kernels
from tuner.device.cpu.watched import watched
from tuner.device.model import Model
from tuner.parallel import in_order

LARGER = 4  # times the size of a piece: each piece has its own sums
SAVED = 1.5  # products of a pair of nonzeros that a matrix of its own saves, per entry of that matrix times the stages


def scaled_moments(model: Model, shape: tuple[int, int], terms_of: Callable[[np.ndarray], tuple[int, np.ndarray]],
                   ranges: np.ndarray, workers: int) -> np.ndarray:
    """Return the sum (d, d) of curvature * x x' over ranges of positions, see `tuner.device.cpu.sums.second_moments`."""
    stages, width = shape
    data, size = model.data, stages * width
    nonzeros = max(1.0, len(data.index) / max(1, data.positions))
    few = SAVED * stages * width**2 / nonzeros**2
    sums = np.zeros((size, size))

    def work(piece: np.ndarray) -> np.ndarray:
        found, half, part = np.zeros((stages, width, stages, width)), np.zeros((size, size)), np.empty((width, width))
        base, terms = terms_of(piece)
        code = data.phase[base:base + terms.shape[1]]
        order = np.argsort(code, kind="stable")
        order = order[terms[1][order] != 0]
        ends = np.searchsorted(code[order], np.arange(model.codes + 1))
        rare = np.diff(ends) < few
        for f in np.flatnonzero(~rare):
            part[:] = 0.0
            kernels.gram(data.index, data.count, data.row, order[ends[f]:ends[f + 1]], base, terms, data.columns, part)
            whole = _symmetric(part)
            factors = [model.factors(stage, int(f), width) for stage in range(stages)]
            for a in range(stages):
                for b in range(stages):
                    found[a, :, b, :] += whole * np.multiply.outer(factors[a], factors[b])
        others = order[rare[code[order]]]
        kernels.gram_of_stages(data.index, data.count, data.row, data.phase, others, base, terms, data.columns, model.shares,
                               model.unscaled, half)
        return found.reshape(size, size) + _symmetric(half)

    for some in watched(in_order(work, ahead(data, ranges, larger=LARGER), workers), model, ranges, LARGER * BLOCK):
        sums += some
    return sums


def _symmetric(half: np.ndarray) -> np.ndarray:
    return half + half.T - np.diag(np.diag(half))
