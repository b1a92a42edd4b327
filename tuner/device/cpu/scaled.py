"""Second moments of positions whose last stage is scaled, on CPU threads.

A value of `phase` is then a pair of phase and scale, of which there may be thousands. Those of many positions get a matrix of
their own, as without scales; all others are added to the matrix of all stages, position by position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tuner.datasets.ranges import BLOCK, ahead
from tuner.device.cpu import kernels
from tuner.device.cpu.watched import watched
from tuner.device.model import Model
from tuner.parallel import in_order

LARGER = 4  # times the size of a piece: each piece has its own sums
SAVED = 0.8  # products of a pair of nonzeros that a matrix of its own saves, per entry of that matrix times the stages


def scaled_moments(model: Model, shape: tuple[int, int], terms_of: Callable[[np.ndarray], Any],
                   ranges: np.ndarray, workers: int) -> np.ndarray:
    """Return the sum (d, d) of curvature * x x' over ranges of positions, see `tuner.device.cpu.sums.second_moments`."""
    stages, width = shape
    data, size, last = model.data, stages * width, model.data.columns
    nonzeros = max(1.0, len(data.index) / max(1, data.positions))
    few = SAVED * stages * width**2 / nonzeros**2
    pairs = [(a, b) for a in range(stages) for b in range(a, stages)]
    shares, unscaled = model.shares, model.unscaled
    sums = np.zeros((size, size))

    def work(piece: np.ndarray) -> np.ndarray:
        _, base, terms = terms_of(piece)
        code = data.phase[base:base + terms.shape[1]]
        order = np.argsort(code, kind="stable")
        order = order[terms[1][order] != 0]
        ends = np.searchsorted(code[order], np.arange(model.codes + 1))
        rare = np.diff(ends) < few
        # by pair of stages: products of columns, of columns with intercept and width, and of those alone
        inner, part, scratch = np.zeros((len(pairs), last, last)), np.empty((width, width)), np.empty((last, last))
        edge, corner = np.zeros((stages, stages, last, width - last)), np.zeros((stages, stages, width - last, width - last))
        for f in np.flatnonzero(~rare):
            part[:] = 0.0
            kernels.gram(data.index, data.count, data.row, order[ends[f]:ends[f + 1]], base, terms, last, part)
            for pair, (a, b) in enumerate(pairs):
                if share := shares[a, f] * shares[b, f]:
                    inner[pair] += np.multiply(part[:last, :last], share, out=scratch)
            edge += np.multiply.outer(np.outer(shares[:, f], unscaled[:, f]), part[:last, last:] + part[last:, :last].T)
            corner += np.multiply.outer(np.outer(unscaled[:, f], unscaled[:, f]), _symmetric(part[last:, last:]))
        half = np.zeros((size, size))
        others = order[rare[code[order]]]
        kernels.gram_of_stages(data.index, data.count, data.row, data.phase, others, base, terms, last, shares, unscaled, half)
        found = np.empty((stages, width, stages, width))
        for (a, b), columns in zip(pairs, inner, strict=True):
            found[a, :last, b, :last] = found[b, :last, a, :last] = _symmetric(columns)
        found[:, :last, :, last:] = edge.transpose(0, 2, 1, 3)
        found[:, last:, :, :last] = edge.transpose(1, 3, 0, 2)
        found[:, last:, :, last:] = corner.transpose(0, 2, 1, 3)
        return found.reshape(size, size) + _symmetric(half)

    for some in watched(in_order(work, ahead(data, ranges, larger=LARGER), workers), model, ranges, LARGER * BLOCK):
        sums += some
    return sums


def _symmetric(half: np.ndarray) -> np.ndarray:
    return half + half.T - np.diag(np.diag(half))
