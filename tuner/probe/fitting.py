"""Fit the values of options to the results of games, from the rows of one round of probes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.device.cpu.device import Cpu
from tuner.fit.options import FitOptions
from tuner.fit.regression import fit
from tuner.ingest.sources import require_learnable
from tuner.parameters.parameters import Parameters
from tuner.probe.rounds import Fit
from tuner.rows.batch import RowBatch
from tuner.rows.build import build_rows

PHASES = 1  # rows of options have one stage


def fitter(parameters: Parameters, workers: int, note: Callable[[str], None]) -> Fit:
    """Return a function from rows and the values (options,) at which they hold to new values, by logistic regression of the
    results with an empirical prior around those values. The first fit sets the scale of the evaluation. InputError for rows from
    which nothing can be learned."""
    scale: float | None = None

    def fitted(rows: list[RowBatch], values: np.ndarray) -> np.ndarray:
        nonlocal scale
        at = parameters.with_weights(values[None, :].astype(float), **({} if scale is None else {"scale": scale}))
        if not rows:
            raise InputError("no position is left to learn from; expected positions whose PV stays the same")
        with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
            data, *_ = build_rows(rows, Path(folder) / "rows", at, PHASES, [{"file": "probe", "sha256": "-"}])
            require_learnable(data)
            result = fit(data, at, FitOptions(prior="auto", held_out=0.0, errors=False, fit_scale=scale is None,
                                              device=Cpu(workers)))
            scale = result.parameters.scale
        found: np.ndarray = result.parameters.weights[0]
        note(f"fitted to {result.positions:,} positions: loss {result.loss_before:.5f} -> {result.loss_after:.5f}")
        return found

    return fitted
