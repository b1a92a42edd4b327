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
        chosen = batch.only(keep[done:done + n])
        done += n
        some = np.diff(chosen.first, append=len(chosen.positions)) > 0
        result.append(replace(chosen, first=chosen.first[some], identities=chosen.identities[some],
                              openings=chosen.openings[some], numbers=chosen.numbers[some]))
    return result
