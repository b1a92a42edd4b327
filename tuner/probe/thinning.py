"""Fewer positions, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from games.record import PositionBatch


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
