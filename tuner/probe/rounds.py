"""Gauss-Newton for options that are not linear: probe, fit, set the new values, probe again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from games.evaluators import EngineOption
from games.record import PositionBatch
from tuner.probe.answers import Answers
from tuner.probe.jacobian import jacobian
from tuner.probe.steps import steps_of
from tuner.rows.batch import RowBatch

Fit = Callable[[list[RowBatch], np.ndarray], np.ndarray]  # rows and the values (options,) at which they hold, to new values


class Round(NamedTuple):
    """The values (options,) at which a round probed, and how many rows it got."""

    values: np.ndarray
    rows: int


def rounds(answers: Answers, options: Mapping[str, EngineOption], names: Sequence[str], values: Mapping[str, int],
           batches: Sequence[PositionBatch], text: Callable[[np.ndarray], str], fit: Fit, most: int,
           delta: int | None = None, report: Callable[[np.ndarray, np.ndarray], None] = lambda old, new: None
           ) -> tuple[dict[str, int], list[Round]]:
    """Repeat probes and fits until the whole values no longer change, at most so many times; return the last values and the
    rounds. Values stay within the options' ranges. `report` is called with old and new values after each round."""
    current, history = dict(values), []
    for _ in range(most):
        steps = steps_of(options, names, current, delta)
        old = np.array([step.value for step in steps], float)
        rows = list(jacobian(answers, steps, batches, text))
        history.append(Round(old, sum(len(part.phase) for part in rows)))
        new = np.clip(np.round(fit(rows, old)), [step.low for step in steps], [step.high for step in steps])
        current |= {step.name: int(value) for step, value in zip(steps, new, strict=True)}
        report(old, new)
        if (new == old).all():
            break
    return current, history
