"""The positions of a dataset as rows, to be written to files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.rows.batch import RowBatch

BATCH = 1 << 15  # positions


def batches_of(data: Dataset) -> Iterator[RowBatch]:
    """Yield all positions of a dataset as rows. The weights of positions, which only merged data have, are left out. InputError
    if its evaluation is not linear."""
    if data.apart:
        raise InputError(f"{data.path}: term {data.apart[0]} is not linear in its weights, so that there are no rows of "
                         "coefficients; build it with parameters that lack the term")
    game, opening = (np.repeat(names, np.diff(data.first)) for names in (data.game, data.opening))
    steps, scales = data.phase_scale[:, 0].astype(np.int64), data.phase_scale[:, 1].astype(np.float32)
    for begin in range(0, data.positions, BATCH):
        end = min(begin + BATCH, data.positions)
        rows, n = data.rows(begin, end), end - begin
        unknown = np.full(n, np.nan, np.float32)
        evaluation, score = (array[begin:end] if len(array) else unknown for array in (data.evaluation, data.score))
        yield RowBatch(
            index=rows.index.astype(np.int32), count=rows.count.astype(np.float32), row=rows.row - rows.row[0],
            phase=steps[rows.phase], outcome=np.asarray(rows.outcome),
            rest=rows.rest if len(rows.rest) else np.zeros(n, np.float32),
            scale=scales[rows.phase], evaluation=evaluation, score=score, game=game[begin:end],
            text=data.texts(np.arange(begin, end)) if len(data.text) else None, opening=opening[begin:end])
        data.release()
