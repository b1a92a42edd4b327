"""Gauss-Newton for options that are not linear: probe, fit, set the new values, probe again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
           delta: int | None = None) -> tuple[dict[str, int], list[Round]]:
    """Repeat probes and fits until the whole values no longer change, at most so many times; return the last values and the
    rounds. Values stay within the options' ranges."""
    current, history = dict(values), []
    for _ in range(most):
        steps = steps_of(options, names, current, delta)
        old = np.array([step.value for step in steps], float)
        rows = list(jacobian(answers, steps, batches, text))
        history.append(Round(old, sum(len(part.phase) for part in rows)))
        new = np.clip(np.round(fit(rows, old)), [step.low for step in steps], [step.high for step in steps])
        current |= {step.name: int(value) for step, value in zip(steps, new, strict=True)}
        if (new == old).all():
            break
    return current, history


def thinned(batches: Sequence[PositionBatch], most: int, seed: int) -> list[PositionBatch]:
    """At most so many positions, drawn at random from all; games keep their identities, those without a position left are
    dropped."""
    total = sum(len(batch.positions) for batch in batches)
    if total <= most:
        return list(batches)
    keep = np.zeros(total, np.bool_)
    keep[np.random.default_rng(seed).choice(total, most, replace=False)] = True
    result, done = [], 0
    for batch in batches:
        n = len(batch.positions)
        mask = keep[done:done + n]
        done += n
        sizes = np.add.reduceat(np.append(mask, False).astype(np.int64), batch.first) * (np.diff(batch.first, append=n) > 0)
        some = sizes > 0
        result.append(replace(batch, positions=batch.positions[mask], outcomes=batch.outcomes[mask],
                              first=(np.cumsum(sizes) - sizes)[some], identities=batch.identities[some],
                              openings=batch.openings[some], numbers=batch.numbers[some]))
    return result
